/* SPDX-License-Identifier: MIT */
/* f64 arithmetic of the vector ALU. */
#include "arithmetic/division.h"
#include "sem/float_bodies.h"

#define ONE(x)   wmi_settle_f64(x, a, a, a)
#define TWO(x)   wmi_settle_f64(x, a, b, b)
#define THREE(x) wmi_settle_f64(x, a, b, wmi_addend_f64(a, b, c))

WMI_PAIRS2(v_add_f64, TWO(a + b))
WMI_PAIRS2(v_mul_f64, TWO(a *b))
WMI_PAIRS2(v_min_f64, wmi_min_f64(a, b, mode))
WMI_PAIRS2(v_max_f64, wmi_max_f64(a, b, mode))
WMI_PAIRS2(v_minimum_f64, wmi_minimum_f64(a, b, mode))
WMI_PAIRS2(v_maximum_f64, wmi_maximum_f64(a, b, mode))
WMI_PAIRS3(v_fma_f64, THREE(wmi_fused_f64(a, b, c)))
WMI_PAIRS3(v_fmac_f64, THREE(wmi_fused_f64(a, b, c)))
WMI_PAIRS3(v_fmaak_f64, THREE(wmi_fused_f64(a, b, c)))
WMI_PAIRS3(v_fmamk_f64, wmi_settle_f64(wmi_fused_f64(a, c, b), a, c, wmi_addend_f64(a, c, b)))

WMI_PAIRS1(v_trunc_f64, wmi_quiet_f64(wmi_round_f64(wmi_input_f64(a, mode), WMI_ROUND_ZERO)))
WMI_PAIRS1(v_ceil_f64, wmi_quiet_f64(wmi_round_f64(wmi_input_f64(a, mode), WMI_ROUND_UP)))
WMI_PAIRS1(v_rndne_f64, wmi_quiet_f64(wmi_round_f64(wmi_input_f64(a, mode), WMI_ROUND_EVEN)))
WMI_PAIRS1(v_floor_f64, wmi_quiet_f64(wmi_round_f64(wmi_input_f64(a, mode), WMI_ROUND_DOWN)))
WMI_PAIRS1(v_fract_f64, ONE(wmi_fract_f64(wmi_input_f64(a, mode))))
WMI_PAIRS1(v_frexp_mant_f64, wmi_frexp_significand_f64(wmi_input_f64(a, mode)))

/* Correctly rounded; the hardware gives starting values for Newton's method (2^29 ulp). Source: [V],
 * V_RCP_F64. */
static inline f64v invalid(f64v result, f64v x)
{
    const u64v made = wmi_is_nan_f64(result) & ~wmi_is_nan_f64(x);
    const f64v r = wmi_select_f64(made, (f64v)wmi_splat_u64(WMI_NAN_F64), result);

    return wmi_select_f64(wmi_is_nan_f64(x), wmi_quiet_f64(x), r);
}

/* Infinite results become the largest number. Source: Southern Islands ISA, V_RCP_CLAMP_F64. */
static inline f64v bounded(f64v x)
{
    const u64v sign = (u64v)x & wmi_splat_u64(UINT64_C(1) << 63);
    const u64v infinite = (u64v)(((u64v)x ^ sign) == wmi_splat_u64(UINT64_C(0x7ff) << 52));

    return wmi_select_f64(infinite, (f64v)(sign | wmi_splat_u64(UINT64_C(0x7fefffffffffffff))), x);
}

WMI_APPROXIMATE_PAIRS1(v_rcp_clamp_f64, bounded(ONE(1 / a)))
WMI_APPROXIMATE_PAIRS1(v_rsq_clamp_f64, bounded(invalid(1 / wmi_sqrt_f64(a), a)))
WMI_APPROXIMATE_PAIRS1(v_rcp_f64, ONE(1 / a))
WMI_APPROXIMATE_PAIRS1(v_sqrt_f64, invalid(wmi_sqrt_f64(a), a))
WMI_APPROXIMATE_PAIRS1(v_rsq_f64, invalid(1 / wmi_sqrt_f64(a), a))

/* a * 2^b with b a row of i32. */
WMI_PAIRS(v_ldexp_f64, const struct wmi_f64x2 ax = WMI_PAIR(a);
          const u32v exponent = wmi_load_u32(frame + op->b + at), const f64v a = ax.v[i],
          wmi_scale_f64(wmi_input_f64(a, mode),
                        __builtin_convertvector((i32half)wmi_half_u32(exponent, i), i64v)))

static inline u64v wide_lanes(u32half mask)
{
    return (u64v) __builtin_convertvector((i32half)mask, i64v);
}

WMI_PAIRS3(v_div_fixup_f64, wmi_div_fixup_f64(a, b, c, mode))

static inline u32v vcc_lanes(const char *frame, unsigned at)
{
    return wmi_expand(wmi_get_mask(frame, 4 * WMI_S_VCC) >> at / 4);
}

WMI_PAIRS3(v_div_fmas_f64,
           THREE(wmi_div_fmas_f64(a, b, c, wide_lanes(wmi_half_u32(vcc_lanes(frame, at), i)), mode)))

static WMI_APART void v_div_scale_f64_loop(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);
    const uint32_t mode = ((const struct wmi_frame *)frame)->mode;
    uint64_t bits = 0;

    WMI_EACH_VECTOR(at)
    {
        const u32v active = wmi_load_u32((const char *)lanes->row + at);
        const struct wmi_f64x2 a = WMI_PAIR(a), b = WMI_PAIR(b), c = WMI_PAIR(c);
        struct wmi_f64x2 r, post;

        for (int i = 0; i < 2; i++) {
            u64v mask;
            r.v[i] = wmi_div_scale_f64(a.v[i], b.v[i], c.v[i], mode, &mask);
            post.v[i] = (f64v)mask;
        }
        bits |= wmi_pack(wmi_low_words(post)) << at / 4;
        WMI_STORE_PAIR(r);
    }
    wmi_put_mask(frame, op->e, bits & lanes->bits);
}

WMI_UNDER(v_div_scale_f64, wave->mxcsr64)

/* The binary digits of 2 / pi after the point, from the top bit down. */
static const uint64_t two_over_pi[19] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

/* 53 digits of 2 / pi, at a position that depends on the exponent of x and the segment number, scaled
 * accordingly; denormal results are cut off, whatever MODE says. Source: the CDNA3 ISA document,
 * V_TRIG_PREOP_F64, which has 1201 digits; gfx1201 has 1184, the others are zeros (captures of bjacob/goc).
 */
static uint64_t trig_preop(uint64_t x, uint32_t segment)
{
    enum { DIGITS = 1184, BIAS = 1023, FRACTION = 52 };
    const uint32_t exponent = x >> FRACTION & 2047;
    const uint32_t shift = (segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    uint64_t digits = 0;

    for (uint32_t i = shift; i < shift + 53; i++)
        digits = digits << 1 | (i < DIGITS ? two_over_pi[i / 64] >> (63 - i % 64) & 1 : 0);
    if (!digits)
        return 0;
    const int zeros = __builtin_clzll(digits) - (63 - FRACTION);
    const int field = BIAS - 1 - (int)shift - zeros + (exponent >= 1968 ? 128 : 0);
    const uint64_t significand = digits << zeros;
    if (field > 0)
        return (uint64_t)field << FRACTION | (significand & ((UINT64_C(1) << FRACTION) - 1));
    return field > -FRACTION ? significand >> (1 - field) : 0;
}

WMI_DEFINE(v_trig_preop_f64)
{
    const struct wmi_lanes *lanes = (const struct wmi_lanes *)(frame + op->lanes);

    for (unsigned lane = 0; lane < WMI_LANES; lane++) {
        uint32_t low, high, segment;
        memcpy(&low, frame + op->a + 4 * lane, 4);
        memcpy(&high, frame + op->a + WMI_ROW_BYTES + 4 * lane, 4);
        memcpy(&segment, frame + op->b + 4 * lane, 4);
        if (!(lanes->bits >> lane & 1))
            continue;
        const uint64_t r = trig_preop((uint64_t)high << 32 | low, segment);
        memcpy(frame + op->d + 4 * lane, &r, 4);
        memcpy(frame + op->d + WMI_ROW_BYTES + 4 * lane, (const char *)&r + 4, 4);
    }
    return wmi_next(frame, op);
}

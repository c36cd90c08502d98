/* SPDX-License-Identifier: MIT */
/* f16 and packed f16 arithmetic of the vector ALU. Results have a zero high half. */
#include "sem/float_bodies.h"

/* Sums and products of two halves' widened values; NaNs are settled in f32, which keeps their payload. */
static inline u32v add(u32v a, u32v b, uint32_t mode)
{
    const f32v x = wmi_input_f16(a, mode), y = wmi_input_f16(b, mode);

    return wmi_output_f16(wmi_settle_f32(wmi_sum_f16(x, y, mode), wmi_splat_u32(~0u), x, y, y), mode);
}

static inline u32v subtract(u32v a, u32v b, uint32_t mode)
{
    const f32v x = wmi_input_f16(a, mode), y = wmi_input_f16(b, mode), minus = (f32v)((u32v)y ^ WMI_SIGN_F32);

    return wmi_output_f16(wmi_settle_f32(wmi_sum_f16(x, minus, mode), wmi_splat_u32(~0u), x, y, y), mode);
}

static inline u32v multiply(u32v a, u32v b, uint32_t mode)
{
    const f32v x = wmi_input_f16(a, mode), y = wmi_input_f16(b, mode);

    return wmi_output_f16(wmi_settle_f32(x * y, wmi_splat_u32(~0u), x, y, y), mode);
}

/* The product of two halves is exact in f32, so the sum is the one rounding. */
static inline u32v fused(u32v a, u32v b, u32v c, uint32_t mode)
{
    const f32v x = wmi_input_f16(a, mode), y = wmi_input_f16(b, mode), z = wmi_input_f16(c, mode);

    return wmi_output_f16(wmi_settle_f32(wmi_sum_f16(x * y, z, mode), wmi_splat_u32(~0u), x, y, z), mode);
}

/* Rounded after the product and after the sum, denormals flushed. Source: [V], V_MAD_F16; [L], v_mad_f16 only
 * without f16 denormals. */
static inline u32v unfused(u32v a, u32v b, u32v c, uint32_t mode)
{
    const uint32_t flush = mode & ~(uint32_t)(WMI_MODE_DENORMAL_IN_F64 | WMI_MODE_DENORMAL_OUT_F64);
    const f32v x = wmi_input_f16(a, flush), y = wmi_input_f16(b, flush), z = wmi_input_f16(c, flush);
    const f32v product = wmi_widen(wmi_output_f16(x * y, flush));

    return wmi_output_f16(wmi_settle_f32(wmi_sum_f16(product, z, mode), wmi_splat_u32(~0u), x, y, z), flush);
}

/* The bits of an operand in the low half, denormals as MODE wants them. */
static inline u32v moved(u32v half, uint32_t mode)
{
    const u32v low = half & 0xffff;

    return mode & WMI_MODE_DENORMAL_IN_F64 ? low : wmi_flush_f16(low);
}

/* As the f32 rules, on the bits: which NaN signals is seen only there. Source: [V], V_MIN_F16, V_MAX_F16. */
static inline u32v extreme(u32v a, u32v b, uint32_t mode, bool maximum)
{
    const u32v p = moved(a, mode), q = moved(b, mode);
    const f32v x = wmi_widen(p), y = wmi_widen(q);
    const u32v first = maximum ? (u32v)(x > y) : (u32v)(x < y);
    u32v r = wmi_select_u32((u32v)(x == y), maximum ? p & q : p | q, wmi_select_u32(first, p, q));

    r = wmi_select_u32(wmi_is_nan_f32(y), p, r);
    r = wmi_select_u32(wmi_is_nan_f32(x), q, r);
    if (mode & WMI_MODE_IEEE) {
        r = wmi_select_u32(wmi_is_signalling_f32(y), q | WMI_QUIET_F16, r);
        r = wmi_select_u32(wmi_is_signalling_f32(x), p | WMI_QUIET_F16, r);
    }
    return r;
}

static inline u32v minimum3(u32v a, u32v b, u32v c, uint32_t mode)
{
    return extreme(extreme(a, b, mode, false), c, mode, false);
}

static inline u32v maximum3(u32v a, u32v b, u32v c, uint32_t mode)
{
    return extreme(extreme(a, b, mode, true), c, mode, true);
}

static inline u32v median(u32v a, u32v b, u32v c, uint32_t mode)
{
    const f32v x = wmi_input_f16(a, mode), y = wmi_input_f16(b, mode), z = wmi_input_f16(c, mode);
    const f32v top = wmi_widen(maximum3(a, b, c, mode));
    u32v r = wmi_select_u32((u32v)(top == y), extreme(a, c, mode, true), extreme(a, b, mode, true));

    r = wmi_select_u32((u32v)(top == x), extreme(b, c, mode, true), r);
    return wmi_select_u32(wmi_is_nan_f32(x) | wmi_is_nan_f32(y) | wmi_is_nan_f32(z), minimum3(a, b, c, mode),
                          r);
}

WMI_HALVES2(v_add_f16, add(a, b, mode))
WMI_HALVES2(v_sub_f16, subtract(a, b, mode))
WMI_HALVES2(v_subrev_f16, subtract(b, a, mode))
WMI_HALVES2(v_mul_f16, multiply(a, b, mode))
WMI_HALVES2(v_min_f16, extreme(a, b, mode, false))
WMI_HALVES2(v_max_f16, extreme(a, b, mode, true))
WMI_HALVES3(v_fma_f16, fused(a, b, c, mode))
WMI_HALVES3(v_fma_legacy_f16, fused(a, b, c, mode))
WMI_HALVES3(v_mad_f16, unfused(a, b, c, mode))
WMI_HALVES3(v_mad_legacy_f16, unfused(a, b, c, mode))
WMI_HALVES3(v_mac_f16, unfused(a, b, c, mode))
WMI_HALVES3(v_madmk_f16, unfused(a, c, b, mode))
WMI_HALVES3(v_madak_f16, unfused(a, b, c, mode))
WMI_HALVES3(v_min3_f16, minimum3(a, b, c, mode))
WMI_HALVES3(v_max3_f16, maximum3(a, b, c, mode))
WMI_HALVES3(v_med3_f16, median(a, b, c, mode))

/* Integral results are exact, so the narrowing rounds nothing. */
#define ROUNDED(how) wmi_output_f16(wmi_round_f32(wmi_input_f16(a, mode), how), mode)
WMI_HALVES1(v_trunc_f16, ROUNDED(WMI_ROUND_ZERO))
WMI_HALVES1(v_ceil_f16, ROUNDED(WMI_ROUND_UP))
WMI_HALVES1(v_rndne_f16, ROUNDED(WMI_ROUND_EVEN))
WMI_HALVES1(v_floor_f16, ROUNDED(WMI_ROUND_DOWN))

/* x - floor(x) is exact in f32 for what is not denormal; the result stays below 1: 0x3bff is the largest. */
static inline u32v fraction(u32v a, uint32_t mode)
{
    const f32v x = wmi_input_f16(a, mode), whole = wmi_round_f32(x, WMI_ROUND_DOWN);
    const f32v minus = (f32v)((u32v)whole ^ WMI_SIGN_F32);
    const f32v r = wmi_settle_f32(wmi_sum_f16(x, minus, mode), wmi_splat_u32(~0u), x, x, x);
    const u32v half = wmi_output_f16(r, mode);

    return wmi_select_u32((u32v)(half == 0x3c00), wmi_splat_u32(0x3bff), half);
}

WMI_HALVES1(v_fract_f16, fraction(a, mode))
WMI_HALVES1(v_frexp_mant_f16, wmi_narrow(wmi_frexp_significand_f32(wmi_input_f16(a, mode)), 0))
WMI_HALVES1(v_frexp_exp_i16_f16, wmi_frexp_exponent_f32(wmi_input_f16(a, mode)) & 0xffff)

/* a * 2^b with b an i16: scaling by at most 2^60 keeps f32 exact and is beyond all that f16 holds. */
static inline u32v scaled(u32v a, u32v b, uint32_t mode)
{
    const i32v n = wmi_limit_i32((i32v)(b << 16) >> 16, -60, 60);

    return wmi_output_f16(wmi_scale_f32(wmi_input_f16(a, mode), n), mode);
}

WMI_HALVES2(v_ldexp_f16, scaled(a, b, mode))

/* a: quotient, b: denominator, c: numerator. Source: the CDNA3 ISA document, V_DIV_FIXUP_F16. */
static inline u32v fix_up(u32v a, u32v b, u32v c, uint32_t mode)
{
    const f32v q = wmi_input_f16(a, mode), d = wmi_input_f16(b, mode), n = wmi_input_f16(c, mode);
    const u32v sign = ((u32v)d ^ (u32v)n) & WMI_SIGN_F32;
    const u32v d_size = (u32v)d & ~WMI_SIGN_F32, n_size = (u32v)n & ~WMI_SIGN_F32;
    const u32v d_zero = (u32v)(d_size == 0), n_zero = (u32v)(n_size == 0);
    const u32v d_infinite = (u32v)(d_size == WMI_EXPONENT_F32),
               n_infinite = (u32v)(n_size == WMI_EXPONENT_F32);
    u32v r = sign | ((u32v)q & ~WMI_SIGN_F32);

    r = wmi_select_u32(d_infinite | n_zero, sign, r);
    r = wmi_select_u32(d_zero | n_infinite, sign | WMI_EXPONENT_F32, r);
    r = wmi_select_u32((d_zero & n_zero) | (d_infinite & n_infinite), wmi_splat_u32(WMI_NAN_INVALID_F32), r);
    r = wmi_select_u32(wmi_is_nan_f32(d), (u32v)d, r);
    r = wmi_select_u32(wmi_is_nan_f32(n), (u32v)n, r);
    return wmi_output_f16((f32v)r, mode);
}

WMI_HALVES3(v_div_fixup_f16, fix_up(a, b, c, mode))
WMI_HALVES3(v_div_fixup_legacy_f16, fix_up(a, b, c, mode))

/* Both halves of packed operands, op_sel and neg already applied. */
#define PACKED2(operation) (operation(a, b, mode) | operation(a >> 16, b >> 16, mode) << 16)
#define PACKED3(operation) (operation(a, b, c, mode) | operation(a >> 16, b >> 16, c >> 16, mode) << 16)

WMI_HALVES2(v_pk_add_f16, PACKED2(add))
WMI_HALVES2(v_pk_mul_f16, PACKED2(multiply))
WMI_HALVES2(v_pk_min_f16, (extreme(a, b, mode, false) | extreme(a >> 16, b >> 16, mode, false) << 16))
WMI_HALVES2(v_pk_max_f16, (extreme(a, b, mode, true) | extreme(a >> 16, b >> 16, mode, true) << 16))
WMI_HALVES3(v_pk_fma_f16, PACKED3(fused))
WMI_HALVES3(v_pk_fmac_f16, PACKED3(fused))

/* Moves bits. That it flushes what MODE does not let through is unverified. */
WMI_ROWS2(v_pack_b32_f16, u32v, moved(a, mode) | moved(b, mode) << 16)

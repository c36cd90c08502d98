/* SPDX-License-Identifier: MIT */
/* f16 and packed f16 arithmetic of the vector ALU. Results have a zero high half. */
#include "sem/float_bodies.h"

/* x, y, z are halves as f32; so are results before they are rounded to f16. NaNs are settled in f32, which
 * preserves their payload. */
static inline f32v settled(f32v result, f32v x, f32v y, f32v z)
{
    return wmi_settle_f32(result, wmi_splat_u32(~0u), x, y, z);
}

static inline f32v negated(f32v x)
{
    return (f32v)((u32v)x ^ WMI_SIGN_F32);
}

static inline f32v sum(f32v x, f32v y, uint32_t mode)
{
    return settled(wmi_sum_f16(x, y, mode), x, y, y);
}

static inline f32v difference(f32v x, f32v y, uint32_t mode)
{
    return settled(wmi_sum_f16(x, negated(y), mode), x, y, y);
}

/* Exact in f32. */
static inline f32v product(f32v x, f32v y)
{
    return settled(x * y, x, y, y);
}

/* The product has at most 22 significant bits and is exact, so only the sum rounds. */
static inline f32v fused(f32v x, f32v y, f32v z, uint32_t mode)
{
#if WMI_VECTOR_BYTES == 32 /* with AVX-512 rounding to odd is as fast */
    if (!wmi_rounding_f16(mode)) {
        /* Rounding to f32 first is safe unless the f32 result is half-way between two halves. Below 2^-14 the
         * half-way points differ. One comparison finds small results, zero, and NaNs, which need settling. */
        const f32v near = wmi_fused_f32(x, y, z);
        const u32v magnitude = (u32v)near & ~WMI_SIGN_F32;
        const u32v halfway = (u32v)(((u32v)near & 0x1fff) == 0x1000);
        const u32v outside = (u32v)((i32v)(magnitude + 0x47800000) > (int32_t)0xc7000000);

        if (__builtin_expect(!wmi_any(halfway | outside), 1) ||
            !wmi_any(halfway | (outside & (u32v)(magnitude != 0))))
            return near;
    }
#endif
    return settled(wmi_sum_odd_f16(x * y, z, mode), x, y, wmi_addend_f32(x, y, z));
}

WMI_F16_2(v_add_f16, sum(x, y, mode))
WMI_F16_2(v_sub_f16, difference(x, y, mode))
WMI_F16_2(v_subrev_f16, difference(y, x, mode))
WMI_F16_2(v_mul_f16, product(x, y))
WMI_F16_3(v_fma_f16, fused(x, y, z, mode))
WMI_F16_3(v_fma_legacy_f16, fused(x, y, z, mode))
WMI_F16_3(v_fmac_f16, fused(x, y, z, mode))
WMI_F16_3(v_fmamk_f16, fused(x, z, y, mode))
WMI_F16_3(v_fmaak_f16, fused(x, y, z, mode))
WMI_V2F16_2(v_pk_add_f16, sum(x, y, mode))
WMI_V2F16_2(v_pk_mul_f16, product(x, y))
WMI_V2F16_3(v_pk_fma_f16, fused(x, y, z, mode))
WMI_V2F16_3(v_pk_fmac_f16, fused(x, y, z, mode))

/* Rounded after the product and after the sum, denormals flushed. Source: [V], V_MAD_F16; [L], v_mad_f16 only
 * without f16 denormals. */
static inline u32v unfused(u32v a, u32v b, u32v c, uint32_t mode)
{
    const uint32_t flush = mode & ~(uint32_t)(WMI_MODE_DENORMAL_IN_F64 | WMI_MODE_DENORMAL_OUT_F64);
    const f32v x = wmi_input_f16(a, flush), y = wmi_input_f16(b, flush), z = wmi_input_f16(c, flush);
    const f32v rounded = wmi_widen(wmi_output_f16(x * y, flush));

    return wmi_output_f16(settled(wmi_sum_f16(rounded, z, flush), x, y, wmi_addend_f32(x, y, z)), flush);
}

WMI_HALVES3(v_mad_f16, unfused(a, b, c, mode))
WMI_HALVES3(v_mad_legacy_f16, unfused(a, b, c, mode))
WMI_HALVES3(v_mac_f16, unfused(a, b, c, mode))
WMI_HALVES3(v_madmk_f16, unfused(a, c, b, mode))
WMI_HALVES3(v_madak_f16, unfused(a, b, c, mode))

/* ---- minimum and maximum, both halves of a word at once ---- */

/* Integers in the order of the halves, with -0 below +0. */
static inline i16v ordered(u32v halves)
{
    return (i16v)halves ^ (((i16v)halves >> 15) & 0x7fff);
}

static inline u32v are_nan(u32v halves)
{
    return (u32v)(((i16v)halves & 0x7fff) > WMI_INFINITY_F16);
}

static inline u32v are_signalling(u32v halves)
{
    return are_nan(halves) & (u32v)(((i16v)halves & WMI_QUIET_F16) == 0);
}

/* Same rules as for f32. Source: [V], V_MIN_F16, V_MAX_F16. */
static inline u32v extreme(u32v a, u32v b, uint32_t mode, bool maximum)
{
    const u32v p = wmi_halves_in(a, mode), q = wmi_halves_in(b, mode);
    const u32v first = maximum ? (u32v)(ordered(p) > ordered(q)) : (u32v)(ordered(p) < ordered(q));
    const u32v p_nan = are_nan(p), q_nan = are_nan(q);
    u32v r = wmi_select_u32(first, p, q);

    if (__builtin_expect(!wmi_any(p_nan | q_nan), 1))
        return r;
    r = wmi_select_u32(q_nan, p, r);
    r = wmi_select_u32(p_nan, q, r);
    if (mode & WMI_MODE_IEEE) {
        r = wmi_select_u32(are_signalling(q), q | (WMI_QUIET_F16 * 0x10001u), r);
        r = wmi_select_u32(are_signalling(p), p | (WMI_QUIET_F16 * 0x10001u), r);
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
    const u32v p = wmi_halves_in(a, mode), q = wmi_halves_in(b, mode), s = wmi_halves_in(c, mode);
    const u32v nan = are_nan(p) | are_nan(q) | are_nan(s), top = maximum3(p, q, s, mode);
    const u32v is_p = (u32v)((i16v)top == (i16v)p), is_q = (u32v)((i16v)top == (i16v)q);
    u32v r = wmi_select_u32(is_q, extreme(p, s, mode, true), extreme(p, q, mode, true));

    r = wmi_select_u32(is_p, extreme(q, s, mode, true), r);
    return wmi_any(nan) ? wmi_select_u32(nan, minimum3(p, q, s, mode), r) : r;
}

/* Returns any NaN, the first source's before the second's. Otherwise the same rules as for f32. */
static inline u32v extreme_or_nan(u32v a, u32v b, uint32_t mode, bool maximum)
{
    const u32v p = wmi_halves_in(a, mode), q = wmi_halves_in(b, mode);
    const u32v first = maximum ? (u32v)(ordered(p) > ordered(q)) : (u32v)(ordered(p) < ordered(q));
    const u32v quiet = wmi_splat_u32(WMI_QUIET_F16 * 0x10001u);
    u32v r = wmi_select_u32(first, p, q);

    r = wmi_select_u32(are_nan(q), q | quiet, r);
    return wmi_select_u32(are_nan(p), p | quiet, r);
}

static inline u32v minimum_or_nan(u32v a, u32v b, uint32_t mode)
{
    return extreme_or_nan(a, b, mode, false);
}

static inline u32v maximum_or_nan(u32v a, u32v b, uint32_t mode)
{
    return extreme_or_nan(a, b, mode, true);
}

#define LOW(x) ((x) & 0xffff)
WMI_HALVES2(v_min_f16, extreme(LOW(a), LOW(b), mode, false))
WMI_HALVES2(v_max_f16, extreme(LOW(a), LOW(b), mode, true))
WMI_HALVES3(v_min3_f16, minimum3(LOW(a), LOW(b), LOW(c), mode))
WMI_HALVES3(v_max3_f16, maximum3(LOW(a), LOW(b), LOW(c), mode))
WMI_HALVES3(v_med3_f16, median(LOW(a), LOW(b), LOW(c), mode))
WMI_HALVES2(v_pk_min_f16, extreme(a, b, mode, false))
WMI_HALVES2(v_pk_max_f16, extreme(a, b, mode, true))
WMI_HALVES3(v_maxmin_f16, extreme(extreme(LOW(a), LOW(b), mode, true), LOW(c), mode, false))
WMI_HALVES3(v_minmax_f16, extreme(extreme(LOW(a), LOW(b), mode, false), LOW(c), mode, true))
WMI_HALVES2(v_minimum_f16, minimum_or_nan(LOW(a), LOW(b), mode))
WMI_HALVES2(v_maximum_f16, maximum_or_nan(LOW(a), LOW(b), mode))
WMI_HALVES2(v_pk_minimum_f16, minimum_or_nan(a, b, mode))
WMI_HALVES2(v_pk_maximum_f16, maximum_or_nan(a, b, mode))
WMI_HALVES3(v_pk_minimum3_f16, minimum_or_nan(minimum_or_nan(a, b, mode), c, mode))
WMI_HALVES3(v_pk_maximum3_f16, maximum_or_nan(maximum_or_nan(a, b, mode), c, mode))
WMI_HALVES3(v_pk_min3_num_f16, minimum3(a, b, c, mode))
WMI_HALVES3(v_pk_max3_num_f16, maximum3(a, b, c, mode))
WMI_HALVES3(v_minimum3_f16, minimum_or_nan(minimum_or_nan(LOW(a), LOW(b), mode), LOW(c), mode))
WMI_HALVES3(v_maximum3_f16, maximum_or_nan(maximum_or_nan(LOW(a), LOW(b), mode), LOW(c), mode))
WMI_HALVES3(v_maximumminimum_f16, minimum_or_nan(maximum_or_nan(LOW(a), LOW(b), mode), LOW(c), mode))
WMI_HALVES3(v_minimummaximum_f16, maximum_or_nan(minimum_or_nan(LOW(a), LOW(b), mode), LOW(c), mode))

static inline u32v quieted(u32v halves)
{
    const u32v nan = (u32v)((i16v)(halves & 0x7fff7fff) > WMI_INFINITY_F16);

    return halves | (nan & (WMI_QUIET_F16 | WMI_QUIET_F16 << 16));
}

/* Quiets NaNs: measured on gfx1201 (bjacob/goc). Flushing denormals according to MODE is unverified. */
WMI_HALVES2(v_pack_b32_f16, quieted(wmi_halves_in(LOW(a) | b << 16, mode)))

/* ---- rounding and scaling ---- */

/* Integral results are exact, so narrowing does not round. */
WMI_F16_1(v_trunc_f16, wmi_round_f32(x, WMI_ROUND_ZERO))
WMI_F16_1(v_ceil_f16, wmi_round_f32(x, WMI_ROUND_UP))
WMI_F16_1(v_rndne_f16, wmi_round_f32(x, WMI_ROUND_EVEN))
WMI_F16_1(v_floor_f16, wmi_round_f32(x, WMI_ROUND_DOWN))

/* x - floor(x) is exact in f32 unless denormal. The result stays below 1: the largest is 0x3bff. */
static inline u32v fraction(u32v a, uint32_t mode)
{
    const f32v x = wmi_input_f16(a, mode), whole = wmi_round_f32(x, WMI_ROUND_DOWN);
    const f32v r = settled(wmi_sum_f16(x, negated(whole), mode), x, x, x);
    const u32v half = wmi_output_f16(r, mode), zero = (u32v)(half == WMI_SIGN_F16);

    return wmi_select_u32((u32v)(half == 0x3c00), wmi_splat_u32(0x3bff), half & ~zero);
}

/* A half that is neither zero nor special is a normal f32. */
static inline u32v is_number(f32v x)
{
    const u32v size = (u32v)x & ~WMI_SIGN_F32;

    return (u32v)(size - 1 < WMI_EXPONENT_F32 - 1);
}

static inline f32v mantissa(f32v x)
{
    const u32v half = ((u32v)x & ~WMI_EXPONENT_F32) | 0x3f000000u;

    return (f32v)wmi_select_u32(is_number(x), half, (u32v)x);
}

static inline u32v exponent(f32v x)
{
    return ((((u32v)x >> 23) & 255) - 126) & is_number(x) & 0xffff;
}

WMI_HALVES1(v_fract_f16, fraction(a, mode))
WMI_F16_1(v_frexp_mant_f16, mantissa(x))
WMI_HALVES1(v_frexp_exp_i16_f16, exponent(wmi_input_f16(a, mode)))

/* a * 2^b, with b an i16: scaling by at most 2^60 is exact in f32 and exceeds the range of f16. */
static inline u32v scaled(u32v a, u32v b, uint32_t mode)
{
    const i32v n = wmi_limit_i32((i32v)(b << 16) >> 16, -60, 60);

    return wmi_output_f16(wmi_input_f16(a, mode) * (f32v)((u32v)(n + 127) << 23), mode);
}

WMI_HALVES2(v_ldexp_f16, scaled(a, b, mode))

/* x: quotient, y: denominator, z: numerator. Source: the CDNA3 ISA document, V_DIV_FIXUP_F16. */
static inline f32v fix_up(f32v q, f32v d, f32v n)
{
    const u32v sign = ((u32v)d ^ (u32v)n) & WMI_SIGN_F32;
    const u32v d_size = (u32v)d & ~WMI_SIGN_F32, n_size = (u32v)n & ~WMI_SIGN_F32;
    u32v r = sign | ((u32v)q & ~WMI_SIGN_F32);

    if (__builtin_expect(!wmi_any(~(is_number(d) & is_number(n))), 1))
        return (f32v)r;
    const u32v d_zero = (u32v)(d_size == 0), n_zero = (u32v)(n_size == 0);
    const u32v d_infinite = (u32v)(d_size == WMI_EXPONENT_F32),
               n_infinite = (u32v)(n_size == WMI_EXPONENT_F32);

    r = wmi_select_u32(d_infinite | n_zero, sign, r);
    r = wmi_select_u32(d_zero | n_infinite, sign | WMI_EXPONENT_F32, r);
    r = wmi_select_u32((d_zero & n_zero) | (d_infinite & n_infinite), wmi_splat_u32(WMI_NAN_F32), r);
    r = wmi_select_u32(wmi_is_nan_f32(d), (u32v)d, r);
    return (f32v)wmi_select_u32(wmi_is_nan_f32(n), (u32v)n, r);
}

WMI_F16_3(v_div_fixup_f16, fix_up(x, y, z))
WMI_F16_3(v_div_fixup_legacy_f16, fix_up(x, y, z))

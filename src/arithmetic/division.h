/* SPDX-License-Identifier: MIT */
/* The three steps of division: v_div_scale, v_div_fmas, v_div_fixup.
 *
 * For *_lanes.c files only. Source: captures on gfx1100 and gfx1201, where the CDNA3 and CDNA4 ISA documents,
 * V_DIV_SCALE_F32 and following, say something else; LLVM's expansion then gives the correctly rounded
 * quotient. v_div_fmas multiplies by 2^64 or 2^-64 (2^128 for f64) depending on the size of the quotient, not
 * by 2^32. */
#ifndef WMI_DIVISION_H
#define WMI_DIVISION_H

#include "arithmetic/float.h"

/* The scaled value; *post: lanes whose quotient v_div_fmas must scale back. By encoded exponents, as captured
 * on gfx1100 and gfx1201 (ROCm/rocm-systems, emulation/rocjitsu; bjacob/goc): the first rule that applies, of
 * a quotient near the largest number, a denormal denominator, one whose reciprocal may be denormal, a
 * quotient that may be denormal, and a small numerator. */
static inline f32v wmi_div_scale_f32(f32v value, f32v denominator, f32v numerator, uint32_t mode, u32v *post)
{
    const f32v in = wmi_input_f32(value, mode);

    denominator = wmi_input_f32(denominator, mode);
    numerator = wmi_input_f32(numerator, mode);
    const u32v d_exponent = ((u32v)denominator >> 23) & 255, n_exponent = ((u32v)numerator >> 23) & 255;
    /* If neither operand nor the quotient is near a limit, nothing is scaled. */
    const u32v near_limit = (u32v)(d_exponent - 1 >= 252) | (u32v)(n_exponent <= 24) |
                            (u32v)(n_exponent - d_exponent + 95 >= 191);

    *post = wmi_splat_u32(0);
    if (__builtin_expect(!wmi_any(near_limit), 1))
        return wmi_quiet_f32(in);
    const u32v zero =
        (u32v)(((u32v)denominator & ~WMI_SIGN_F32) == 0) | (u32v)(((u32v)numerator & ~WMI_SIGN_F32) == 0);
    const u32v is_d = (u32v)(in == denominator), is_n = (u32v)(in == numerator);
    const i32v gap = (i32v)(n_exponent - d_exponent);
    const u32v large = (u32v)(gap >= 96), tiny = (u32v)(gap <= -96); /* the quotient */
    const u32v d_tiny = (u32v)(d_exponent == 0) & ~large, d_large = (u32v)(d_exponent >= 253) & ~large;
    const u32v rest = ~(large | d_tiny | d_large);
    const u32v up =
        (large & is_d) | d_tiny | (rest & tiny & is_n) | (rest & ~tiny & (u32v)(n_exponent <= 24));
    const u32v down = d_large & (is_d | ~tiny);

    *post = large | (tiny & ~d_tiny);
    const i32v by = (i32v)((up & 64) - (down & 64));
    const f32v r = wmi_select_f32(up | down, wmi_scale_f32(in, by), wmi_quiet_f32(in));

    return wmi_select_f32(zero, (f32v)wmi_splat_u32(WMI_NAN_F32), r);
}

static inline f64v wmi_div_scale_f64(f64v value, f64v denominator, f64v numerator, uint32_t mode, u64v *post)
{
    const f64v in = wmi_input_f64(value, mode);

    denominator = wmi_input_f64(denominator, mode);
    numerator = wmi_input_f64(numerator, mode);
    const u64v d_exponent = ((u64v)denominator >> 52) & 2047, n_exponent = ((u64v)numerator >> 52) & 2047;
    /* If neither operand nor the quotient is near a limit, nothing is scaled. */
    const u64v near_limit = (u64v)(d_exponent - 1 >= 2044) | (u64v)(n_exponent <= 53) |
                            (u64v)(n_exponent - d_exponent + 767 >= 1535);

    *post = wmi_splat_u64(0);
    if (__builtin_expect(!wmi_any((u32v)near_limit), 1))
        return wmi_quiet_f64(in);
    const u64v zero =
        (u64v)(((u64v)denominator & ~WMI_SIGN_F64) == 0) | (u64v)(((u64v)numerator & ~WMI_SIGN_F64) == 0);
    const u64v is_d = (u64v)(in == denominator), is_n = (u64v)(in == numerator);
    const i64v gap = (i64v)(n_exponent - d_exponent);
    const u64v large = (u64v)(gap >= 768), tiny = (u64v)(gap <= -768); /* the quotient */
    const u64v d_tiny = (u64v)(d_exponent == 0) & ~large, d_large = (u64v)(d_exponent >= 2045) & ~large;
    const u64v rest = ~(large | d_tiny | d_large);
    const u64v up =
        (large & is_d) | d_tiny | (rest & tiny & is_n) | (rest & ~tiny & (u64v)(n_exponent <= 53));
    const u64v down = d_large & (is_d | ~tiny);

    *post = large | (tiny & ~d_tiny);
    const i64v by = (i64v)((up & 128) - (down & 128));
    const f64v r = wmi_select_f64(up | down, wmi_scale_f64(in, by), wmi_quiet_f64(in));

    return wmi_select_f64(zero, (f64v)wmi_splat_u64(WMI_NAN_F64), r);
}

/* a * b + c rounded to odd, so that a later rounding to fewer bits is correct. Source of the error of a fused
 * sum: Boldo and Muller, "Exact and approximated error of the FMA". Operands must be far from the limits. */
static inline f32v wmi_fused_odd_f32(f32v a, f32v b, f32v c, bool directed)
{
    const f32v r = wmi_fused_f32(a, b, c);

    if (directed)
        return r; /* with a directed mode, double rounding is innocuous */
    const f32v product = a * b, product_rest = wmi_fused_f32(a, b, -product);
    const f32v low = c + product_rest, low_part = low - c;
    const f32v low_rest = (c - (low - low_part)) + (product_rest - low_part);
    const f32v high = product + low, high_part = high - product;
    const f32v high_rest = (product - (high - high_part)) + (low - high_part);
    const f32v error = ((high - r) + high_rest) + low_rest;
    const u32v inexact = (u32v)(error > 0) | (u32v)(error < 0);
    const u32v even = (u32v)(((u32v)r & 1) == 0);
    const u32v outward = (u32v)((error > 0) == (r > 0));

    return (f32v)((u32v)r + (((outward & 1) | ~outward) & inexact & even));
}

static inline f64v wmi_fused_odd_f64(f64v a, f64v b, f64v c, bool directed)
{
    const f64v r = wmi_fused_f64(a, b, c);

    if (directed)
        return r; /* with a directed mode, double rounding is innocuous */
    const f64v product = a * b, product_rest = wmi_fused_f64(a, b, -product);
    const f64v low = c + product_rest, low_part = low - c;
    const f64v low_rest = (c - (low - low_part)) + (product_rest - low_part);
    const f64v high = product + low, high_part = high - product;
    const f64v high_rest = (product - (high - high_part)) + (low - high_part);
    const f64v error = ((high - r) + high_rest) + low_rest;
    const u64v inexact = (u64v)(error > 0) | (u64v)(error < 0);
    const u64v even = (u64v)(((u64v)r & 1) == 0);
    const u64v outward = (u64v)((error > 0) == (r > 0));

    return (f64v)((u64v)r + (((outward & 1) | ~outward) & inexact & even));
}

/* a * b + c, scaled back where `post` is set. A quotient that becomes denormal must be rounded once, to a
 * multiple of the smallest denormal: next to `anchor` this is an ulp of the sum. c is split into a multiple
 * of it and a rest, to which a * b is added, rounded to odd. */
static inline f32v wmi_div_fmas_f32(f32v a, f32v b, f32v c, u32v post, uint32_t mode)
{
    const f32v r = wmi_fused_f32(a, b, c);

    if (__builtin_expect(!wmi_any((u32v)post), 1))
        return r;
    const u32v large = (u32v)(((u32v)c >> 23 & 255) > 127);
    const f32v factor = wmi_select_f32(large, wmi_splat_f32(0x1p64f), wmi_splat_f32(0x1p-64f));
    const f32v scaled = wmi_select_f32(post, r * factor, r);
    const u32v tiny = post & (u32v)((f32v)((u32v)c & ~WMI_SIGN_F32) <= 0x1p-62f);

    if (!wmi_any((u32v)tiny))
        return scaled;
    const f32v from = c * 0x1p60f;
    const f32v anchor = (f32v)(((u32v)c & WMI_SIGN_F32) | (u32v)wmi_splat_f32(0x1p-2f));
    const f32v near = from + anchor, rest = from - (near - anchor);
    const f32v step = wmi_fused_odd_f32(a * 0x1p60f, b, rest, mode & WMI_MODE_ROUND_F32);

    const f32v small = ((near + step) - anchor) * 0x1p-124f;

    /* A result that underflows to zero keeps its sign. */
    return wmi_select_f32(tiny, (f32v)(((u32v)small & ~WMI_SIGN_F32) | ((u32v)c & WMI_SIGN_F32)), scaled);
}

static inline f64v wmi_div_fmas_f64(f64v a, f64v b, f64v c, u64v post, uint32_t mode)
{
    const f64v r = wmi_fused_f64(a, b, c);

    if (__builtin_expect(!wmi_any((u32v)post), 1))
        return r;
    const u64v large = (u64v)(((u64v)c >> 52 & 2047) > 1023);
    const f64v factor = wmi_select_f64(large, wmi_splat_f64(0x1p128), wmi_splat_f64(0x1p-128));
    const f64v scaled = wmi_select_f64(post, r * factor, r);
    const u64v tiny = post & (u64v)((f64v)((u64v)c & ~WMI_SIGN_F64) <= 0x1p-894);

    if (!wmi_any((u32v)tiny))
        return scaled;
    const f64v from = c * 0x1p500;
    const f64v anchor = (f64v)(((u64v)c & WMI_SIGN_F64) | (u64v)wmi_splat_f64(0x1p-394));
    const f64v near = from + anchor, rest = from - (near - anchor);
    const f64v step = wmi_fused_odd_f64(a * 0x1p500, b, rest, mode & WMI_MODE_ROUND_F64);

    const f64v small = ((near + step) - anchor) * 0x1p-628;

    /* A result that underflows to zero keeps its sign. */
    return wmi_select_f64(tiny, (f64v)(((u64v)small & ~WMI_SIGN_F64) | ((u64v)c & WMI_SIGN_F64)), scaled);
}

/* Numbers of these signs that MODE's rounding (2 bits) moves away from zero; none to nearest. */
static inline u32v wmi_div_away_u32(u32v sign, uint32_t rounding)
{
    const u32v negative = (u32v)(sign != 0);
    return rounding == 1 ? ~negative : rounding == 2 ? negative : wmi_splat_u32(0);
}

static inline u64v wmi_div_away_u64(u64v sign, uint32_t rounding)
{
    const u64v negative = (u64v)(sign != 0);
    return rounding == 1 ? ~negative : rounding == 2 ? negative : wmi_splat_u64(0);
}

/* The quotient, or the result for special operands. An infinite quotient or a NaN of finite operands means
 * that the steps before overflowed. Denormal quotients stay. Source: captures on gfx1201. */
static inline f32v wmi_div_fixup_f32(f32v quotient, f32v denominator, f32v numerator, uint32_t mode)
{
    const f32v d = wmi_input_f32(denominator, mode), n = wmi_input_f32(numerator, mode);
    const u32v sign = ((u32v)d ^ (u32v)n) & WMI_SIGN_F32;
    const u32v d_size = (u32v)d & ~WMI_SIGN_F32, n_size = (u32v)n & ~WMI_SIGN_F32;
    const u32v q_size = (u32v)quotient & ~WMI_SIGN_F32;
    const u32v special = (u32v)((d_size >> 23) - 1 >= 254) | (u32v)((n_size >> 23) - 1 >= 254) |
                         (u32v)(q_size >= WMI_EXPONENT_F32) |
                         (u32v)((i32v)((n_size >> 23) - (d_size >> 23)) < -150);

    if (__builtin_expect(!wmi_any(special), 1))
        return (f32v)(sign | q_size);
    const u32v d_zero = (u32v)(d_size == 0), n_zero = (u32v)(n_size == 0);
    const u32v d_infinite = (u32v)(d_size == WMI_EXPONENT_F32),
               n_infinite = (u32v)(n_size == WMI_EXPONENT_F32);
    const u32v infinity = sign | WMI_EXPONENT_F32,
               tiny = (u32v)((i32v)((n_size >> 23) - (d_size >> 23)) < -150);
    /* Out of range: what MODE rounds to, the smallest denormal or zero, the largest number or infinity. */
    const uint32_t rounding = mode >> 0 & 3;
    const u32v away = wmi_div_away_u32(sign, rounding);
    const u32v over = infinity - (~away & (rounding ? 1 : 0)), under = sign | (away & 1);
    u32v r = wmi_select_u32((u32v)(q_size >= WMI_EXPONENT_F32), over, sign | q_size);

    r = wmi_select_u32(tiny, under, r);
    r = wmi_select_u32(d_infinite | n_zero, sign, r);
    r = wmi_select_u32(d_zero | n_infinite, infinity, r);
    r = wmi_select_u32((d_zero & n_zero) | (d_infinite & n_infinite), wmi_splat_u32(WMI_NAN_F32), r);
    r = wmi_select_u32(wmi_is_nan_f32(d), (u32v)wmi_quiet_f32(d), r);
    r = wmi_select_u32(wmi_is_nan_f32(n), (u32v)wmi_quiet_f32(n), r);
    return (f32v)r;
}

static inline f64v wmi_div_fixup_f64(f64v quotient, f64v denominator, f64v numerator, uint32_t mode)
{
    const f64v d = wmi_input_f64(denominator, mode), n = wmi_input_f64(numerator, mode);
    const u64v sign = ((u64v)d ^ (u64v)n) & WMI_SIGN_F64;
    const u64v d_size = (u64v)d & ~WMI_SIGN_F64, n_size = (u64v)n & ~WMI_SIGN_F64;
    const u64v q_size = (u64v)quotient & ~WMI_SIGN_F64;
    const u64v special = (u64v)((d_size >> 52) - 1 >= 2046) | (u64v)((n_size >> 52) - 1 >= 2046) |
                         (u64v)(q_size >= WMI_EXPONENT_F64) |
                         (u64v)((i64v)((n_size >> 52) - (d_size >> 52)) < -1075);

    if (__builtin_expect(!wmi_any((u32v)special), 1))
        return (f64v)(sign | q_size);
    const u64v d_zero = (u64v)(d_size == 0), n_zero = (u64v)(n_size == 0);
    const u64v d_infinite = (u64v)(d_size == WMI_EXPONENT_F64),
               n_infinite = (u64v)(n_size == WMI_EXPONENT_F64);
    const u64v infinity = sign | WMI_EXPONENT_F64,
               tiny = (u64v)((i64v)((n_size >> 52) - (d_size >> 52)) < -1075);
    /* Out of range: what MODE rounds to, the smallest denormal or zero, the largest number or infinity. */
    const uint32_t rounding = mode >> 2 & 3;
    const u64v away = wmi_div_away_u64(sign, rounding);
    const u64v over = infinity - (~away & (rounding ? 1 : 0)), under = sign | (away & 1);
    u64v r = wmi_select_u64((u64v)(q_size >= WMI_EXPONENT_F64), over, sign | q_size);

    r = wmi_select_u64(tiny, under, r);
    r = wmi_select_u64(d_infinite | n_zero, sign, r);
    r = wmi_select_u64(d_zero | n_infinite, infinity, r);
    r = wmi_select_u64((d_zero & n_zero) | (d_infinite & n_infinite), wmi_splat_u64(WMI_NAN_F64), r);
    r = wmi_select_u64(wmi_is_nan_f64(d), (u64v)wmi_quiet_f64(d), r);
    r = wmi_select_u64(wmi_is_nan_f64(n), (u64v)wmi_quiet_f64(n), r);
    return (f64v)r;
}

#endif

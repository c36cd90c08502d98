/* SPDX-License-Identifier: MIT */
/* The three steps of division: v_div_scale, v_div_fmas, v_div_fixup.
 *
 * For *_lanes.c files only. Source: the CDNA3 and CDNA4 ISA documents, V_DIV_SCALE_F32 and following, with
 * two corrections without which LLVM's expansion would not divide correctly: a denominator whose reciprocal
 * is denormal is scaled down, not up, if the quotient is denormal too; and v_div_fmas multiplies by 2^64 or
 * 2^-64 (2^128 for f64) depending on the size of the quotient, not by 2^32. With them the expansion gives the
 * correctly rounded quotient. */
#ifndef WMI_DIVISION_H
#define WMI_DIVISION_H

#include "base/float.h"

/* The scaled value; *post: lanes whose quotient v_div_fmas must scale back. */
static inline f32v wmi_div_scale_f32(f32v value, f32v denominator, f32v numerator, uint32_t mode, u32v *post)
{
    f32v d, n;
    const f32v in = wmi_input_f32(value, mode);

    denominator = wmi_input_f32(denominator, mode);
    numerator = wmi_input_f32(numerator, mode);
    const u32v d_exponent = ((u32v)denominator >> 23) & 255, n_exponent = ((u32v)numerator >> 23) & 255;
    /* If neither operand nor the quotient is near a limit, nothing is scaled. */
    const u32v near_limit = (u32v)(d_exponent - 1 >= 252) | (u32v)(n_exponent - 24 >= 231) |
                            (u32v)(n_exponent - d_exponent + 125 >= 221);

    *post = wmi_splat_u32(0);
    if (__builtin_expect(!wmi_any(near_limit), 1))
        return wmi_quiet_f32(in);
    const i32v d_true = (i32v)wmi_normalize_f32(denominator, &d),
               n_true = (i32v)wmi_normalize_f32(numerator, &n);
    const u32v d_zero = (u32v)(((u32v)denominator & ~WMI_SIGN_F32) == 0);
    const u32v n_zero = (u32v)(((u32v)numerator & ~WMI_SIGN_F32) == 0);
    const u32v is_d = (u32v)(in == denominator), is_n = (u32v)(in == numerator);
    const u32v ordinary = (u32v)(d_exponent != 255) & (u32v)(n_exponent != 255);
    /* |numerator / denominator| < 2^-126, from exponents and fractions. */
    const i32v gap = n_true - d_true;
    const u32v below = (u32v)(((u32v)n & 0x7fffff) < ((u32v)d & 0x7fffff));
    const u32v tiny_quotient = ((u32v)(gap < -126) | ((u32v)(gap == -126) & below)) & ordinary;
    const u32v tiny_reciprocal =
        ((u32v)(d_true > 253) | ((u32v)(d_true == 253) & (u32v)(((u32v)d & 0x7fffff) != 0))) &
        (u32v)(d_exponent != 255);
    u32v left = ~(d_zero | n_zero), up = wmi_splat_u32(0), down = up, scaled = up, here;

    here = left & (u32v)((i32v)(n_exponent - d_exponent) >= 96); /* the quotient is near the largest number */
    up |= here & is_d;
    scaled |= here;
    left &= ~here;
    here = left & (u32v)(d_exponent == 0);
    up |= here;
    left &= ~here;
    here = left & tiny_reciprocal & tiny_quotient;
    down |= here & is_d;
    scaled |= here;
    left &= ~here;
    here = left & tiny_reciprocal;
    down |= here;
    left &= ~here;
    here = left & tiny_quotient;
    up |= here & is_n;
    scaled |= here;
    left &= ~here;
    up |= left & (u32v)(n_exponent <= 23);

    *post = scaled;
    const i32v by = (i32v)((up & 64) - (down & 64));
    const f32v r = wmi_select_f32(up | down, wmi_scale_f32(in, by), wmi_quiet_f32(in));

    return wmi_select_f32(d_zero | n_zero, (f32v)wmi_splat_u32(WMI_NAN_F32), r);
}

static inline f64v wmi_div_scale_f64(f64v value, f64v denominator, f64v numerator, uint32_t mode, u64v *post)
{
    f64v d, n;
    const f64v in = wmi_input_f64(value, mode);

    denominator = wmi_input_f64(denominator, mode);
    numerator = wmi_input_f64(numerator, mode);
    const u64v d_exponent = ((u64v)denominator >> 52) & 2047, n_exponent = ((u64v)numerator >> 52) & 2047;
    /* If neither operand nor the quotient is near a limit, nothing is scaled. */
    const u64v near_limit = (u64v)(d_exponent - 1 >= 2044) | (u64v)(n_exponent - 54 >= 1993) |
                            (u64v)(n_exponent - d_exponent + 1021 >= 1789);

    *post = wmi_splat_u64(0);
    if (__builtin_expect(!wmi_any((u32v)near_limit), 1))
        return wmi_quiet_f64(in);
    const i64v d_true = (i64v)wmi_normalize_f64(denominator, &d),
               n_true = (i64v)wmi_normalize_f64(numerator, &n);
    const u64v fraction = wmi_splat_u64(0xfffffffffffff);
    const u64v d_zero = (u64v)(((u64v)denominator & ~WMI_SIGN_F64) == 0);
    const u64v n_zero = (u64v)(((u64v)numerator & ~WMI_SIGN_F64) == 0);
    const u64v is_d = (u64v)(in == denominator), is_n = (u64v)(in == numerator);
    const u64v ordinary = (u64v)(d_exponent != 2047) & (u64v)(n_exponent != 2047);
    const i64v gap = n_true - d_true;
    const u64v below = (u64v)(((u64v)n & fraction) < ((u64v)d & fraction));
    const u64v tiny_quotient = ((u64v)(gap < -1022) | ((u64v)(gap == -1022) & below)) & ordinary;
    const u64v tiny_reciprocal =
        ((u64v)(d_true > 2045) | ((u64v)(d_true == 2045) & (u64v)(((u64v)d & fraction) != 0))) &
        (u64v)(d_exponent != 2047);
    u64v left = ~(d_zero | n_zero), up = wmi_splat_u64(0), down = up, scaled = up, here;

    here = left & (u64v)((i64v)(n_exponent - d_exponent) >= 768);
    up |= here & is_d;
    scaled |= here;
    left &= ~here;
    here = left & (u64v)(d_exponent == 0);
    up |= here;
    left &= ~here;
    here = left & tiny_reciprocal & tiny_quotient;
    down |= here & is_d;
    scaled |= here;
    left &= ~here;
    here = left & tiny_reciprocal;
    down |= here;
    left &= ~here;
    here = left & tiny_quotient;
    up |= here & is_n;
    scaled |= here;
    left &= ~here;
    up |= left & (u64v)(n_exponent <= 53);

    *post = scaled;
    const i64v by = (i64v)((up & 128) - (down & 128));
    const f64v r = wmi_select_f64(up | down, wmi_scale_f64(in, by), wmi_quiet_f64(in));

    return wmi_select_f64(d_zero | n_zero, (f64v)wmi_splat_u64(WMI_NAN_F64), r);
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

/* The quotient, or the result for special operands. A NaN from finite operands means that the steps before
 * overflowed. */
static inline f32v wmi_div_fixup_f32(f32v quotient, f32v denominator, f32v numerator, uint32_t mode)
{
    const f32v d = wmi_input_f32(denominator, mode), n = wmi_input_f32(numerator, mode);
    const u32v sign = ((u32v)d ^ (u32v)n) & WMI_SIGN_F32;
    const u32v d_size = (u32v)d & ~WMI_SIGN_F32, n_size = (u32v)n & ~WMI_SIGN_F32;
    const u32v q_size = (u32v)quotient & ~WMI_SIGN_F32;
    const u32v special = (u32v)((d_size >> 23) - 1 >= 254) | (u32v)((n_size >> 23) - 1 >= 254) |
                         (u32v)(q_size > WMI_EXPONENT_F32) |
                         (u32v)((i32v)((n_size >> 23) - (d_size >> 23)) < -150);

    if (__builtin_expect(!wmi_any(special), 1))
        return wmi_output_f32((f32v)(sign | q_size), mode);
    const u32v d_zero = (u32v)(d_size == 0), n_zero = (u32v)(n_size == 0);
    const u32v d_infinite = (u32v)(d_size == WMI_EXPONENT_F32),
               n_infinite = (u32v)(n_size == WMI_EXPONENT_F32);
    const u32v infinity = sign | WMI_EXPONENT_F32,
               tiny = (u32v)((i32v)((n_size >> 23) - (d_size >> 23)) < -150);
    u32v r = wmi_select_u32(wmi_is_nan_f32(quotient), infinity, sign | q_size);

    r = wmi_select_u32(tiny | d_infinite | n_zero, sign, r);
    r = wmi_select_u32(d_zero | n_infinite, infinity, r);
    r = wmi_select_u32((d_zero & n_zero) | (d_infinite & n_infinite), wmi_splat_u32(WMI_NAN_INVALID_F32), r);
    r = wmi_select_u32(wmi_is_nan_f32(d), (u32v)wmi_quiet_f32(d), r);
    r = wmi_select_u32(wmi_is_nan_f32(n), (u32v)wmi_quiet_f32(n), r);
    return wmi_output_f32((f32v)r, mode);
}

static inline f64v wmi_div_fixup_f64(f64v quotient, f64v denominator, f64v numerator, uint32_t mode)
{
    const f64v d = wmi_input_f64(denominator, mode), n = wmi_input_f64(numerator, mode);
    const u64v sign = ((u64v)d ^ (u64v)n) & WMI_SIGN_F64;
    const u64v d_size = (u64v)d & ~WMI_SIGN_F64, n_size = (u64v)n & ~WMI_SIGN_F64;
    const u64v q_size = (u64v)quotient & ~WMI_SIGN_F64;
    const u64v special = (u64v)((d_size >> 52) - 1 >= 2046) | (u64v)((n_size >> 52) - 1 >= 2046) |
                         (u64v)(q_size > WMI_EXPONENT_F64) |
                         (u64v)((i64v)((n_size >> 52) - (d_size >> 52)) < -1075);

    if (__builtin_expect(!wmi_any((u32v)special), 1))
        return wmi_output_f64((f64v)(sign | q_size), mode);
    const u64v d_zero = (u64v)(d_size == 0), n_zero = (u64v)(n_size == 0);
    const u64v d_infinite = (u64v)(d_size == WMI_EXPONENT_F64),
               n_infinite = (u64v)(n_size == WMI_EXPONENT_F64);
    const u64v infinity = sign | WMI_EXPONENT_F64,
               tiny = (u64v)((i64v)((n_size >> 52) - (d_size >> 52)) < -1075);
    u64v r = wmi_select_u64(wmi_is_nan_f64(quotient), infinity, sign | q_size);

    r = wmi_select_u64(tiny | d_infinite | n_zero, sign, r);
    r = wmi_select_u64(d_zero | n_infinite, infinity, r);
    r = wmi_select_u64((d_zero & n_zero) | (d_infinite & n_infinite), wmi_splat_u64(WMI_NAN_INVALID_F64), r);
    r = wmi_select_u64(wmi_is_nan_f64(d), (u64v)wmi_quiet_f64(d), r);
    r = wmi_select_u64(wmi_is_nan_f64(n), (u64v)wmi_quiet_f64(n), r);
    return wmi_output_f64((f64v)r, mode);
}

#endif

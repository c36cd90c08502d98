/* SPDX-License-Identifier: MIT */
/* exp2, log2, sin and cos for the transcendental instructions: polynomials, identical on every CPU level.
 *
 * For *_lanes.c files only. No document specifies the hardware's results bit by bit; the instructions are
 * flagged approx. [V] gives 1 ulp for exp and log. Without fused operations, so that levels that lack them
 * give the same results. Polynomials interpolate at Chebyshev nodes. */
#ifndef WMI_TRANSCENDENTAL_H
#define WMI_TRANSCENDENTAL_H

#include "arithmetic/float.h"
#include "arithmetic/transcendental_terms.h"

/* wmi_is_nan_f32 with integers: clang would compare widened halves one by one. */
static inline u32v wmi_is_nan_bits_f32(f32v x)
{
    return (u32v)(((u32v)x & ~WMI_SIGN_F32) > WMI_EXPONENT_F32);
}

static inline f32v wmi_quiet_bits_f32(f32v x)
{
    return (f32v)((u32v)x | (wmi_is_nan_bits_f32(x) & WMI_QUIET_F32));
}

/* 2^x. Below 2^-126 the result is 0, like v_exp_f32 in [V]. Within 1 ulp. */
static inline f32v wmi_exp2_f32(f32v x)
{
    const bool rare = wmi_any((u32v)(((u32v)x & ~WMI_SIGN_F32) >= 0x42fc0000u)); /* from 126, and NaN */
    const u32v over = (u32v)(x >= 128), under = (u32v)(x < -126);
    const f32v safe = rare ? (f32v)((u32v)x & ~(over | under | wmi_is_nan_bits_f32(x))) : x;
    const f32v whole = wmi_round_f32(safe, WMI_ROUND_EVEN), f = safe - whole;
    static const float term[] = {WMI_EXP2_TERMS};
    f32v p = f * term[0] + term[1];

    p = p * f + term[2];
    p = p * f + term[3];
    p = p * f + term[4];
    /* 1 + f ln 2 + f f p, with ln 2 and f each in two parts: the first product and the error of its sum are
     * exact.
     */
    const f32v high = (f32v)((u32v)f & 0xfffff000u), low = f - high;
    const f32v first = high * WMI_LN_2_HIGH, rest = low * WMI_LN_2_HIGH + (f * WMI_LN_2_LOW + f * f * p);
    const f32v sum = first + 1, error = first - (sum - 1);

    p = sum + (rest + error);
    u32v r = (u32v)p + ((u32v) __builtin_convertvector(whole, i32v) << 23);
    if (__builtin_expect(!rare, 1))
        return (f32v)r;
    r = wmi_select_u32(over, wmi_splat_u32(WMI_EXPONENT_F32), r) & ~under;
    return wmi_select_f32(wmi_is_nan_bits_f32(x), wmi_quiet_bits_f32(x), (f32v)r);
}

/* log2(x); a denormal counts as 0 if `flush` is set, like v_log_f32 in [V]. Within 1.05 ulp. */
static inline f32v wmi_log2_f32(f32v x, bool flush)
{
    const bool rare =
        wmi_any((u32v)((u32v)x - 0x800000u >= 0x7f000000u)); /* all but positive normal numbers */
    f32v number = x, wide = x;
    u32v biased = (u32v)x >> 23;

    if (__builtin_expect(rare, 0)) {
        number = flush ? wmi_flush_f32(x) : x;
        biased = wmi_normalize_f32(number, &wide);
    }
    /* The significand m in [sqrt(1/2), sqrt(2)) and its exponent. */
    const u32v fraction = (u32v)wide & 0x7fffff, large = (u32v)(fraction >= WMI_ROOT_2_FRACTION);
    const f32v z = (f32v)(fraction | (0x3f800000u - (large & 0x800000u))) - 1;
    const f32v exponent = __builtin_convertvector((i32v)(biased - 127 - large), f32v);
    /* By powers of z instead of Horner's scheme: short dependency chains. */
    const f32v z2 = z * z, z4 = z2 * z2;
    static const float term[] = {WMI_LOG2_TERMS};
    const f32v p01 = z * term[0] - term[1], p23 = z * term[2] - term[3];
    const f32v p45 = z * term[4] - term[5], p67 = z * term[6] - term[7];
    const f32v p89 = z * term[8] - term[9];
    const f32v p = (p01 + p23 * z2) + ((p45 + p67 * z2) + p89 * z4) * z4;
    /* z * log2(e) in two parts, the first of them exact. */
    const f32v high = (f32v)((u32v)z & 0xfffff000u), low = z - high;
    const f32v rest = low * WMI_LOG2_E_HIGH + z * WMI_LOG2_E_LOW + z2 * p;
    const f32v r = (high * WMI_LOG2_E_HIGH + rest) + exponent;

    if (__builtin_expect(!rare, 1))
        return r;
    const u32v magnitude = (u32v)number & ~WMI_SIGN_F32;
    u32v bits = wmi_select_u32((u32v)(magnitude == WMI_EXPONENT_F32), (u32v)number, (u32v)r);

    bits = wmi_select_u32((u32v)(magnitude == 0), wmi_splat_u32(0xff800000u), bits);
    bits =
        wmi_select_u32((u32v)((i32v)number < 0) & (u32v)(magnitude != 0), wmi_splat_u32(WMI_NAN_F32), bits);
    return wmi_select_f32(wmi_is_nan_bits_f32(x), wmi_quiet_bits_f32(x), (f32v)bits);
}

/* sin(2 pi f) for f in [-1/4, 1/4]. Within 2 ulp. */
static inline f32v wmi_sine_of_turn(f32v f)
{
    const f32v w = f * f;
    static const float term[] = {WMI_SINE_TERMS};
    f32v p = w * term[0] + term[1];

    p = p * w + term[2];
    p = p * w + term[3];
    p = p * w + term[4];
    /* 2 pi f with both factors in two parts. */
    const f32v high = (f32v)((u32v)f & 0xfffff000u), low = f - high;

    return high * WMI_TWO_PI_HIGH + (low * WMI_TWO_PI_HIGH + f * (WMI_TWO_PI_LOW + p * w));
}

/* sin(2 pi x) and cos(2 pi x). Beyond +-256: 0 and 1. Source: [V], V_SIN_F32, V_COS_F32. */
static inline f32v wmi_sine_f32(f32v x)
{
    /* All but normal numbers up to 256. */
    const bool rare = wmi_any((u32v)(((u32v)x & ~WMI_SIGN_F32) - 0x800000u > 0x43000000u));
    const u32v far = (u32v)(x > 256) | (u32v)(x < -256),
               finite = (u32v)(((u32v)x & WMI_EXPONENT_F32) < WMI_EXPONENT_F32);
    const f32v safe = rare ? (f32v)((u32v)x & finite & ~far) : x;
    const f32v f = safe - wmi_round_f32(safe, WMI_ROUND_EVEN);
    const u32v outer = (u32v)((f32v)((u32v)f & ~WMI_SIGN_F32) > 0.25f);
    const f32v folded = (f32v)(((u32v)f & WMI_SIGN_F32) | 0x3f000000u) - f;
    f32v r = wmi_sine_of_turn(wmi_select_f32(outer, folded, f));

    if (__builtin_expect(!rare, 1))
        return r;
    r = wmi_select_f32((u32v)(safe == 0) & ~far, (f32v)((u32v)x & WMI_SIGN_F32), r);
    r = wmi_select_f32(~finite, (f32v)wmi_splat_u32(WMI_NAN_F32), r);
    return wmi_select_f32(wmi_is_nan_bits_f32(x), wmi_quiet_bits_f32(x), r);
}

static inline f32v wmi_cosine_f32(f32v x)
{
    const bool rare = wmi_any((u32v)(((u32v)x & ~WMI_SIGN_F32) > 0x43800000u)); /* 256 */
    const u32v far = (u32v)(x > 256) | (u32v)(x < -256),
               finite = (u32v)(((u32v)x & WMI_EXPONENT_F32) < WMI_EXPONENT_F32);
    const f32v safe = rare ? (f32v)((u32v)x & finite & ~far) : x;
    const f32v f = safe - wmi_round_f32(safe, WMI_ROUND_EVEN);
    f32v r = wmi_sine_of_turn(0.25f - (f32v)((u32v)f & ~WMI_SIGN_F32));

    if (__builtin_expect(!rare, 1))
        return r;
    r = wmi_select_f32(~finite, (f32v)wmi_splat_u32(WMI_NAN_F32), r);
    return wmi_select_f32(wmi_is_nan_bits_f32(x), wmi_quiet_bits_f32(x), r);
}

#endif

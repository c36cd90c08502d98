/* SPDX-License-Identifier: MIT */
/* f16 arithmetic of the vector ALU: operands are widened to f32 exactly, results are rounded once.
 *
 * For *_lanes.c files only. A half is in the low 16 bits of a word. Sums are rounded to odd in f32, which has
 * more than twice f16's precision, so narrowing by MODE's f16 rounding gives the rounded exact value. This
 * requires the host to round f32 to nearest, which bodies ensure. Source of the method: Boldo
 * and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd". */
#ifndef WMI_HALF_H
#define WMI_HALF_H

#include "arithmetic/float.h"

#include <math.h>
#include <string.h>

enum {
    WMI_SIGN_F16 = 0x8000,
    WMI_INFINITY_F16 = 0x7c00,
    WMI_QUIET_F16 = 0x0200,
};

/* f32 of the f16 in the low half; the high half is ignored. Exact; a NaN keeps its payload and is quieted. */
static inline f32v wmi_widen(u32v half)
{
#if WMI_VECTOR_F16
    return wmi_f32_of_f16(half);
#else
    const u32v sign = (half & WMI_SIGN_F16) << 16, magnitude = half & 0x7fff;
    const u32v normal = (magnitude << 13) + (112u << 23);
    const u32v special = (magnitude << 13) | WMI_EXPONENT_F32;
    const u32v quiet = (u32v)(magnitude > WMI_INFINITY_F16) & WMI_QUIET_F32;
    const u32v tiny = (u32v)(__builtin_convertvector((i32v)magnitude, f32v) * 0x1p-24f) & ~WMI_SIGN_F32;
    const u32v is_tiny = (u32v)(magnitude < 0x400), is_special = (u32v)(magnitude >= WMI_INFINITY_F16);
    const u32v r = wmi_select_u32(is_special, special | quiet, wmi_select_u32(is_tiny, tiny, normal));

    return (f32v)(sign | r);
#endif
}

/* f16 of an f32, rounded once; the high half is zero. rounding: as in MODE. Denormal results are kept; f32
 * denormals count as zero if the host flushes them. */
static inline u32v wmi_narrow(f32v x, uint32_t rounding)
{
#if WMI_VECTOR_F16
    return wmi_f16_of_f32(x, rounding);
#else
    const u32v bits = (u32v)x, sign = (bits >> 16) & WMI_SIGN_F16, magnitude = bits & ~WMI_SIGN_F32;
    const u32v negative = (u32v)(sign != 0);
    /* Below 2^-14, shift the significand to f16's lowest exponent, with a sticky bit. */
    const u32v is_tiny = (u32v)(magnitude < 0x38800000u);
    const f32v places = (f32v)(magnitude & is_tiny) * 0x1p37f;
    const i32v shifted = __builtin_convertvector(places, i32v);
    const u32v sticky = (u32v)(__builtin_convertvector(shifted, f32v) != places) & 1;
    const u32v wide = wmi_select_u32(is_tiny, (u32v)shifted | sticky, magnitude - (112u << 23));
    const u32v rest = wide & 0x1fff, odd = (wide >> 13) & 1;
    u32v up;

    switch (rounding & 3) {
    case 0:
        up = (u32v)(rest + odd > 0x1000);
        break;
    case 1:
        up = (u32v)(rest != 0) & ~negative;
        break;
    case 2:
        up = (u32v)(rest != 0) & negative;
        break;
    default:
        up = wmi_splat_u32(0);
        break;
    }
    u32v r = (wide >> 13) - up;
    /* Overflow: infinity if the mode rounds away from zero, else the largest number. */
    const u32v away = rounding == 0   ? wmi_splat_u32(~0u)
                      : rounding == 1 ? ~negative
                      : rounding == 2 ? negative
                                      : wmi_splat_u32(0);
    const u32v top = wmi_select_u32(away, wmi_splat_u32(WMI_INFINITY_F16), wmi_splat_u32(0x7bff));

    r = wmi_select_u32((u32v)(magnitude >= 0x47800000u), top, r);
    r = wmi_select_u32((u32v)(magnitude == WMI_EXPONENT_F32), wmi_splat_u32(WMI_INFINITY_F16), r);
    const u32v nan = WMI_INFINITY_F16 | ((magnitude >> 13) & 0x3ff) | WMI_QUIET_F16;

    return sign | wmi_select_u32((u32v)(magnitude > WMI_EXPONENT_F32), nan, r);
#endif
}

/* Both halves of each word: v[0] and v[1] hold them in an order private to these functions. */
struct wmi_f32x2 {
    f32v v[2];
};

static inline struct wmi_f32x2 wmi_widen_both(u32v halves)
{
#if WMI_VECTOR_F16
    return (struct wmi_f32x2){{wmi_f32_of_halves(halves, 0), wmi_f32_of_halves(halves, 1)}};
#else
    return (struct wmi_f32x2){{wmi_widen(halves), wmi_widen(halves >> 16)}};
#endif
}

static inline struct wmi_f32x2 wmi_widen_both_at(const char *halves)
{
#if WMI_VECTOR_F16
    return (struct wmi_f32x2){{wmi_f32_of_halves_at(halves, 0), wmi_f32_of_halves_at(halves, 1)}};
#else
    return wmi_widen_both(wmi_load_u32(halves));
#endif
}

static inline u32v wmi_narrow_both(struct wmi_f32x2 x, uint32_t rounding)
{
#if WMI_VECTOR_F16
    return wmi_halves_of_f32(x.v[0], x.v[1], rounding);
#else
    return wmi_narrow(x.v[0], rounding) | wmi_narrow(x.v[1], rounding) << 16;
#endif
}

static inline uint32_t wmi_rounding_f16(uint32_t mode)
{
    return (mode & WMI_MODE_ROUND_F64) >> 2;
}

/* Both halves, with denormals replaced by zeros of the same sign. */
static inline u32v wmi_flush_f16(u32v halves)
{
    const u32v tiny = (u32v)(((i16v)halves & WMI_INFINITY_F16) == 0);

    return halves & ~(tiny & 0x7fff7fff);
}

/* The halves of an operand, flushed according to MODE, as bits and as f32; and the halves of a result. */
static inline u32v wmi_halves_in(u32v halves, uint32_t mode)
{
    return mode & WMI_MODE_DENORMAL_IN_F64 ? halves : wmi_flush_f16(halves);
}

static inline u32v wmi_halves_out(u32v halves, uint32_t mode)
{
    return mode & WMI_MODE_DENORMAL_OUT_F64 ? halves : wmi_flush_f16(halves);
}

static inline struct wmi_f32x2 wmi_input_both_f16(const char *row, uint32_t mode)
{
    return mode & WMI_MODE_DENORMAL_IN_F64 ? wmi_widen_both_at(row)
                                           : wmi_widen_both(wmi_halves_in(wmi_load_u32(row), mode));
}

static inline f32v wmi_input_f16(u32v half, uint32_t mode)
{
    return wmi_widen(wmi_halves_in(half, mode));
}

/* With FP16_OVFL, numbers too large for f16 become the largest one; infinities stay. */
static inline f32v wmi_saturate_f16(f32v x, uint32_t mode)
{
    if (__builtin_expect(!(mode & WMI_MODE_FP16_OVFL), 1))
        return x;
    const u32v largest = wmi_splat_u32(0x477fe000), magnitude = (u32v)x & ~WMI_SIGN_F32;
    const u32v too_large = (u32v)(magnitude > largest) & (u32v)(magnitude < WMI_EXPONENT_F32);
    return (f32v)wmi_select_u32(too_large, ((u32v)x & WMI_SIGN_F32) | largest, (u32v)x);
}

static inline u32v wmi_output_f16(f32v x, uint32_t mode)
{
    return wmi_halves_out(wmi_narrow(wmi_saturate_f16(x, mode), wmi_rounding_f16(mode)), mode);
}

static inline struct wmi_f32x2 wmi_saturate_both(struct wmi_f32x2 x, uint32_t mode)
{
    return (struct wmi_f32x2){{wmi_saturate_f16(x.v[0], mode), wmi_saturate_f16(x.v[1], mode)}};
}

/* A sum rounded to odd, for an f16 result: an exact zero is -0 if MODE rounds down, except +0 + +0. */
static inline f32v wmi_sum_odd_f16(f32v a, f32v b, uint32_t mode)
{
    const f32v sum = wmi_add_odd(a, b);

    if (wmi_rounding_f16(mode) != 2)
        return sum;
    return (f32v)((u32v)sum | ((u32v)(sum == 0) & ((u32v)a | (u32v)b) & WMI_SIGN_F32));
}

/* a * b + c of f32, rounded to odd, for an f16 result. The product is exact in f64, and so are the sum and
 * its error. */
static inline float wmi_fused_odd(float a, float b, float c, uint32_t mode)
{
    const double product = (double)a * b, addend = c, sum = product + addend, back = sum - product;
    const double error = (product - (sum - back)) + (addend - back);
    uint64_t bits, error_bits;
    double odd;

    memcpy(&bits, &sum, sizeof bits);
    memcpy(&error_bits, &error, sizeof error_bits);
    if (sum - sum != 0) /* infinite or a NaN */
        return (float)sum;
    if (sum == 0) /* of opposite signs: -0 if MODE rounds down */
        return wmi_rounding_f16(mode) == 2 && (signbit(product) || signbit(addend)) ? -0.0f : (float)sum;
    if (error != 0 && !(bits & 1))
        bits += (bits ^ error_bits) >> 63 ? UINT64_MAX : 1;
    memcpy(&odd, &bits, sizeof odd);
    const double size = fabs(odd), most = 0x1.fffffep127, least = 0x1p-126;
    if (size > most || size < least)
        return (float)copysign(size > most ? most : least, odd);
    float result = (float)odd;
    uint32_t word;
    memcpy(&word, &result, sizeof word);
    if (result != odd && !(word & 1))
        word += fabsf(result) > size ? UINT32_MAX : 1;
    memcpy(&result, &word, sizeof word);
    return result;
}

/* a * b + c of f32 as a number that rounds to the same f16 as the exact sum. To nearest, f32 sums do unless
 * they lie halfway between two halves, or where halves are denormal. Requires the host to round to nearest.
 */
static inline f32v wmi_fused_for_f16(f32v a, f32v b, f32v c, uint32_t mode)
{
    const f32v sum = wmi_fused_f32(a, b, c);
    const u32v size = (u32v)sum & ~WMI_SIGN_F32, rest = size & 0x1fff;
    const u32v tiny = (u32v)(size < 0x38800000u) & (u32v)(size != 0),
               large = (u32v)(size == WMI_EXPONENT_F32);
    const u32v doubtful = (u32v)(rest == 0x1000) | tiny | large;

    if (__builtin_expect(!wmi_any(doubtful) && !wmi_rounding_f16(mode), 1))
        return sum;
    f32v exact = sum;
    for (unsigned i = 0; i < sizeof exact / sizeof exact[0]; i++)
        if (sum[i] == sum[i])
            exact[i] = wmi_fused_odd(a[i], b[i], c[i], mode);
    return exact;
}

/* The same for two halves. To nearest, the host may round first: f32 has 24 bits of precision, at least twice
 * f16's 11 plus two. Source: Figueroa, "When is double rounding innocuous?". */
static inline f32v wmi_sum_f16(f32v a, f32v b, uint32_t mode)
{
    return wmi_rounding_f16(mode) ? wmi_sum_odd_f16(a, b, mode) : (f32v)(a + b);
}

#endif

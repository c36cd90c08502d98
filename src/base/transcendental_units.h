/* SPDX-License-Identifier: MIT */
/* The transcendental units of gfx11 and gfx12: rcp, rsq, sqrt, exp2 and log2 of f32 bit by bit, sin and cos
 * nearly.
 *
 * For *_lanes.c files only. A function is a cubic c0 +- c1 f +- (c2 +- c3 f) f^2 in integers, whose products
 * are cut to 24 bits, rounded once. MODE is ignored: denormals, also results, count as zeros of their sign.
 * Source: results captured on a Radeon Pro W7900 and a Radeon AI Pro R9700 (ROCm/rocm-systems,
 * emulation/rocjitsu).
 *
 * Integers of up to 24 bits are exact as f32; a product is fused with a sum that leaves as many bits as
 * wanted. The host must round to nearest even. */
#ifndef WMI_TRANSCENDENTAL_UNITS_H
#define WMI_TRANSCENDENTAL_UNITS_H

#include "base/lanes.h"
#include "base/transcendental.h"

/* A column of a function's table. Lookups load all 64 rows, also of functions that have fewer. */
#define WMI_UNIT_INTS(name)   static const int32_t wmi_unit_##name[64]
#define WMI_UNIT_FLOATS(name) static const float wmi_unit_##name[64]

WMI_UNIT_INTS(rcp_c0) = {
#define RCP(c0, c1, c2, c3) 8 * (c0),
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(rcp_c1) = {
#define RCP(c0, c1, c2, c3) (c1) * 0x1p-15f,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(rcp_c2) = {
#define RCP(c0, c1, c2, c3) (c2) * 0x1p8f,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(rcp_c3) = {
#define RCP(c0, c1, c2, c3) (c3) * 0x1p-12f,
#include "base/transcendental.def"
};
WMI_UNIT_INTS(rsq_c0) = {
#define RSQ(c0, c1, c2, c3) 16 * (c0),
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(rsq_c1) = {
#define RSQ(c0, c1, c2, c3) (c1) * 0x1p-15f,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(rsq_c2) = {
#define RSQ(c0, c1, c2, c3) (c2) * 0x1p9f,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(rsq_c3) = {
#define RSQ(c0, c1, c2, c3) (c3) * 0x1p-11f,
#include "base/transcendental.def"
};
WMI_UNIT_INTS(sqrt_c0) = {
#define SQRT(c0, c1, c2, c3) 16 * (c0) + (1 << 29),
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(sqrt_c1) = {
#define SQRT(c0, c1, c2, c3) (c1) * 0x1p-17f,
#include "base/transcendental.def"
};
WMI_UNIT_INTS(sqrt_c2) = {
#define SQRT(c0, c1, c2, c3) 256 * (c2),
#include "base/transcendental.def"
};
WMI_UNIT_INTS(sqrt_c3) = {
#define SQRT(c0, c1, c2, c3) c3,
#include "base/transcendental.def"
};
enum { WMI_UNIT_EXP_BIAS = 1 << 19 }; /* brings c2 to 24 bits */
WMI_UNIT_INTS(exp_c0) = {
#define EXP(c0, c1, c2, c3) c0,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(exp_c1) = {
#define EXP(c0, c1, c2, c3) (c1) * 0x1p-24f,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(exp_c2) = {
#define EXP(c0, c1, c2, c3) (c2) + WMI_UNIT_EXP_BIAS,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(exp_c3) = {
#define EXP(c0, c1, c2, c3) (c3) * 0x1p-7f,
#include "base/transcendental.def"
};
WMI_UNIT_INTS(log_c0) = {
#define LOG(c0, c1, c2, c3) c0,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(log_c1) = {
#define LOG(c0, c1, c2, c3) (c1) * 0x1p-16f,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(log_c2) = {
#define LOG(c0, c1, c2, c3) c2,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(log_c3) = {
#define LOG(c0, c1, c2, c3) (c3) * 0x1p-22f,
#include "base/transcendental.def"
};
/* Near one. */
static const int32_t wmi_unit_log_above[][4] = {
#define LOG_ABOVE(c0, c1, c2, c3) {c0, c1, c2, c3},
#include "base/transcendental.def"
};
static const int32_t wmi_unit_log_below[][4] = {
#define LOG_BELOW(c0, c1, c2, c3) {c0, c1, c2, c3},
#include "base/transcendental.def"
};
/* An eighth of a turn in 16 rows, of the sine and then the cosine; the value and its change in this row, each
 * in units of 2^-26. */
WMI_UNIT_INTS(sin_c0) = {
#define SIN(c0, c1, c2, c3) c0,
#define COS(c0, c1, c2, c3) c0,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(sin_c1) = {
#define SIN(c0, c1, c2, c3) c1,
#define COS(c0, c1, c2, c3) c1,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(sin_c2) = {
#define SIN(c0, c1, c2, c3) c2,
#define COS(c0, c1, c2, c3) c2,
#include "base/transcendental.def"
};
WMI_UNIT_FLOATS(sin_c3) = {
#define SIN(c0, c1, c2, c3) c3,
#define COS(c0, c1, c2, c3) c3,
#include "base/transcendental.def"
};
#undef WMI_UNIT_INTS
#undef WMI_UNIT_FLOATS

/* table[index % 32], of words. */
WMI_INLINE u32v wmi_lookup(const void *table, u32v index)
{
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_permutex2var_epi32(_mm512_loadu_si512(table), (__m512i)index,
                                           _mm512_loadu_si512((const char *)table + 64));
#elif WMI_VECTOR_BYTES == 32
    return (u32v)_mm256_i32gather_epi32(table, (__m256i)(index & 31), 4);
#else
    const uint32_t *const words = table;
    u32v r = {0};
    for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
        r[i] = words[index[i] & 31];
    return r;
#endif
}

/* table[index % 64]; second: whether the index is 32 or more. */
WMI_INLINE u32v wmi_lookup_64(const void *table, u32v index, u32v second)
{
    return wmi_select_u32(second, wmi_lookup((const char *)table + 128, index), wmi_lookup(table, index));
}

WMI_INLINE f32v wmi_from_i32(u32v x)
{
    return __builtin_convertvector((i32v)x, f32v);
}

WMI_INLINE u32v wmi_to_i32(f32v x)
{
    return (u32v) __builtin_convertvector(x, i32v);
}

/* a * b rounded to 24 bits; products below `unit` as those above it, to multiples of unit * 2^-23. */
WMI_INLINE f32v wmi_cut_product(f32v a, f32v b, float unit)
{
    const f32v magic = (f32v)((u32v)(a * b < unit) & (u32v)wmi_splat_f32(unit));
    return wmi_fused_f32(a, b, magic) - magic;
}

/* a * b, of less than 2^22, rounded to an integer. */
WMI_INLINE f32v wmi_whole_product(f32v a, f32v b)
{
    const f32v magic = wmi_splat_f32(0x1.8p23f);
    return wmi_fused_f32(a, b, magic) - magic;
}

/* x * x, rounded down to an integer. */
WMI_INLINE f32v wmi_square_down(f32v x)
{
    const f32v nearly = wmi_floor_f32(x * x);
    return nearly + (f32v)((u32v)(wmi_fused_f32(x, x, -nearly) < 0) & (u32v)wmi_splat_f32(-1));
}

/* A sum of at least 29 bits whose last term is x / 64: x / 64 rounded down; *sticky keeps the last bit odd.
 */
WMI_INLINE u32v wmi_sixty_fourth(u32v x, u32v *sticky)
{
    *sticky = (u32v)((x & 63) != 0) & 1;
    return (u32v)((i32v)x >> 6);
}

/* NaNs keep sign and payload; others take r. */
WMI_INLINE f32v wmi_unit_nan(f32v x, u32v r)
{
    return wmi_select_f32(wmi_is_nan_bits_f32(x), wmi_quiet_bits_f32(x), (f32v)r);
}

static inline f32v wmi_unit_rcp(f32v x)
{
    const u32v bits = (u32v)x, sign = bits & WMI_SIGN_F32, row = bits >> 18, part = bits & 0x3ffff;
    const u32v field = bits >> 23 & 0xff;
    const f32v f = wmi_from_i32(part), half = wmi_from_i32(part & ~1u) * 0x1p-6f;
    const f32v c1 = (f32v)wmi_lookup(wmi_unit_rcp_c1, row), c2 = (f32v)wmi_lookup(wmi_unit_rcp_c2, row);
    const f32v c3 = (f32v)wmi_lookup(wmi_unit_rcp_c3, row);
    /* -ceil(x) is floor(-x). */
    const u32v linear = wmi_to_i32(wmi_floor_f32(-wmi_cut_product(c1, f, 0x1p22f)));
    const f32v inner = c2 - wmi_whole_product(c3, 4 * f + 1);
    u32v sticky;
    const u32v square = wmi_sixty_fourth(
        wmi_to_i32(wmi_cut_product(inner, wmi_square_down(half) * 0x1p-23f, 0x1p23f)), &sticky);
    const u32v sum = (wmi_lookup(wmi_unit_rcp_c0, row) + linear + square) | sticky;
    /* 2^29 stands for one. */
    const i32v r = (i32v)((u32v)wmi_from_i32(sum) - ((field - 98) << 23));
    const u32v normal = (u32v)r & (u32v)(r >= 0x800000);
    const u32v zero = (u32v)(field == 0), special = (u32v)(field == 255);
    return wmi_unit_nan(x, sign | wmi_select_u32(zero, wmi_splat_u32(WMI_EXPONENT_F32), normal & ~special));
}

static inline f32v wmi_unit_rsq(f32v x)
{
    const u32v bits = (u32v)x, row = bits >> 18, part = bits & 0x3ffff, field = bits >> 23 & 0xff;
    const u32v odd = (u32v)((field & 1) == 0); /* the exponent */
    const f32v f = wmi_from_i32(part), half = wmi_from_i32(part & ~1u) * 0x1p-6f;
    const f32v c1 = (f32v)wmi_lookup_64(wmi_unit_rsq_c1, row, odd);
    const f32v c2 = (f32v)wmi_lookup_64(wmi_unit_rsq_c2, row, odd);
    const f32v c3 = (f32v)wmi_lookup_64(wmi_unit_rsq_c3, row, odd);
    const u32v linear = wmi_to_i32(wmi_floor_f32(-wmi_cut_product(c1, f, 0x1p21f)));
    const f32v inner = c2 - wmi_whole_product(c3, 4 * f + 1);
    u32v sticky;
    const u32v square = wmi_sixty_fourth(
        wmi_to_i32(wmi_cut_product(inner, wmi_square_down(half) * 0x1p-23f, 0x1p23f)), &sticky);
    const u32v sum = (wmi_lookup_64(wmi_unit_rsq_c0, row, odd) + 2 * linear + square) | sticky;
    const u32v r = (u32v)wmi_from_i32(sum) - ((30 + (u32v)((i32v)(field - 127) >> 1)) << 23);
    const u32v zero = (u32v)(field == 0), special = (u32v)(field == 255);
    const u32v wrong = (u32v)((i32v)bits < 0) & ~zero;
    const u32v infinite = (bits & WMI_SIGN_F32) | WMI_EXPONENT_F32;
    return wmi_unit_nan(
        x, wmi_select_u32(wrong, wmi_splat_u32(WMI_NAN_F32), wmi_select_u32(zero, infinite, r & ~special)));
}

static inline f32v wmi_unit_sqrt(f32v x)
{
    const u32v bits = (u32v)x, part = bits & 0x7ffff, field = bits >> 23 & 0xff;
    const u32v row = (bits >> 19 & 15) | (~field & 1) << 4;
    const f32v f = wmi_from_i32(part), quarter = wmi_from_i32(part & ~3u) * 0x1p-7f;
    const f32v c1 = (f32v)wmi_lookup(wmi_unit_sqrt_c1, row);
    /* The product plus a half, if it has all bits, else a quarter, rounded down. */
    const f32v product = c1 * f, whole = wmi_round_f32(product, WMI_ROUND_EVEN);
    const f32v more = wmi_select_f32((u32v)(product < 0x1p23f), wmi_splat_f32(0.25f), wmi_splat_f32(0.5f));
    const u32v linear = wmi_to_i32(whole + wmi_floor_f32(wmi_fused_f32(c1, f, -whole) + more));
    const i32v slope = (i32v)(1024 - wmi_lookup(wmi_unit_sqrt_c3, row) * (2 * part + 1)) >> 11;
    const f32v inner = wmi_from_i32(wmi_lookup(wmi_unit_sqrt_c2, row) + (u32v)slope);
    u32v sticky;
    const u32v square = wmi_sixty_fourth(
        -wmi_to_i32(wmi_cut_product(inner, wmi_square_down(quarter) * 0x1p-23f, 0x1p23f)), &sticky);
    const u32v sum = (wmi_lookup(wmi_unit_sqrt_c0, row) + 2 * linear + square) | sticky;
    const u32v r = (u32v)wmi_from_i32(sum) + (((u32v)((i32v)(field - 127) >> 1) - 29) << 23);
    const u32v zero = (u32v)(field == 0), infinite = (u32v)(bits == WMI_EXPONENT_F32);
    const u32v wrong = (u32v)((i32v)bits < 0) & ~zero;
    const u32v number = wmi_select_u32(infinite, bits, r);
    return wmi_unit_nan(x, wmi_select_u32(wrong, wmi_splat_u32(WMI_NAN_F32),
                                          wmi_select_u32(zero, bits & WMI_SIGN_F32, number)));
}

/* The phase has 29 fraction bits; that of a negative number is complemented, not negated. */
static inline f32v wmi_unit_exp2(f32v x)
{
    const u32v bits = (u32v)x, magnitude = bits & ~WMI_SIGN_F32, small = (u32v)(magnitude < 0x33800000);
    const u32v over = (u32v)(x >= 128), under = (u32v)(x < -126);
    const f32v safe = (f32v)(magnitude & ~(over | under | wmi_is_nan_bits_f32(x)));
    const f32v floor = wmi_floor_f32(safe);
    const u32v negative = (u32v)((i32v)bits >> 31);
    const u32v phase = (wmi_to_i32((safe - floor) * 0x1p29f) ^ negative) & 0x1fffffff;
    const u32v exponent = wmi_to_i32(floor) ^ negative, row = phase >> 24;
    const f32v f = wmi_from_i32(phase & 0xffffff), top = wmi_from_i32(phase >> 6 & 0x3ffff);
    const f32v c1 = (f32v)wmi_lookup(wmi_unit_exp_c1, row), c2 = (f32v)wmi_lookup(wmi_unit_exp_c2, row);
    const f32v c3 = (f32v)wmi_lookup(wmi_unit_exp_c3, row);
    const u32v linear = wmi_to_i32(wmi_cut_product(c1, f, 0x1p22f)); /* truncated */
    const f32v inner = wmi_fused_f32(c3, top, c2) - WMI_UNIT_EXP_BIAS;
    u32v sticky;
    const u32v square = wmi_sixty_fourth(
        wmi_to_i32(wmi_cut_product(inner, wmi_square_down(top * 0x1p-6f) * 0x1p-23f, 0x1p23f)), &sticky);
    const u32v sum = (4 * (wmi_lookup(wmi_unit_exp_c0, row) + linear) + square) | sticky;
    u32v r = (u32v)wmi_from_i32(sum) + ((exponent - 30) << 23);
    r = wmi_select_u32(small, wmi_splat_u32(0x3f800000), r);
    r = wmi_select_u32(over, wmi_splat_u32(WMI_EXPONENT_F32), r & ~under);
    return wmi_unit_nan(x, r);
}

/* x * 2^-n, rounded to nearest even. */
static inline int64_t wmi_unit_rounded(int64_t x, unsigned n)
{
    const int64_t q = x >> n, rest = x - q * (INT64_C(1) << n), half = INT64_C(1) << (n - 1);
    return q + (rest > half || (rest == half && q & 1));
}

/* x * 2^-scale truncated to 24 bits, one more with `more` or, with `up`, if anything was cut off. */
static inline uint32_t wmi_unit_cut(uint64_t x, int scale, bool up, bool more)
{
    const int width = 64 - __builtin_clzll(x), drop = width - 24;
    uint64_t m = drop > 0 ? x >> drop : x << -drop;
    m += more || (up && drop > 0 && x & ((UINT64_C(1) << drop) - 1));
    return (uint32_t)(width - 2 - scale + 127) * 0x800000 + (uint32_t)m; /* a carry moves into the exponent */
}

/* log2 for 63/64 <= x < 33/32, not 1. */
static inline uint32_t wmi_unit_log2_near_one(uint32_t bits)
{
    const bool above = bits > 0x3f800000;
    const int64_t i = above ? bits - 0x3f800000 : 0x3f800000 - bits;
    const int bit_width = 64 - __builtin_clzll((uint64_t)i);
    const bool narrow = bit_width < 18;
    if (above) {
        const unsigned row = i < 1 << 16 ? 0 : i < 1 << 17 ? 1 : 2;
        const int n = row == 0 ? (18 - bit_width) / 4 * 4 : 0;
        const int32_t *const c = wmi_unit_log_above[row];
        const int64_t wide = i * (INT64_C(1) << n), linear = c[1] * wide / 0x2000 * 4,
                      square = wide * i / 0x1000;
        const int64_t inner = wmi_unit_rounded(c[2] * INT64_C(0x400000) - c[3] * (2 * i + 1), 22);
        const int64_t product = inner * square;
        const int64_t quadratic =
            product >= INT64_C(1) << 47 ? 2 * wmi_unit_rounded(product, 24) : wmi_unit_rounded(product, 23);
        return wmi_unit_cut((uint64_t)(c[0] + linear - quadratic), 35 + n, false, true);
    }
    const unsigned row = i >= 1 << 17;
    const int n = narrow ? (18 - bit_width) / 4 * 4 : 0;
    const int32_t *const c = wmi_unit_log_below[row];
    const int64_t low = n < 14 ? (INT64_C(1) << (14 - n)) - 1 : 0;
    const int64_t low_square = n < 12 ? (INT64_C(1) << (12 - n)) - 1 : 0;
    const int64_t linear = 2 * c[1] * i & ~low, square = i * i & ~low_square;
    const int64_t inner = wmi_unit_rounded(c[2] * INT64_C(0x400000) + c[3] * (i - 1), 22);
    /* The product has more than 64 bits: its upper and lower halves of the square are rounded up together. */
    const unsigned drop = 38 - (unsigned)n;
    const int64_t low_product = inner * (square & 0xffff),
                  high_product = inner * (square >> 16) + (low_product >> 16);
    const bool lost = low_product & 0xffff || high_product & ((INT64_C(1) << (drop - 16)) - 1);
    const int64_t quadratic = (high_product >> (drop - 16)) + lost;
    const int64_t sum = 4 * linear + quadratic * (INT64_C(1) << (16 - n)) - (int64_t)c[0] * 0x10000;
    return 0x80000000u | wmi_unit_cut((uint64_t)sum, 50, true, false);
}

/* 2^-30 times a sum, rounded toward minus infinity. */
WMI_INLINE f32half wmi_unit_log2_sum(i32half exponent, i32half value, f32half square)
{
    const f64v sum = __builtin_convertvector(exponent, f64v) +
                     __builtin_convertvector(value, f64v) * 0x1p-30 -
                     __builtin_convertvector(square, f64v) * 0x1p-35;
    const f32half nearest = __builtin_convertvector(sum, f32half);
    const i32half above =
        __builtin_convertvector((i64v)(__builtin_convertvector(nearest, f64v) > sum), i32half);
    const i32half bits = (i32half)nearest;
    return (f32half)(bits - (above & (bits >> 31 | 1)));
}

static inline f32v wmi_unit_log2(f32v x)
{
    const u32v bits = (u32v)x, part = bits & 0x3ffff, field = bits >> 23;
    const u32v row = wmi_select_u32((u32v)((bits >> 17 & 63) == 3), wmi_splat_u32(32), bits >> 18 & 31);
    const u32v second = (u32v)(row == 32);
    const f32v f = wmi_from_i32(part);
    const f32v c1 = (f32v)wmi_lookup_64(wmi_unit_log_c1, row, second);
    const f32v c2 = (f32v)wmi_lookup_64(wmi_unit_log_c2, row, second);
    const f32v c3 = (f32v)wmi_lookup_64(wmi_unit_log_c3, row, second);
    const f32v inner = c2 - wmi_whole_product(c3, 2 * f + 1);
    const f32v square = wmi_cut_product(inner, wmi_square_down(f * 0x1p-6f) * 0x1p-23f, 0x1p23f);
    /* The product rounded down, which may have more than 24 bits. */
    const f32v nearly = wmi_round_f32(c1 * f, WMI_ROUND_EVEN);
    const u32v linear = wmi_to_i32(nearly) + wmi_to_i32(wmi_floor_f32(wmi_fused_f32(c1, f, -nearly)));
    const u32v value = wmi_lookup_64(wmi_unit_log_c0, row, second) + linear;
    const u32v exponent = field - 127;
    union {
        f32half part[2];
        f32v whole;
    } sum;
    for (int i = 0; i < 2; i++)
        sum.part[i] = wmi_unit_log2_sum((i32half)wmi_half_u32(exponent, i), (i32half)wmi_half_u32(value, i),
                                        (f32half)wmi_half_u32((u32v)square, i));
    u32v r = (u32v)sum.whole;
    const u32v near_one = (u32v)(bits - 0x3f7c0000 < 0x3f840000 - 0x3f7c0000);
    if (wmi_any(near_one))
        for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
            if (near_one[i])
                r[i] = bits[i] == 0x3f800000 ? 0 : wmi_unit_log2_near_one(bits[i]);
    if (wmi_any((u32v)(bits - 0x800000u >= 0x7f000000u))) { /* all but positive normal numbers */
        const u32v zero = (u32v)((bits & WMI_EXPONENT_F32) == 0), infinite = (u32v)(bits == WMI_EXPONENT_F32);
        r = wmi_select_u32((u32v)((i32v)bits < 0), wmi_splat_u32(WMI_NAN_F32), r);
        r = wmi_select_u32(zero, wmi_splat_u32(0xff800000u), wmi_select_u32(infinite, bits, r));
    }
    return wmi_unit_nan(x, r);
}

/* sin and cos of x turns, of which 31 bits behind the point count. approx: the cubic is that of the tables,
 * how its parts are cut is not known. */
WMI_INLINE u32v wmi_unit_turn(f32v x, bool cosine)
{
    const u32v bits = (u32v)x, field = bits >> 23 & 0xff, m = (bits & 0x7fffff) | 0x800000;
    /* A shift by 119 - field to the right, or field - 119 to the left. */
    const u32v left = (field - 119) & (u32v)(field >= 119), right = (119 - field) & (u32v)(field < 119);
    const u32v high = (m << (left & 31)) & (u32v)(left < 32), low = (m >> (right & 31)) & (u32v)(right < 32);
    const u32v phase = wmi_select_u32((u32v)(field >= 119), high, low) & 0x7fffffff;
    const u32v quadrant = phase >> 29, rest = phase & 0x1fffffff, reflected = (u32v)(rest >= 1 << 28);
    const u32v angle = wmi_select_u32(reflected, (1 << 29) - rest, rest);
    const u32v end = angle >> 28, row = (angle >> 24) - end; /* the end of the last row */
    const u32v odd = (u32v)((quadrant & 1) != 0) ^ (cosine ? wmi_splat_u32(~0u) : wmi_splat_u32(0));
    const u32v index = row | ((reflected ^ odd) & 16);
    const f32v t = wmi_from_i32(angle - (row << 24)) * 0x1p-24f;
    const u32v c0 = wmi_lookup(wmi_unit_sin_c0, index);
    const f32v c1 = (f32v)wmi_lookup(wmi_unit_sin_c1, index), c2 = (f32v)wmi_lookup(wmi_unit_sin_c2, index);
    const f32v c3 = (f32v)wmi_lookup(wmi_unit_sin_c3, index);
    const f32v small = wmi_from_i32(c0 & 7) + t * (c1 + t * (c2 + t * c3));
    const f32v value = (wmi_from_i32(c0 & ~7u) + small) * 0x1p-26f;
    const u32v negative = (quadrant + (cosine ? 1 : 0)) << 30;
    return (u32v)value ^ (negative & WMI_SIGN_F32 & (u32v)(value != 0)); /* cos(300.25) is +0 */
}

static inline f32v wmi_unit_sin(f32v x)
{
    const u32v bits = (u32v)x, magnitude = bits & ~WMI_SIGN_F32;
    const f32v small = x * (0xc90fd5 * 0x1p-21f);
    u32v r = wmi_unit_turn(x, false) ^ (bits & WMI_SIGN_F32);
    r = wmi_select_u32((u32v)(magnitude < 0x39c00000), (u32v)small, r);
    r = wmi_select_u32((u32v)(magnitude == WMI_EXPONENT_F32), wmi_splat_u32(WMI_NAN_F32), r);
    return wmi_unit_nan(x, r);
}

static inline f32v wmi_unit_cos(f32v x)
{
    const u32v infinite = (u32v)(((u32v)x & ~WMI_SIGN_F32) == WMI_EXPONENT_F32);
    return wmi_unit_nan(x, wmi_select_u32(infinite, wmi_splat_u32(WMI_NAN_F32), wmi_unit_turn(x, true)));
}

#endif

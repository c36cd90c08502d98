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

#include "arithmetic/transcendental.h"
#include "arithmetic/transcendental_near_one.h"
#include "arithmetic/transcendental_tables.h"
#include "base/lanes.h"

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

/* Of a table of 64 words: table[index % 32], or 32 words behind it where `second` is ones. */
WMI_INLINE u32v wmi_lookup_64(const void *table, u32v index, u32v second)
{
#if WMI_VECTOR_BYTES == 32
    return (u32v)_mm256_i32gather_epi32(table, (__m256i)((index & 31) | (second & 32)), 4);
#else
    return wmi_select_u32(second, wmi_lookup((const char *)table + 128, index), wmi_lookup(table, index));
#endif
}

/* The same if only one row follows the first 32. */
WMI_INLINE u32v wmi_lookup_33(const void *table, u32v index, u32v last)
{
    return wmi_select_u32(last, wmi_splat_u32(((const wmi_word *)table)[32]), wmi_lookup(table, index));
}

WMI_INLINE f32v wmi_from_i32(u32v x)
{
    return __builtin_convertvector((i32v)x, f32v);
}

WMI_INLINE u32v wmi_to_i32(f32v x)
{
    return (u32v) __builtin_convertvector(x, i32v);
}

/* The integer x & mask, below 2^23, in units of the last bit of `power`, a power of two. */
WMI_INLINE f32v wmi_masked_float(u32v x, uint32_t mask, float power)
{
    return (f32v)((x & mask) | (u32v)wmi_splat_f32(power)) - power;
}

/* Whether all bits of the mask are zero in any lane of x. */
WMI_INLINE bool wmi_any_without(u32v x, uint32_t mask)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_testn_epi32_mask((__m512i)x, _mm512_set1_epi32((int)mask)) != 0;
#else
    return wmi_any((u32v)((x & mask) == 0));
#endif
}

WMI_INLINE bool wmi_any_above(u32v x, uint32_t limit)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_cmpgt_epu32_mask((__m512i)x, _mm512_set1_epi32((int)limit)) != 0;
#else
    return wmi_any((u32v)(x > limit));
#endif
}

/* Positive products are rounded to nearest even, to 24 bits but not to less than a smallest unit, and then to
 * an integer: up, down or, with a smallest unit of one, no more.
 *
 * In directed rounding, half a unit less rounded up is what multiples of the unit rounded up are. Where the
 * unit of f32 is larger, the product to nearest is not above that, and where it is smaller, not below. */
#if WMI_VECTOR_BYTES == 64
#define WMI_DIRECTED(how) (_MM_FROUND_TO_##how | _MM_FROUND_NO_EXC)

/* half: of the smallest unit. */
WMI_INLINE u32v wmi_product_up(f32v a, f32v b, float half)
{
    const __m512 exact =
        _mm512_fmadd_round_ps((__m512)a, (__m512)b, (__m512)wmi_splat_f32(-half), WMI_DIRECTED(POS_INF));
    return (u32v)_mm512_cvt_roundps_epi32(_mm512_min_ps(exact, (__m512)(a * b)), WMI_DIRECTED(POS_INF));
}

WMI_INLINE u32v wmi_product_down(f32v a, f32v b)
{
    const __m512 exact =
        _mm512_fmadd_round_ps((__m512)a, (__m512)b, (__m512)wmi_splat_f32(0.25f), WMI_DIRECTED(NEG_INF));
    return (u32v)_mm512_cvt_roundps_epi32(_mm512_max_ps(exact, (__m512)(a * b)), WMI_DIRECTED(NEG_INF));
}

WMI_INLINE u32v wmi_product_near(f32v a, f32v b)
{
    const __m512i magic = _mm512_set1_epi32(0x4b000000); /* 2^23, whose unit is one */
    const f32v product = a * b, whole = wmi_fused_f32(a, b, (f32v)(u32v)magic);
    return (u32v)_mm512_mask_sub_epi32((__m512i)wmi_to_i32(product),
                                       _mm512_cmp_ps_mask((__m512)product, (__m512)magic, _CMP_LT_OQ),
                                       (__m512i)whole, magic);
}

/* x * x, rounded down to an integer. */
WMI_INLINE f32v wmi_square_down(f32v x)
{
    return wmi_floor_f32((f32v)_mm512_mul_round_ps((__m512)x, (__m512)x, WMI_DIRECTED(ZERO)));
}

/* a + b, rounded down. |a| is not below |b|, or a is 0. */
WMI_INLINE f32v wmi_sum_down(f32v a, f32v b)
{
    return (f32v)_mm512_add_round_ps((__m512)a, (__m512)b, WMI_DIRECTED(NEG_INF));
}
#else
/* a * b rounded to 24 bits; products below `unit` as those above it, to multiples of unit * 2^-23. */
WMI_INLINE f32v wmi_cut_product(f32v a, f32v b, float unit)
{
    const f32v magic = (f32v)((u32v)(a * b < unit) & (u32v)wmi_splat_f32(unit));
    return wmi_fused_f32(a, b, magic) - magic;
}

WMI_INLINE u32v wmi_product_up(f32v a, f32v b, float half)
{
    /* -floor(-x) is ceil(x). */
    return -wmi_to_i32(wmi_floor_f32(-wmi_cut_product(a, b, half * 0x1p24f)));
}

WMI_INLINE u32v wmi_product_down(f32v a, f32v b)
{
    return wmi_to_i32(wmi_cut_product(a, b, 0x1p22f)); /* truncated */
}

WMI_INLINE u32v wmi_product_near(f32v a, f32v b)
{
    return wmi_to_i32(wmi_cut_product(a, b, 0x1p23f));
}

WMI_INLINE f32v wmi_square_down(f32v x)
{
    const f32v nearly = wmi_floor_f32(x * x);
    return nearly + (f32v)((u32v)(wmi_fused_f32(x, x, -nearly) < 0) & (u32v)wmi_splat_f32(-1));
}

WMI_INLINE f32v wmi_sum_down(f32v a, f32v b)
{
    const f32v sum = a + b, error = b - (sum - a);
    const i32v bits = (i32v)sum;
    return (f32v)(bits - ((i32v)(error < 0) & (bits >> 31 | 1)));
}
#endif

/* A sum of at least 29 bits with the term x / 64, rounded down; if it is not whole, the sum's last bit is
 * odd, so that the sum rounds as the exact one. */
WMI_INLINE u32v wmi_plus_sixty_fourth(u32v sum, u32v x)
{
    sum += (u32v)((i32v)x >> 6);
#if WMI_VECTOR_BYTES == 64
    const __mmask16 more = _mm512_test_epi32_mask((__m512i)x, _mm512_set1_epi32(63));
    return (u32v)_mm512_mask_or_epi32((__m512i)sum, more, (__m512i)sum, _mm512_set1_epi32(1));
#else
    return sum | ((u32v)((x & 63) != 0) & 1);
#endif
}

/* NaNs keep sign and payload; others take r. */
WMI_INLINE f32v wmi_unit_nan(f32v x, u32v r)
{
    return wmi_select_f32(wmi_is_nan_bits_f32(x), wmi_quiet_bits_f32(x), (f32v)r);
}

static inline f32v wmi_unit_rcp(f32v x)
{
    const u32v bits = (u32v)x, row = bits >> 18;
    const f32v f = wmi_masked_float(bits, 0x3ffff, 0x1p23f), half = wmi_masked_float(bits, 0x3fffe, 0x1p17f);
    const f32v c1 = (f32v)wmi_lookup(wmi_rcp_table.c1, row), c2 = (f32v)wmi_lookup(wmi_rcp_table.c2, row);
    const f32v c3 = (f32v)wmi_lookup(wmi_rcp_table.c3, row);
    const f32v inner = c2 - wmi_fused_f32(c3, 4 * f + 1, wmi_splat_f32(WMI_UNIT_MAGIC));
    const u32v linear = wmi_lookup(wmi_rcp_table.c0, row) - wmi_product_up(c1, f, 0.25f);
    const u32v sum = wmi_plus_sixty_fourth(linear, wmi_product_near(inner, wmi_square_down(half)));
    /* 2^29 stands for one. */
    u32v r = (u32v)wmi_from_i32(sum) + (98u << 23) - (bits & (WMI_SIGN_F32 | WMI_EXPONENT_F32));
    if (__builtin_expect(wmi_any_without(bits + (3 << 23), 0xfcu << 23), 0)) { /* exponent 253 to 255, 0 */
        const u32v sign = bits & WMI_SIGN_F32, field = bits >> 23 & 0xff, magnitude = bits & ~WMI_SIGN_F32;
        const u32v normal = (u32v)(magnitude <= 0x7e800000u); /* 2^126 */
        r = wmi_select_u32((u32v)(field == 0), sign | WMI_EXPONENT_F32, wmi_select_u32(normal, r, sign));
        return wmi_unit_nan(x, r);
    }
    return (f32v)r;
}

static inline f32v wmi_unit_rsq(f32v x)
{
    const u32v bits = (u32v)x, row = bits >> 18, odd = (u32v)((bits & 1 << 23) == 0); /* the exponent */
    const f32v f = wmi_masked_float(bits, 0x3ffff, 0x1p23f), half = wmi_masked_float(bits, 0x3fffe, 0x1p17f);
    const f32v c1 = (f32v)wmi_lookup_64(wmi_rsq_table.c1, row, odd);
    const f32v c2 = (f32v)wmi_lookup_64(wmi_rsq_table.c2, row, odd);
    const f32v c3 = (f32v)wmi_lookup_64(wmi_rsq_table.c3, row, odd);
    const f32v inner = c2 - wmi_fused_f32(c3, 4 * f + 1, wmi_splat_f32(WMI_UNIT_MAGIC));
    const u32v linear = wmi_lookup_64(wmi_rsq_table.c0, row, odd) - 2 * wmi_product_up(c1, f, 0.125f);
    const u32v sum = wmi_plus_sixty_fourth(linear, wmi_product_near(inner, wmi_square_down(half)));
    const u32v half_exponent = (u32v)((i32v)(bits - (127 << 23)) >> 1) & ~0x7fffffu;
    u32v r = (u32v)wmi_from_i32(sum) - (half_exponent + (30 << 23));
    if (__builtin_expect(wmi_any_above(bits - 0x800000, 0x7effffff), 0)) { /* not positive and normal */
        const u32v zero = (u32v)((bits & WMI_EXPONENT_F32) == 0);
        const u32v infinite = (bits & WMI_SIGN_F32) | WMI_EXPONENT_F32;
        r &= (u32v)(bits != WMI_EXPONENT_F32);
        r = wmi_select_u32((u32v)((i32v)bits < 0), wmi_splat_u32(WMI_NAN_F32), r);
        return wmi_unit_nan(x, wmi_select_u32(zero, infinite, r));
    }
    return (f32v)r;
}

static inline f32v wmi_unit_sqrt(f32v x)
{
    const u32v bits = (u32v)x, row = bits >> 19 ^ 16; /* the exponent's last bit and four others */
    const f32v f = wmi_masked_float(bits, 0x7ffff, 0x1p23f),
               quarter = wmi_masked_float(bits, 0x7fffc, 0x1p16f);
    const f32v c1 = (f32v)wmi_lookup(wmi_sqrt_table.c1, row), c2 = (f32v)wmi_lookup(wmi_sqrt_table.c2, row);
    const f32v c3 = (f32v)wmi_lookup(wmi_sqrt_table.c3, row);
    const f32v inner = c2 - wmi_fused_f32(c3, 2 * f + 1, wmi_splat_f32(WMI_UNIT_MAGIC));
    const u32v linear = wmi_lookup(wmi_sqrt_table.c0, row) + 2 * wmi_product_down(c1, f);
    const u32v sum = wmi_plus_sixty_fourth(linear, -wmi_product_near(inner, wmi_square_down(quarter)));
    const u32v half_exponent = (u32v)((i32v)(bits - (127 << 23)) >> 1) & ~0x7fffffu;
    u32v r = (u32v)wmi_from_i32(sum) + (half_exponent - (29 << 23));
    if (__builtin_expect(wmi_any_above(bits - 0x800000, 0x7effffff), 0)) { /* not positive and normal */
        r = wmi_select_u32((u32v)(bits == WMI_EXPONENT_F32), bits, r);
        r = wmi_select_u32((u32v)((i32v)bits < 0), wmi_splat_u32(WMI_NAN_F32), r);
        r = wmi_select_u32((u32v)((bits & WMI_EXPONENT_F32) == 0), bits & WMI_SIGN_F32, r);
        return wmi_unit_nan(x, r);
    }
    return (f32v)r;
}

/* The phase has 29 fraction bits; that of a negative number is complemented, not negated. */
static inline f32v wmi_unit_exp2(f32v x)
{
    const u32v bits = (u32v)x, magnitude = bits & ~WMI_SIGN_F32;
    /* Below 2^-24, above 126, and NaNs. */
    const bool rare = wmi_any_above(magnitude - 0x33800000, 0x42fc0000 - 0x33800000);
    const u32v over = (u32v)(x >= 128), under = (u32v)(x < -126);
    const f32v safe = rare ? (f32v)(magnitude & ~(over | under | wmi_is_nan_bits_f32(x))) : (f32v)magnitude;
    const u32v whole = wmi_to_i32(safe), negative = (u32v)((i32v)bits >> 31);
    const u32v phase = (wmi_to_i32((safe - wmi_from_i32(whole)) * 0x1p29f) ^ negative) & 0x1fffffff;
    const u32v exponent = whole ^ negative, row = phase >> 24;
    const f32v f = wmi_from_i32(phase & 0xffffff), top = wmi_from_i32(phase & 0xffffc0);
    const f32v c1 = (f32v)wmi_lookup(wmi_exp_table.c1, row), c2 = (f32v)wmi_lookup(wmi_exp_table.c2, row);
    const f32v c3 = (f32v)wmi_lookup(wmi_exp_table.c3, row);
    const f32v inner = wmi_fused_f32(c3, top, c2) - WMI_UNIT_EXP_BIAS;
    const u32v linear = 4 * (wmi_lookup(wmi_exp_table.c0, row) + wmi_product_down(c1, f));
    const u32v square = wmi_product_near(inner, wmi_square_down(top * 0x1p-12f));
    u32v r = (u32v)wmi_from_i32(wmi_plus_sixty_fourth(linear, square)) + ((exponent - 30) << 23);
    if (__builtin_expect(rare, 0)) {
        r = wmi_select_u32((u32v)(magnitude < 0x33800000), wmi_splat_u32(0x3f800000), r);
        r = wmi_select_u32(over, wmi_splat_u32(WMI_EXPONENT_F32), r & ~under);
        return wmi_unit_nan(x, r);
    }
    return (f32v)r;
}

static inline f32v wmi_unit_log2(f32v x)
{
    const u32v bits = (u32v)x, row = bits >> 18, last = (u32v)((bits & 63 << 17) == 3 << 17);
    const f32v f = wmi_masked_float(bits, 0x3ffff, 0x1p23f);
    const f32v c1 = (f32v)wmi_lookup_33(wmi_log_table.c1, row, last);
    const f32v c2 = (f32v)wmi_lookup_33(wmi_log_table.c2, row, last);
    const f32v c3 = (f32v)wmi_lookup_33(wmi_log_table.c3, row, last);
    const f32v magic = wmi_splat_f32(WMI_UNIT_MAGIC);
    const f32v inner = c2 - (wmi_fused_f32(c3, 2 * f + 1, magic) - magic);
    const u32v square = wmi_product_near(inner, wmi_square_down(f * 0x1p-6f));
    /* The product rounded down, which may have more than 24 bits. */
    const f32v nearly = wmi_round_f32(c1 * f, WMI_ROUND_EVEN);
    const u32v linear = wmi_to_i32(nearly) + wmi_to_i32(wmi_floor_f32(wmi_fused_f32(c1, f, -nearly)));
    const u32v value = wmi_lookup_33(wmi_log_table.c0, row, last) + linear;
    /* value / 2^30 - square / 2^35, of which the upper 13 bits join the exponent: both parts have at most 24
     * bits. */
    const u32v upper = (((bits >> 23) - 127) << 13) + (value >> 17);
    const u32v lower = (value << 5 & 0x3fffff) - square;
    u32v r = (u32v)wmi_sum_down(wmi_from_i32(upper) * 0x1p-13f, wmi_from_i32(lower) * 0x1p-35f);
    const u32v near_one = (u32v)(bits - 0x3f7c0000 < 0x3f840000 - 0x3f7c0000);
    if (wmi_any(near_one))
        for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
            if (near_one[i])
                r[i] = bits[i] == 0x3f800000 ? 0 : wmi_unit_log2_near_one(bits[i]);
    if (__builtin_expect(wmi_any_above(bits - 0x800000, 0x7effffff), 0)) { /* not positive and normal */
        const u32v zero = (u32v)((bits & WMI_EXPONENT_F32) == 0), infinite = (u32v)(bits == WMI_EXPONENT_F32);
        r = wmi_select_u32((u32v)((i32v)bits < 0), wmi_splat_u32(WMI_NAN_F32), r);
        r = wmi_select_u32(zero, wmi_splat_u32(0xff800000u), wmi_select_u32(infinite, bits, r));
        return wmi_unit_nan(x, r);
    }
    return (f32v)r;
}

/* x * 2^n for n as a signed number, cut to 32 bits at both ends. */
WMI_INLINE u32v wmi_shifted(u32v x, u32v n)
{
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_sllv_epi32((__m512i)x, (__m512i)n) | (u32v)_mm512_srlv_epi32((__m512i)x, (__m512i)-n);
#elif WMI_VECTOR_BYTES == 32
    return (u32v)_mm256_sllv_epi32((__m256i)x, (__m256i)n) | (u32v)_mm256_srlv_epi32((__m256i)x, (__m256i)-n);
#else
    const u32v left = (x << (n & 31)) & (u32v)(n < 32), right = (x >> (-n & 31)) & (u32v)(-n < 32);
    return left | right;
#endif
}

/* sin and cos of x turns, of which 31 bits behind the point count. approx: the cubic is that of the tables,
 * how its parts are cut is not known. */
WMI_INLINE u32v wmi_unit_turn(f32v x, bool cosine)
{
    const u32v bits = (u32v)x, m = (bits & 0x7fffff) | 0x800000;
    const u32v phase = wmi_shifted(m, (bits >> 23 & 0xff) - 119) & 0x7fffffff;
    const u32v quadrant = phase >> 29, rest = phase & 0x1fffffff, reflected = (u32v)(rest >= 1 << 28);
    const u32v angle = wmi_select_u32(reflected, (1 << 29) - rest, rest);
    const u32v end = angle >> 28, row = (angle >> 24) - end; /* the end of the last row */
    const u32v odd = (u32v)((quadrant & 1) != 0) ^ (cosine ? wmi_splat_u32(~0u) : wmi_splat_u32(0));
    const u32v index = row | ((reflected ^ odd) & 16);
    const f32v t = wmi_from_i32(angle - (row << 24)) * 0x1p-24f;
    const u32v c0 = wmi_lookup(wmi_sin_table.c0, index);
    const f32v c1 = (f32v)wmi_lookup(wmi_sin_table.c1, index), c2 = (f32v)wmi_lookup(wmi_sin_table.c2, index);
    const f32v c3 = (f32v)wmi_lookup(wmi_sin_table.c3, index);
    const f32v small = wmi_from_i32(c0 & 7) + t * (c1 + t * (c2 + t * c3));
    const f32v value = (wmi_from_i32(c0 & ~7u) + small) * 0x1p-26f;
    const u32v negative = (quadrant + (cosine ? 1 : 0)) << 30;
    return (u32v)value ^ (negative & WMI_SIGN_F32 & (u32v)(value != 0)); /* cos(300.25) is +0 */
}

static inline f32v wmi_unit_sin(f32v x)
{
    const u32v bits = (u32v)x, magnitude = bits & ~WMI_SIGN_F32;
    const f32v small = x * WMI_UNIT_TWO_PI;
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

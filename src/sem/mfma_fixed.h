/* SPDX-License-Identifier: MIT */
/* Sums of products for MFMA of CDNA 3 by 16-bit integers, where no step of cut_sum() (mfma_sums.h) can cut
 * anything. AVX-512 only.
 *
 * Let EA and EB be the largest exponents of A and B, UA and UB the units of which all elements of A and B are
 * multiples, with 15 bits at most: then products are integers times 2^U, U = UA + UB, and pairs of them are
 * one VPMADDWD. All exponents E of groups are at most M = EA + EB. If U >= M - 24, no product has bits below
 * 2^(E-24), so none is cut. Let V be a power's exponent with M - 24 <= V <= U, and C a multiple of 2^V: then
 * C's floor at 2^(X-24), X the larger one of E and C's exponent, is C. If |C| and the sums stay below
 * 2^(V+31), then X - 32 < V: the floor of the sum changes nothing either, nor does that of the total at 32
 * significant bits. What is left is one rounding, of an integer to f32. The result is a multiple of 2^V
 * again. */
#ifndef WMI_MFMA_FIXED_H
#define WMI_MFMA_FIXED_H

#include "sem/mfma_sums.h"

#if WMI_VECTOR_BYTES == 64

enum { FIXED_BITS = 15, FIXED_SLACK = 2 /* V is at most M - 24 + this: room for the sums */ };

/* A or B: elements 2i and 2i + 1 of each lane in the halves of a word, in units of 2^unit. */
struct fixed_side {
    _Alignas(64) uint32_t pair[ELEMENTS / 2][64];
    int exponent, unit;
};

struct fixed {
    struct fixed_side a, b;
    int unit;      /* V */
    int shift;     /* U - V */
    int32_t limit; /* of |C| in units of 2^V */
};

/* False if the elements are no integers of FIXED_BITS bits in a common unit, or all zero. least: the smallest
 * exponent of the format. */
static bool fix_side(struct fixed_side *to, const struct side *from, unsigned elements, int least)
{
    __m512i largest = _mm512_setzero_si512(), used = largest;
    for (unsigned e = 0; e < elements; e++)
        for (unsigned lane = 0; lane < 64; lane += 16)
            largest = _mm512_max_epu32(largest, _mm512_slli_epi32(_mm512_load_si512(&from->value[e][lane]), 1));
    const uint32_t most = _mm512_reduce_max_epu32(largest);
    if (!most)
        return false;
    to->exponent = (int)(most >> 24) - 127 < least ? least : (int)(most >> 24) - 127;
    to->unit = to->exponent - (FIXED_BITS - 1);
    const __m512 scale = _mm512_set1_ps(power_of_two(-to->unit));
    __mmask16 inexact = 0;
    for (unsigned e = 0; e < elements; e += 2) {
        for (unsigned lane = 0; lane < 64; lane += 16) {
            const __m512 low = _mm512_mul_ps(_mm512_load_ps(&from->value[e][lane]), scale);
            const __m512 high = _mm512_mul_ps(_mm512_load_ps(&from->value[e + 1][lane]), scale);
            const __m512i i = _mm512_cvttps_epi32(low), j = _mm512_cvttps_epi32(high);
            inexact |= _mm512_cmpneq_ps_mask(_mm512_cvtepi32_ps(i), low) |
                       _mm512_cmpneq_ps_mask(_mm512_cvtepi32_ps(j), high);
            const __m512i pair = _mm512_mask_blend_epi16(0xaaaaaaaa, i, _mm512_slli_epi32(j, 16));
            used = _mm512_or_si512(used, pair);
            _mm512_store_si512(&to->pair[e / 2][lane], pair);
        }
        if (inexact)
            return false;
    }
    const uint32_t bits = (uint32_t)_mm512_reduce_or_epi32(used);
    const int zeros = __builtin_ctz(bits | bits >> 16);
    const __m128i count = _mm_cvtsi32_si128(zeros);
    for (unsigned e = 0; zeros && e < elements / 2; e++)
        for (unsigned lane = 0; lane < 64; lane += 16) {
            uint32_t *const pair = &to->pair[e][lane];
            _mm512_store_si512(pair, _mm512_sra_epi16(_mm512_load_si512(pair), count));
        }
    to->unit += zeros;
    return true;
}

/* Whether the products of `depth` k can be made so; least_a, least_b: smallest exponents of the formats. */
static bool fix(struct fixed *f, const struct side *a, const struct side *b, unsigned a_elements,
                unsigned b_elements, int least_a, int least_b, unsigned depth)
{
    if (!fix_side(&f->a, a, a_elements, least_a) || !fix_side(&f->b, b, b_elements, least_b))
        return false;
    const int unit = f->a.unit + f->b.unit, least = f->a.exponent + f->b.exponent - 24;
    if (unit < least)
        return false;
    f->unit = unit < least + FIXED_SLACK ? unit : least + FIXED_SLACK;
    f->shift = unit - f->unit;
    /* of a product, in units of 2^V: |A| < 2^(EA+1), |B| < 2^(EB+1) */
    const int64_t product = (int64_t)1 << (least + 26 - f->unit);
    const int64_t limit = INT32_MAX - depth * product;
    f->limit = (int32_t)limit;
    return limit > 0;
}

/* Whether a tile's C consists of multiples of 2^V within the limit. NaNs and infinities do not. */
WMI_INLINE bool fixed_addends(const struct tile *t, const struct fixed *f, const wmi_word *c, unsigned c_mask)
{
    const __m512 up = _mm512_set1_ps(power_of_two(-f->unit)), down = _mm512_set1_ps(power_of_two(f->unit));
    const __m512i limit = _mm512_set1_epi32(f->limit);
    __mmask16 wrong = 0;
    for (unsigned n = 0; n < t->rows; n++) {
        const __m512 x = _mm512_load_ps(c + (t->at[n] & c_mask));
        const __m512i i = _mm512_cvttps_epi32(_mm512_mul_ps(x, up));
        wrong |= _mm512_cmp_ps_mask(_mm512_mul_ps(_mm512_cvtepi32_ps(i), down), x, _CMP_NEQ_UQ) |
                 _mm512_cmpgt_epu32_mask(_mm512_abs_epi32(i), limit);
    }
    return !wrong;
}

/* A tile, by groups of 2 * PAIRS products. False if C does not allow it; then D is unchanged. */
WMI_INLINE bool fixed_groups(const struct tile *t, const struct fixed *f, unsigned a_lane, unsigned b_lane,
                             unsigned pairs, const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    const __m512 up = _mm512_set1_ps(power_of_two(-f->unit)), down = _mm512_set1_ps(power_of_two(f->unit));
    const __m128i shift = _mm_cvtsi32_si128(f->shift);
    if (!fixed_addends(t, f, c, c_mask))
        return false;
    for (unsigned first = 0; first < t->depth; first += 2 * pairs) {
        __m512i b[GROUP / 2];
        const uint32_t *a[GROUP / 2];
        for (unsigned i = 0; i < pairs; i++) {
            const unsigned at_a = t->a_at[first + 2 * i], at_b = t->b_at[first + 2 * i];
            a[i] = &f->a.pair[at_a / 128][at_a % 64 + a_lane];
            b[i] = _mm512_loadu_si512(&f->b.pair[at_b / 128][at_b % 64 + b_lane]);
        }
        for (unsigned n = 0; n < t->rows; n++) {
            __m512i sum = _mm512_setzero_si512();
            _Pragma("GCC unroll 8") for (unsigned i = 0; i < pairs; i++)
                sum = _mm512_add_epi32(
                    sum, _mm512_madd_epi16(_mm512_set1_epi32((int)a[i][t->row[n]]), b[i]));
            const __m512 x = _mm512_load_ps(first ? d + t->at[n] : c + (t->at[n] & c_mask));
            const __m512i total =
                _mm512_add_epi32(_mm512_sll_epi32(sum, shift), _mm512_cvttps_epi32(_mm512_mul_ps(x, up)));
            _mm512_store_ps(d + t->at[n], _mm512_mul_ps(_mm512_cvtepi32_ps(total), down));
        }
    }
    return true;
}

static bool fixed_tile(const struct tile *t, const struct fixed *f, unsigned a_lane, unsigned b_lane,
                       const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    switch (t->group) {
    case 4:
        return fixed_groups(t, f, a_lane, b_lane, 2, c, c_mask, d);
    case 8:
        return fixed_groups(t, f, a_lane, b_lane, 4, c, c_mask, d);
    default:
        return fixed_groups(t, f, a_lane, b_lane, 8, c, c_mask, d);
    }
}

#else

struct fixed {
    char none;
};

static bool fix(struct fixed *f, const struct side *a, const struct side *b, unsigned a_elements,
                unsigned b_elements, int least_a, int least_b, unsigned depth)
{
    (void)f, (void)a, (void)b, (void)a_elements, (void)b_elements, (void)least_a, (void)least_b, (void)depth;
    return false;
}

static bool fixed_tile(const struct tile *t, const struct fixed *f, unsigned a_lane, unsigned b_lane,
                       const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    (void)t, (void)f, (void)a_lane, (void)b_lane, (void)c, (void)c_mask, (void)d;
    return false;
}

#endif
#endif

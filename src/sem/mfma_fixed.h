/* SPDX-License-Identifier: MIT */
/* Sums of products for MFMA of CDNA 3 by 16-bit integers, where no step of cut_sum() (mfma_sums.h) can cut
 * anything. AVX-512 only.
 *
 * Let EA and EB be the largest exponents of A and B, and all elements multiples of 2^UA and 2^UB, with 15
 * bits at most: then products are integers times 2^U, U = UA + UB, and pairs of them are one VPMADDWD. All
 * exponents E of groups are at most M = EA + EB. If U >= M - 24, no product has bits below 2^(E-24), so none
 * is cut. Let M - 24 <= V <= U, and C be a multiple of 2^V: then C's floor at 2^(X-24), X the larger one of E
 * and C's exponent, is C. If |C| and the sums stay below 2^(V+31), then X - 32 < V: the floor of the sum
 * changes nothing either, nor does that of the total at 32 significant bits. What is left is one rounding, of
 * an integer to f32. The result is a multiple of 2^V again. */
#ifndef WMI_MFMA_FIXED_H
#define WMI_MFMA_FIXED_H

#include "sem/mfma_sums.h"

#if WMI_VECTOR_BYTES == 64

enum {
    FIXED_BITS = 15,
    FIXED_SLACK = 2, /* V is at most M - 24 + this, so that sums do not overflow */
};

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

/* Floats of `bits` bits with `exponent` bits of exponent. */
struct fixed_format {
    unsigned bits, exponent;
    int bias;
    uint32_t top;  /* magnitudes from here on are infinite or NaN */
    bool one_zero; /* a negative zero is NaN */
};

/* Whether all elements are finite; the largest magnitude's code. */
WMI_INLINE bool largest_code(const wmi_word *rows, unsigned dwords, struct fixed_format f, uint32_t *largest)
{
    const bool bytes = f.bits == 8;
    const __m512i sign = _mm512_set1_epi32((int)(bytes ? 0x80808080 : 0x80008000));
    __m512i most = _mm512_setzero_si512();
    __mmask64 wrong = 0;
    for (unsigned at = 0; at < 64 * dwords; at += 16) {
        const __m512i words = _mm512_load_si512(rows + at), magnitude = _mm512_andnot_si512(sign, words);
        most = bytes ? _mm512_max_epu8(most, magnitude) : _mm512_max_epu16(most, magnitude);
        if (f.one_zero)
            wrong |= _mm512_cmpeq_epi8_mask(words, sign);
    }
    uint32_t words[16], code = 0;
    memcpy(words, &most, sizeof words);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned at = 0; at < 32; at += f.bits) {
            const uint32_t one = words[i] >> at & ((1u << f.bits) - 1);
            code = one > code ? one : code;
        }
    *largest = code;
    return !wrong && code < f.top;
}

/* False if the elements are no finite integers of FIXED_BITS bits in a common unit, or all zero. */
WMI_INLINE bool fix_elements(struct fixed_side *to, const wmi_word *rows, unsigned dwords,
                             struct fixed_format f)
{
    const unsigned fraction = f.bits - 1 - f.exponent, pairs = 16 / f.bits;
    uint32_t largest;
    if (!largest_code(rows, dwords, f, &largest) || !largest)
        return false;
    to->exponent = (largest >> fraction ? (int)(largest >> fraction) : 1) - f.bias;
    to->unit = to->exponent - (FIXED_BITS - 1);
    if (abs(to->exponent) > 30)
        return false;
    /* An element at the top of a word is an f32 with another bias once its exponent is extended. */
    const unsigned extend = 8 - f.exponent;
    const __m512i element = _mm512_set1_epi32(
        (int)(0x80000000u | ((0x7fffffffu & ~(uint32_t)((UINT64_C(1) << (32 - f.bits)) - 1)) >> extend)));
    const __m512 rebias = _mm512_set1_ps(power_of_two(127 - f.bias)),
                 scale = _mm512_set1_ps(power_of_two(-to->unit));
    __m512i used = _mm512_setzero_si512();
    for (unsigned row = 0; row < dwords; row++)
        for (unsigned pair = 0; pair < pairs; pair++) {
            __mmask16 inexact = 0;
            for (unsigned lane = 0; lane < 64; lane += 16) {
                const __m512i words = _mm512_load_si512(rows + 64 * row + lane);
                __m512i x[2];
                for (unsigned i = 0; i < 2; i++) {
                    const __m512i top = _mm512_slli_epi32(words, 32 - f.bits * (2 * pair + i + 1));
                    const __m512i code = _mm512_and_si512(_mm512_srai_epi32(top, extend), element);
                    const __m512 value = _mm512_mul_ps(_mm512_mul_ps((__m512)code, rebias), scale);
                    x[i] = _mm512_cvttps_epi32(value);
                    inexact |= _mm512_cmpneq_ps_mask(_mm512_cvtepi32_ps(x[i]), value);
                }
                const __m512i both = _mm512_mask_blend_epi16(0xaaaaaaaa, x[0], _mm512_slli_epi32(x[1], 16));
                used = _mm512_or_si512(used, both);
                _mm512_store_si512(&to->pair[row * pairs + pair][lane], both);
            }
            if (inexact)
                return false;
        }
    const uint32_t bits = (uint32_t)_mm512_reduce_or_epi32(used);
    const int zeros = __builtin_ctz(bits | bits >> 16);
    const __m128i count = _mm_cvtsi32_si128(zeros);
    for (unsigned i = 0; zeros && i < dwords * pairs; i++)
        for (unsigned lane = 0; lane < 64; lane += 16) {
            uint32_t *const at = &to->pair[i][lane];
            _mm512_store_si512(at, _mm512_sra_epi16(_mm512_load_si512(at), count));
        }
    to->unit += zeros;
    return true;
}

static bool fix_side(struct fixed_side *to, const wmi_word *rows, unsigned dwords, unsigned element, bool ocp)
{
    switch (element) {
    case WMI_ELEMENT_f16:
        return fix_elements(to, rows, dwords, (struct fixed_format){16, 5, 15, 0x7c00, false});
    case WMI_ELEMENT_bf16:
        return fix_elements(to, rows, dwords, (struct fixed_format){16, 8, 127, 0x7f80, false});
    case WMI_ELEMENT_fp8:
        return ocp ? fix_elements(to, rows, dwords, (struct fixed_format){8, 4, 7, 0x7f, false})
                   : fix_elements(to, rows, dwords, (struct fixed_format){8, 4, 8, 0x80, true});
    case WMI_ELEMENT_bf8:
        return ocp ? fix_elements(to, rows, dwords, (struct fixed_format){8, 5, 15, 0x7c, false})
                   : fix_elements(to, rows, dwords, (struct fixed_format){8, 5, 16, 0x80, true});
    default: /* significands of xf32 are too long */
        return false;
    }
}

/* Whether the products of `depth` k can be made so. */
static bool fix(struct fixed *f, unsigned depth)
{
    const int unit = f->a.unit + f->b.unit, least = f->a.exponent + f->b.exponent - 24;
    if (unit < least)
        return false;
    f->unit = unit < least + FIXED_SLACK ? unit : least + FIXED_SLACK;
    f->shift = unit - f->unit;
    /* No product reaches this many units of 2^V, as |A| < 2^(EA+1) and |B| < 2^(EB+1). Significands have up
     * to 11 bits, so each product stays below it by 2^-10 of it. Rounding the sums of groups adds less. */
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

/* A tile, by groups of 2 * `pairs` products. */
WMI_INLINE void fixed_groups(const struct tile *t, const struct fixed *f, unsigned a_lane, unsigned b_lane,
                             unsigned pairs, const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    const __m512 up = _mm512_set1_ps(power_of_two(-f->unit)), down = _mm512_set1_ps(power_of_two(f->unit));
    const __m128i shift = _mm_cvtsi32_si128(f->shift);
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
            _Pragma("GCC unroll 8") for (unsigned i = 0; i < pairs; i++) sum =
                _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_set1_epi32((int)a[i][t->row[n]]), b[i]));
            const __m512 x = _mm512_load_ps(first ? d + t->at[n] : c + (t->at[n] & c_mask));
            const __m512i total =
                _mm512_add_epi32(_mm512_sll_epi32(sum, shift), _mm512_cvttps_epi32(_mm512_mul_ps(x, up)));
            _mm512_store_ps(d + t->at[n], _mm512_mul_ps(_mm512_cvtepi32_ps(total), down));
        }
    }
}

static void fixed_tile(const struct tile *t, const struct fixed *f, unsigned a_lane, unsigned b_lane,
                       const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    switch (t->group) {
    case 4:
        fixed_groups(t, f, a_lane, b_lane, 2, c, c_mask, d);
        break;
    case 8:
        fixed_groups(t, f, a_lane, b_lane, 4, c, c_mask, d);
        break;
    default:
        fixed_groups(t, f, a_lane, b_lane, 8, c, c_mask, d);
    }
}

#endif
#endif

/* SPDX-License-Identifier: MIT */
/* Sums of products for MFMA by 16-bit integers: of i8, and of floats on CDNA 3 where no step of cut_sum()
 * (mfma_sums.h) can cut anything. AVX-512 only.
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
    SHORT_BITS = 12,  /* tried first: two factors of this many bits need no shift to V */
    FIXED_SLACK = 2,  /* V is at most M - 24 + this, so that sums do not overflow */
    FIXED_DEPTH = 32, /* products of floats are not deeper */
};

/* A or B: elements 2i and 2i + 1 of each lane in the halves of a word, in units of 2^unit. */
struct fixed_side {
    _Alignas(64) uint32_t pair[ELEMENTS / 2][64];
    int exponent, unit;
};

struct fixed_sides {
    struct fixed_side a, b;
};

struct fixed {
    struct fixed_sides of;
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
    if (bytes)
        most = _mm512_max_epu8(most, _mm512_srli_epi32(most, 8));
    most = bytes ? _mm512_max_epu8(most, _mm512_srli_epi32(most, 16))
                 : _mm512_max_epu16(most, _mm512_srli_epi32(most, 16));
    const uint32_t code =
        _mm512_reduce_max_epu32(_mm512_and_si512(most, _mm512_set1_epi32((1 << f.bits) - 1)));
    *largest = code;
    return !wrong && code < f.top;
}

/* 16-bit words: elements 2i and 2i + 1 of each lane at the top of a word's halves, with zeros below. */
WMI_INLINE __m512i pair_of_elements(__m512i words, unsigned bits, unsigned pair)
{
    if (bits == 16)
        return words;
    const int places = pair ? 0x03800280 : 0x01800080; /* 0x80: zero */
    const __m512i lanes = _mm512_broadcast_i32x4(_mm_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0));
    return _mm512_shuffle_epi8(words, _mm512_or_si512(_mm512_set1_epi32(places), lanes));
}

/* Such elements as integers of `bits` bits, whose unit is that of elements with the exponent field `field`;
 * *lost: bits that are below it. */
WMI_INLINE __m512i fix_words(__m512i codes, unsigned exponent_bits, unsigned field, unsigned bits,
                             __m512i *lost)
{
    const __m512i magnitude = _mm512_and_si512(codes, _mm512_set1_epi16(0x7fff));
    const __m512i exponent = _mm512_srli_epi16(magnitude, 15 - exponent_bits);
    const __m512i fraction =
        _mm512_and_si512(_mm512_slli_epi16(magnitude, exponent_bits - 1), _mm512_set1_epi16(0x3fff));
    const __m512i significand = _mm512_mask_add_epi16(fraction, _mm512_test_epi16_mask(exponent, exponent),
                                                      fraction, _mm512_set1_epi16(0x4000));
    const __m512i down = _mm512_sub_epi16(_mm512_set1_epi16((short)(field + FIXED_BITS - bits)),
                                          _mm512_max_epu16(exponent, _mm512_set1_epi16(1)));
    const __m512i cut = _mm512_srlv_epi16(significand, down);
    *lost = _mm512_or_si512(*lost, _mm512_xor_si512(_mm512_sllv_epi16(cut, down), significand));
    const __m512i negative = _mm512_srai_epi16(codes, 15);
    return _mm512_sub_epi16(_mm512_xor_si512(cut, negative), negative);
}

/* Whether all elements are such integers; the bits that any of them uses. */
WMI_INLINE bool fix_rows(struct fixed_side *to, const wmi_word *rows, unsigned dwords, struct fixed_format f,
                         unsigned field, unsigned bits, uint32_t *used)
{
    const unsigned pairs = 16 / f.bits;
    __m512i all = _mm512_setzero_si512(), lost = all;
    for (unsigned row = 0; row < dwords; row++)
        for (unsigned lane = 0; lane < 64; lane += 16) {
            const __m512i words = _mm512_load_si512(rows + 64 * row + lane);
            for (unsigned pair = 0; pair < pairs; pair++) {
                const __m512i codes = pair_of_elements(words, f.bits, pair);
                const __m512i x = fix_words(codes, f.exponent, field, bits, &lost);
                all = _mm512_or_si512(all, x);
                _mm512_store_si512(&to->pair[row * pairs + pair][lane], x);
            }
        }
    *used = (uint32_t)_mm512_reduce_or_epi32(all);
    return !_mm512_test_epi32_mask(lost, lost);
}

/* False if the elements are no finite integers of FIXED_BITS bits in a common unit, or all zero. */
WMI_INLINE bool fix_elements(struct fixed_side *to, const wmi_word *rows, unsigned dwords,
                             struct fixed_format f)
{
    const unsigned fraction = f.bits - 1 - f.exponent, pairs = 16 / f.bits;
    uint32_t largest, used;
    if (!largest_code(rows, dwords, f, &largest) || !largest)
        return false;
    const unsigned field = largest >> fraction ? largest >> fraction : 1;
    to->exponent = (int)field - f.bias;
    if (abs(to->exponent) > 30)
        return false;
    to->unit = to->exponent - (SHORT_BITS - 1);
    const bool may_be_short = fraction < 10; /* significands of f16 nearly fill them */
    if (may_be_short && fix_rows(to, rows, dwords, f, field, SHORT_BITS, &used))
        return true;
    if (!fix_rows(to, rows, dwords, f, field, FIXED_BITS, &used))
        return false;
    const int zeros = __builtin_ctz(used | used >> 16);
    const __m128i count = _mm_cvtsi32_si128(zeros);
    for (unsigned i = 0; zeros && i < dwords * pairs; i++)
        for (unsigned lane = 0; lane < 64; lane += 16) {
            uint32_t *const at = &to->pair[i][lane];
            _mm512_store_si512(at, _mm512_sra_epi16(_mm512_load_si512(at), count));
        }
    to->unit = to->exponent - (FIXED_BITS - 1) + zeros;
    return true;
}

/* f16: bits from the largest exponent of the first 16 words down to the lowest bit of any of their elements,
 * less one, or FIXED_BITS if there are more than these. All words have as many or more. */
WMI_INLINE int first_bits(const wmi_word *rows)
{
    const __m512i words = _mm512_load_si512(rows);
    const __m512i magnitude = _mm512_and_si512(words, _mm512_set1_epi16(0x7fff));
    const __m512i larger = _mm512_max_epu16(magnitude, _mm512_srli_epi32(magnitude, 16));
    const unsigned field = _mm512_reduce_max_epu32(_mm512_and_si512(larger, _mm512_set1_epi32(0xffff))) >> 10;
    __m512i lost = _mm512_setzero_si512();
    const uint32_t used =
        (uint32_t)_mm512_reduce_or_epi32(fix_words(words, 5, field ? field : 1, FIXED_BITS, &lost));
    if (_mm512_test_epi32_mask(lost, lost))
        return FIXED_BITS;
    return used ? FIXED_BITS - 1 - __builtin_ctz(used | used >> 16) : 0;
}

/* Whether fix() may succeed, by the first words of A and B: a cheap look, as most f16 operands fail it. */
WMI_INLINE bool may_fix(const wmi_word *a, const wmi_word *b, unsigned element)
{
    return element != WMI_ELEMENT_f16 || first_bits(a) + first_bits(b) <= 24;
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
    const int unit = f->of.a.unit + f->of.b.unit, least = f->of.a.exponent + f->of.b.exponent - 24;
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

/* A tile's C in units of 2^V, in the order of the tile's rows. False unless all are integers within the
 * limit. NaNs and infinities are not. */
WMI_INLINE bool fixed_addends(const struct tile *t, const struct fixed *f, const wmi_word *c, unsigned c_mask,
                              int32_t (*to)[COLUMNS])
{
    const __m512 up = _mm512_set1_ps(power_of_two(-f->unit));
    /* What is below this may become zero when it is scaled. */
    const __m512 least = _mm512_set1_ps(power_of_two(f->unit));
    __m512i most = _mm512_setzero_si512();
    __mmask16 right = 0xffff;
    for (unsigned n = 0; n < t->rows; n++) {
        const __m512 x = _mm512_load_ps(c + (t->at[n] & c_mask)), scaled = _mm512_mul_ps(x, up);
        const __m512i i = _mm512_cvttps_epi32(scaled);
        right = _mm512_mask_cmp_ps_mask(right, _mm512_cvtepi32_ps(i), scaled, _CMP_EQ_OQ);
        if (f->unit > 0)
            right &= _mm512_cmp_ps_mask(_mm512_abs_ps(x), least, _CMP_GE_OQ) |
                     _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_EQ_OQ);
        most = _mm512_max_epu32(most, _mm512_abs_epi32(i));
        _mm512_store_si512(to[n], i);
    }
    return right == 0xffff && !_mm512_cmpgt_epu32_mask(most, _mm512_set1_epi32(f->limit));
}

/* Words before pair `i` of a product of `depth` k, of which each lane has `elements`. Constant, so that the
 * addresses of a row's pairs differ by constants. */
WMI_INLINE unsigned pair_place(unsigned i, unsigned depth, unsigned elements)
{
    return i % (elements / 2) * 64 + i / (elements / 2) * (64 * elements / depth);
}

/* A tile, by groups of `group` products. a, b: the pairs of its first row and column. */
WMI_INLINE void fixed_groups(const struct tile *t, const struct fixed *f, const uint32_t *a,
                             const uint32_t *b_pairs, unsigned group, unsigned depth, unsigned elements,
                             const int32_t (*addends)[COLUMNS], wmi_word *d)
{
    const __m512 down = _mm512_set1_ps(power_of_two(f->unit));
    const __m128i shift = _mm_cvtsi32_si128(f->shift);
    const bool shifted = f->shift;
    __m512i b[FIXED_DEPTH / 2];
    _Pragma("GCC unroll 16") for (unsigned i = 0; i < depth / 2; i++) b[i] =
        _mm512_loadu_si512(b_pairs + pair_place(i, depth, elements));
    for (unsigned n = 0; n < t->rows; n++) {
        __m512i total = _mm512_load_si512(addends[n]);
        __m512 rounded = _mm512_setzero_ps();
        const uint32_t *const row = a + t->first_row + n;
        _Pragma("GCC unroll 4") for (unsigned first = 0; first < depth / 2; first += group / 2)
        {
            const __m512i c = first ? _mm512_cvttps_epi32(rounded) : total;
            total = shifted ? _mm512_setzero_si512() : c;
            _Pragma("GCC unroll 8") for (unsigned i = first; i < first + group / 2; i++) total =
                _mm512_add_epi32(
                    total,
                    _mm512_madd_epi16(_mm512_set1_epi32((int)row[pair_place(i, depth, elements)]), b[i]));
            if (shifted)
                total = _mm512_add_epi32(_mm512_sll_epi32(total, shift), c);
            rounded = _mm512_cvtepi32_ps(total);
        }
        _mm512_store_ps(d + t->at[n], _mm512_mul_ps(rounded, down));
    }
}

/* elements: of a lane of A and of B. */
static void fixed_tile(const struct tile *t, const struct fixed *f, unsigned elements, unsigned a_lane,
                       unsigned b_lane, const int32_t (*addends)[COLUMNS], wmi_word *d)
{
    const uint32_t *const a = &f->of.a.pair[0][a_lane], *const b = &f->of.b.pair[0][b_lane];
    switch (t->group << 16 | t->depth << 8 | elements) {
    case 4 << 16 | 4 << 8 | 4:
        return fixed_groups(t, f, a, b, 4, 4, 4, addends, d);
    case 8 << 16 | 8 << 8 | 4:
        return fixed_groups(t, f, a, b, 8, 8, 4, addends, d);
    case 8 << 16 | 16 << 8 | 4:
        return fixed_groups(t, f, a, b, 8, 16, 4, addends, d);
    case 8 << 16 | 16 << 8 | 8:
        return fixed_groups(t, f, a, b, 8, 16, 8, addends, d);
    case 8 << 16 | 32 << 8 | 8:
        return fixed_groups(t, f, a, b, 8, 32, 8, addends, d);
    case 16 << 16 | 16 << 8 | 8:
        return fixed_groups(t, f, a, b, 16, 16, 8, addends, d);
    default:
        return fixed_groups(t, f, a, b, 16, 32, 8, addends, d);
    }
}

/* i8, whose sums wrap around: no condition. */
static void fix_bytes(struct fixed_side *to, const wmi_word *rows, unsigned dwords)
{
    for (unsigned row = 0; row < dwords; row++)
        for (unsigned lane = 0; lane < 64; lane += 16) {
            const __m512i words = _mm512_load_si512(rows + 64 * row + lane);
            for (unsigned pair = 0; pair < 2; pair++)
                _mm512_store_si512(&to->pair[2 * row + pair][lane],
                                   _mm512_srai_epi16(pair_of_elements(words, 8, pair), 8));
        }
}

/* C plus `pairs` pairs of products from pair `first` on. */
WMI_INLINE void byte_products(const struct tile *t, const uint32_t *a, const uint32_t *b_pairs,
                              unsigned first, unsigned pairs, unsigned depth, unsigned elements,
                              const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    __m512i b[FIXED_DEPTH / 2];
    _Pragma("GCC unroll 16") for (unsigned i = 0; i < pairs; i++) b[i] =
        _mm512_loadu_si512(b_pairs + pair_place(first + i, depth, elements));
    for (unsigned n = 0; n < t->rows; n++) {
        const uint32_t *const row = a + t->first_row + n;
        __m512i sum = _mm512_load_si512(c + (t->at[n] & c_mask));
        _Pragma("GCC unroll 16") for (unsigned i = 0; i < pairs; i++) sum = _mm512_add_epi32(
            sum,
            _mm512_madd_epi16(_mm512_set1_epi32((int)row[pair_place(first + i, depth, elements)]), b[i]));
        _mm512_store_si512(d + t->at[n], sum);
    }
}

static void bytes_tile(const struct tile *t, const struct fixed_sides *f, unsigned elements, unsigned a_lane,
                       unsigned b_lane, const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    const uint32_t *const a = &f->a.pair[0][a_lane], *const b = &f->b.pair[0][b_lane];
    switch (t->depth << 8 | elements) {
    case 4 << 8 | 4:
        return byte_products(t, a, b, 0, 2, 4, 4, c, c_mask, d);
    case 8 << 8 | 4:
        return byte_products(t, a, b, 0, 4, 8, 4, c, c_mask, d);
    case 16 << 8 | 4:
        return byte_products(t, a, b, 0, 8, 16, 4, c, c_mask, d);
    case 16 << 8 | 8:
        return byte_products(t, a, b, 0, 8, 16, 8, c, c_mask, d);
    case 32 << 8 | 8:
        return byte_products(t, a, b, 0, 16, 32, 8, c, c_mask, d);
    case 32 << 8 | 16:
        return byte_products(t, a, b, 0, 16, 32, 16, c, c_mask, d);
    default:
        byte_products(t, a, b, 0, 16, 64, 16, c, c_mask, d);
        return byte_products(t, a, b, 16, 16, 64, 16, d, ~0u, d);
    }
}

#endif
#endif

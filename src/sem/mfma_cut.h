/* SPDX-License-Identifier: MIT */
/* Sums of products for MFMA of CDNA 3 by vectors of 16 lanes with directed rounding, but for those that are
 * split (fp8). The same sums as cut_group() of mfma_sums.h, which all others use, in fewer operations.
 *
 * A group of products p_k = a_k * b_k has the exponent E, the largest sum of the exponents of both factors,
 * and the unit g = 2^(E-24). Wanted is S = sum of trunc(p_k / g).
 *   - trunc(x) is floor(x), and one more if x is negative and no integer.
 *   - p_k / g is an integer if and only if the lowest set bit of p_k, which is the product of the lowest set
 *     bits of its factors, is at least g. Exponents of lowest bits, E and the number of products to correct
 *     are bytes: 64 elements of D at a time.
 *   - floors are summed in f64: from 1.5 * 2^(E+28) on, numbers have the unit g, so a multiply-add that
 * rounds toward minus infinity adds floor(p_k / g) * g. |p_k| < 2^(E+2), so eight of them stay below
 * 2^(E+27). S is in the low 32 bits of the result. With |C| < 2^(E+6), C / g is below 2^30, and X of
 * cut_sum(), the larger one of E and C's exponent, is at most E + 5. Then the floor of S at 2^(X-32) changes
 * nothing, C's floor at 2^(X-24) is its floor at g (if X > E, C is a multiple of both), and S + floor(C / g),
 * below 2^31 in magnitude, has at most 31 bits, so that the floor at 32 bits changes nothing either: the
 * conversion to f32 is the only rounding. With a larger C, its floor at g is C itself; the sum with S needs
 * more bits and has to be cut to 32. Then X is C's exponent and at least E + 6, and the sum is at least
 * 2^(X-1) in magnitude, as |S| * g < 2^(E+5): its unit of 32 bits is 2^(X-32) or more, so that this cut
 * includes S's floor there. */
#ifndef WMI_MFMA_CUT_H
#define WMI_MFMA_CUT_H

#include "sem/mfma_sums.h"

#if WMI_VECTOR_BYTES == 64

enum {
    QUAD = 4,             /* rows of D in a vector of bytes */
    LEAST_EXPONENT = -60, /* E is not below this */
    NEVER = INT8_MAX,     /* lowest bit of a zero, whose products are always exact */
    ROUND_DOWN = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC,
};

/* A group's factors: values as f64, exponents, exponents of the lowest set bit, bits of negative values. */
struct cut_rows { /* of A, by row */
    _Alignas(64) double value[GROUP][ROWS];
    int8_t exponent[GROUP][ROWS], lowest[GROUP][ROWS];
    uint64_t negative[GROUP][ROWS / QUAD]; /* sixteen equal bits for each row */
};

struct cut_columns { /* of B, by column */
    _Alignas(64) double value[GROUP][COLUMNS];
    int8_t exponent[GROUP][COLUMNS], lowest[GROUP][COLUMNS];
    uint64_t negative[GROUP]; /* the columns' bits, four times */
};

/* E and the corrections of each element of D. */
struct cut_counts {
    _Alignas(64) int8_t exponent[ROWS][COLUMNS], negative[ROWS][COLUMNS];
};

WMI_INLINE void put_bytes(int8_t *to, i32v x)
{
    _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8((__m512i)x));
}

WMI_INLINE i32v get_bytes(const int8_t *from)
{
    return (i32v)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)from));
}

/* 16 factors. Zeros, whose power is 0, get the exponent -127: no product of theirs reaches LEAST_EXPONENT. */
WMI_INLINE uint32_t split_factor(const float *from, double *value, int8_t *exponent, int8_t *lowest)
{
    const f32v x = load_loose(from), power = load_loose(from + POWERS);
    const i32v significand = (i32v)(((u32v)x & 0x7fffff) | 0x800000);
    const f32v low = __builtin_convertvector(significand & -significand, f32v); /* a power of two */
    const i32v at = ((i32v)((u32v)x >> 23) & 0xff) - 127 + ((i32v)((u32v)low >> 23) - 127) - 23;
    const u32v zero = (u32v)((u32v)power == 0);
    *(f64v *)value = wide_half(x, 0);
    *(f64v *)(value + 8) = wide_half(x, 1);
    put_bytes(exponent, (i32v)((u32v)power >> 23) - 127);
    put_bytes(lowest, (i32v)wmi_select_u32(zero, wmi_splat_u32(NEVER), (u32v)at));
    return (uint32_t)wmi_pack((u32v)x);
}

WMI_INLINE void split_factors(const struct tile *t, unsigned first, unsigned count, struct cut_rows *a,
                              struct cut_columns *b)
{
    for (unsigned k = 0; k < count; k++) {
        const float *const from = t->a + t->a_at[first + k];
        for (unsigned row = 0; row < t->rows; row += COLUMNS) {
            uint32_t negative =
                split_factor(from + row, &a->value[k][row], &a->exponent[k][row], &a->lowest[k][row]);
            for (unsigned quad = row / QUAD; quad < (row + COLUMNS) / QUAD; quad++, negative >>= QUAD)
                a->negative[k][quad] =
                    (negative & 1 ? UINT64_C(0xffff) : 0) | (negative & 2 ? UINT64_C(0xffff) << 16 : 0) |
                    (negative & 4 ? UINT64_C(0xffff) << 32 : 0) | (negative & 8 ? UINT64_C(0xffff) << 48 : 0);
        }
        b->negative[k] = UINT64_C(0x0001000100010001) *
                         split_factor(t->b + t->b_at[first + k], b->value[k], b->exponent[k], b->lowest[k]);
    }
}

/* Four bytes of rows, each for the 16 columns, plus bytes of the columns. */
WMI_INLINE __m512i sum_of_bytes(const int8_t *rows, const int8_t *columns)
{
    const __m512i spread =
        _mm512_set_epi32(0x03030303, 0x03030303, 0x03030303, 0x03030303, 0x02020202, 0x02020202, 0x02020202,
                         0x02020202, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0, 0, 0, 0);
    int32_t four;
    memcpy(&four, rows, sizeof four);
    return _mm512_adds_epi8(_mm512_shuffle_epi8(_mm512_set1_epi32(four), spread),
                            _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)columns)));
}

WMI_INLINE void count_cuts(const struct cut_rows *a, const struct cut_columns *b, unsigned rows,
                           unsigned count, struct cut_counts *out)
{
    for (unsigned row = 0; row < rows; row += QUAD) {
        __m512i e = _mm512_set1_epi8(LEAST_EXPONENT), cuts = _mm512_setzero_si512();
        for (unsigned k = 0; k < count; k++)
            e = _mm512_max_epi8(e, sum_of_bytes(&a->exponent[k][row], b->exponent[k]));
        const __m512i grid = _mm512_sub_epi8(e, _mm512_set1_epi8(24));
        for (unsigned k = 0; k < count; k++) {
            const __m512i lowest = sum_of_bytes(&a->lowest[k][row], b->lowest[k]);
            const __mmask64 cut =
                _mm512_mask_cmpgt_epi8_mask(a->negative[k][row / QUAD] ^ b->negative[k], grid, lowest);
            cuts = _mm512_mask_add_epi8(cuts, cut, cuts, _mm512_set1_epi8(1));
        }
        _mm512_store_si512(out->exponent[row], e);
        _mm512_store_si512(out->negative[row], cuts);
    }
}

/* S of a row, and E. */
WMI_INLINE i32v cut_row(const struct cut_rows *a, const struct cut_columns *b, unsigned row, unsigned count,
                        const struct cut_counts *counts, i32v *e)
{
    const int8_t *const exponents = counts->exponent[row];
    struct wmi_f64x2 sum;
    for (unsigned half = 0; half < 2; half++) {
        const u64v wide =
            (u64v)_mm512_cvtepi8_epi64(_mm_loadl_epi64((const __m128i *)(exponents + 8 * half)));
        sum.v[half] = (f64v)(((wide + (1023 + 28)) << 52) + (UINT64_C(1) << 51));
    }
    _Pragma("GCC unroll 16") for (unsigned k = 0; k < count; k++)
    {
        const __m512d factor = _mm512_set1_pd(a->value[k][row]);
        for (unsigned half = 0; half < 2; half++)
            sum.v[half] = (f64v)_mm512_fmadd_round_pd(factor, *(const __m512d *)(b->value[k] + 8 * half),
                                                      (__m512d)sum.v[half], ROUND_DOWN);
    }
    *e = get_bytes(exponents);
    return (i32v)wmi_low_words(sum) + get_bytes(counts->negative[row]);
}

/* S plus the floor of C, both in units of g, where C may be large. In f64 the sum is rounded toward minus
 * infinity if it has more than 53 bits, then cut to 32 bits in the same direction. */
WMI_INLINE f32v cut_long_total(i32v sum, f32v addend)
{
    f32half totals[2];
    for (int half = 0; half < 2; half++) {
        const f64v part = wmi_wide_i32((i32half)wmi_half_u32((u32v)sum, half));
        const i64v bits =
            (i64v)_mm512_add_round_pd((__m512d)part, (__m512d)wide_half(addend, half), ROUND_DOWN);
        const i64v cut_bits = (bits + (bits >> 63 & 0x1fffff)) & ~(int64_t)0x1fffff;
        totals[half] = (f32half)_mm512_cvtpd_ps((__m512d)cut_bits);
    }
    return (f32v)wmi_whole_u32((u32half)totals[0], (u32half)totals[1]) + 0; /* a zero is +0 */
}

/* C plus S * 2^(E-24); false if C is too large, NaN, or E is the least one in a lane, which may be that of
 * zeros. */
WMI_INLINE bool cut_quick_total(i32v e, i32v sum, f32v c, f32v *result)
{
    const u32v scale = (u32v)(127 + 24 - e) << 23;
    const __m512 scaled = _mm512_mul_round_ps((__m512)c, (__m512)scale, ROUND_DOWN);
    const u32v magnitude = (u32v)scaled & 0x7fffffff;
    const __m512i short_end = _mm512_set1_epi32((127 + 30) << 23),
                  long_end = _mm512_set1_epi32((127 + 120) << 23);
    f32v total;
    if (__builtin_expect(_mm512_cmpge_epu32_mask((__m512i)magnitude, short_end) == 0, 1)) {
        const u32v addend = (u32v)_mm512_cvt_roundps_epi32(scaled, ROUND_DOWN);
        total = __builtin_convertvector((i32v)((u32v)sum + addend), f32v);
    } else {
        if (_mm512_cmpge_epu32_mask((__m512i)magnitude, long_end))
            return false;
        total = cut_long_total(sum, wmi_floor_f32((f32v)scaled));
    }
    *result = total * (f32v)(0x7f000000u - scale);
    return !_mm512_cmpeq_epi32_mask((__m512i)e, _mm512_set1_epi32(LEAST_EXPONENT));
}

/* cut_total() of a vector of lanes, or lane by lane. */
static __attribute__((noinline)) f32v cut_total_or_slow(const struct tile *t, unsigned first, unsigned count,
                                                        unsigned row, i32v e, i32v sum, f32v c)
{
    u32v wide = wmi_splat_u32(0);
    f32v total = cut_total(t->split, (f32v)((u32v)(e + 127) << 23), sum, c, &wide);
    if (wmi_any(wide))
        for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
            total[i] = slow_group(t, WMI_MATRIX_CDNA3, first, count, row, i, c[i]);
    return total;
}

WMI_INLINE void cut_tile(const struct tile *t, unsigned group, const wmi_word *c, unsigned c_mask,
                         wmi_word *d)
{
    struct cut_rows a;
    struct cut_columns b;
    struct cut_counts counts;
    for (unsigned first = 0; first < t->depth; first += group) {
        split_factors(t, first, group, &a, &b);
        count_cuts(&a, &b, t->rows, group, &counts);
        for (unsigned n = 0; n < t->rows; n++) {
            const f32v addend = *(const f32v *)(first ? d + t->at[n] : c + (t->at[n] & c_mask));
            i32v e;
            f32v result;
            const i32v sum = cut_row(&a, &b, t->row[n], group, &counts, &e);
            if (__builtin_expect(!cut_quick_total(e, sum, addend, &result), 0))
                result = quiet(cut_total_or_slow(t, first, group, t->row[n], e, sum, addend));
            *(f32v *)(d + t->at[n]) = result;
        }
    }
}

static void quick_cut_4_tile(const struct tile *t, const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    cut_tile(t, 4, c, c_mask, d);
}

static void quick_cut_8_tile(const struct tile *t, const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    cut_tile(t, 8, c, c_mask, d);
}

#else
#define quick_cut_4_tile cut_4_tile
#define quick_cut_8_tile cut_8_tile
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* Sums of products for MFMA of CDNA 3 by vectors of 16 lanes, but for those that are split (fp8). The same
 * sums as cut_group() of mfma_sums.h, which all others use, in fewer operations.
 *
 * A group of products p_k = a_k * b_k has the exponent E, the largest sum of the exponents of both factors,
 * and the unit g = 2^(E-24). Wanted is S = sum of trunc(p_k / g).
 *   - Exponents and E are bytes: 64 elements of D at a time.
 *   - b_k / g is exact in f32, and so is its product with a_k, as significands have up to 11 bits. The
 * conversion to an integer cuts it. |p_k| < 2^(E+2), so |S| < 2^29.
 * With |C| < 2^(E+6), C / g is below 2^30, and X of cut_sum(), the larger one of E and C's exponent, is at
 * most E + 5. Then the floor of S at 2^(X-32) changes nothing, C's floor at 2^(X-24) is its floor at g (if
 * X > E, C is a multiple of both), and S + floor(C / g), below 2^31 in magnitude, has at most 31 bits, so
 * that the floor at 32 bits changes nothing either: the conversion to f32 is the only rounding. With a larger
 * C, its floor at g is C itself; the sum with S needs more bits and has to be cut to 32. Then X is C's
 * exponent and at least E + 6, and the sum is at least 2^(X-1) in magnitude, as |S| * g < 2^(E+5): its unit
 * of 32 bits is 2^(X-32) or more, so that this cut includes S's floor there. */
#ifndef WMI_MFMA_CUT_H
#define WMI_MFMA_CUT_H

#include "sem/mfma_sums.h"

#if WMI_VECTOR_BYTES == 64

enum {
    QUAD = 4,             /* rows of D in a vector of bytes */
    LEAST_EXPONENT = -60, /* E is not below this */
    GRID_BIAS = 127 + 24, /* of the exponent of 1 / g, less E */
    ROUND_DOWN = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC,
};

/* Exponents of a group's factors, and those of 1 / g with f32's bias for each element of D. */
struct cut_exponents {
    _Alignas(64) uint8_t grid[ROWS][COLUMNS];
    int8_t a[GROUP][ROWS], b[GROUP][COLUMNS];
};

/* Those of 16 factors. Zeros, whose power is 0, get -127: no product of theirs reaches LEAST_EXPONENT. */
WMI_INLINE void put_exponents(int8_t *to, const float *from)
{
    const u32v power = (u32v)load_loose(from + POWERS);
    _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8((__m512i)((power >> 23) - 127)));
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

WMI_INLINE void find_grids(const struct tile *t, unsigned first, unsigned count, struct cut_exponents *x)
{
    for (unsigned k = 0; k < count; k++) {
        for (unsigned row = 0; row < t->rows; row += COLUMNS)
            put_exponents(&x->a[k][row], t->a + t->a_at[first + k] + row);
        put_exponents(x->b[k], t->b + t->b_at[first + k]);
    }
    for (unsigned row = 0; row < t->rows; row += QUAD) {
        __m512i e = _mm512_set1_epi8(LEAST_EXPONENT);
        for (unsigned k = 0; k < count; k++)
            e = _mm512_max_epi8(e, sum_of_bytes(&x->a[k][row], x->b[k]));
        _mm512_store_si512(x->grid[row], _mm512_sub_epi8(_mm512_set1_epi8((char)GRID_BIAS), e));
    }
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

/* C plus S * g, where `scale` is 1 / g; false if C is too large, NaN, or E is the least one in a lane, which
 * may be that of zeros. */
WMI_INLINE bool cut_quick_total(u32v scale, i32v sum, f32v c, f32v *result)
{
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
    return !_mm512_cmpeq_epi32_mask((__m512i)scale,
                                    _mm512_set1_epi32((int)((uint32_t)(GRID_BIAS - LEAST_EXPONENT) << 23)));
}

/* cut_total() of a vector of lanes, or lane by lane. */
static __attribute__((noinline)) f32v cut_total_or_slow(const struct tile *t, unsigned first, unsigned count,
                                                        unsigned row, u32v scale, i32v sum, f32v c)
{
    u32v wide = wmi_splat_u32(0);
    const f32v e = (f32v)(0x7f000000u + (24u << 23) - scale);
    f32v total = cut_total(t->split, e, sum, c, &wide);
    if (wmi_any(wide))
        for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
            total[i] = slow_group(t, WMI_MATRIX_CDNA3, first, count, row, i, c[i]);
    return total;
}

WMI_INLINE void cut_tile(const struct tile *t, unsigned group, const wmi_word *c, unsigned c_mask,
                         wmi_word *d)
{
    struct cut_exponents x;
    for (unsigned first = 0; first < t->depth; first += group) {
        const float *a[GROUP];
        f32v b[GROUP];
        find_grids(t, first, group, &x);
        _Pragma("GCC unroll 8") for (unsigned k = 0; k < group; k++)
        {
            a[k] = t->a + t->a_at[first + k];
            b[k] = load_loose(t->b + t->b_at[first + k]);
        }
        for (unsigned n = 0; n < t->rows; n++) {
            const unsigned row = t->row[n];
            const f32v addend = *(const f32v *)(first ? d + t->at[n] : c + (t->at[n] & c_mask));
            const u32v scale = (u32v)_mm512_cvtepu8_epi32(_mm_load_si128((const __m128i *)x.grid[row])) << 23;
            i32v sum = (i32v)wmi_splat_u32(0);
            _Pragma("GCC unroll 8") for (unsigned k = 0; k < group; k++) sum +=
                __builtin_convertvector(splat_at(a[k] + row) * (b[k] * (f32v)scale), i32v);
            f32v result;
            if (__builtin_expect(!cut_quick_total(scale, sum, addend, &result), 0))
                result = quiet(cut_total_or_slow(t, first, group, row, scale, sum, addend));
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

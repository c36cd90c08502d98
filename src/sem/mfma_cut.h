/* SPDX-License-Identifier: MIT */
/* Sums of products for MFMA of CDNA 3 by vectors of 16 lanes, but for those that are split (fp8). The same
 * sums as cut_group() of mfma_sums.h, which all others use, in fewer operations.
 *
 * A group of products p_k = a_k * b_k has the exponent E, the largest sum of the exponents of both factors,
 * and the unit g = 2^(E-24). Wanted is S = sum of trunc(p_k / g).
 *   - Exponents and E are bytes: 64 elements of D at a time, 16 columns of four rows.
 *   - b_k / g is exact in f32, and so is its product with a_k, as significands have up to 11 bits. The
 * conversion to an integer cuts it. |p_k| < 2^(E+2), so |S| < 2^29.
 * The total is S plus C / g. Where it is below 2^31 in magnitude, |C| < 2^(E+8), and X of cut_sum(), the
 * larger one of E and C's exponent, is at most E + 7. Then the floor of S at 2^(X-32) changes nothing, C's
 * floor at 2^(X-24) is its floor at g (if X > E, C is a multiple of both), and the total has at most 31 bits,
 * so that the floor at 32 bits changes nothing either: the conversion to f32 is the only rounding. Where the
 * total is 2^30 or more, C / g is above 2^29 and its floor is itself; the total may need more bits and has to
 * be cut to 32. With x the total's exponent, X is at most x + 1, as |S| < 2^29: the unit of 32 bits,
 * 2^(x-31), is 2^(X-32) or more, so that this cut includes S's floor there. */
#ifndef WMI_MFMA_CUT_H
#define WMI_MFMA_CUT_H

#include "sem/mfma_sums.h"

#if WMI_VECTOR_BYTES == 64

enum {
    CUT_GROUP = 8,                   /* most products of a group */
    CUT_ELEMENTS = 8,                /* most elements of A or B in a lane */
    QUAD = 4,                        /* rows of D whose exponents are in the bytes of a lane */
    BIAS = 30,                       /* of exponents of elements: 0 to 60 with it */
    ZERO = -61,                      /* in place of a zero's biased exponent */
    LEAST_EXPONENT = -2 * BIAS,      /* E is not below this */
    GRID_BIAS = 127 + 24 + 2 * BIAS, /* of the exponent of 1 / g, less E's */
    LONG_TOP = 127 + 120,            /* exponents of totals are below this */
    ROUND_DOWN = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC,
    GREATER_MAGNITUDE = 0xb, /* of VRANGEPS */
    AND_OR = 0xea,           /* of VPTERNLOG: (a & b) | c */
};

/* Totals below this in magnitude are made with integers. Wrong ones, as C / g is too large for an integer or
 * NaN, are not: the conversion makes -2^31 of it, and |S| < 2^29. */
static const float SHORT_LIMIT = 0x1.8p30f;

/* Exponents of elements, biased. Sums with a zero's are negative, but not below -128. Those of A are in
 * groups of four elements of a lane and four lanes, those of B stand four times each. */
struct cut_exponents {
    _Alignas(64) int8_t a[CUT_ELEMENTS / 4][64 / QUAD][4][QUAD], b[CUT_ELEMENTS][64][QUAD];
};

/* Exponents of four elements of a lane are the bytes of a word: the first, third, second and last. */
static unsigned byte_of(unsigned element)
{
    return element % 4 == 1 ? 2 : element % 4 == 2 ? 1 : element % 4;
}

WMI_INLINE void spread_a(struct cut_exponents *x, __m512i exponents, unsigned four, unsigned lane)
{
    const __m512i places =
        _mm512_broadcast_i32x4(_mm_set_epi32(0x0f0b0703, 0x0d090501, 0x0e0a0602, 0x0c080400));
    _mm512_store_si512(x->a[four][lane / QUAD], _mm512_shuffle_epi8(exponents, places));
}

WMI_INLINE void spread_b(struct cut_exponents *x, __m512i exponents, unsigned four, unsigned lane)
{
    const __m512i lanes = _mm512_broadcast_i32x4(_mm_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0));
    for (unsigned i = 0; i < 4; i++)
        _mm512_store_si512(
            x->b[4 * four + i][lane],
            _mm512_shuffle_epi8(exponents, _mm512_or_si512(lanes, _mm512_set1_epi8((char)byte_of(i)))));
}

/* The exponents of elements from 4 * four on, by their powers. */
WMI_INLINE __m512i exponents_of(const struct side *side, unsigned elements, unsigned four, unsigned lane)
{
    u32v words = wmi_splat_u32(0);
    for (unsigned i = 0; i < 4 && 4 * four + i < elements; i++) {
        const u32v power = *(const u32v *)&side->power[4 * four + i][lane];
        const u32v exponent =
            wmi_select_u32((u32v)(power != 0), (power >> 23) - (127 - BIAS), wmi_splat_u32((uint32_t)ZERO));
        words |= (exponent & 0xff) << 8 * byte_of(i);
    }
    return (__m512i)words;
}

static void find_exponents(struct cut_exponents *x, const struct side *a, const struct side *b,
                           unsigned elements)
{
    for (unsigned four = 0; four < (elements + 3) / 4; four++)
        for (unsigned lane = 0; lane < 64; lane += COLUMNS) {
            spread_a(x, exponents_of(a, elements, four, lane), four, lane);
            spread_b(x, exponents_of(b, elements, four, lane), four, lane);
        }
}

/* f16 or bf16. least: of fields that are exponents; limit: biased exponents are below it. */
struct half_format {
    bool f16;
    unsigned fraction;
    short least, bias, limit;
};

/* The biased exponents of words of two elements as 16-bit integers; *most: not below those of nonzero ones,
 * without signs. */
WMI_INLINE __m512i half_exponents(__m512i words, struct half_format f, __m512i *most)
{
    const __mmask32 nonzero = _mm512_test_epi16_mask(words, _mm512_set1_epi16(0x7fff));
    const __m512i field = _mm512_and_si512(_mm512_srli_epi16(words, f.fraction),
                                           _mm512_set1_epi16((short)((1 << (15 - f.fraction)) - 1)));
    const __m512i exponent =
        _mm512_sub_epi16(f.least ? _mm512_max_epi16(field, _mm512_set1_epi16(f.least)) : field,
                         _mm512_set1_epi16((short)(f.bias - BIAS)));
    *most = _mm512_mask_max_epu16(*most, nonzero, *most, exponent);
    return _mm512_mask_mov_epi16(_mm512_set1_epi16(ZERO), nonzero, exponent);
}

/* Words of 16 lanes with two elements each. */
WMI_INLINE void read_pair(float (*to)[64], __m512i words, bool f16)
{
    static const _Alignas(64)
        uint16_t apart[32] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                              1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    if (f16) {
        const __m512i halves = _mm512_permutexvar_epi16(_mm512_load_si512(apart), words);
        _mm512_store_ps(to[0], _mm512_cvtph_ps(_mm512_castsi512_si256(halves)));
        _mm512_store_ps(to[1], _mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves, 1)));
    } else {
        _mm512_store_si512(to[0], _mm512_slli_epi32(words, 16));
        _mm512_store_si512(to[1], _mm512_and_si512(words, _mm512_set1_epi32((int)0xffff0000)));
    }
}

/* Four elements of 16 lanes, which are in two words. Returns their exponents. */
WMI_INLINE __m512i read_four(float (*to)[64], const wmi_word *rows, struct half_format f, __m512i *most)
{
    const __m512i first = _mm512_load_si512(rows), second = _mm512_load_si512(rows + 64);
    read_pair(to, first, f.f16);
    read_pair(to + 2, second, f.f16);
    return _mm512_ternarylogic_epi32(half_exponents(first, f, most), _mm512_set1_epi16(0xff),
                                     _mm512_slli_epi16(half_exponents(second, f, most), 8), AND_OR);
}

/* Reads A and B, but for powers; lanes have four or eight elements. False if elements are infinite, NaN or
 * have exponents not within -30 to 30.
 */
WMI_INLINE bool read_both_halves(struct side *a, struct side *b, struct cut_exponents *x,
                                 const wmi_word *a_rows, const wmi_word *b_rows, unsigned dwords,
                                 struct half_format f)
{
    __m512i most = _mm512_setzero_si512();
    for (unsigned four = 0; four < dwords / 2; four++)
        _Pragma("GCC unroll 4") for (unsigned lane = 0; lane < 64; lane += COLUMNS)
        {
            float(*const to_a)[64] = (float(*)[64]) & a->value[4 * four][lane];
            float(*const to_b)[64] = (float(*)[64]) & b->value[4 * four][lane];
            spread_a(x, read_four(to_a, a_rows + 128 * four + lane, f, &most), four, lane);
            spread_b(x, read_four(to_b, b_rows + 128 * four + lane, f, &most), four, lane);
        }
    return !_mm512_cmpge_epu16_mask(most, _mm512_set1_epi16(f.limit));
}

static bool read_factors(struct side *a, struct side *b, struct cut_exponents *x, const wmi_word *a_rows,
                         const wmi_word *b_rows, unsigned dwords, bool f16)
{
    const struct half_format half = {true, 10, 1, 15, 31 - 15 + BIAS},
                             bf16 = {false, 7, 0, 127, 2 * BIAS + 1};
    return f16 ? read_both_halves(a, b, x, a_rows, b_rows, dwords, half)
               : read_both_halves(a, b, x, a_rows, b_rows, dwords, bf16);
}

/* For the rows and columns of a tile from these lanes of A and B on. */
WMI_INLINE void place_exponents(struct tile *t, const struct cut_exponents *x, unsigned a_lane,
                                unsigned b_lane)
{
    t->a_exponents = (const int8_t *)x->a + QUAD * a_lane;
    t->b_exponents = (const int8_t *)x->b + QUAD * b_lane;
}

/* Places of the factors of half a group, which are elements of one lane. */
struct cut_half {
    const float *a;
    const int8_t *a_exponent, *b_exponent;
};

WMI_INLINE struct cut_half cut_half_at(const struct tile *t, unsigned first)
{
    const unsigned at = t->a_at[first], element = at / 64, lane = at % 64;
    return (struct cut_half){
        .a = t->a + at,
        .a_exponent = t->a_exponents + element / 4 * 64 * 4 + element % 4 * QUAD + 4 * lane,
        .b_exponent = t->b_exponents + QUAD * t->b_at[first],
    };
}

/* Biased exponents of 1 / g, of four rows from `row` on in the bytes of each column. *least: whether any E is
 * the least one, which may be that of zeros. */
WMI_INLINE __m512i grids_of(const struct cut_half *halves, size_t row, unsigned count, bool *least)
{
    __m512i e = _mm512_setzero_si512();
    _Pragma("GCC unroll 8") for (unsigned k = 0; k < count; k++)
    {
        const struct cut_half *const half = &halves[k / (count / 2)];
        const unsigned i = k % (count / 2);
        int32_t four;
        memcpy(&four, half->a_exponent + 4 * row + QUAD * i, sizeof four);
        e = _mm512_max_epi8(
            e, _mm512_add_epi8(_mm512_set1_epi32(four), _mm512_load_si512(half->b_exponent + 64 * QUAD * i)));
    }
    *least = _mm512_testn_epi8_mask(e, e);
    return _mm512_sub_epi8(_mm512_set1_epi8((char)GRID_BIAS), e);
}

/* 1 / g of row `r` of these. */
WMI_INLINE u32v scale_of(__m512i grids, unsigned r)
{
    const u32v bytes = (u32v)grids;
    return (r < 3 ? bytes << (23 - 8 * r) : bytes >> 1) & (0xffu << 23);
}

/* A row's g, S, C / g, and S plus the floor of C / g. */
struct cut_row {
    u32v unit;
    i32v sum;
    __m512 addend;
    f32v total;
};

/* Totals of 2^30 or more, made in f32. They are floored to 32 significant bits, which C / g, a multiple of
 * 2^6, cannot change: S loses its lowest bits. If any are left below 2^5, the bit there stands for them (the
 * total is odd then, in units of a quarter of its last place or less, and rounds as it would with them), so
 * that S has 24 bits. `near` has the total's exponent, or, within 2^5 of a power of two, perhaps that of the
 * other side, where all totals round to that power. *top: not below the exponents. */
WMI_INLINE f32v cut_long_total(const struct cut_row *row, __m512i *top)
{
    const __m512i sum = (__m512i)row->sum, low = _mm512_set1_epi32(31);
    const __m512 near =
        _mm512_add_round_ps(row->addend, _mm512_cvtepi32_ps(sum), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __m512i exponent = _mm512_srli_epi32(_mm512_slli_epi32((__m512i)near, 1), 24);
    const __m512i below = _mm512_subs_epu16(exponent, _mm512_set1_epi32(127 + 31));
    const __m512i left = _mm512_and_si512(sum, _mm512_sllv_epi32(_mm512_set1_epi32(-1), below));
    const __m512i high = _mm512_andnot_si512(low, left);
    const __m512i odd =
        _mm512_mask_or_epi32(high, _mm512_test_epi32_mask(left, low), high, _mm512_set1_epi32(32));
    *top = _mm512_max_epi32(*top, exponent);
    return (f32v)_mm512_mask_add_ps((__m512)row->total,
                                    _mm512_cmpge_epi32_mask(exponent, _mm512_set1_epi32(127 + 30)),
                                    row->addend, _mm512_cvtepi32_ps(odd));
}

/* Where E is the least one, products may all be zeros. Then the total is C, unless C has bits below g. */
WMI_INLINE bool cut_loses_addend(const struct cut_row *row)
{
    const __mmask16 least = _mm512_cmpeq_epi32_mask(
        (__m512i)row->unit, _mm512_set1_epi32((int)((uint32_t)(127 + LEAST_EXPONENT - 24) << 23)));
    const __mmask16 any = _mm512_mask_cmp_ps_mask(least, row->addend, _mm512_setzero_ps(), _CMP_NEQ_OQ);
    return _mm512_mask_cmp_ps_mask(any, _mm512_abs_ps(row->addend), _mm512_set1_ps(0x1p24f), _CMP_LT_OQ);
}

/* cut_total() of a vector of lanes, or lane by lane. */
static __attribute__((noinline)) f32v cut_total_or_slow(const struct tile *t, unsigned first, unsigned count,
                                                        unsigned row, u32v unit, i32v sum, f32v c)
{
    u32v wide = wmi_splat_u32(0);
    const f32v e = (f32v)(unit + (24u << 23));
    f32v total = cut_total(t->split, e, sum, c, &wide);
    if (wmi_any(wide))
        for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
            total[i] = slow_group(t, WMI_MATRIX_CDNA3, first, count, row, i, c[i]);
    return total;
}

/* The rows of a quad where an E or C is out of range in some lane. */
static __attribute__((noinline)) void cut_unusual_quad(const struct tile *t, unsigned first, unsigned group,
                                                       unsigned n, const struct cut_row *rows,
                                                       const wmi_word *c, unsigned c_mask, wmi_word *d)
{
    for (unsigned r = 0; r < QUAD; r++) {
        const f32v addend = *(const f32v *)(c + (t->at[n + r] & c_mask));
        *(f32v *)(d + t->at[n + r]) =
            quiet(cut_total_or_slow(t, first, group, n + r, rows[r].unit, rows[r].sum, addend));
    }
}

WMI_INLINE __m512 larger(__m512 x, __m512 y)
{
    return _mm512_range_ps(x, y, GREATER_MAGNITUDE);
}

WMI_INLINE void cut_quads(const struct tile *t, unsigned first, unsigned group, const wmi_word *c,
                          unsigned c_mask, wmi_word *d)
{
    const struct cut_half halves[2] = {cut_half_at(t, first), cut_half_at(t, first + group / 2)};
    f32v b[CUT_GROUP];
    _Pragma("GCC unroll 8") for (unsigned k = 0; k < group; k++) b[k] = load_loose(t->b + t->b_at[first + k]);
    for (size_t n = 0; n < t->rows; n += QUAD) {
        bool least;
        const __m512i grids = grids_of(halves, n, group, &least);
        struct cut_row rows[QUAD];
        f32v results[QUAD];
        _Pragma("GCC unroll 4") for (unsigned r = 0; r < QUAD; r++)
        {
            const u32v scale = scale_of(grids, r);
            i32v sum = (i32v)wmi_splat_u32(0);
            _Pragma("GCC unroll 8") for (unsigned k = 0; k < group; k++) sum += __builtin_convertvector(
                (f32v)_mm512_set1_ps(halves[k / (group / 2)].a[n + (k % (group / 2) * 64 + r)]) *
                    (b[k] * (f32v)scale),
                i32v);
            const __m512 addend =
                _mm512_mul_round_ps(_mm512_load_ps(c + (t->at[n + r] & c_mask)), (__m512)scale, ROUND_DOWN);
            const u32v fixed = (u32v)_mm512_cvt_roundps_epi32(addend, ROUND_DOWN);
            const f32v total = __builtin_convertvector((i32v)((u32v)sum + fixed), f32v);
            rows[r] = (struct cut_row){0x7f000000u - scale, sum, addend, total};
            results[r] = total * (f32v)rows[r].unit;
        }
        const __m512 largest = larger(larger((__m512)rows[0].total, (__m512)rows[1].total),
                                      larger((__m512)rows[2].total, (__m512)rows[3].total));
        if (least || _mm512_cmp_ps_mask(largest, _mm512_set1_ps(SHORT_LIMIT), _CMP_GE_OQ)) {
            __m512i top = _mm512_setzero_si512();
            _Pragma("GCC unroll 4") for (unsigned r = 0; r < QUAD; r++) results[r] =
                cut_long_total(&rows[r], &top) * (f32v)rows[r].unit;
            bool lost = false;
            for (unsigned r = 0; least && r < QUAD; r++)
                lost |= cut_loses_addend(&rows[r]);
            if (__builtin_expect(lost || _mm512_cmpge_epi32_mask(top, _mm512_set1_epi32(LONG_TOP)), 0)) {
                cut_unusual_quad(t, first, group, (unsigned)n, rows, c, c_mask, d);
                continue;
            }
        }
        _Pragma("GCC unroll 4") for (unsigned r = 0; r < QUAD; r++) * (f32v *)(d + t->at[n + r]) = results[r];
    }
}

WMI_INLINE void cut_tile(const struct tile *t, unsigned group, const wmi_word *c, unsigned c_mask,
                         wmi_word *d)
{
    cut_quads(t, 0, group, c, c_mask, d);
    for (unsigned first = group; first < t->depth; first += group)
        cut_quads(t, first, group, d, ~0u, d);
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

struct cut_exponents {
    char none;
};

WMI_INLINE void find_exponents(struct cut_exponents *x, const struct side *a, const struct side *b,
                               unsigned elements)
{
    (void)x, (void)a, (void)b, (void)elements;
}

WMI_INLINE void place_exponents(struct tile *t, const struct cut_exponents *x, unsigned a_lane,
                                unsigned b_lane)
{
    (void)t, (void)x, (void)a_lane, (void)b_lane;
}

WMI_INLINE bool read_factors(struct side *a, struct side *b, struct cut_exponents *x, const wmi_word *a_rows,
                             const wmi_word *b_rows, unsigned dwords, bool f16)
{
    (void)a, (void)b, (void)x, (void)a_rows, (void)b_rows, (void)dwords, (void)f16;
    return false;
}
#endif
#endif

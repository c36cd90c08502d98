/* SPDX-License-Identifier: MIT */
/* Sums of products for MFMA and SMFMAC: the rules of each generation, lane by lane and for vectors of lanes.
 *
 * For mfma_lanes.c only, whose first comment has the rules. The host must round to nearest even and keep
 * denormals. */
#ifndef WMI_MFMA_SUMS_H
#define WMI_MFMA_SUMS_H

#include "sem/bodies.h"
#include "sem/matrix.h"

#include <stdlib.h>

enum {
    ELEMENTS = 32,          /* most elements of A or B in a lane */
    POWERS = ELEMENTS * 64, /* distance from an element to its power */
    DEPTH = 128,            /* most products of an element of D */
    COLUMNS = 16,           /* lanes of D with one row of A, or of four blocks */
    ROWS = 32,              /* most rows of a tile */
    GROUP = 16,             /* most products of a group */
};

/* A or B: each element as f32 (bits of i32 for integers), and the power of two of its exponent, not below the
 * format's smallest; 0 for zeros. f64 uses the same room. */
struct side {
    _Alignas(64) float value[ELEMENTS][64], power[ELEMENTS][64];
};

/* Operands of 16 columns of D, in `rows` rows. The factors of product k are a[a_at[k] + first_row + n] and
 * b[b_at[k] + lane]; with `spread`, A has an element for each lane, too. */
struct tile {
    const float *a, *b;
    const uint16_t *a_at, *b_at;
    const int8_t *a_exponents, *b_exponents; /* of mfma_cut.h, NULL for others */
    float least;                             /* power of the least exponent, where powers are not stored */
    const int16_t *a_shift,
        *b_shift; /* by row of A and lane of B: powers of two that scale them; NULL: none */
    unsigned depth, group;
    bool spread, split;     /* split: even and odd products are summed apart */
    bool moderate, bounded; /* exponents are within -30 to 30; products from 2^128 on are infinite */
    unsigned first_row, rows;
    uint16_t at[ROWS]; /* words before the row's 16 lanes of D */
};

enum { QUIET_NAN = 0x7fc00000 };

static float power_of_two(int e)
{
    return WMI_BITS_AS(float, (uint32_t)(e + 127) << 23);
}

static int exponent_of(float power)
{
    return (int)(WMI_BITS_AS(uint32_t, power) >> 23) - 127;
}

/* ---- lane by lane ---- */

/* The sum of values of which at least one is infinite or NaN. */
static float special_sum(const double *x, unsigned count)
{
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        if (!isfinite(x[i]))
            sum += x[i];
    return isnan(sum) ? WMI_BITS_AS(float, (uint32_t)QUIET_NAN) : (float)sum;
}

/* The sum of doubles rounded once. Terms are exact and kept without overlap (Shewchuk, "Adaptive Precision
 * Floating-Point Arithmetic"). */
static float exact_sum(const double *x, unsigned count)
{
    double parts[8];
    unsigned used = 0;
    for (unsigned i = 0; i < count; i++) {
        double sum = x[i];
        unsigned kept = 0;
        for (unsigned j = 0; j < used; j++) {
            const double whole = sum + parts[j], other = whole - sum;
            const double error = (sum - (whole - other)) + (parts[j] - other);
            if (error != 0)
                parts[kept++] = error;
            sum = whole;
        }
        parts[kept++] = sum;
        used = kept;
    }
    /* A double with the sum's leading bits, made odd if others follow, rounds as the sum does. */
    double top = parts[used - 1], rest = 0;
    for (unsigned j = used - 1; j-- > 0 && rest == 0;) {
        const double whole = top + parts[j];
        rest = parts[j] - (whole - top);
        top = whole;
    }
    if (rest != 0) {
        const uint64_t bits = WMI_BITS_AS(uint64_t, top) - ((rest < 0) != (top < 0));
        top = WMI_BITS_AS(double, bits | 1);
    }
    return (float)top;
}

/* x * 2^-shift, toward minus infinity or, for cut(), toward zero. */
static int64_t floor_shift(int64_t x, int shift)
{
    return x >> (shift > 63 ? 63 : shift);
}

static int64_t cut(int64_t x, int shift)
{
    return shift > 62 ? 0 : x < 0 ? -(-x >> shift) : x >> shift;
}

static int64_t scaled(float value, float power)
{
    return (int64_t)(value / power * 0x1p23f); /* exact */
}

/* E and the sum of products first, first + step, ... in units of 2^(E-24), see cut_sum(). */
static int64_t cut_products(const float *a, const float *b, const float *pa, const float *pb, int shift,
                            unsigned first, unsigned count, unsigned step, int *largest)
{
    int64_t sum = 0;
    *largest = -999;
    for (unsigned k = first; k < count; k += step)
        if (pa[k] != 0 && pb[k] != 0 && exponent_of(pa[k]) + exponent_of(pb[k]) > *largest)
            *largest = exponent_of(pa[k]) + exponent_of(pb[k]);
    for (unsigned k = first; k < count; k += step)
        if (pa[k] != 0 && pb[k] != 0) {
            const int e = exponent_of(pa[k]) + exponent_of(pb[k]);
            sum += cut(scaled(a[k], pa[k]) * scaled(b[k], pb[k]), *largest - e + 22);
        }
    *largest += *largest == -999 ? 0 : shift;
    return sum;
}

/* CDNA3. Products are exact, each with the sum of its factors' exponents, which denormals share with the
 * smallest normal number. They are cut toward zero at 2^(E-24), E the largest exponent, and added. With
 * X = max(E, C's exponent) the sum is cut toward minus infinity at 2^(X-32), C at 2^(X-24); their sum at 31
 * bits below its own exponent; the result is rounded to nearest even. split: even and odd products have an E
 * each, then both are cut toward minus infinity at the larger one's grid, and C is 0 below 2^(X-24). */
static float cut_sum(const float *a, const float *b, const float *pa, const float *pb, int shift,
                     unsigned count, bool split, bool bounded, float c)
{
    double x[ELEMENTS + 1];
    bool special = !isfinite(c);
    for (unsigned k = 0; k < count; k++) {
        x[k] = (double)a[k] * b[k];
        if (bounded && fabs(x[k]) >= 0x1p128) /* products of more range are infinite */
            x[k] = copysign(INFINITY, x[k]);
        special |= !isfinite(x[k]);
    }
    x[count] = c;
    if (special)
        return special_sum(x, count + 1);
    const uint32_t c_bits = WMI_BITS_AS(uint32_t, c) & 0x7fffffff;
    const int field = (int)(c_bits >> 23), c_exponent = field ? field - 127 : -126;
    const int64_t c_magnitude = field ? (c_bits & 0x7fffff) | 0x800000 : c_bits;
    int e[2];
    int64_t sum = cut_products(a, b, pa, pb, shift, 0, count, split ? 2 : 1, &e[0]);
    if (split) {
        const int64_t odd = cut_products(a, b, pa, pb, shift, 1, count, 2, &e[1]);
        const int larger = e[0] > e[1] ? e[0] : e[1];
        sum = floor_shift(sum, larger - e[0]) + floor_shift(odd, larger - e[1]);
        e[0] = larger;
    }
    const int X = e[0] > c_exponent ? e[0] : c_exponent;
    int64_t addend = floor_shift(2 * (c < 0 ? -c_magnitude : c_magnitude), X - c_exponent);
    if (split && c_exponent < X - 25)
        addend = 0;
    int64_t total = floor_shift(256 * sum, X - e[0]) + 256 * addend; /* in units of 2^(X-32) */
    const int leading = total ? 63 - __builtin_clzll((uint64_t)(total < 0 ? -total : total)) : 0;
    const int exponent = X - 32 + leading < -126 ? -126 : X - 32 + leading;
    const int below = exponent - 31 - (X - 32);
    if (below > 0)
        total = floor_shift(total, below) * ((int64_t)1 << (below > 62 ? 62 : below));
    return (float)ldexp((double)total, X - 32);
}

/* The power of two that scales the products of a group, all of which are of one block along k. */
static int shift_of(const struct tile *t, unsigned first, unsigned row, unsigned lane)
{
    if (!t->a_shift)
        return 0;
    const unsigned block = t->a_at[first] % 64; /* the lanes of this part of k */
    return t->a_shift[block + row] + t->b_shift[block + lane];
}

static float power_at(const struct tile *t, const float *element)
{
    if (!t->least)
        return element[POWERS];
    const float magnitude = fabsf(*element);
    const uint32_t power = WMI_BITS_AS(uint32_t, magnitude) & 0x7f800000;
    return magnitude == 0 ? 0 : magnitude < t->least ? t->least : WMI_BITS_AS(float, power);
}

/* C plus a group of products, by the rules of CDNA1 and CDNA3. */
static float slow_group(const struct tile *t, enum wmi_matrix_rules rules, unsigned first, unsigned count,
                        unsigned row, unsigned lane, float c)
{
    float a[GROUP], b[GROUP], pa[GROUP], pb[GROUP];
    double x[GROUP + 1];
    bool special = !isfinite(c);
    for (unsigned k = 0; k < count; k++) {
        const float *from_a = t->a + t->a_at[first + k] + row + (t->spread ? lane : 0);
        const float *from_b = t->b + t->b_at[first + k] + lane;
        a[k] = *from_a, b[k] = *from_b;
        pa[k] = power_at(t, from_a), pb[k] = power_at(t, from_b);
        x[k] = (double)a[k] * b[k];
        special |= !isfinite(x[k]);
    }
    x[count] = c;
    if (rules == WMI_MATRIX_CDNA3)
        return cut_sum(a, b, pa, pb, shift_of(t, first, row, lane), count, t->split, t->bounded, c);
    return special ? special_sum(x, count + 1) : exact_sum(x, count + 1);
}

/* ---- vectors of lanes ---- */

/* Not wmi_splat_f32(), whose sum makes +0 of -0. */
WMI_INLINE f32v splat_at(const float *at)
{
    return (f32v)wmi_splat_u32(*(const wmi_word *)at);
}

WMI_INLINE f32v load_loose(const float *at)
{
    typedef float loose __attribute__((vector_size(WMI_VECTOR_BYTES), aligned(4), may_alias));
    return (f32v) * (const loose *)at;
}

/* The factors of a group: of A for a row, of B for all rows. Kept in registers where they are enough. */
struct factors {
    f32v b[GROUP], b_power[GROUP];
    const float *a[GROUP];
};

WMI_INLINE f32v factor_a(const struct tile *t, const float *at, unsigned lane)
{
    if (t->spread)
        return *(const f32v *)(at + lane);
    return splat_at(at);
}

/* NaNs become quiet ones. They are rare, and looking for them is cheaper than selecting. */
WMI_INLINE f32v quiet(f32v x)
{
    if (__builtin_expect(wmi_any_nan2_f32(x, x), 0))
        x = (f32v)wmi_select_u32((u32v)(x != x), wmi_splat_u32(QUIET_NAN), (u32v)x);
    return x;
}

WMI_INLINE f64v wide_half(f32v x, int which)
{
    return wmi_wide_f32((f32half)wmi_half_u32((u32v)x, which));
}

/* Largest exponent of products first, first + step, ... as a power of two, at least 2^-60; the products cut
 * at 2^-24 of it, in these units. */
WMI_INLINE i32v cut_vector(const struct tile *t, const struct factors *f, unsigned first, unsigned count,
                           unsigned step, unsigned row, unsigned lane, f32v *largest)
{
    f32v e = wmi_splat_f32(0x1p-60f);
    for (unsigned k = first; k < count; k += step)
        e = wmi_greater_f32(factor_a(t, f->a[k] + row + POWERS, lane) * f->b_power[k], e);
    const f32v grid = (f32v)(wmi_splat_u32(0x7f000000u + (24u << 23)) - (u32v)e);
    i32v sum = (i32v)wmi_splat_u32(0);
    for (unsigned k = first; k < count; k += step)
        sum += __builtin_convertvector(factor_a(t, f->a[k] + row, lane) * (f->b[k] * grid), i32v);
    *largest = e;
    return sum;
}

/* C plus `sum` * e * 2^-24, as cut_sum(); sets *wide if C's exponent is not within -60 to 59. All is exact
 * but for the floors and the last rounding: the sums have up to 31 bits, the total 39 in f64. */
WMI_INLINE f32v cut_total(bool split, f32v e, i32v sum, f32v c, u32v *wide)
{
    const uint32_t low = (127u - 60) << 23, range = 120u << 23;
    const u32v c_magnitude = (u32v)c & 0x7fffffff;
    *wide |= (u32v)(c_magnitude != 0) & (u32v)(c_magnitude - low >= range);
    const f32v c_power = (f32v)((u32v)c & 0x7f800000);
    const f32v x = wmi_greater_f32(c_power, e);
    /* 2^24 / x and 2^8 e / x */
    const f32v scale = (f32v)(wmi_splat_u32(0x7f000000u + (24u << 23)) - (u32v)x);
    const f32v ratio = (f32v)((u32v)e - (u32v)x + ((127u + 8) << 23));
    f32v addend = wmi_floor_f32(c * scale);
    if (split)
        addend = (f32v)((u32v)addend & (u32v)(c_power * 0x1p25f >= x));
    f32half totals[2];
    for (int half = 0; half < 2; half++) {
        const f64v part = wmi_wide_i32((i32half)wmi_half_u32((u32v)sum, half));
        const f64v total = wmi_floor_f64(part * wide_half(ratio, half)) + wide_half(addend, half) * 0x1p8;
        /* floor to 32 significant bits */
        const u64v bits = (u64v)total, negative = (u64v)((i64v)bits >> 63);
        const u64v cut_bits = (bits + (negative & 0x1fffff)) & ~(uint64_t)0x1fffff;
        totals[half] = __builtin_convertvector((f64v)cut_bits, f32half);
    }
    return (f32v)wmi_whole_u32((u32half)totals[0], (u32half)totals[1]) * (x * 0x1p-32f);
}

/* cut_sum() for factors whose exponents are within -30 to 30; sets *wide where cut_total() does. */
WMI_INLINE f32v cut_group(const struct tile *t, const struct factors *f, unsigned count, unsigned row,
                          unsigned lane, f32v c, u32v *wide)
{
    f32v e;
    i32v sum;
    if (t->split) {
        f32v e_even, e_odd;
        const i32v even = cut_vector(t, f, 0, count, 2, row, lane, &e_even);
        const i32v odd = cut_vector(t, f, 1, count, 2, row, lane, &e_odd);
        e = wmi_greater_f32(e_even, e_odd);
        sum = wmi_shift_right_i32(even, (i32v)(((u32v)e - (u32v)e_even) >> 23)) +
              wmi_shift_right_i32(odd, (i32v)(((u32v)e - (u32v)e_odd) >> 23));
    } else {
        sum = cut_vector(t, f, 0, count, 1, row, lane, &e);
    }
    return cut_total(t->split, e, sum, c, wide);
}

WMI_INLINE f32v flush(f32v x)
{
    const u32v tiny = (u32v)(((u32v)x & 0x7fffffff) < 0x800000);
    return (f32v)wmi_select_u32(tiny, (u32v)x & 0x80000000u, (u32v)x);
}

/* Operands' denormals were flushed when they were read. With moderate exponents products are exact and no sum
 * is denormal: then products may be fused with sums. */
WMI_INLINE f32v flushed_group(const struct tile *t, const struct factors *f, unsigned count, unsigned row,
                              unsigned lane, f32v c)
{
    f32v part[2];
    for (unsigned i = 0; i < count / 2; i++) {
        const f32v a0 = factor_a(t, f->a[2 * i] + row, lane), a1 = factor_a(t, f->a[2 * i + 1] + row, lane);
        const f32v b0 = f->b[2 * i], b1 = f->b[2 * i + 1];
        part[i] = t->moderate ? wmi_fused_f32(a0, b0, a1 * b1) : flush(flush(a0 * b0) + flush(a1 * b1));
    }
    if (count == 4)
        part[0] += part[1];
    return t->moderate ? (f32v)(c + part[0]) : flush(c + flush(part[0]));
}

/* Exact sums in f64; sets *wide in lanes where they were not exact, or not finite. */
WMI_INLINE f32v exact_group(const struct tile *t, const struct factors *f, unsigned count, unsigned row,
                            unsigned lane, f32v c, u32v *wide)
{
    f32half results[2];
    i32half inexact[2];
    for (int half = 0; half < 2; half++) {
        f64v sum = wide_half(c, half);
        u64v wrong = wmi_splat_u64(0);
        for (unsigned k = 0; k < count; k++) {
            const f64v product = wide_half(factor_a(t, f->a[k] + row, lane), half) * wide_half(f->b[k], half);
            const f64v whole = sum + product, other = whole - sum;
            const f64v error = (sum - (whole - other)) + (product - other);
            wrong |= ~(u64v)(error == 0);
            sum = whole;
        }
        results[half] = __builtin_convertvector(sum, f32half);
        inexact[half] = __builtin_convertvector((i64v)wrong, i32half);
    }
    *wide |= wmi_whole_u32((u32half)inexact[0], (u32half)inexact[1]);
    return (f32v)wmi_whole_u32((u32half)results[0], (u32half)results[1]);
}

/* ---- tiles ---- */

enum kind { FUSED_F32, INTEGER, EXACT, FLUSHED, CUT };

/* C plus the products from `first` on, of a row and a vector of lanes. */
WMI_INLINE f32v group_of(const struct tile *t, enum kind kind, const struct factors *f, unsigned first,
                         unsigned count, unsigned row, unsigned lane, f32v c)
{
    u32v wide = wmi_splat_u32(0);
    f32v sum = c;
    switch (kind) {
    case INTEGER:
        for (unsigned k = 0; k < count; k++)
            sum = (f32v)((i32v)sum + (i32v)factor_a(t, f->a[k] + row, lane) * (i32v)f->b[k]);
        return sum;
    case FUSED_F32:
        for (unsigned k = 0; k < count; k++)
            sum = wmi_fused_f32(factor_a(t, f->a[k] + row, lane), f->b[k], sum);
        return sum;
    case FLUSHED:
        if (first == 0)
            c = (f32v)((u32v)c & (u32v)(((u32v)c & 0x7fffffff) >= 0x800000));
        return flushed_group(t, f, count, row, lane, c);
    case EXACT:
        sum = exact_group(t, f, count, row, lane, c, &wide);
        break;
    default:
        if (t->moderate)
            sum = cut_group(t, f, count, row, lane, c, &wide);
        else
            wide = wmi_splat_u32(UINT32_MAX);
        break;
    }
    if (__builtin_expect(wmi_any(wide), 0))
        for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
            sum[i] = slow_group(t, kind == CUT ? WMI_MATRIX_CDNA3 : WMI_MATRIX_CDNA1, first, count, row,
                                lane + i, c[i]);
    return sum;
}

/* A tile of D. c_mask: 0 if all rows have the same words of C. Group by group, so that the factors of B are
 * read once for all rows; sums wait in D. */
WMI_INLINE void tile_of_d(const struct tile *t, enum kind kind, unsigned group, const wmi_word *c,
                          unsigned c_mask, wmi_word *d)
{
    for (unsigned lane = 0; lane < COLUMNS; lane += WMI_VECTOR_LANES)
        for (unsigned first = 0; first < t->depth; first += group) {
            struct factors f;
            _Pragma("GCC unroll 16") for (unsigned k = 0; k < group; k++)
            {
                const float *const b = t->b + t->b_at[first + k] + lane;
                f.a[k] = t->a + t->a_at[first + k];
                f.b[k] = load_loose(b);
                f.b_power[k] = load_loose(b + POWERS);
            }
            for (unsigned n = 0; n < t->rows; n++) {
                const wmi_word *const from = first ? d + t->at[n] : c + (t->at[n] & c_mask);
                const f32v sum =
                    group_of(t, kind, &f, first, group, t->first_row + n, lane, *(const f32v *)(from + lane));
                *(f32v *)(d + t->at[n] + lane) = kind == INTEGER ? sum : quiet(sum);
            }
        }
}

/* Functions for constant sizes of a group and for any. */
#define TILE_OF(name, kind, spread_, split_, group_)                                                         \
    static void name(const struct tile *t, const wmi_word *c, unsigned c_mask, wmi_word *d)                  \
    {                                                                                                        \
        struct tile known = *t;                                                                              \
        known.spread = spread_;                                                                              \
        known.split = split_;                                                                                \
        if (kind != FUSED_F32 && known.moderate &&                                                           \
            !known.spread) { /* the usual case, for which the compiler drops the others */                   \
            known.moderate = true;                                                                           \
            known.spread = false;                                                                            \
            tile_of_d(&known, kind, group_, c, c_mask, d);                                                   \
        } else {                                                                                             \
            tile_of_d(&known, kind, group_, c, c_mask, d);                                                   \
        }                                                                                                    \
    }

TILE_OF(fused_1_tile, FUSED_F32, t->spread, false, 1)
TILE_OF(fused_2_tile, FUSED_F32, t->spread, false, 2)
TILE_OF(fused_4_tile, FUSED_F32, t->spread, false, 4)
TILE_OF(integer_4_tile, INTEGER, t->spread, false, 4)
TILE_OF(integer_8_tile, INTEGER, t->spread, false, 8)
TILE_OF(exact_2_tile, EXACT, t->spread, false, 2)
TILE_OF(exact_4_tile, EXACT, t->spread, false, 4)
TILE_OF(flushed_2_tile, FLUSHED, t->spread, false, 2)
TILE_OF(flushed_4_tile, FLUSHED, t->spread, false, 4)
TILE_OF(cut_spread_tile, CUT, true, false, 4)
TILE_OF(cut_4_tile, CUT, false, false, 4)
TILE_OF(cut_8_tile, CUT, false, false, 8)
TILE_OF(cut_split_tile, CUT, false, true, 16)

typedef void tile_function(const struct tile *t, const wmi_word *c, unsigned c_mask, wmi_word *d);

#endif

/* SPDX-License-Identifier: MIT */
/* One step of the dot-product units of gfx11 and gfx12: a sum of products of narrow floats and an f32,
 * rounded once. WMMA and v_dot2 are made of such steps. MODE is ignored.
 *
 * The products and the f32 are aligned on one grid, cut off below it and added as integers; where the grid
 * is, and what becomes of the bits below it, differs by generation. Source: captures on a Radeon Pro W7900
 * (gfx1100) and a Radeon AI Pro R9700 (gfx1201) in ROCm/rocm-systems, emulation/rocjitsu,
 * tests/fixtures/float_dot; tests/levels/dot_captures.h has them. */
#ifndef WMI_DOT_STEP_H
#define WMI_DOT_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    WMI_DOT_NAN = 0xffc00a3d, /* of a factor that is a NaN */
    WMI_DOT_NAN_F16 = 0xfe3d, /* the same of packed results */
    WMI_DOT_NAN_BF16 = 0xfffd,
    WMI_DOT_INVALID = 0xffc00000, /* of 0 times infinity, and of infinities of both signs */
    WMI_DOT_PRODUCTS = 4,         /* most of a step */
};

/* How a factor is encoded. flushes: denormal factors are zero. */
struct wmi_dot_format {
    uint8_t exponent, fraction, bias;
    bool infinities; /* false: all ones are a NaN, everything else is finite (E4M3) */
};

static const struct wmi_dot_format wmi_dot_f16 = {5, 10, 15, true}, wmi_dot_bf16 = {8, 7, 127, true},
                                   wmi_dot_fp8 = {4, 3, 7, false}, wmi_dot_bf8 = {5, 2, 15, true};

struct wmi_factor {
    int32_t m; /* magnitude times 2^(fraction - e) */
    int32_t e; /* that of the encoded exponent, which is at least 1 */
    bool sign, nan, infinite;
};

static inline struct wmi_factor wmi_factor_of(uint32_t code, const struct wmi_dot_format *format,
                                              bool flushes)
{
    const uint32_t ones = (1u << format->exponent) - 1, field = code >> format->fraction & ones;
    const uint32_t fraction = code & ((1u << format->fraction) - 1);
    const bool top = field == ones && (format->infinities || fraction == (1u << format->fraction) - 1);
    return (struct wmi_factor){
        .m = (int32_t)(field     ? fraction | 1u << format->fraction
                       : flushes ? 0
                                 : fraction),
        .e = (int32_t)(field ? field : 1) - format->bias,
        .sign = code >> (format->exponent + format->fraction) & 1,
        .nan = top && (fraction || !format->infinities),
        .infinite = top && format->infinities && !fraction,
    };
}

/* A product is m * 2^(p - scale). */
struct wmi_product {
    int64_t m;
    int32_t p;
    bool sign;
};

static inline int wmi_dot_leading(uint64_t m)
{
    return 63 - __builtin_clzll(m);
}

static inline int32_t wmi_max_i32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* m * 2^shift, cut off toward minus infinity. */
static inline int64_t wmi_dot_shift(int64_t m, int32_t shift)
{
    return shift >= 0 ? m * (INT64_C(1) << (shift > 40 ? 40 : shift)) : m >> (shift < -63 ? 63 : -shift);
}

/* A sum that has not been rounded: sum * 2^grid. */
struct wmi_dot_sum {
    int64_t sum;
    int32_t grid;
};

/* How a result is rounded: to nearest even, to `precision` bits. flushes: 0 if its exponent is then below
 * `least`, else denormals are kept. */
struct wmi_dot_result {
    int32_t precision, least, most;
    bool flushes;
};

/* The bits of the rounded sum; a zero is positive, overflow gives infinity, or with `saturates` the largest
 * number. */
static inline uint32_t wmi_dot_round(struct wmi_dot_sum x, const struct wmi_dot_result *to, bool saturates)
{
    const int32_t fraction = to->precision - 1;
    const uint64_t one = UINT64_C(1) << fraction;
    const uint32_t infinity = (uint32_t)(to->most - to->least + 2) << fraction;
    const uint32_t sign = x.sum < 0 ? to->precision == 24 ? 0x80000000u : 0x8000u : 0;
    uint64_t m = x.sum < 0 ? 0 - (uint64_t)x.sum : (uint64_t)x.sum;
    if (!m)
        return 0;
    int32_t e = wmi_dot_leading(m) + x.grid; /* of the leading bit */
    const int32_t unit = (e < to->least && !to->flushes ? to->least : e) - fraction, drop = unit - x.grid;
    if (drop > 62)
        return 0;
    if (drop > 0) {
        const uint64_t half = UINT64_C(1) << (drop - 1), rest = m & (2 * half - 1);
        m >>= drop;
        m += rest > half || (rest == half && m & 1);
    } else {
        m <<= -drop;
    }
    if (m >> to->precision) {
        m >>= 1;
        e++;
    }
    if (!m || (e < to->least && to->flushes))
        return 0;
    if (m < one)
        return sign | (uint32_t)m;
    e = e < to->least ? to->least : e;
    return e > to->most ? sign | (infinity - (saturates ? 1 : 0))
                        : sign | ((uint32_t)(e - to->least + 1) << fraction) | (uint32_t)(m & (one - 1));
}

static const struct wmi_dot_result wmi_dot_f32 = {24, -126, 127, false},
                                   wmi_dot_f32_flushed = {24, -126, 127, true},
                                   wmi_dot_f16_result = {11, -14, 15, false};

/* Whether the result is a NaN or infinite, and then which. */
static inline bool wmi_dot_special(const struct wmi_factor *a, const struct wmi_factor *b, unsigned count,
                                   uint32_t c, uint32_t invalid, uint32_t *result)
{
    const uint32_t magnitude = c & 0x7fffffff;
    bool nan = false, wrong = false, infinite[2] = {false};
    for (unsigned i = 0; i < count; i++) {
        nan |= a[i].nan || b[i].nan;
        wrong |= (a[i].infinite && !b[i].m) || (b[i].infinite && !a[i].m);
        infinite[a[i].sign ^ b[i].sign] |= a[i].infinite || b[i].infinite;
    }
    if (!nan && !infinite[0] && !infinite[1] && magnitude < 0x7f800000)
        return false;
    wrong |= infinite[0] && infinite[1];
    if (magnitude == 0x7f800000) {
        wrong |= infinite[!(c >> 31)];
        infinite[c >> 31] = true;
    }
    *result = nan                      ? WMI_DOT_NAN
              : wrong                  ? invalid
              : magnitude > 0x7f800000 ? c | 0x400000
              : infinite[0]            ? 0x7f800000
                                       : 0xff800000;
    return true;
}

/* The step of gfx11. floor: the least exponent that C counts with. Magnitudes are cut off at the grid; what
 * is subtracted is one unit larger, even if it is zero or vanishes below the grid: the adder complements it
 * without adding one. */
static inline struct wmi_dot_sum wmi_dot_step_11(const struct wmi_product *products, unsigned count,
                                                 int32_t scale, uint32_t c, int32_t floor)
{
    const uint32_t field = c >> 23 & 0xff;
    const int64_t mc = field ? (int64_t)((c & 0x7fffff) | 0x800000) : 0;
    const bool negative = c >> 31;
    int32_t grid = INT32_MIN;
    if (mc)
        grid = wmi_max_i32((int32_t)field - 127, floor) - 26;
    for (unsigned i = 0; i < count; i++)
        if (products[i].m) {
            const int32_t p = products[i].p, leading = p - scale + wmi_dot_leading((uint64_t)products[i].m);
            grid = wmi_max_i32(grid, wmi_max_i32(p - 24, leading - 26));
        }
    if (grid == INT32_MIN)
        return (struct wmi_dot_sum){0, 0};
    int64_t sum = mc ? wmi_dot_shift(mc, (int32_t)field - 150 - grid) : 0;
    for (unsigned i = 0; i < count; i++) {
        const int64_t m = products[i].m ? wmi_dot_shift(products[i].m, products[i].p - scale - grid) : 0;
        sum += products[i].sign == negative ? m : -m - 1;
    }
    return (struct wmi_dot_sum){negative ? -sum : sum, grid};
}

/* The step of gfx12. `group` products are aligned with each other first, cut off toward minus infinity. */
static inline struct wmi_dot_sum wmi_dot_step_12(const struct wmi_product *products, unsigned count,
                                                 unsigned group, int32_t scale, uint32_t c, int32_t floor)
{
    const uint32_t field = c >> 23 & 0xff;
    const int64_t mc = (int64_t)((c & 0x7fffff) | (field ? 0x800000 : 0));
    const int32_t ec = (int32_t)(field ? field : 1) - 127;
    int32_t grid = wmi_max_i32(ec, floor) - 26;
    int64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        if (products[i].m)
            grid = wmi_max_i32(grid, products[i].p - 24);
    for (unsigned first = 0; first < count; first += group) {
        int32_t own = INT32_MIN;
        int64_t part = 0;
        for (unsigned i = first; i < first + group; i++)
            if (products[i].m)
                own = wmi_max_i32(own, products[i].p - 24);
        for (unsigned i = first; i < first + group; i++)
            if (products[i].m)
                part += wmi_dot_shift(products[i].sign ? -products[i].m : products[i].m,
                                      products[i].p - scale - own);
        if (own != INT32_MIN)
            sum += wmi_dot_shift(part, own - grid);
    }
    const int64_t cut = wmi_dot_shift(c >> 31 ? -mc : mc, ec - 23 - grid);
    if (!(cut == -1 && grid > -126 && !wmi_dot_shift(mc, ec - 23 - grid)))
        sum += cut;
    return (struct wmi_dot_sum){sum, grid};
}

/* A dot product: what a step computes, of which formats, with which result. */
struct wmi_dot {
    const struct wmi_dot_format *a, *b;
    const struct wmi_dot_result *to;
    uint8_t group;    /* products aligned with each other first; 0: the step of gfx11 */
    bool flushes;     /* denormal factors */
    uint32_t invalid; /* WMI_DOT_INVALID or WMI_DOT_NAN */
};

/* One step: c, an f32, plus `count` products. The result is an f32, or an f16 for an f16 result. */
static inline uint32_t wmi_dot_step(const struct wmi_dot *dot, const uint32_t *a, const uint32_t *b,
                                    unsigned count, uint32_t c, bool saturates)
{
    const int32_t scale = dot->a->fraction + dot->b->fraction;
    struct wmi_factor fa[WMI_DOT_PRODUCTS], fb[WMI_DOT_PRODUCTS];
    struct wmi_product x[WMI_DOT_PRODUCTS];
    uint32_t special;
    for (unsigned t = 0; t < count; t++) {
        fa[t] = wmi_factor_of(a[t], dot->a, dot->flushes);
        fb[t] = wmi_factor_of(b[t], dot->b, dot->flushes);
        x[t] = (struct wmi_product){(int64_t)fa[t].m * fb[t].m, fa[t].e + fb[t].e, fa[t].sign ^ fb[t].sign};
    }
    if (wmi_dot_special(fa, fb, count, c, dot->invalid, &special))
        return dot->to->precision == 24 ? special
               : special == WMI_DOT_NAN ? WMI_DOT_NAN_F16
                                        : (special >> 16 & 0x8000) | 0x7c00 | (special >> 13 & 0x3ff);
    return wmi_dot_round(dot->group ? wmi_dot_step_12(x, count, dot->group, scale, c, dot->to->least)
                                    : wmi_dot_step_11(x, count, scale, c, dot->to->least),
                         dot->to, saturates && dot->to->precision != 24);
}

/* The f32 of an f16; a NaN keeps its payload. */
static inline uint32_t wmi_dot_f32_of_f16(uint32_t code)
{
    const uint32_t sign = (code & 0x8000) << 16, field = code >> 10 & 31, fraction = code & 0x3ff;
    if (field == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (field)
        return sign | (field + 112) << 23 | fraction << 13;
    if (!fraction)
        return sign;
    const int leading = wmi_dot_leading(fraction);
    return sign | (uint32_t)(leading - 24 + 127) << 23 | (fraction << (23 - leading) & 0x7fffff);
}

/* Packed bf16 results are f32 ones, truncated. */
static inline uint32_t wmi_dot_bf16_of(uint32_t f32)
{
    return f32 == WMI_DOT_NAN ? WMI_DOT_NAN_BF16 : f32 >> 16;
}

#endif

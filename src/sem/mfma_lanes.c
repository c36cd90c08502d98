/* SPDX-License-Identifier: MIT */
/* MFMA and SMFMAC: matrix products over the registers of a wave. EXEC and MODE are ignored. Source: CDNA 3
 * ISA, "Matrix Arithmetic Instructions".
 *
 * Layouts: AMD's matrix instruction calculator. Arithmetic: MMA-Sim (arXiv 2511.10909), which was matched to
 * GPUs. A product of depth K is a chain of groups of products along k:
 *   f32, f64   one fused multiply-add per k
 *   CDNA1      groups of 4 (f16) or 2 (bf16): the exact sum of products and C, rounded once
 *   CDNA2      groups of 4 (f16, bf16 with _1k) or 2 (bf16): (p0 + p1) + (p2 + p3), then C, each rounded to
 * f32; denormal operands are +0, denormal results zeros of their sign CDNA3      groups of 8 (f16, bf16), 4
 * (xf32) or 16 (fp8, bf8), see cut_sum() */
#include "base/half.h"
#include "base/host_float.h"
#include "base/small_float.h"
#include "isa/isa.h"
#include "sem/bodies.h"
#include "sem/matrix.h"

#include <stdlib.h>

#if WMI_LANES == 64

enum {
    ELEMENTS = 32,          /* most elements of A or B in a lane */
    POWERS = ELEMENTS * 64, /* distance from an element to its power */
    DEPTH = 128,            /* most products of an element of D */
    CHUNK = 16,             /* lanes of D with one row of A, or of four blocks */
};

/* A or B: each element as f32 (bits of i32 for integers), and the power of two of its exponent, not below the
 * format's smallest; 0 for zeros. f64 uses the same room. */
struct side {
    _Alignas(64) float value[ELEMENTS][64], power[ELEMENTS][64];
};

/* Operands of 16 elements of D. The factors of product k are a[a_at[k]] and b[b_at[k] + lane]; with `spread`,
 * A has an element for each lane, too. */
struct chunk {
    const float *a, *b;
    const uint16_t *a_at, *b_at;
    const int16_t *a_shift,
        *b_shift; /* by row of A and lane of B: powers of two that scale them; NULL: none */
    unsigned depth, group;
    bool spread, split; /* split: even and odd products are summed apart */
};

enum { QUIET_NAN = 0x7fc00000 };

/* ---- elements ---- */

static float power_of_two(int e)
{
    return WMI_BITS_AS(float, (uint32_t)(e + 127) << 23);
}

static int exponent_of(float power)
{
    return (int)(WMI_BITS_AS(uint32_t, power) >> 23) - 127;
}

static enum wmi_small_float small_format(unsigned element, bool ocp)
{
    return (enum wmi_small_float)((element == WMI_ELEMENT_bf8) + (ocp ? WMI_FP8_OCP : WMI_FP8_FNUZ));
}

static int smallest_exponent(unsigned element, bool ocp)
{
    if (element == WMI_ELEMENT_fp8 || element == WMI_ELEMENT_bf8)
        return 1 - wmi_small_layouts[small_format(element, ocp)].bias;
    return element == WMI_ELEMENT_f16 ? -14 : -126;
}

/* Bytes in the low bits of words; denormals must not be flushed. */
static u32v small_values(u32v code, enum wmi_small_float format)
{
    const struct wmi_small_layout *f = &wmi_small_layouts[format];
    const u32v sign = code << 24 & 0x80000000u, magnitude = code & 0x7f;
    const u32v scaled = (u32v)((f32v)(magnitude << (23 - f->fraction)) * power_of_two(127 - f->bias));
    const u32v top = f->specials == WMI_SMALL_FNUZ      ? (u32v)((code & 0xff) == 0x80)
                     : f->specials == WMI_SMALL_ONE_NAN ? (u32v)(magnitude == 0x7f)
                                                        : (u32v)(magnitude > 0x7c);
    const u32v infinite = (u32v)(magnitude == 0x7c) & (f->specials == WMI_SMALL_IEEE ? 0x7f800000u : 0);
    const u32v finite = wmi_select_u32((u32v)(infinite != 0), infinite, scaled);
    return sign | wmi_select_u32(top, wmi_splat_u32(QUIET_NAN), finite);
}

/* Elements of a word of each lane, `bits` wide, from position `at`. */
static u32v element_values(u32v words, unsigned element, unsigned at, bool ocp)
{
    switch (element) {
    case WMI_ELEMENT_f16:
        return (u32v)wmi_widen(words >> 16 * at & 0xffff);
    case WMI_ELEMENT_bf16:
        return (at ? words : words << 16) & 0xffff0000u;
    case WMI_ELEMENT_fp8:
    case WMI_ELEMENT_bf8:
        return small_values(words >> 8 * at & 0xff, small_format(element, ocp));
    case WMI_ELEMENT_i8:
        return (u32v)((i32v)(words << (24 - 8 * at)) >> 24);
    case WMI_ELEMENT_xf32: { /* cut to 10 fraction bits; a NaN stays one (unverified) */
        const f32v whole = (f32v)words;
        return (words & 0xffffe000u) | ((u32v)(whole != whole) & 0x400000);
    }
    default:
        return words;
    }
}

/* Reads the elements of A or B. from: the lane that each lane reads, NULL for its own.
 * Returns whether an exponent is not within -30 to 30. */
static bool read_side(struct side *side, const wmi_word *rows, unsigned dwords, unsigned element,
                      unsigned bits, bool ocp, const uint8_t *from)
{
    const unsigned count = bits < 32 ? 32 / bits : 1;
    const u32v least = (u32v)wmi_splat_f32(power_of_two(smallest_exponent(element, ocp)));
    const u32v low = (u32v)wmi_splat_f32(power_of_two(-30)),
               range = (u32v)wmi_splat_f32(power_of_two(31)) - low;
    u32v wide = wmi_splat_u32(0);
    for (unsigned row = 0; row < dwords; row++) {
        _Alignas(64) uint32_t words[64];
        if (from)
            for (unsigned lane = 0; lane < 64; lane++)
                words[lane] = rows[64 * row + from[lane]];
        else
            memcpy(words, rows + 64 * row, sizeof words);
        for (unsigned lane = 0; lane < 64; lane += WMI_VECTOR_LANES)
            for (unsigned at = 0; at < count; at++) {
                const u32v x = element_values(wmi_load_u32((const char *)(words + lane)), element, at, ocp);
                const u32v magnitude = x & 0x7fffffff, power = x & 0x7f800000;
                const u32v floored = wmi_select_u32((u32v)(power < least), least, power);
                const u32v nonzero = (u32v)(magnitude != 0);
                *(u32v *)&side->value[row * count + at][lane] = x;
                *(u32v *)&side->power[row * count + at][lane] = floored & nonzero;
                wide |= nonzero & (u32v)(magnitude - low >= range);
            }
    }
    return wmi_any(wide);
}

/* ---- floats of 8, 6 and 4 bits, with scales ---- */

enum { FORMATS = 5, BYTES = 2, RUN = 16, NAN_SCALE = 255 }; /* BYTES: formats of 8 bits; RUN: consecutive k */

/* Formats by CBSZ and BLGP. Source: LLVM 22, SIDefines.h, MFMAScaleFormats. */
static const uint8_t formats[FORMATS] = {WMI_FP8_OCP, WMI_BF8_OCP, WMI_FP6, WMI_BF6, WMI_FP4};

/* The bits of element `e` of each lane. */
static void codes_of(uint32_t *codes, const wmi_word *rows, unsigned bits, unsigned e)
{
    const unsigned at = e * bits, row = at / 32, next = (at + bits - 1) / 32;
    for (unsigned lane = 0; lane < 64; lane++) {
        const uint64_t two = rows[64 * row + lane] | (uint64_t)rows[64 * next + lane] << 32;
        codes[lane] = (uint32_t)(two >> at % 32) & ((1u << bits) - 1);
    }
}

/* Reads 32 elements of each lane to where those of four bits are: element k % 32 of the lanes of k / 32.
 * Lanes with bytes have two runs of 16 k, the second of them in the upper half of K. The scale of these 32
 * elements is in the lane that has them then. Source: ROCm's Composable Kernel, test/mx_mfma_op, and the maps
 * of scales that it records of a GPU. Returns whether an exponent is not within -30 to 30; then `shift`, if
 * there are scales, has their powers of two, and otherwise they are part of the elements. */
static bool read_formatted(struct side *side, const wmi_word *rows, unsigned number, unsigned m,
                           const wmi_word *scales, unsigned byte, int16_t *shift)
{
    const enum wmi_small_float format = (enum wmi_small_float)formats[number < FORMATS ? number : 0];
    const struct wmi_small_layout *f = &wmi_small_layouts[format];
    const unsigned bits = 1u + f->exponent + f->fraction, groups = 64 / m;
    const float least = power_of_two(1 - f->bias);
    bool wide = false;
    for (unsigned pass = 0; pass < 2 && (!pass || wide); pass++)
        for (unsigned e = 0; e < ELEMENTS; e++) {
            uint32_t codes[64];
            codes_of(codes, rows, bits, e);
            for (unsigned lane = 0; lane < 64; lane++) {
                const unsigned group = lane / m, run = e / RUN;
                const unsigned k = number < BYTES ? (run * groups + group) * RUN + e % RUN : 32 * group + e;
                const unsigned to = k / 32 * m + lane % m;
                const uint32_t scale = scales ? scales[to] >> 8 * byte & 0xff : 127;
                uint32_t x = number < FORMATS ? wmi_f32_of_small(codes[lane], format) : 0;
                if (scale == NAN_SCALE)
                    x = QUIET_NAN;
                const int by = scale == NAN_SCALE ? 0 : (int)scale - 127;
                const float value = WMI_BITS_AS(float, x), magnitude = fabsf(value);
                const float power = !(x & 0x7fffffff)   ? 0
                                    : magnitude < least ? least
                                                        : WMI_BITS_AS(float, x & 0x7f800000);
                const bool moderate =
                    !(x & 0x7fffffff) ||
                    ((x & 0x7f800000) != 0x7f800000 && by >= -30 && by <= 30 &&
                     magnitude * power_of_two(by) < 0x1p31f && magnitude * power_of_two(by) >= 0x1p-30f);
                wide |= !moderate;
                const float factor = pass || by < -30 || by > 30 ? 1 : power_of_two(by);
                side->value[k % 32][to] = pass ? value : value * factor;
                side->power[k % 32][to] = power * factor;
                if (pass)
                    shift[to] = (int16_t)by;
            }
        }
    return wide;
}

/* ---- groups of products, lane by lane ---- */

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
static int shift_of(const struct chunk *q, unsigned first, unsigned lane)
{
    if (!q->a_shift)
        return 0;
    const unsigned block = q->a_at[first] % 64; /* the lanes of this part of k */
    return q->a_shift[block] + q->b_shift[block + lane];
}

/* One element of D by the rules of CDNA1 and CDNA3. */
static float slow_element(const struct chunk *q, enum wmi_matrix_rules rules, bool bounded, unsigned lane,
                          float c)
{
    float a[ELEMENTS], b[ELEMENTS], pa[ELEMENTS], pb[ELEMENTS];
    for (unsigned first = 0; first < q->depth; first += q->group) {
        const unsigned count = q->depth - first < q->group ? q->depth - first : q->group;
        double x[ELEMENTS + 1];
        bool special = !isfinite(c);
        for (unsigned k = 0; k < count; k++) {
            const float *from_a = q->a + q->a_at[first + k] + (q->spread ? lane : 0);
            const float *from_b = q->b + q->b_at[first + k] + lane;
            a[k] = *from_a, b[k] = *from_b;
            pa[k] = from_a[POWERS], pb[k] = from_b[POWERS];
            x[k] = (double)a[k] * b[k];
            special |= !isfinite(x[k]);
        }
        x[count] = c;
        if (rules == WMI_MATRIX_CDNA3)
            c = cut_sum(a, b, pa, pb, shift_of(q, first, lane), count, q->split, bounded, c);
        else
            c = special ? special_sum(x, count + 1) : exact_sum(x, count + 1);
    }
    return c;
}

/* ---- the same for a vector of lanes ---- */

WMI_INLINE f32v factor_a(const struct chunk *q, unsigned k, unsigned lane, unsigned part)
{
    const float *at = q->a + q->a_at[k] + part;
    /* Not wmi_splat_f32(), whose sum makes +0 of -0. */
    return q->spread ? *(const f32v *)(at + lane) : (f32v)wmi_splat_u32(*(const wmi_word *)at);
}

WMI_INLINE f32v factor_b(const struct chunk *q, unsigned k, unsigned lane, unsigned part)
{
    typedef float loose __attribute__((vector_size(WMI_VECTOR_BYTES), aligned(4), may_alias));
    return (f32v) * (const loose *)(q->b + q->b_at[k] + part + lane);
}

WMI_INLINE f32v quiet(f32v x)
{
    return (f32v)wmi_select_u32((u32v)(x != x), wmi_splat_u32(QUIET_NAN), (u32v)x);
}

WMI_INLINE f32v half_of(f32v x, int which, f64v *wide)
{
    f32half halves[2];
    memcpy(halves, &x, sizeof x);
    *wide = __builtin_convertvector(halves[which], f64v);
    return x;
}

/* Largest exponent of products first, first + step, ... as a power of two, at least 2^-60; the products cut
 * at 2^-24 of it, in these units. */
WMI_INLINE i32v cut_vector(const struct chunk *q, unsigned first, unsigned end, unsigned step, unsigned lane,
                           f32v *largest)
{
    f32v e = wmi_splat_f32(power_of_two(-60));
    for (unsigned k = first; k < end; k += step)
        e = wmi_greater_f32(factor_a(q, k, lane, POWERS) * factor_b(q, k, lane, POWERS), e);
    const f32v grid = (f32v)(wmi_splat_u32(0x7f000000u + (24u << 23)) - (u32v)e);
    i32v sum = (i32v)wmi_splat_u32(0);
    for (unsigned k = first; k < end; k += step)
        sum += __builtin_convertvector(factor_a(q, k, lane, 0) * (factor_b(q, k, lane, 0) * grid), i32v);
    *largest = e;
    return sum;
}

/* cut_sum() for factors whose exponents are within -30 to 30; sets *wide if C's is not within -60 to 59. All
 * is exact but for the floors and the last rounding: the sums have up to 31 bits, the total 39 in f64. */
WMI_INLINE f32v cut_group(const struct chunk *q, unsigned first, unsigned end, unsigned lane, f32v c,
                          u32v *wide)
{
    const u32v low = (u32v)wmi_splat_f32(power_of_two(-60)),
               range = (u32v)wmi_splat_f32(power_of_two(60)) - low;
    const u32v c_magnitude = (u32v)c & 0x7fffffff;
    f32v e, result;
    i32v sum;
    *wide |= (u32v)(c_magnitude != 0) & (u32v)(c_magnitude - low >= range);
    if (q->split) {
        f32v e_even, e_odd;
        const i32v even = cut_vector(q, first, end, 2, lane, &e_even);
        const i32v odd = cut_vector(q, first + 1, end, 2, lane, &e_odd);
        e = wmi_greater_f32(e_even, e_odd);
        u32v by_even = ((u32v)e - (u32v)e_even) >> 23, by_odd = ((u32v)e - (u32v)e_odd) >> 23;
        by_even = wmi_select_u32((u32v)(by_even > 31), wmi_splat_u32(31), by_even);
        by_odd = wmi_select_u32((u32v)(by_odd > 31), wmi_splat_u32(31), by_odd);
        sum = (even >> (i32v)by_even) + (odd >> (i32v)by_odd);
    } else {
        sum = cut_vector(q, first, end, 1, lane, &e);
    }
    const f32v c_power = (f32v)((u32v)c & 0x7f800000);
    const f32v x = wmi_greater_f32(c_power, e);
    const f32v inverse = (f32v)(wmi_splat_u32(0x7f000000) - (u32v)x);
    f32v addend = wmi_floor_f32(c * (inverse * 0x1p24f));
    if (q->split)
        addend = (f32v)((u32v)addend & (u32v)(c_power * 0x1p25f >= x));
    const f32v ratio = e * inverse;
    i32half sums[2];
    f32half results[2];
    memcpy(sums, &sum, sizeof sum);
    for (int half = 0; half < 2; half++) {
        f64v wide_ratio, wide_addend, wide_x;
        half_of(ratio, half, &wide_ratio);
        half_of(addend, half, &wide_addend);
        half_of(x, half, &wide_x);
        const f64v products = wmi_floor_f64(__builtin_convertvector(sums[half], f64v) * (wide_ratio * 0x1p8));
        const f64v total = products + wide_addend * 0x1p8;
        /* floor to 32 significant bits */
        const u64v bits = (u64v)total, negative = -(bits >> 63);
        const u64v cut_bits = (bits + (negative & 0x1fffff)) & ~(uint64_t)0x1fffff;
        results[half] = __builtin_convertvector((f64v)cut_bits * (wide_x * 0x1p-32), f32half);
    }
    memcpy(&result, results, sizeof result);
    return result;
}

WMI_INLINE f32v flush(f32v x)
{
    const u32v tiny = (u32v)(((u32v)x & 0x7fffffff) < 0x800000);
    return (f32v)wmi_select_u32(tiny, (u32v)x & 0x80000000u, (u32v)x);
}

/* The denormals of operands were flushed when they were read. */
WMI_INLINE f32v flushed_group(const struct chunk *q, unsigned first, unsigned lane, f32v c)
{
    f32v part[2];
    for (unsigned i = 0; i < q->group / 2; i++) {
        const unsigned k = first + 2 * i;
        part[i] = flush(flush(factor_a(q, k, lane, 0) * factor_b(q, k, lane, 0)) +
                        flush(factor_a(q, k + 1, lane, 0) * factor_b(q, k + 1, lane, 0)));
    }
    return flush(c + (q->group == 4 ? flush(part[0] + part[1]) : part[0]));
}

/* Exact sums in f64; sets *wide in lanes where they were not exact, or not finite. */
WMI_INLINE f32v exact_group(const struct chunk *q, unsigned first, unsigned lane, f32v c, u32v *wide)
{
    f32half results[2];
    f32v result;
    i32half inexact[2];
    u32v found;
    for (int half = 0; half < 2; half++) {
        f64v sum, a, b;
        u64v wrong = wmi_splat_u64(0);
        half_of(c, half, &sum);
        for (unsigned k = first; k < first + q->group; k++) {
            half_of(factor_a(q, k, lane, 0), half, &a);
            half_of(factor_b(q, k, lane, 0), half, &b);
            const f64v product = a * b, whole = sum + product, other = whole - sum;
            const f64v error = (sum - (whole - other)) + (product - other);
            wrong |= ~(u64v)(error == 0);
            sum = whole;
        }
        results[half] = __builtin_convertvector(sum, f32half);
        inexact[half] = __builtin_convertvector((i64v)wrong, i32half);
    }
    memcpy(&result, results, sizeof result);
    memcpy(&found, inexact, sizeof found);
    *wide |= found;
    return result;
}

/* ---- chunks ---- */

enum kind { FUSED_F32, FUSED_F64, INTEGER, EXACT, FLUSHED, CUT };

WMI_INLINE void vector_of_d(const struct chunk *q, enum kind kind, bool moderate, bool bounded, unsigned lane,
                            const wmi_word *c_row, wmi_word *d_row)
{
    const f32v start = *(const f32v *)(c_row + lane);
    f32v sum = start;
    u32v wide = wmi_splat_u32(0);
    if (kind == INTEGER) {
        i32v total = (i32v)start;
        for (unsigned k = 0; k < q->depth; k++)
            total += (i32v)factor_a(q, k, lane, 0) * (i32v)factor_b(q, k, lane, 0);
        *(i32v *)(d_row + lane) = total;
        return;
    }
    if (kind == FUSED_F32) {
        for (unsigned k = 0; k < q->depth; k++)
            sum = wmi_fused_f32(factor_a(q, k, lane, 0), factor_b(q, k, lane, 0), sum);
    } else if (kind == FLUSHED) {
        sum = (f32v)((u32v)sum & (u32v)(((u32v)sum & 0x7fffffff) >= 0x800000));
        for (unsigned k = 0; k < q->depth; k += q->group)
            sum = flushed_group(q, k, lane, sum);
    } else if (kind == EXACT) {
        for (unsigned k = 0; k < q->depth; k += q->group)
            sum = exact_group(q, k, lane, sum, &wide);
    } else {
        wide = wmi_splat_u32(moderate ? 0 : UINT32_MAX);
        for (unsigned k = 0; moderate && k < q->depth; k += q->group)
            sum = cut_group(q, k, k + q->group, lane, sum, &wide);
    }
    if (wmi_any(wide))
        for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
            sum[i] = slow_element(q, kind == CUT ? WMI_MATRIX_CDNA3 : WMI_MATRIX_CDNA1, bounded, lane + i,
                                  start[i]);
    *(f32v *)(d_row + lane) = quiet(sum);
}

#define CHUNK_OF(name, kind, spread_, split_, group_)                                                        \
    static void name(const struct chunk *q, bool moderate, bool bounded, const wmi_word *c, wmi_word *d)     \
    {                                                                                                        \
        struct chunk known = *q;                                                                             \
        known.spread = spread_;                                                                              \
        known.split = split_;                                                                                \
        if (group_)                                                                                          \
            known.group = group_;                                                                            \
        for (unsigned lane = 0; lane < CHUNK; lane += WMI_VECTOR_LANES)                                      \
            vector_of_d(&known, kind, moderate, bounded, lane, c, d);                                        \
    }

CHUNK_OF(fused_chunk, FUSED_F32, q->spread, false, 0)
CHUNK_OF(integer_chunk, INTEGER, q->spread, false, 0)
CHUNK_OF(exact_chunk, EXACT, q->spread, false, 0)
CHUNK_OF(flushed_chunk, FLUSHED, q->spread, false, 0)
CHUNK_OF(cut_spread_chunk, CUT, true, false, 0)
CHUNK_OF(cut_4_chunk, CUT, false, false, 4)
CHUNK_OF(cut_8_chunk, CUT, false, false, 8)
CHUNK_OF(cut_split_chunk, CUT, false, true, 16)

typedef void chunk_function(const struct chunk *q, bool moderate, bool bounded, const wmi_word *c,
                            wmi_word *d);

/* ---- instructions ---- */

static unsigned bits_of(unsigned element)
{
    static const uint8_t bits[] = {
        0,
#define ELEMENT(name, bits) bits,
#include "elements.def"
    };
    return bits[element];
}

/* The lane that each lane reads of A: CBSZ splits the lanes into 2^CBSZ sets, all of which read set ABID. */
static void lanes_of_a(uint8_t *from, unsigned cbsz, unsigned abid)
{
    const unsigned size = 64u >> (cbsz > 6 ? 6 : cbsz);
    for (unsigned lane = 0; lane < 64; lane++)
        from[lane] = (uint8_t)((cbsz ? lane % size + size * abid : lane) % 64);
}

/* The same of B, by BLGP. */
static void lanes_of_b(uint8_t *from, unsigned blgp)
{
    for (unsigned lane = 0; lane < 64; lane++)
        from[lane] = (uint8_t)(blgp == 0   ? lane
                               : blgp == 3 ? (lane + 16) % 64
                               : blgp < 3  ? lane % 32 + 32 * (blgp - 1)
                                           : lane % 16 + 16 * (blgp - 4));
}

/* Positions of the products' factors in the lanes' elements. per_lane: elements of a lane. */
static void places(uint16_t *at, const struct wmi_matrix *m, unsigned depth, unsigned per_lane,
                   unsigned elements)
{
    for (unsigned k = 0; k < depth; k++) {
        const unsigned lanes = k / per_lane % (depth / per_lane), chunk = k % per_lane;
        at[k] = (uint16_t)(chunk * elements + lanes * m->m * m->blocks);
    }
}

/* Elements of A that SMFMAC stores, and by the indices of row i those of B that they are multiplied with.
 * Each nibble of C has two positions among four elements along k. 16-bit data has 8 bits of indices in a
 * lane, 8-bit data 16, of which CBSZ = 0 selects one of four or two sets by ABID; else they are the lowest
 * ones. Source: CDNA 3 ISA, "Sparse Matrix". gfx950's instructions of twice the depth have twice as many;
 * that a lane's two runs of 16 bytes of B are K / 2 apart is unverified. */
static void sparse_places(uint16_t *a_at, uint16_t *b_at, const struct wmi_matrix *m, const wmi_word *indices,
                          const struct wmi_matrix_use *use, unsigned row)
{
    const unsigned stored = m->m * m->k / 128u; /* elements of A in a lane */
    const bool doubled = stored * bits_of(m->a) > 64;
    const unsigned run = doubled ? 128 / bits_of(m->a) : 8,
                   g = 64u / m->m * run; /* of consecutive k in a lane */
    const unsigned indexed = 2 * stored, sets = 32 / indexed;
    const unsigned set = use->cbsz ? 0 : indexed * (use->abid & (sets - 1));
    for (unsigned q = 0; q < m->k / 4u; q++) {
        const unsigned local = 4 * q % g, upper = 4 * q / g, in = run * upper + local % run;
        const unsigned lane = local / run * m->m;
        const unsigned positions = indices[lane + row] >> (set + in) & 15;
        for (unsigned s = 0; s < 2; s++) {
            const unsigned k = 4 * q + (positions >> 2 * s & 3);
            a_at[2 * q + s] = (uint16_t)((in / 2 + s) * 64 + lane);
            b_at[2 * q + s] = (uint16_t)((run * (k / g) + k % run) * 64 + k % g / run * m->n);
        }
    }
}

static void flush_side(struct side *side, unsigned elements, unsigned element)
{
    const uint32_t least = WMI_BITS_AS(uint32_t, power_of_two(smallest_exponent(element, false)));
    for (unsigned e = 0; e < elements; e++)
        for (unsigned lane = 0; lane < 64; lane += WMI_VECTOR_LANES) {
            u32v *x = (u32v *)&side->value[e][lane];
            *x &= (u32v)((*x & 0x7fffffff) >= least);
        }
}

/* In 4x4 matrices each lane has its own block and row. */
static void spread_side(struct side *to, const struct side *from, unsigned elements, unsigned i)
{
    for (unsigned e = 0; e < elements; e++)
        for (unsigned lane = 0; lane < 64; lane++) {
            to->value[e][lane] = from->value[e][(lane & ~3u) + i];
            to->power[e][lane] = from->power[e][(lane & ~3u) + i];
        }
}

static chunk_function *function_of(const struct wmi_matrix *m, unsigned rules, unsigned depth,
                                   struct chunk *q)
{
    const bool eight = bits_of(m->a) == 8;
    if (m->d == WMI_ELEMENT_i32)
        return integer_chunk;
    if (m->a == WMI_ELEMENT_f32)
        return fused_chunk;
    if (rules == WMI_MATRIX_CDNA1 || rules == WMI_MATRIX_CDNA2) {
        /* bf16 without _1k has one dword of A */
        const bool one_dword = m->m * m->k * m->blocks * bits_of(m->a) / 64 == 32;
        q->group = one_dword ? 2 : 4;
        return rules == WMI_MATRIX_CDNA1 ? exact_chunk : flushed_chunk;
    }
    q->group = eight ? 16 : m->a == WMI_ELEMENT_xf32 ? 4 : 8;
    q->split = eight;
    if (q->group > depth)
        q->group = depth;
    if (q->spread)
        return cut_spread_chunk;
    return q->group == 16 ? cut_split_chunk : q->group == 8 ? cut_8_chunk : cut_4_chunk;
}

/* f64: a chain of fused multiply-adds. */
static void multiply_f64(const struct wmi_matrix *m, const struct wmi_matrix_use *use, const wmi_word *a_rows,
                         const wmi_word *b_rows, const wmi_word *c_rows, wmi_word *d_rows)
{
    _Alignas(64) double a[64], b[64], sum[16];
    uint8_t from_a[64], from_b[64];
    const double sign_a = use->neg & 1 ? -1 : 1, sign_b = use->neg & 2 ? -1 : 1;
    const uint64_t flip = use->neg & 4 ? UINT64_C(1) << 63 : 0;
    const unsigned pairs = m->m == 4 ? 1 : 4;
    lanes_of_a(from_a, use->cbsz, use->abid);
    lanes_of_b(from_b, use->blgp);
    for (unsigned lane = 0; lane < 64; lane++) {
        a[lane] = sign_a * wmi_get_f64(a_rows, from_a[lane]);
        b[lane] = sign_b * wmi_get_f64(b_rows, from_b[lane]);
    }
    for (unsigned chunk = 0; chunk < 4 * pairs; chunk++) {
        const unsigned pair = chunk / 4, quarter = chunk % 4, i = m->m == 4 ? quarter : 4 * pair + quarter;
        wmi_word *d = d_rows + 128 * pair + 16 * quarter;
        const wmi_word *c = c_rows + (use->constant ? 0 : 128 * pair + 16 * quarter);
        for (unsigned lane = 0; lane < 16; lane++)
            sum[lane] = WMI_BITS_AS(double, (c[lane] | (uint64_t)c[lane + 64] << 32) ^ flip);
        for (unsigned k = 0; k < 4; k++)
            for (unsigned lane = 0; lane < 16; lane += WMI_VECTOR_LANES / 2) {
                f64v factor = (f64v)wmi_splat_u64(WMI_BITS_AS(uint64_t, a[16 * k + i]));
                if (m->m == 4)
                    for (unsigned l = 0; l < WMI_VECTOR_LANES / 2; l++)
                        factor[l] = a[16 * k + ((lane + l) & ~3u) + i];
                *(f64v *)(sum + lane) =
                    wmi_fused_f64(factor, *(const f64v *)(b + 16 * k + lane), *(f64v *)(sum + lane));
            }
        for (unsigned lane = 0; lane < 16; lane++) {
            const uint64_t bits =
                isnan(sum[lane]) ? UINT64_C(0x7ff8000000000000) : WMI_BITS_AS(uint64_t, sum[lane]);
            d[lane] = (uint32_t)bits;
            d[lane + 64] = (uint32_t)(bits >> 32);
        }
    }
}

/* extra: the indices of SMFMAC, or the words with the scales of A and B, or NULL. */
static void multiply_32(const struct wmi_matrix *m, const struct wmi_matrix_use *use, const wmi_word *a_rows,
                        const wmi_word *b_rows, const wmi_word *c_rows, wmi_word *d_rows,
                        const wmi_word *const extra[2])
{
    struct side a, b, spread[4];
    int16_t a_shift[64] = {0}, b_shift[64] = {0};
    const bool formatted = m->a == WMI_ELEMENT_f8f6f4;
    uint8_t from_a[64], from_b[64];
    uint16_t a_at[DEPTH], b_at[DEPTH];
    const unsigned width = bits_of(m->a), depth = m->sparse ? m->k / 2u : m->k;
    const unsigned a_elements = m->m * depth * m->blocks / 64, b_elements = m->n * m->k * m->blocks / 64;
    const unsigned rows = m->m * m->n * m->blocks / 64, of_block = rows / m->blocks;
    struct chunk q = {.a_at = a_at, .b_at = b_at, .depth = depth, .spread = m->m == 4};
    const bool moves_a = use->cbsz && !m->sparse && !formatted;
    bool wide;
    if (moves_a)
        lanes_of_a(from_a, use->cbsz, use->abid);
    if (use->blgp)
        lanes_of_b(from_b, use->blgp);
    if (formatted) {
        wide = read_formatted(&a, a_rows, use->cbsz, m->m, extra[0], use->abid >> WMI_MATRIX_SCALE_A & 3,
                              a_shift);
        wide |= read_formatted(&b, b_rows, use->blgp, m->n, extra[1], use->abid >> WMI_MATRIX_SCALE_B & 3,
                               b_shift);
    } else {
        wide = read_side(&a, a_rows, a_elements * width / 32, m->a, width, use->ocp, moves_a ? from_a : NULL);
        wide |=
            read_side(&b, b_rows, b_elements * width / 32, m->b, width, use->ocp, use->blgp ? from_b : NULL);
    }
    chunk_function *const function = function_of(m, use->rules, depth, &q);
    if (function == flushed_chunk) {
        flush_side(&a, a_elements, m->a);
        flush_side(&b, b_elements, m->b);
    }
    for (unsigned i = 0; q.spread && i < 4; i++)
        spread_side(&spread[i], &a, a_elements, i);
    if (!m->sparse) {
        places(a_at, m, depth, a_elements, 64);
        memcpy(b_at, a_at, sizeof b_at);
    }
    const bool bounded = width >= 16; /* bf16, xf32 */
    for (unsigned chunk = 0; chunk < 4 * rows; chunk++) {
        const unsigned row = chunk / 4, quarter = chunk % 4, block = q.spread ? 0 : row / of_block;
        const unsigned in = q.spread ? row : row % of_block;
        const unsigned i = m->m == 32 ? 8 * (in / 4) + 4 * (quarter / 2) + in % 4 : 4 * quarter + in;
        q.a = q.spread ? spread[row].value[0] + 16 * quarter : a.value[0] + block * m->m + i;
        q.b = b.value[0] + (q.spread ? 16 * quarter : block * m->n + (m->n == 32 ? 16 * (quarter % 2) : 0));
        if (formatted) {
            q.a_shift = a_shift + i;
            q.b_shift = b_shift + (m->n == 32 ? 16 * (quarter % 2) : 0);
        }
        if (m->sparse)
            sparse_places(a_at, b_at, m, extra[0], use, i);
        function(&q, !wide, bounded, c_rows + (use->constant ? 0 : 64 * row + 16 * quarter),
                 d_rows + 64 * row + 16 * quarter);
    }
}

static __attribute__((noinline)) void multiply(char *frame, const struct wmi_op *op)
{
    const struct wmi_matrix_use use = wmi_matrix_unpack(op->value);
    const struct wmi_matrix *m = &wmi_matrices[use.matrix];
    wmi_word *d = wmi_row(frame, op->d);
    const wmi_word *c = m->sparse ? d : wmi_row(frame, op->c);
    const unsigned dwords = (unsigned)(m->m * m->n * m->blocks) * bits_of(m->d) / 2048;
    _Alignas(64) uint32_t copy[32 * 64];
    /* A result that overlaps C without being C must not change C before it is read. */
    const long distance = (const char *)c - (const char *)d;
    if (!use.constant && !m->sparse && distance && labs(distance) < 256l * dwords) {
        memcpy(copy, c, 256 * dwords);
        c = copy;
    }
    if (m->sparse) { /* so may the indices */
        memcpy(copy, frame + op->c, 256);
        multiply_32(m, &use, wmi_row(frame, op->a), wmi_row(frame, op->b), c, d,
                    (const wmi_word *const[2]){copy, NULL});
    } else if (m->d == WMI_ELEMENT_f64) {
        multiply_f64(m, &use, wmi_row(frame, op->a), wmi_row(frame, op->b), c, d);
    } else {
        const bool has_scales = m->a == WMI_ELEMENT_f8f6f4 && use.abid & WMI_MATRIX_SCALED;
        multiply_32(m, &use, wmi_row(frame, op->a), wmi_row(frame, op->b), c, d,
                    (const wmi_word *const[2]){has_scales ? wmi_row(frame, op->e) : NULL,
                                               has_scales ? wmi_row(frame, op->x) : NULL});
    }
}

#endif

WMI_DEFINE(mfma)
{
#if WMI_LANES == 64 /* all targets with MFMA */
    const uint32_t usual = ((const struct wmi_frame *)frame)->mxcsr32, wanted = wmi_host_float_word(0, 3);
    if (usual != wanted)
        wmi_host_float_set(wanted);
    multiply(frame, op);
    if (usual != wanted)
        wmi_host_float_set(usual);
#endif
    return wmi_next(frame, op);
}

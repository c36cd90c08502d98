/* SPDX-License-Identifier: MIT */
/* MFMA and SMFMAC, each row on gfx908, gfx90a and gfx942, and gfx950's by gfx942's rules, against the
 * formulas of MMA-Sim (arXiv 2511.10909) in wider arithmetic and the layouts of AMD's matrix instruction
 * calculator: random operands of several ranges, denormals, infinities, NaNs, cancellation, all CBSZ, ABID
 * and BLGP. All NaNs are equal. With WAVEMEM_TEST_REDUCED: fewer rounds. */
#include "reduced.h"
#include "unit/run_text.h"

#include "unit/random.h"

#include <math.h>
#include <stdbool.h>

enum element { F32, F64, XF32, F16, BF16, FP8, BF8, I8 };

static const unsigned widths[] = {32, 64, 32, 16, 16, 8, 8, 8};

struct row {
    const char *name;
    unsigned m, k, blocks;
    enum element a, b;
    unsigned targets; /* bits: gfx908, gfx90a, gfx942, gfx950 */
    bool sparse;
};

static const struct row rows[] = {
    {"v_mfma_f32_32x32x1f32", 32, 1, 2, F32, F32, 7},
    {"v_mfma_f32_16x16x1f32", 16, 1, 4, F32, F32, 7},
    {"v_mfma_f32_4x4x1f32", 4, 1, 16, F32, F32, 7},
    {"v_mfma_f32_32x32x2f32", 32, 2, 1, F32, F32, 7},
    {"v_mfma_f32_16x16x4f32", 16, 4, 1, F32, F32, 7},
    {"v_mfma_f32_32x32x4f16", 32, 4, 2, F16, F16, 7},
    {"v_mfma_f32_16x16x4f16", 16, 4, 4, F16, F16, 7},
    {"v_mfma_f32_4x4x4f16", 4, 4, 16, F16, F16, 7},
    {"v_mfma_f32_32x32x8f16", 32, 8, 1, F16, F16, 7},
    {"v_mfma_f32_16x16x16f16", 16, 16, 1, F16, F16, 7},
    {"v_mfma_i32_32x32x4i8", 32, 4, 2, I8, I8, 7},
    {"v_mfma_i32_16x16x4i8", 16, 4, 4, I8, I8, 7},
    {"v_mfma_i32_4x4x4i8", 4, 4, 16, I8, I8, 7},
    {"v_mfma_i32_32x32x8i8", 32, 8, 1, I8, I8, 3},
    {"v_mfma_i32_16x16x16i8", 16, 16, 1, I8, I8, 3},
    {"v_mfma_f32_32x32x4bf16_1k", 32, 4, 2, BF16, BF16, 6},
    {"v_mfma_f32_16x16x4bf16_1k", 16, 4, 4, BF16, BF16, 6},
    {"v_mfma_f32_4x4x4bf16_1k", 4, 4, 16, BF16, BF16, 6},
    {"v_mfma_f32_32x32x8bf16_1k", 32, 8, 1, BF16, BF16, 6},
    {"v_mfma_f32_16x16x16bf16_1k", 16, 16, 1, BF16, BF16, 6},
    {"v_mfma_f32_32x32x2bf16", 32, 2, 2, BF16, BF16, 3},
    {"v_mfma_f32_16x16x2bf16", 16, 2, 4, BF16, BF16, 3},
    {"v_mfma_f32_4x4x2bf16", 4, 2, 16, BF16, BF16, 3},
    {"v_mfma_f32_32x32x4bf16", 32, 4, 1, BF16, BF16, 3},
    {"v_mfma_f32_16x16x8bf16", 16, 8, 1, BF16, BF16, 3},
    {"v_mfma_f64_16x16x4f64", 16, 4, 1, F64, F64, 6},
    {"v_mfma_f64_4x4x4f64", 4, 4, 4, F64, F64, 6},
    {"v_mfma_f32_16x16x8_xf32", 16, 8, 1, XF32, XF32, 4},
    {"v_mfma_f32_32x32x4_xf32", 32, 4, 1, XF32, XF32, 4},
    {"v_mfma_i32_32x32x16_i8", 32, 16, 1, I8, I8, 4},
    {"v_mfma_i32_16x16x32_i8", 16, 32, 1, I8, I8, 4},
    {"v_mfma_f32_16x16x32_bf8_bf8", 16, 32, 1, BF8, BF8, 4},
    {"v_mfma_f32_16x16x32_bf8_fp8", 16, 32, 1, BF8, FP8, 4},
    {"v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, FP8, BF8, 4},
    {"v_mfma_f32_16x16x32_fp8_fp8", 16, 32, 1, FP8, FP8, 4},
    {"v_mfma_f32_32x32x16_bf8_bf8", 32, 16, 1, BF8, BF8, 4},
    {"v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, BF8, FP8, 4},
    {"v_mfma_f32_32x32x16_fp8_bf8", 32, 16, 1, FP8, BF8, 4},
    {"v_mfma_f32_32x32x16_fp8_fp8", 32, 16, 1, FP8, FP8, 4},
    {"v_smfmac_f32_16x16x32_f16", 16, 32, 1, F16, F16, 4, true},
    {"v_smfmac_f32_32x32x16_f16", 32, 16, 1, F16, F16, 4, true},
    {"v_smfmac_f32_16x16x32_bf16", 16, 32, 1, BF16, BF16, 4, true},
    {"v_smfmac_f32_32x32x16_bf16", 32, 16, 1, BF16, BF16, 4, true},
    {"v_smfmac_i32_16x16x64_i8", 16, 64, 1, I8, I8, 4, true},
    {"v_smfmac_i32_32x32x32_i8", 32, 32, 1, I8, I8, 4, true},
    {"v_smfmac_f32_16x16x64_bf8_bf8", 16, 64, 1, BF8, BF8, 4, true},
    {"v_smfmac_f32_16x16x64_bf8_fp8", 16, 64, 1, BF8, FP8, 4, true},
    {"v_smfmac_f32_16x16x64_fp8_bf8", 16, 64, 1, FP8, BF8, 4, true},
    {"v_smfmac_f32_16x16x64_fp8_fp8", 16, 64, 1, FP8, FP8, 4, true},
    {"v_smfmac_f32_32x32x32_bf8_bf8", 32, 32, 1, BF8, BF8, 4, true},
    {"v_smfmac_f32_32x32x32_bf8_fp8", 32, 32, 1, BF8, FP8, 4, true},
    {"v_smfmac_f32_32x32x32_fp8_bf8", 32, 32, 1, FP8, BF8, 4, true},
    {"v_smfmac_f32_32x32x32_fp8_fp8", 32, 32, 1, FP8, FP8, 4, true},
    {"v_mfma_f32_32x32x16_f16", 32, 16, 1, F16, F16, 8},
    {"v_mfma_f32_16x16x32_f16", 16, 32, 1, F16, F16, 8},
    {"v_mfma_f32_32x32x16_bf16", 32, 16, 1, BF16, BF16, 8},
    {"v_mfma_f32_16x16x32_bf16", 16, 32, 1, BF16, BF16, 8},
    {"v_mfma_i32_32x32x32_i8", 32, 32, 1, I8, I8, 8},
    {"v_mfma_i32_16x16x64_i8", 16, 64, 1, I8, I8, 8},
};

static const char *const targets[] = {"gfx908", "gfx90a", "gfx942", "gfx950"};

/* Words of a run's memory: C and D, A, B, indices of SMFMAC. */
enum { AT_C = 0, AT_A = 2048, AT_B = 2560, AT_INDEX = 3072 };

struct trial {
    const struct row *row;
    unsigned gpu, target, cbsz, abid, blgp; /* target: whose arithmetic it is; that of gfx942 for gfx950 */
    bool accumulators;                      /* operands are AccVGPRs */
    int constant;                           /* C is this inline constant; 0: registers */
};

/* ---- values ---- */

static uint32_t element_bits(const uint32_t *words, enum element e, unsigned lane, unsigned index)
{
    const unsigned in_word = 32 / widths[e];
    const uint32_t word = words[64 * (index / in_word) + lane];
    return widths[e] == 32 ? word : word >> widths[e] * (index % in_word) & ((1u << widths[e]) - 1);
}

/* Value by the bits of a format: exponent bits, fraction bits, bias. */
static long double float_value(uint32_t bits, unsigned exponent_bits, unsigned fraction_bits, int bias,
                               bool ieee)
{
    const uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    const int field = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    const long double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    if (ieee && field == (1 << exponent_bits) - 1)
        return fraction ? NAN : sign * INFINITY;
    if (!field)
        return sign * ldexpl(fraction, 1 - bias - (int)fraction_bits);
    return sign * ldexpl(fraction + (1u << fraction_bits), field - bias - (int)fraction_bits);
}

static long double value_of(uint32_t bits, enum element e)
{
    switch (e) {
    case F16:
        return float_value(bits, 5, 10, 15, true);
    case BF16:
        return float_value(bits, 8, 7, 127, true);
    case FP8: /* FNUZ */
        return bits == 0x80 ? NAN : float_value(bits, 4, 3, 8, false);
    case BF8:
        return bits == 0x80 ? NAN : float_value(bits, 5, 2, 16, false);
    case I8:
        return (int8_t)bits;
    case XF32:
        return isnan(float_value(bits, 8, 23, 127, true)) ? NAN : float_value(bits >> 13, 8, 10, 127, true);
    default:
        return float_value(bits, 8, 23, 127, true);
    }
}

static int least_exponent(enum element e)
{
    return e == F16 ? -14 : e == FP8 ? -7 : e == BF8 ? -15 : -126;
}

/* The exponent, not below the smallest normal number's. */
static int exponent_of(long double x, int least)
{
    int e;
    if (x == 0 || !isfinite(x))
        return least;
    frexpl(x, &e);
    return e - 1 < least ? least : e - 1;
}

/* ---- sums of a group ---- */

/* The exact sum of products and C, as an integer in units of 2^-400, rounded once. */
static float exact_sum(const long double *x, unsigned count)
{
    enum { LIMBS = 24, UNIT = 400 };
    int64_t limb[LIMBS] = {0};
    bool negative = false;
    unsigned top = LIMBS;
    for (unsigned i = 0; i < count; i++) {
        int e;
        const long double fraction = frexpl(x[i], &e);
        const int64_t mantissa = (int64_t)ldexpl(fraction, 62); /* products have up to 48 bits */
        const __int128 sign = mantissa < 0 ? -1 : 1;
        if (!mantissa)
            continue;
        const unsigned at = (unsigned)(e - 62 + UNIT);
        unsigned __int128 magnitude = (unsigned __int128)(sign * mantissa) << at % 32;
        for (unsigned l = at / 32; magnitude; l++, magnitude >>= 32)
            limb[l] += (int64_t)sign * (int64_t)(uint32_t)magnitude;
    }
    for (unsigned pass = 0; pass < 2; pass++) {
        int64_t carry = 0;
        for (unsigned l = 0; l < LIMBS; l++) {
            const int64_t all = (negative && !pass ? -limb[l] : limb[l]) + carry;
            limb[l] = (int64_t)(uint32_t)all;
            carry = (all - limb[l]) >> 32;
        }
        if (pass == 0 && carry < 0) { /* negate */
            int64_t borrow = 1;
            negative = true;
            for (unsigned l = 0; l < LIMBS; l++) {
                const uint64_t all = (uint64_t)(uint32_t)~limb[l] + (uint64_t)borrow;
                limb[l] = (int64_t)(uint32_t)all;
                borrow = (int64_t)(all >> 32);
            }
        }
    }
    while (top > 0 && !limb[top - 1])
        top--;
    if (!top)
        return 0;
    /* The two highest limbs hold more than a float; what is below them only keeps ties apart. */
    long double sum = 0;
    for (unsigned l = 0; l + 2 < top; l++)
        limb[top - 2] |= limb[l] != 0;
    for (unsigned l = top; l-- > (top > 2 ? top - 2 : 0);)
        sum += ldexpl((long double)limb[l], 32 * (int)l - UNIT);
    return (float)(negative ? -sum : sum);
}

static long double truncated(const long double *x, const int *e, unsigned first, unsigned count,
                             unsigned step, int *largest)
{
    long double sum = 0;
    *largest = -999;
    for (unsigned i = first; i < count; i += step)
        *largest = e[i] > *largest ? e[i] : *largest;
    for (unsigned i = first; i < count; i += step)
        sum += truncl(ldexpl(x[i], 24 - *largest));
    return sum; /* in units of 2^(largest-24) */
}

/* MMA-Sim's TR-FDPA, or GTR-FDPA if `split`. */
static float cut_sum(const long double *x, const int *e, unsigned count, bool split, float c)
{
    int e_dot, e_odd;
    long double dot = truncated(x, e, 0, count, split ? 2 : 1, &e_dot);
    if (split) {
        const long double odd = truncated(x, e, 1, count, 2, &e_odd);
        const int e_max = e_dot > e_odd ? e_dot : e_odd;
        dot = floorl(ldexpl(dot, e_dot - e_max)) + floorl(ldexpl(odd, e_odd - e_max));
        e_dot = e_max;
    }
    const int e_c = exponent_of(c, -126), e_max = e_dot > e_c ? e_dot : e_c;
    long double addend = floorl(ldexpl(c, 24 - e_max));
    if (split && e_c < e_max - 25)
        addend = 0;
    const long double total = ldexpl(floorl(ldexpl(dot, e_dot - e_max + 8)), -8) + addend;
    const long double sum = ldexpl(total, e_max - 24);
    const int e_sum = exponent_of(sum, -126);
    return (float)ldexpl(floorl(ldexpl(sum, 31 - e_sum)), e_sum - 31);
}

static float flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static float group_of(const struct trial *t, const long double *a, const long double *b, unsigned count,
                      float c)
{
    const struct row *row = t->row;
    long double x[17], specials = isfinite(c) ? 0 : c;
    int e[16];
    bool special = !isfinite(c);
    if (t->target == 1) {
        float p[16];
        for (unsigned i = 0; i < count; i++)
            p[i] = flush((float)(a[i] * b[i]));
        for (; count > 1; count /= 2)
            for (unsigned i = 0; i < count / 2; i++)
                p[i] = flush(p[2 * i] + p[2 * i + 1]);
        return flush(c + p[0]);
    }
    for (unsigned i = 0; i < count; i++) {
        x[i] = a[i] * b[i];
        if (t->target == 2 && fabsl(x[i]) >= 0x1p128L)
            x[i] = copysignl(INFINITY, x[i]);
        special |= !isfinite(x[i]);
        specials += isfinite(x[i]) ? 0 : x[i];
        e[i] = x[i] == 0
                   ? -999
                   : exponent_of(a[i], least_exponent(row->a)) + exponent_of(b[i], least_exponent(row->b));
    }
    x[count] = c;
    if (special)
        return (float)specials;
    return t->target == 0 ? exact_sum(x, count + 1) : cut_sum(x, e, count, widths[row->a] == 8, c);
}

/* ---- whole instructions ---- */

static unsigned source_lane_a(const struct trial *t, unsigned lane)
{
    const unsigned size = 64u >> t->cbsz;
    return t->row->sparse || !t->cbsz ? lane : lane % size + size * t->abid;
}

static unsigned source_lane_b(const struct trial *t, unsigned lane)
{
    const unsigned blgp = t->row->sparse || (t->target == 2 && t->row->a == F64) ? 0 : t->blgp;
    const unsigned lanes[] = {lane,      lane % 32,      lane % 32 + 32, (lane + 16) % 64,
                              lane % 16, lane % 16 + 16, lane % 16 + 32, lane % 16 + 48};
    return lanes[blgp];
}

/* Lane and index of element (i, k) of A or B. */
static void place(const struct row *row, unsigned block, unsigned i, unsigned k, unsigned *lane,
                  unsigned *index)
{
    const unsigned per_lane = row->k / (64 / (row->m * row->blocks));
    *lane = block * row->m + k / per_lane * row->m * row->blocks + i;
    *index = k % per_lane;
}

/* Element of A stored as number s of the q-th four, and of B at depth k. */
static void sparse_place(const struct row *row, bool of_a, unsigned i, unsigned k, unsigned *lane,
                         unsigned *index)
{
    const unsigned q = k / 2, h = row->k / 8;
    if (widths[row->a] == 16) {
        *lane = of_a ? q / 2 * row->m + i : k / 8 * row->m + i;
        *index = of_a ? k % 4 : k % 8;
    } else {
        const unsigned g = row->k / 2;
        *lane = of_a ? q % h / 2 * row->m + i : k % g / 8 * row->m + i;
        *index = of_a ? 4 * (q / h) + k % 4 : 8 * (k / g) + k % 8;
    }
}

/* Dense k of the element of A stored as number k. */
static unsigned dense(const struct trial *t, const uint32_t *index, unsigned i, unsigned k)
{
    const struct row *row = t->row;
    const unsigned q = k / 2, h = row->k / 8;
    unsigned lane, nibble, set;
    if (widths[row->a] == 16) {
        lane = q / 2 * row->m + i, nibble = q % 2, set = t->cbsz ? 0 : t->abid % 4 * 8;
    } else {
        lane = q % h / 2 * row->m + i, nibble = 2 * (q / h) + q % 2, set = t->cbsz ? 0 : t->abid % 2 * 16;
    }
    return 4 * q + (index[lane] >> (set + 4 * nibble + 2 * (k % 2)) & 3);
}

static double double_at(const uint32_t *words, unsigned lane)
{
    const uint64_t bits = words[lane] | (uint64_t)words[lane + 64] << 32;
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static float single_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

/* Register and lane of element (i, j) of D; pairs of registers for f64. */
static unsigned place_d(const struct row *row, unsigned block, unsigned i, unsigned j)
{
    const unsigned n = row->m, all = n * n, r = 64 / n;
    if (row->a == F64) {
        const unsigned q = (63 + all) / all, pair = block * (all / 64) + i / r;
        return 128 * pair + block % q * n + i % r * q * n + j;
    }
    const unsigned q = (255 + all) / all, reg = block * (all / 64) + 4 * (i / (4 * r)) + i % 4;
    return 64 * reg + block % q * n + i / 4 % r * q * n + j;
}

static float flushed_input(const struct trial *t, float c)
{
    return t->target == 1 && widths[t->row->a] == 16 && fabsf(c) < 0x1p-126f ? 0 : c;
}

static void check_element(const struct trial *t, const uint32_t *before, const uint32_t *after,
                          unsigned block, unsigned i, unsigned j)
{
    const struct row *row = t->row;
    const unsigned depth = row->sparse ? row->k / 2 : row->k, at = place_d(row, block, i, j);
    long double a[64], b[64];
    if (row->a == F64) {
        const double sign[3] = {t->target == 2 && t->blgp & 1 ? -1 : 1,
                                t->target == 2 && t->blgp & 2 ? -1 : 1,
                                t->target == 2 && t->blgp & 4 ? -1 : 1};
        double sum = sign[2] * (t->constant ? t->constant : double_at(before + AT_C, at));
        for (unsigned k = 0; k < 4; k++) {
            unsigned lane, other, index;
            place(row, block, i, k, &lane, &index);
            place(row, block, j, k, &other, &index);
            sum = fma(sign[0] * double_at(before + AT_A, source_lane_a(t, lane)),
                      sign[1] * double_at(before + AT_B, source_lane_b(t, other)), sum);
        }
        const double got = double_at(after + AT_C, at);
        if (!(isnan(sum) && isnan(got)) && memcmp(&sum, &got, 8))
            fail_msg("%s %s cbsz %u abid %u blgp %u [%u](%u,%u): %a, expected %a", targets[t->gpu], row->name,
                     t->cbsz, t->abid, t->blgp, block, i, j, got, sum);
        return;
    }
    int64_t integer = (int32_t)before[AT_C + at];
    float sum = flushed_input(t, single_of(before[AT_C + at]));
    if (t->constant) {
        integer = t->constant;
        sum = (float)t->constant;
    }
    for (unsigned k = 0; k < depth; k++) {
        unsigned lane, other, index, other_index;
        if (row->sparse) {
            sparse_place(row, true, i, k, &lane, &index);
            sparse_place(row, false, j, dense(t, before + AT_INDEX, i, k), &other, &other_index);
        } else {
            place(row, block, i, k, &lane, &index);
            place(row, block, j, k, &other, &other_index);
        }
        a[k] = value_of(element_bits(before + AT_A, row->a, source_lane_a(t, lane), index), row->a);
        b[k] = value_of(element_bits(before + AT_B, row->b, source_lane_b(t, other), other_index), row->b);
        if (t->target == 1 && widths[row->a] == 16) {
            a[k] = fabsl(a[k]) < ldexpl(1, least_exponent(row->a)) ? 0 : a[k];
            b[k] = fabsl(b[k]) < ldexpl(1, least_exponent(row->b)) ? 0 : b[k];
        }
        if (row->a == I8)
            integer += (int64_t)a[k] * (int64_t)b[k];
        if (row->a == F32)
            sum = fmaf((float)a[k], (float)b[k], sum);
    }
    const uint32_t got = after[AT_C + at];
    if (row->a == I8) {
        if (got != (uint32_t)integer)
            fail_msg("%s %s cbsz %u abid %u blgp %u [%u](%u,%u): %d, expected %d", targets[t->gpu], row->name,
                     t->cbsz, t->abid, t->blgp, block, i, j, (int32_t)got, (int32_t)integer);
        return;
    }
    unsigned group = widths[row->a] == 8 ? 16 : row->a == XF32 ? 4 : 8;
    if (t->target < 2)
        group = row->a == BF16 && !strstr(row->name, "_1k") ? 2 : 4;
    group = group > depth ? depth : group;
    if (row->a != F32)
        for (unsigned k = 0; k < depth; k += group)
            sum = group_of(t, a + k, b + k, group, sum);
    uint32_t expected;
    memcpy(&expected, &sum, 4);
    const bool zeros = !(got << 1) && !(expected << 1);
    if (!(isnan(sum) && isnan(single_of(got))) && got != expected && !(zeros && t->target == 0))
        fail_msg("%s %s cbsz %u abid %u blgp %u [%u](%u,%u): %a, expected %a", targets[t->gpu], row->name,
                 t->cbsz, t->abid, t->blgp, block, i, j, single_of(got), sum);
}

/* ---- operands ---- */

enum { STYLES = 10, PLAIN_ROUNDS = 24 /* without CBSZ, ABID and BLGP */ };

/* A random element: 0 about one, 1 of a wide range, 2 any, 3 small integers, for sums that cancel, 4 `narrow`
 * exponents from one half on, so that products may have a common unit, 5 the same but large, 6 denormals
 * and the smallest normal numbers, in B perhaps a wide range, 7 of few exponents, or mostly zeros, 8 and 9 as
 * 0. */
static uint32_t random_element(enum element e, unsigned style, uint32_t narrow)
{
    static const uint8_t exponent_bits[] = {8, 11, 8, 5, 8, 4, 5, 0};
    const unsigned width = widths[e] == 64 ? 32 : widths[e], fraction = width - 1 - exponent_bits[e];
    const uint64_t r = random_bits();
    const uint32_t any = (uint32_t)r & (uint32_t)((UINT64_C(1) << width) - 1);
    if (e == I8 || style == 2)
        return any;
    const uint32_t bias = (1u << (exponent_bits[e] - 1)) - 1;
    if (style == 3 && r >> 40 & 1)
        return r >> 41 & 1 ? 0 : (r >> 42 & 1) << (width - 1);
    const uint32_t spread = style == 1 ? (e == F16 ? 24 : 60) : style == 4 ? narrow : 6;
    uint32_t field = bias + (uint32_t)(r >> 48) % spread - spread / 2;
    const bool specials = style == 5 && narrow % 2; /* infinities and NaNs among short significands */
    if (style == 5)
        field = bias + 12 + (uint32_t)(r >> 48) % 3;
    if (style == 6)
        field = (uint32_t)(r >> 48) % 3;
    if (style == 7 && narrow % 2 && (r >> 40) % 64)
        return 0;
    if (style == 7)
        field = bias + 1 + (uint32_t)(r >> 48) % (1 + narrow / 2 % 3);
    if (field > 2 * bias)
        field = 1;
    if (specials && (r >> 40) % 256 == 0)
        field = 2 * bias + 1;
    const uint32_t sign_fraction = any & (1u << (width - 1) | ((1u << fraction) - 1));
    return (style == 3 || specials ? sign_fraction & ~((1u << fraction) / 4 - 1) : sign_fraction) |
           field << fraction;
}

static void put_half(uint32_t *words, unsigned lane, unsigned index, uint32_t half)
{
    uint32_t *const word = &words[64 * (index / 2) + lane];
    *word = index % 2 ? (*word & 0xffff) | half << 16 : (*word & 0xffff0000) | half;
}

/* Groups of eight products whose sum is -(2^28 - 129) units of 2^-24, and C is -(2^32 - 2^28) of them: the
 * total is just nearer to zero than the middle between -2^32 and the next float, which it reaches if the sum
 * is rounded to a float first. */
static void fill_near_power(uint32_t *memory, const struct row *row)
{
    static const uint16_t a[8] = {0xbfff, 0xbfff, 0xbfff, 0xbfff, 0xbbfe, 0xabe0},
                          b[8] = {0x3fff, 0x3fff, 0x3fff, 0x3fff, 0x2400, 0x0400};
    for (unsigned block = 0; block < row->blocks; block++)
        for (unsigned i = 0; i < row->m; i++)
            for (unsigned k = 0; k < row->k; k++) {
                unsigned lane, index;
                place(row, block, i, k, &lane, &index);
                put_half(memory + AT_A, lane, index, a[k % 8]);
                put_half(memory + AT_B, lane, index, b[k % 8]);
            }
    for (unsigned i = 0; i < 2048; i++)
        memory[AT_C + i] = 0xc3700000; /* -240 */
}

/* Elements of the largest exponents that are computed by vectors, 30 and for f16 15, or larger ones face
 * zeros; some zeros face zeros; the other products have the smallest exponents, or smaller ones. */
static void fill_zeros(uint32_t *memory, const struct row *row)
{
    const uint32_t beyond = (uint32_t)random_bits() % 3; /* but for f16: neither, the largest, the smallest */
    const uint32_t zero = 0x8000, largest = row->a == F16 ? 0x7800 : (127u + (beyond == 1 ? 33 : 30)) << 7,
                   smallest = row->a == F16 ? 0x0400 : (127u - (beyond == 2 ? 31 : 30)) << 7,
                   fraction = row->a == F16 ? 0x3ff : 0x7f;
    for (unsigned block = 0; block < row->blocks; block++)
        for (unsigned i = 0; i < row->m; i++)
            for (unsigned k = 0; k < row->k; k++)
                for (unsigned side = 0; side < 2; side++) {
                    const uint32_t r = (uint32_t)random_bits(), sign_fraction = r & (zero | fraction);
                    const bool large = k % 4 == side, none = k % 4 == 2 || k % 4 == 1 - side;
                    const uint32_t half = none ? r & zero : sign_fraction | (large ? largest : smallest);
                    unsigned lane, index;
                    place(row, block, i, k, &lane, &index);
                    if (row->a == XF32)
                        memory[(side ? AT_B : AT_A) + 64 * index + lane] = half << 16;
                    else
                        put_half(memory + (side ? AT_B : AT_A), lane, index, half);
                }
}

static void fill(uint32_t *memory, const struct trial *t, unsigned style)
{
    const struct row *row = t->row;
    const enum element sides[2] = {row->a, row->b};
    const uint64_t r = random_bits();
    const uint32_t narrow = 1 + (uint32_t)r % 10, c_narrow = 1 + (uint32_t)(r >> 8) % 40,
                   c_unit = (uint32_t)(r >> 16) % 24;
    for (unsigned i = 0; i < TEXT_WORDS; i++)
        memory[i] = (uint32_t)random_bits();
    for (unsigned side = 0; side < 2; side++)
        for (unsigned word = 0; word < 512; word++) {
            uint32_t bits = 0;
            for (unsigned at = 0; at < 32; at += widths[sides[side]])
                bits |= random_element(sides[side] == F64 && word / 64 % 2 == 0 ? F32 : sides[side],
                                       sides[side] == F64 && word / 64 % 2 == 0 ? 2
                                       : style == 6 && side == 1 && narrow % 2  ? 1
                                                                                : style,
                                       narrow)
                        << at;
            memory[(side ? AT_B : AT_A) + word] = bits;
        }
    for (unsigned i = 0; i < 2048; i++)
        if (row->a == F64 ? i / 64 % 2 : row->a != I8)
            memory[AT_C + i] = random_element(row->a == F64 ? F64 : F32, style, c_narrow) &
                               (style == 4 ? ~((1u << c_unit) - 1) : ~0u);
    /* Numbers near the sums, huge, and about or far below the least exponent of which vectors are computed.
     */
    for (unsigned i = 0; style >= 6 && row->a != F64 && row->a != I8 && i < 2048; i++) {
        const uint32_t r_c = (uint32_t)random_bits(),
                       tiny = narrow > 8 ? 127 - 69 + r_c % 8 : 127 - 90 + r_c % (narrow & 2 ? 30 : 40),
                       c_field = style == 6 && narrow % 2 == 0 ? 90 + r_c % 8
                                 : style == 6 && r_c % 61 == 0 ? 254 + r_c / 61 % 2
                                                               : tiny;
        memory[AT_C + i] = style == 7 && narrow % 2 == 0
                               ? (127 + 4 + r_c % (narrow / 2 % 3 == 2 ? 4 : 8)) << 23 | 0x80000000
                               : c_field << 23 | (r_c & (narrow > 4 ? 0x807fffff : 0x807f0000));
    }
    if (style == 8 && row->a == F16 && !row->sparse)
        fill_near_power(memory, row);
    if (style == 9 && (row->a == F16 || row->a == BF16 || row->a == XF32) && !row->sparse)
        fill_zeros(memory, row);
    /* Negative numbers that are too small to matter but for their sign. */
    for (unsigned i = 0; style == 5 && row->a != F64 && row->a != I8 && i < 2048; i++)
        memory[AT_C + i] =
            narrow % 2 || random_bits() & 1 ? 0 : 0x80000000 | (1 + (uint32_t)(random_bits() % 3));
}

/* ---- running ---- */

static void move(struct text *text, const char *what, unsigned reg, unsigned word)
{
    add_text(text, "s_mov_b32 s13, %u\nbuffer_%s_dword v%u, v0, s[8:11], s13 offen\n", 4 * word, what, reg);
}

static unsigned dwords_of(const struct row *row, unsigned k, enum element e)
{
    return row->m * k * row->blocks * widths[e] / 2048;
}

static void registers(char *text, size_t size, bool acc, unsigned first, unsigned count)
{
    if (count == 1)
        snprintf(text, size, "%c%u", acc ? 'a' : 'v', first);
    else
        snprintf(text, size, "%c[%u:%u]", acc ? 'a' : 'v', first, first + count - 1);
}

static void write_trial(struct text *text, struct text_run *run, const void *user)
{
    enum { A = 8, B = 16, C = 32, INDEX = 2 };
    const struct trial *t = user;
    const struct row *row = t->row;
    const bool acc = t->accumulators || t->target == 0, acc_a = t->accumulators;
    const unsigned a = dwords_of(row, row->sparse ? row->k / 2 : row->k, row->a),
                   b = dwords_of(row, row->k, row->b);
    const unsigned c = dwords_of(row, row->m, row->a == F64 ? F64 : F32);
    char d_text[16], a_text[16], b_text[16], c_text[16];
    (void)run;
    add_text(text, "v_lshlrev_b32 v0, 2, v0\n");
    for (unsigned i = 0; i < c; i++)
        move(text, "load", C + i, AT_C + 64 * i);
    for (unsigned i = 0; i < a; i++)
        move(text, "load", A + i, AT_A + 64 * i);
    for (unsigned i = 0; i < b; i++)
        move(text, "load", B + i, AT_B + 64 * i);
    move(text, "load", INDEX, AT_INDEX);
    add_text(text, "s_waitcnt vmcnt(0)\n");
    for (unsigned i = 0; i < a && acc_a; i++)
        add_text(text, "v_accvgpr_write_b32 a%u, v%u\n", A + i, A + i);
    for (unsigned i = 0; i < b && acc_a; i++)
        add_text(text, "v_accvgpr_write_b32 a%u, v%u\n", B + i, B + i);
    for (unsigned i = 0; i < c && acc; i++)
        add_text(text, "v_accvgpr_write_b32 a%u, v%u\n", C + i, C + i);
    registers(d_text, sizeof d_text, acc, C, c);
    registers(a_text, sizeof a_text, acc_a, A, a);
    registers(b_text, sizeof b_text, acc_a, B, b);
    if (row->sparse)
        snprintf(c_text, sizeof c_text, "v%u", INDEX);
    else if (t->constant)
        snprintf(c_text, sizeof c_text, "%d%s", t->constant, row->a == I8 ? "" : ".0");
    else
        snprintf(c_text, sizeof c_text, "%s", d_text);
    /* EXEC does not matter. */
    add_text(text, "s_mov_b64 exec, 0x%x\ns_nop 7\n%s %s, %s, %s, %s", t->abid, row->name, d_text, a_text,
             b_text, c_text);
    if (row->a == F64 && t->target == 2)
        add_text(text, " neg:[%u,%u,%u]\n", t->blgp & 1, t->blgp >> 1 & 1, t->blgp >> 2);
    else if (row->sparse || row->a == F64)
        add_text(text, " cbsz:%u abid:%u\n", t->cbsz, t->abid);
    else
        add_text(text, " cbsz:%u abid:%u blgp:%u\n", t->cbsz, t->abid, t->blgp);
    add_text(text, "s_mov_b64 exec, -1\ns_nop 7\ns_nop 7\ns_nop 7\n");
    for (unsigned i = 0; i < c && acc; i++)
        add_text(text, "v_accvgpr_read_b32 v%u, a%u\n", C + i, C + i);
    for (unsigned i = 0; i < c; i++)
        move(text, "store", C + i, AT_C + 64 * i);
}

static void try_row(const struct row *row, unsigned gpu, unsigned round)
{
    struct text_run run;
    uint32_t before[TEXT_WORDS];
    const unsigned target = gpu < 2 ? gpu : 2;
    struct trial t = {.row = row, .gpu = gpu, .target = target, .accumulators = target && round & 1};
    if (round >= PLAIN_ROUNDS) {
        const unsigned pick = round - PLAIN_ROUNDS;
        t.cbsz = row->a == F64 ? 0 : pick % 5;
        t.abid = row->sparse ? pick % 4 : t.cbsz ? pick * 7 % (1u << t.cbsz) : 0;
        t.blgp = row->a == F64 && target < 2 ? 0 : pick % 8;
    }
    if (round == 6 && !row->sparse && target)
        t.constant = row->a == I8 ? -3 : -2;
    fill(before, &t, (round + round / STYLES) % STYLES); /* with all BLGP */
    memcpy(run.memory, before, sizeof before);
    run_written(targets[gpu], 64, &run, write_trial, &t, (struct wm_dispatch){0});
    if (run.fault.kind)
        fail_msg("%s %s: fault %d", targets[gpu], row->name, run.fault.kind);
    for (unsigned block = 0; block < row->blocks; block++)
        for (unsigned i = 0; i < row->m; i++)
            for (unsigned j = 0; j < row->m; j++)
                check_element(&t, before, run.memory, block, i, j);
}

static void test_target(unsigned target)
{
    const unsigned rounds = reduced() ? PLAIN_ROUNDS + 2 : PLAIN_ROUNDS + 40;
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++)
        for (unsigned round = 0; rows[r].targets >> target & 1 && round < rounds; round++)
            try_row(&rows[r], target, round);
}

static void gfx908(void **state)
{
    (void)state;
    test_target(0);
}

static void gfx90a(void **state)
{
    (void)state;
    test_target(1);
}

static void gfx942(void **state)
{
    (void)state;
    test_target(2);
}

static void gfx950(void **state)
{
    (void)state;
    test_target(3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gfx908),
        cmocka_unit_test(gfx90a),
        cmocka_unit_test(gfx942),
        cmocka_unit_test(gfx950),
    };
    return cmocka_run_group_tests_name("matrices", tests, NULL, NULL);
}

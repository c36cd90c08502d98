/* SPDX-License-Identifier: MIT */
/* WMMA and SWMMAC: EXEC and MODE's rounding have no effect. Sources: sem/wmma.h for gfx12's layouts; of
 * gfx11's layouts and of the arithmetic, base/dot_step.h.
 *
 * A chain of steps along k adds two products (gfx11) or four (gfx12) to each element. Steps are computed for
 * a vector of columns in integers of 32 bits, which is exact while all exponents are moderate; else element
 * by element. */
#include "arithmetic/dot_vector.h"
#include "arithmetic/host_float.h"
#include "arithmetic/small_float.h"
#include "isa/element_bits.h"
#include "isa/isa.h"
#include "sem/bodies.h"
#include "sem/wmma.h"

/* Every shape is 16 rows by 16 columns, or two of them. */
enum {
    SIDE = 16,
    MOST_K = 128,
};

/* A by rows, B by columns: the codes of the elements with one k; of floats also their magnitudes times
 * 2^(fraction - e), exponents e, and signs (all ones: negative). */
struct side {
    _Alignas(64) uint32_t code[MOST_K][SIDE];
    _Alignas(64) int32_t m[MOST_K][SIDE], e[MOST_K][SIDE], sign[MOST_K][SIDE];
};

struct product {
    const struct wmi_matrix *shape;
    enum wmi_wmma_rules rules;
    uint32_t modifiers;
    bool saturates;                      /* MODE.FP16_OVFL */
    unsigned depth;                      /* products of an element */
    unsigned sum;                        /* the element that sums are kept in */
    unsigned run[2];                     /* of wmi_wmma125_factor(), of A and B */
    struct side a, b;                    /* A's k is compressed in SWMMAC */
    uint8_t from[SIDE][MOST_K];          /* the k of B that goes with row i's k of A */
    _Alignas(64) uint32_t d[SIDE][SIDE]; /* C, then D */
};

static uint32_t modifier(const struct product *p, enum wmi_wmma_modifier first, unsigned width)
{
    return p->modifiers >> first & ((1u << width) - 1);
}

static const struct wmi_dot_format *format_of(unsigned element)
{
    return element == WMI_ELEMENT_f16    ? &wmi_dot_f16
           : element == WMI_ELEMENT_bf16 ? &wmi_dot_bf16
           : element == WMI_ELEMENT_fp8  ? &wmi_dot_fp8
                                         : &wmi_dot_bf8;
}

/* ---- registers ---- */

typedef uint32_t loose_words __attribute__((vector_size(WMI_VECTOR_BYTES), aligned(4), may_alias));

static const wmi_word *words_at(const char *frame, uint32_t offset, struct wmi_wmma_place place,
                                unsigned bits)
{
    return (const wmi_word *)(const void *)(frame + offset) + place.slot * bits / 32 * WMI_LANES + place.lane;
}

static struct wmi_wmma_place factor_place(const struct product *p, unsigned k, unsigned count, unsigned bits,
                                          unsigned which)
{
    if (p->rules == WMI_WMMA_CDNA5)
        return wmi_wmma125_factor(k, p->run[which]);
    if (p->rules == WMI_WMMA_RDNA4)
        return wmi_wmma12_factor(WMI_LANES, k, count, bits);
    return (struct wmi_wmma_place){0, (uint16_t)k};
}

/* gfx11 has one element in a register, a packed one in the half that op_sel[2] names. */
static struct wmi_wmma_place result_place(const struct product *p, unsigned i)
{
    const unsigned rows = WMI_LANES / SIDE, halves = 32 / wmi_element_bits(p->shape->d);
    if (p->rules != WMI_WMMA_RDNA3)
        return wmi_wmma12_result(WMI_LANES, i);
    return (struct wmi_wmma_place){
        (uint16_t)(SIDE * (i % rows)),
        (uint16_t)(halves * (i / rows) + (halves == 2 ? modifier(p, WMI_WMMA_OP_SEL, 3) >> 2 : 0))};
}

/* NEG and NEG_HI turn the signs of elements with even and odd k: bit 0 A's, bit 1 B's. */
static void read_side(struct product *p, struct side *side, const char *frame, uint32_t offset,
                      unsigned count, unsigned element, unsigned which)
{
    const unsigned bits = wmi_element_bits(element);
    const uint32_t mask = bits < 32 ? (1u << bits) - 1 : UINT32_MAX,
                   neg[2] = {modifier(p, WMI_WMMA_NEG_LO, 2) >> which & 1,
                             modifier(p, WMI_WMMA_NEG_HI, 2) >> which & 1};
    const bool integers = p->shape->d == WMI_ELEMENT_i32;
    for (unsigned k = 0; k < count; k++) {
        const struct wmi_wmma_place place = factor_place(p, k, count, bits, which);
        const wmi_word *words = words_at(frame, offset, place, bits);
        const uint32_t flip = integers ? 0 : neg[k & 1] << (bits - 1);
        for (unsigned lane = 0; lane < SIDE; lane += WMI_VECTOR_LANES)
            *(u32v *)&side->code[k][lane] =
                ((*(const loose_words *)(words + lane) >> place.slot * bits % 32) & mask) ^ flip;
    }
}

/* The positions of SWMMAC's elements of A among four along k: 2 bits each, in the lanes of A, of which
 * INDEX_KEY chooses a set. */
static void read_indices(struct product *p, const char *frame, uint32_t offset)
{
    const unsigned bits = wmi_element_bits(p->shape->a);
    /* As decoded: one set in all where K is 64; waves of 64 have twice as many. On gfx12.5 each element of A
     * has its index in its own lane, in a second register if there are more than 16 (CDNA 5 ISA, "Structured
     * Sparse Matrices"; its formula for 16 bits contradicts that). */
    const bool own = p->rules == WMI_WMMA_CDNA5;
    const unsigned sets = own ? 1 : (p->shape->k == 64 ? 1 : 2) * (WMI_LANES / 32);
    for (unsigned k = 0; k < p->depth; k++) {
        const struct wmi_wmma_place place = factor_place(p, k, p->depth, bits, 0);
        const unsigned key = own ? 0 : modifier(p, WMI_WMMA_INDEX_KEY, 2);
        const unsigned at = (key * (32 / sets) + 2 * place.slot) % 32;
        const struct wmi_wmma_place from = {place.lane, own ? (uint16_t)(place.slot / 16) : 0};
        const wmi_word *words = words_at(frame, offset, from, 32);
        for (unsigned i = 0; i < SIDE; i++)
            p->from[i][k] = (uint8_t)(4 * (k / 2) + (words[i] >> at & 3));
    }
}

/* bf16f32: C is f32, and D bf16. */
static unsigned element_of_c(const struct product *p)
{
    return p->shape->d == WMI_ELEMENT_bf16f32 ? WMI_ELEMENT_f32 : p->shape->d;
}

static void widen_sums(struct product *p)
{
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned j = 0; j < SIDE; j++)
            p->d[i][j] =
                element_of_c(p) == WMI_ELEMENT_f16 ? wmi_dot_f32_of_f16(p->d[i][j]) : p->d[i][j] << 16;
}

/* To nearest even; FP16_OVFL makes finite sums that are too large the largest number. Source: CDNA 5 ISA,
 * "WMMA Instruction Capabilities and Restrictions". */
static void narrow_sums(struct product *p)
{
    const struct wmi_small_rounding rounding = {.saturates = p->saturates};
    const bool is_f16 = p->shape->d == WMI_ELEMENT_f16;
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned j = 0; j < SIDE; j++) {
            const uint32_t sum = p->d[i][j];
            const bool nan = (sum & 0x7fffffff) > 0x7f800000;
            p->d[i][j] = nan ? (sum >> 16 & 0x8000) | (is_f16 ? 0x7e00 : 0x7fc0)
                             : wmi_small_of_f32(sum, is_f16 ? WMI_SMALL_F16 : WMI_SMALL_BF16, &rounding);
        }
}

/* NEG_HI[2] clears the sign of C, then NEG[2] turns it. */
static void read_c(struct product *p, const char *frame, const struct wmi_op *op)
{
    const unsigned bits = wmi_element_bits(element_of_c(p));
    const bool is_constant = modifier(p, WMI_WMMA_C_CONSTANT, 1), integers = p->shape->d == WMI_ELEMENT_i32;
    const uint32_t sign = integers || p->shape->sparse ? 0 : 1u << (bits - 1);
    const uint32_t clear = modifier(p, WMI_WMMA_NEG_HI, 3) & 4 ? sign : 0,
                   turn = modifier(p, WMI_WMMA_NEG_LO, 3) & 4 ? sign : 0;
    for (unsigned i = 0; i < SIDE; i++) {
        const struct wmi_wmma_place place = is_constant ? (struct wmi_wmma_place){0, 0} : result_place(p, i);
        const wmi_word *words = words_at(frame, p->shape->sparse ? op->d : op->c, place, bits);
        for (unsigned lane = 0; lane < SIDE; lane += WMI_VECTOR_LANES) {
            u32v x = *(const loose_words *)(words + lane) >> place.slot * bits % 32;
            if (bits == 16)
                x &= 0xffff;
            *(u32v *)&p->d[i][lane] = (x & ~clear) ^ turn;
        }
    }
    if (p->sum != element_of_c(p))
        widen_sums(p);
}

static void write_d(const struct product *p, char *frame, uint32_t offset)
{
    const unsigned bits = wmi_element_bits(p->shape->d);
    for (unsigned i = 0; i < SIDE; i++) {
        const struct wmi_wmma_place place = result_place(p, i);
        wmi_word *words = (wmi_word *)words_at(frame, offset, place, bits);
        const uint32_t shift = place.slot * bits % 32, keep = bits == 32 ? 0 : 0xffff0000u >> shift;
        for (unsigned lane = 0; lane < SIDE; lane += WMI_VECTOR_LANES) {
            loose_words *to = (loose_words *)(words + lane);
            *to = (*to & keep) | *(const u32v *)&p->d[i][lane] << shift;
        }
    }
}

/* ---- integers ---- */

static int32_t saturated(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

static void extend_signs(struct side *side, unsigned count, unsigned bits)
{
    for (unsigned k = 0; k < count; k++)
        for (unsigned lane = 0; lane < SIDE; lane += WMI_VECTOR_LANES) {
            u32v *x = (u32v *)&side->code[k][lane];
            *x = (u32v)((i32v)(*x << (32 - bits)) >> (int)(32 - bits));
        }
}

/* NEG says which factors are signed. CLAMP saturates the sum on gfx11, and on gfx12 after the products of the
 * first half of the lanes of each 32, and again after the others'. Source: bjacob/goc, RX 9070, waves of 32;
 * gfx11 and waves of 64 unverified. */
static void multiply_integers(struct product *p)
{
    const bool clamps = modifier(p, WMI_WMMA_CLAMP, 1) || (p->rules == WMI_WMMA_CDNA5 && p->saturates);
    const unsigned bits = wmi_element_bits(p->shape->a),
                   half = p->rules == WMI_WMMA_RDNA4 ? p->depth / 2 : p->depth;
    if (modifier(p, WMI_WMMA_NEG_LO, 1))
        extend_signs(&p->a, p->depth, bits);
    if (modifier(p, WMI_WMMA_NEG_LO, 2) & 2)
        extend_signs(&p->b, p->shape->k, bits);
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned lane = 0; lane < SIDE; lane += WMI_VECTOR_LANES)
            for (unsigned first = 0; first < p->depth; first += half) {
                u32v sum = wmi_splat_u32(0), *const d = (u32v *)&p->d[i][lane];
                for (unsigned k = first; k < first + half; k++)
                    sum += p->a.code[k][i] * *(const u32v *)&p->b.code[p->from[i][k]][lane];
                for (unsigned l = 0; clamps && l < WMI_VECTOR_LANES; l++)
                    sum[l] = (uint32_t)saturated((int64_t)(int32_t)(*d)[l] + (int32_t)sum[l]) - (*d)[l];
                *d += sum;
            }
}

/* ---- floats, element by element ---- */

/* The k at which the steps of a chain begin: gfx12 visits lanes in their order, 16 at a time. */
static unsigned step_start(const struct product *p, unsigned step)
{
    static const uint8_t order[] = {0, 8, 4, 12};
    return p->rules == WMI_WMMA_RDNA3 ? 2 * step : p->rules == WMI_WMMA_RDNA4 ? order[step] : 4 * step;
}

static void multiply_slowly(struct product *p)
{
    const struct wmi_matrix *s = p->shape;
    const bool is_11 = p->rules == WMI_WMMA_RDNA3, eighths = wmi_element_bits(s->a) == 8;
    const bool to_f16 = p->sum == WMI_ELEMENT_f16, to_bf16 = p->sum == WMI_ELEMENT_bf16;
    const unsigned count = is_11 ? 2 : 4;
    const struct wmi_dot dot = {.a = format_of(s->a),
                                .b = format_of(s->b),
                                .to = to_f16  ? &wmi_dot_f16_result
                                      : is_11 ? &wmi_dot_f32_flushed
                                              : &wmi_dot_f32,
                                .group = is_11     ? 0
                                         : eighths ? 4
                                                   : 2,
                                .flushes = is_11 && s->a == WMI_ELEMENT_bf16,
                                .invalid = eighths ? WMI_DOT_NAN : WMI_DOT_INVALID};
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned j = 0; j < SIDE; j++) {
            uint32_t sum = p->d[i][j], a[WMI_DOT_PRODUCTS], b[WMI_DOT_PRODUCTS];
            for (unsigned step = 0; step < p->depth / count; step++) {
                const uint32_t c = to_f16 ? wmi_dot_f32_of_f16(sum) : to_bf16 ? sum << 16 : sum;
                for (unsigned t = 0; t < count; t++) {
                    const unsigned k = step_start(p, step) + t;
                    a[t] = p->a.code[k][i];
                    b[t] = p->b.code[p->from[i][k]][j];
                }
                sum = wmi_dot_step(&dot, a, b, count, c, p->saturates);
                if (to_bf16)
                    sum = wmi_dot_bf16_of(sum);
            }
            p->d[i][j] = sum;
        }
}

/* ---- floats, a vector of columns at a time ---- */

/* Returns the largest exponent, more than WMI_DOT_MOST_EXPONENT if an element is infinite or NaN. */
static int32_t split_side(struct side *side, unsigned count, const struct wmi_dot_format *f, bool flushes,
                          unsigned align)
{
    i32v largest = (i32v)wmi_splat_u32((uint32_t)WMI_DOT_NO_EXPONENT);
    u32v top = wmi_splat_u32(0);
    for (unsigned k = 0; k < count; k++)
        for (unsigned lane = 0; lane < SIDE; lane += WMI_VECTOR_LANES) {
            const struct wmi_dot_factors x =
                wmi_dot_split(*(const u32v *)&side->code[k][lane], f, flushes, align, &top);
            *(i32v *)&side->m[k][lane] = x.m;
            *(i32v *)&side->e[k][lane] = x.e;
            *(i32v *)&side->sign[k][lane] = x.sign;
            largest = wmi_greater_i32(largest, x.e);
        }
    int32_t most = WMI_DOT_NO_EXPONENT;
    for (unsigned lane = 0; lane < WMI_VECTOR_LANES; lane++)
        most = wmi_max_i32(most, largest[lane]);
    return wmi_any(top) ? WMI_DOT_MOST_EXPONENT + 1 : most;
}

/* Returns whether the results are right: all exponents were moderate. group: 0 for gfx11's step. */
WMI_INLINE bool multiply_vectors(struct product *p, unsigned group, enum wmi_dot_to to)
{
    _Alignas(64) uint32_t d[SIDE][SIDE];
    const unsigned count = group ? WMI_DOT_PRODUCTS : 2;
    u32v wide = wmi_splat_u32(0);
    memcpy(d, p->d, sizeof d);
    for (unsigned step = 0; step < p->depth / count; step++) {
        const unsigned first = step_start(p, step);
        for (unsigned i = 0; i < SIDE; i++)
            for (unsigned lane = 0; lane < SIDE; lane += WMI_VECTOR_LANES) {
                u32v *const at = (u32v *)&d[i][lane];
                struct wmi_dot_factors a[WMI_DOT_PRODUCTS], b[WMI_DOT_PRODUCTS];
                for (unsigned t = 0; t < count; t++) {
                    const unsigned k = first + t, from = p->from[i][k];
                    a[t].m = (i32v){0} + p->a.m[k][i];
                    a[t].e = (i32v){0} + p->a.e[k][i];
                    a[t].sign = (i32v){0} + p->a.sign[k][i];
                    b[t].m = *(const i32v *)&p->b.m[from][lane];
                    b[t].e = *(const i32v *)&p->b.e[from][lane];
                    b[t].sign = *(const i32v *)&p->b.sign[from][lane];
                }
                *at = wmi_dot_vector_step(a, b, count, group, to, *at, &wide);
            }
    }
    if (wmi_any(wide))
        return false;
    memcpy(p->d, d, sizeof d);
    return true;
}

#define MULTIPLY_OF(name, group, to)                                                                         \
    static __attribute__((noinline)) bool name(struct product *p)                                            \
    {                                                                                                        \
        return multiply_vectors(p, group, to);                                                               \
    }
MULTIPLY_OF(pairs_11_f32, 0, WMI_DOT_TO_F32)
MULTIPLY_OF(pairs_11_bf16, 0, WMI_DOT_TO_BF16)
MULTIPLY_OF(pairs_11_f16, 0, WMI_DOT_TO_F16)
MULTIPLY_OF(pairs_12_f32, 2, WMI_DOT_TO_F32)
MULTIPLY_OF(pairs_12_bf16, 2, WMI_DOT_TO_BF16)
MULTIPLY_OF(pairs_12_f16, 2, WMI_DOT_TO_F16)
MULTIPLY_OF(fours_12_f32, 4, WMI_DOT_TO_F32)

static bool c_is_moderate(const struct product *p)
{
    const unsigned element = p->sum;
    const uint32_t most = element == WMI_ELEMENT_f16    ? 0x7bff
                          : element == WMI_ELEMENT_bf16 ? (WMI_DOT_MOST_EXPONENT + 127) << 7
                                                        : (WMI_DOT_MOST_EXPONENT + 127) << 23;
    const uint32_t mask = wmi_element_bits(element) == 16 ? 0x7fff : 0x7fffffff;
    u32v more = wmi_splat_u32(0);
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned lane = 0; lane < SIDE; lane += WMI_VECTOR_LANES)
            more |= (u32v)((*(const u32v *)&p->d[i][lane] & mask) > most);
    return !wmi_any(more);
}

static void multiply_floats(struct product *p)
{
    static bool (*const functions[3][3])(struct product *) = {
        {pairs_11_f32, pairs_11_bf16, pairs_11_f16},
        {pairs_12_f32, pairs_12_bf16, pairs_12_f16},
        {fours_12_f32, fours_12_f32, fours_12_f32},
    };
    const struct wmi_matrix *s = p->shape;
    const struct wmi_dot_format *a = format_of(s->a), *b = format_of(s->b);
    const bool is_11 = p->rules == WMI_WMMA_RDNA3, flushes = is_11 && s->a == WMI_ELEMENT_bf16;
    const enum wmi_dot_to to = p->sum == WMI_ELEMENT_f16    ? WMI_DOT_TO_F16
                               : p->sum == WMI_ELEMENT_bf16 ? WMI_DOT_TO_BF16
                                                            : WMI_DOT_TO_F32;
    const int32_t most_a = split_side(&p->a, p->depth, a, flushes, 0);
    const int32_t most_b = split_side(&p->b, s->k, b, flushes, 24u - a->fraction - b->fraction);
    const bool moderate = most_a <= WMI_DOT_MOST_EXPONENT && most_b <= WMI_DOT_MOST_EXPONENT &&
                          most_a + most_b <= WMI_DOT_MOST_EXPONENT;
    if (!moderate || !c_is_moderate(p) || !functions[is_11 ? 0 : wmi_element_bits(s->a) == 8 ? 2 : 1][to](p))
        multiply_slowly(p);
}

/* ---- f32 ---- */

/* A fused multiply-add after the other (unverified). */
static void multiply_singles(struct product *p)
{
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned j = 0; j < SIDE; j++) {
            float sum = WMI_BITS_AS(float, p->d[i][j]);
            for (unsigned k = 0; k < p->depth; k++)
                sum = __builtin_fmaf(WMI_BITS_AS(float, p->a.code[k][i]), WMI_BITS_AS(float, p->b.code[k][j]),
                                     sum);
            p->d[i][j] = sum == sum ? WMI_BITS_AS(uint32_t, sum) : (uint32_t)WMI_DOT_INVALID;
        }
}

/* ---- factors of 8, 6 and 4 bits, with scales ---- */

enum { BLOCKS = 8 };

/* A by rows or B by columns: the values with one k, and the scales of blocks along k. */
struct wide_side {
    _Alignas(64) double value[MOST_K][SIDE];
    double scale[BLOCKS][SIDE];
};

static enum wmi_small_float format_of_side(const struct product *p, unsigned which)
{
    static const uint8_t formats[8] = {WMI_FP8_OCP, WMI_BF8_OCP, WMI_FP6,     WMI_BF6,
                                       WMI_FP4,     WMI_FP8_OCP, WMI_FP8_OCP, WMI_FP8_OCP};
    const unsigned code = modifier(p, which ? WMI_WMMA_B_FORMAT : WMI_WMMA_A_FORMAT, 3);
    return p->shape->a == WMI_ELEMENT_fp4 ? WMI_FP4 : (enum wmi_small_float)formats[code];
}

static void read_values(const struct product *p, struct wide_side *side, const char *frame, uint32_t offset,
                        unsigned which)
{
    const enum wmi_small_float format = format_of_side(p, which);
    const unsigned bits = 1u + wmi_small_layouts[format].exponent + wmi_small_layouts[format].fraction,
                   run = bits == 8 ? 16 : 32;
    for (unsigned k = 0; k < p->depth; k++) {
        const struct wmi_wmma_place place = wmi_wmma125_factor(k, run);
        const unsigned at = place.slot * bits, shift = at % 32;
        const wmi_word *words =
            words_at(frame, offset, (struct wmi_wmma_place){place.lane, (uint16_t)(at / 32)}, 32);
        for (unsigned lane = 0; lane < SIDE; lane++) {
            const uint64_t two =
                words[lane] | (shift + bits > 32 ? (uint64_t)words[WMI_LANES + lane] << 32 : 0);
            const uint32_t value = wmi_f32_of_small((uint32_t)(two >> shift), format);
            side->value[k][lane] = WMI_BITS_AS(float, value);
        }
    }
}

static double scale_of(uint32_t code, enum wmi_wmma_scale format)
{
    const uint32_t exponent = code << 23 | (code ? 0 : 0x400000); /* 2^-127 is a denormal */
    const uint32_t bits = format == WMI_WMMA_E8M0         ? (code == 255 ? 0x7fc00000 : exponent)
                          : format == WMI_WMMA_SCALE_E5M3 ? wmi_f32_of_small(code, WMI_E5M3)
                                                          : wmi_f32_of_small(code & 0x7f, WMI_FP8_OCP);
    return WMI_BITS_AS(float, bits);
}

/* first: the lane of the first row or column. */
static void read_scales(const struct product *p, struct wide_side *side, const char *frame, uint32_t offset,
                        unsigned which, unsigned first)
{
    const enum wmi_wmma_scale format =
        (enum wmi_wmma_scale)modifier(p, which ? WMI_WMMA_B_SCALE_FORMAT : WMI_WMMA_A_SCALE_FORMAT, 2);
    const bool high = modifier(p, which ? WMI_WMMA_B_SCALE_HIGH : WMI_WMMA_A_SCALE_HIGH, 1),
               one = modifier(p, which ? WMI_WMMA_B_SCALE_BYTE : WMI_WMMA_A_SCALE_BYTE, 1);
    const enum wmi_wmma_block block = (enum wmi_wmma_block)modifier(p, WMI_WMMA_BLOCK, 2);
    const wmi_word *words = (const wmi_word *)(const void *)(frame + offset);
    for (unsigned k = 0; k < BLOCKS; k++)
        for (unsigned lane = 0; lane < SIDE; lane++) {
            const unsigned from = first + lane + (high ? SIDE : 0), byte = one ? 0
                                                                           : block == WMI_WMMA_BLOCK_16
                                                                               ? k
                                                                               : k / 2;
            side->scale[k][lane] =
                block ? scale_of(words[byte / 4 * WMI_LANES + from] >> 8 * (byte % 4) & 0xff, format) : 1;
        }
}

/* The sum of a block is exact but for f64's rounding; with its scales it is added to the f32 (unverified).
 * The blocks of a scale are as large as it says; without scales, 32. */
static void multiply_blocks(struct product *p, const char *frame, const struct wmi_op *op, unsigned half)
{
    struct wide_side a, b;
    const bool small = modifier(p, WMI_WMMA_BLOCK, 2) == WMI_WMMA_BLOCK_16;
    const unsigned length = small ? 16 : 32, row = 4 * WMI_LANES, step = small ? 1 : 2;
    read_values(p, &a, frame, op->a + half * 8 * row, 0);
    read_values(p, &b, frame, op->b, 1);
    read_scales(p, &a, frame, op->e, 0, half * SIDE);
    read_scales(p, &b, frame, op->x, 1, 0);
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned first = 0; first < p->depth; first += length) {
            const unsigned block = first / length * step;
            double sum[SIDE] = {0};
            for (unsigned k = first; k < first + length; k++)
                for (unsigned j = 0; j < SIDE; j++)
                    sum[j] += a.value[k][i] * b.value[k][j];
            for (unsigned j = 0; j < SIDE; j++) {
                const double scaled = sum[j] * a.scale[block][i] * b.scale[block][j];
                const float d = (float)(scaled + WMI_BITS_AS(float, p->d[i][j]));
                p->d[i][j] = d == d ? WMI_BITS_AS(uint32_t, d) : (uint32_t)WMI_DOT_INVALID;
            }
        }
}

static bool is_wide(const struct product *p)
{
    return p->shape->a == WMI_ELEMENT_f8f6f4 || p->shape->a == WMI_ELEMENT_fp4;
}

/* A product of 16 rows: the first ones, or the others of 32. */
static __attribute__((noinline)) void multiply(char *frame, const struct wmi_op *op, unsigned half)
{
    struct product p;
    const uint32_t mode = ((const struct wmi_frame *)(const void *)frame)->mode;
    p.shape = wmi_matrix_of(op->value & ((1u << WMI_WMMA_RULES_AT) - 1));
    p.rules = (enum wmi_wmma_rules)(op->value >> WMI_WMMA_RULES_AT);
    p.modifiers = op->y;
    p.saturates = mode >> 23 & 1;
    p.depth = p.shape->sparse ? p.shape->k / 2u : p.shape->k;
    p.sum = p.rules == WMI_WMMA_CDNA5 && p.shape->d != WMI_ELEMENT_i32 ? WMI_ELEMENT_f32 : p.shape->d;
    p.run[0] = p.shape->a == WMI_ELEMENT_f32 ? 2 : 8;
    p.run[1] = p.shape->sparse ? 16 : p.run[0];
    read_c(&p, frame, op);
    if (is_wide(&p)) {
        multiply_blocks(&p, frame, op, half);
        write_d(&p, frame, op->d);
        return;
    }
    read_side(&p, &p.a, frame, op->a, p.depth, p.shape->a, 0);
    read_side(&p, &p.b, frame, op->b, p.shape->k, p.shape->b, 1);
    if (p.shape->sparse)
        read_indices(&p, frame, op->c);
    for (unsigned i = 0; i < SIDE && !p.shape->sparse; i++)
        for (unsigned k = 0; k < p.depth; k++)
            p.from[i][k] = (uint8_t)k;
    if (p.shape->d == WMI_ELEMENT_i32)
        multiply_integers(&p);
    else if (p.shape->a == WMI_ELEMENT_f32)
        multiply_singles(&p);
    else
        multiply_floats(&p);
    if (p.sum != p.shape->d)
        narrow_sums(&p);
    write_d(&p, frame, op->d);
}

WMI_DEFINE(wmma)
{
    const uint32_t usual = ((const struct wmi_frame *)(const void *)frame)->mxcsr32,
                   wanted = wmi_host_float_word(0, 3);
    if (usual != wanted)
        wmi_host_float_set(wanted);
    const struct wmi_matrix *shape = wmi_matrix_of(op->value & ((1u << WMI_WMMA_RULES_AT) - 1));
    multiply(frame, op, 0);
    if (shape->m > SIDE) { /* the other rows of A, C and D follow in registers of their own */
        struct wmi_op other = *op;
        other.d += 8 * 4 * WMI_LANES;
        other.c += op->y >> WMI_WMMA_C_CONSTANT & 1 ? 0 : 8 * 4 * WMI_LANES;
        multiply(frame, &other, 1);
    }
    if (usual != wanted)
        wmi_host_float_set(usual);
    return wmi_next(frame, op);
}

/* SPDX-License-Identifier: MIT */
/* WMMA: the elements are gathered from the registers, multiplied by the rules of the generation, and
 * scattered; EXEC has no effect. Sources: sem/wmma.h for gfx12's layouts; of gfx11's layouts and of the
 * arithmetic, base/dot_step.h. */
#include "base/dot_step.h"
#include "isa/isa.h"
#include "sem/bodies.h"
#include "sem/wmma.h"

/* Every shape is 16 rows by 16 columns; K is at most 32. */
enum { SIDE = 16, MOST_K = 32 };

struct product {
    const struct wmi_matrix *shape;
    enum wmi_wmma_rules rules;
    uint32_t modifiers;
    bool saturates;                            /* MODE.FP16_OVFL */
    uint32_t a[SIDE][MOST_K], b[SIDE][MOST_K]; /* codes: A by rows, B by columns */
    uint32_t d[SIDE][SIDE];                    /* C, then D */
};

static uint32_t modifier(const struct product *p, enum wmi_wmma_modifier first, unsigned width)
{
    return p->modifiers >> first & ((1u << width) - 1);
}

static unsigned bits_of(unsigned element)
{
    static const uint8_t bits[] = {
        0,
#define ELEMENT(name, bits) bits,
#include "elements.def"
    };
    return bits[element];
}

/* ---- registers ---- */

static uint32_t get(const char *frame, uint32_t offset, struct wmi_wmma_place place, unsigned bits)
{
    const wmi_word *row = (const wmi_word *)(const void *)(frame + offset);
    const unsigned at = place.slot * bits;
    const uint32_t word = row[at / 32 * WMI_LANES + place.lane] >> at % 32;
    return bits == 32 ? word : word & ((1u << bits) - 1);
}

static void put(char *frame, uint32_t offset, struct wmi_wmma_place place, unsigned bits, uint32_t value)
{
    wmi_word *row = (wmi_word *)(void *)(frame + offset);
    const unsigned at = place.slot * bits;
    wmi_word *word = &row[at / 32 * WMI_LANES + place.lane];
    const uint32_t mask = bits == 32 ? UINT32_MAX : ((1u << bits) - 1) << at % 32;
    *word = (*word & ~mask) | (value << at % 32 & mask);
}

static struct wmi_wmma_place factor_place(const struct product *p, unsigned i, unsigned k)
{
    if (p->rules == WMI_WMMA_RDNA4)
        return wmi_wmma12_factor(WMI_LANES, i, k);
    return (struct wmi_wmma_place){(uint16_t)i, (uint16_t)k};
}

/* gfx11 has one element in a register, a packed one in the half that op_sel[2] names. */
static struct wmi_wmma_place result_place(const struct product *p, unsigned i, unsigned j)
{
    const unsigned rows = WMI_LANES / SIDE, halves = 32 / bits_of(p->shape->d);
    if (p->rules == WMI_WMMA_RDNA4)
        return wmi_wmma12_result(WMI_LANES, i, j);
    return (struct wmi_wmma_place){
        (uint16_t)(SIDE * (i % rows) + j),
        (uint16_t)(halves * (i / rows) + (halves == 2 ? modifier(p, WMI_WMMA_OP_SEL, 3) >> 2 : 0))};
}

static void gather(struct product *p, const char *frame, const struct wmi_op *op)
{
    const struct wmi_matrix *s = p->shape;
    for (unsigned i = 0; i < SIDE; i++) {
        for (unsigned k = 0; k < s->k; k++) {
            p->a[i][k] = get(frame, op->a, factor_place(p, i, k), bits_of(s->a));
            p->b[i][k] = get(frame, op->b, factor_place(p, i, k), bits_of(s->b));
        }
        for (unsigned j = 0; j < SIDE; j++) {
            const struct wmi_wmma_place place =
                modifier(p, WMI_WMMA_C_CONSTANT, 1) ? (struct wmi_wmma_place){0, 0} : result_place(p, i, j);
            p->d[i][j] = get(frame, op->c, place, bits_of(s->d));
        }
    }
}

/* NEG and NEG_HI turn the signs of A's and B's elements with even and odd k; of C, NEG_HI[2] clears the sign
 * and NEG[2] turns it. */
static void apply_signs(struct product *p)
{
    const struct wmi_matrix *s = p->shape;
    const uint32_t neg[2] = {modifier(p, WMI_WMMA_NEG_LO, 3), modifier(p, WMI_WMMA_NEG_HI, 3)};
    const uint32_t sign_a = 1u << (bits_of(s->a) - 1), sign_b = 1u << (bits_of(s->b) - 1);
    const uint32_t sign_d = 1u << (bits_of(s->d) - 1);
    for (unsigned i = 0; i < SIDE; i++) {
        for (unsigned k = 0; k < s->k; k++) {
            p->a[i][k] ^= neg[k & 1] & 1 ? sign_a : 0;
            p->b[i][k] ^= neg[k & 1] & 2 ? sign_b : 0;
        }
        for (unsigned j = 0; j < SIDE; j++)
            p->d[i][j] = (p->d[i][j] & ~(neg[1] & 4 ? sign_d : 0)) ^ (neg[0] & 4 ? sign_d : 0);
    }
}

/* ---- arithmetic ---- */

static int64_t integer_of(uint32_t code, unsigned bits, bool is_signed)
{
    return is_signed ? (int32_t)(code << (32 - bits)) >> (32 - bits) : (int64_t)code;
}

static int64_t saturated(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

/* NEG says which factors are signed. CLAMP saturates the sum on gfx11, and on gfx12 after the products with
 * even k / 8 and again after the odd ones. Source: bjacob/goc, RX 9070; gfx11 unverified. */
static void multiply_integers(struct product *p)
{
    const struct wmi_matrix *s = p->shape;
    const bool clamps = modifier(p, WMI_WMMA_CLAMP, 1), twice = p->rules == WMI_WMMA_RDNA4;
    const uint32_t is_signed = modifier(p, WMI_WMMA_NEG_LO, 2);
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned j = 0; j < SIDE; j++) {
            int64_t sum[2] = {(int32_t)p->d[i][j], 0};
            for (unsigned k = 0; k < s->k; k++)
                sum[twice && k & 8] += integer_of(p->a[i][k], bits_of(s->a), is_signed & 1) *
                                       integer_of(p->b[j][k], bits_of(s->b), is_signed & 2);
            const int64_t all = (clamps ? saturated(sum[0]) : sum[0]) + sum[1];
            p->d[i][j] = (uint32_t)(clamps ? saturated(all) : all);
        }
}

static const struct wmi_dot_format *format_of(unsigned element)
{
    return element == WMI_ELEMENT_f16    ? &wmi_dot_f16
           : element == WMI_ELEMENT_bf16 ? &wmi_dot_bf16
           : element == WMI_ELEMENT_fp8  ? &wmi_dot_fp8
                                         : &wmi_dot_bf8;
}

/* Sums of two products on gfx11; of four on gfx12, in another order in waves of 32. Packed results are
 * narrowed after each. */
static void multiply_floats(struct product *p)
{
    static const uint8_t order_32[] = {0, 8, 4, 12};
    const struct wmi_matrix *s = p->shape;
    const bool is_11 = p->rules == WMI_WMMA_RDNA3, eighths = bits_of(s->a) == 8;
    const bool to_f16 = s->d == WMI_ELEMENT_f16, to_bf16 = s->d == WMI_ELEMENT_bf16;
    const unsigned step = is_11 ? 2 : 4;
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
            uint32_t sum = p->d[i][j];
            for (unsigned at = 0; at < s->k; at += step) {
                const unsigned k = step == 4 && WMI_LANES == 32 ? order_32[at / 4] : at;
                const uint32_t c = to_f16 ? wmi_dot_f32_of_f16(sum) : to_bf16 ? sum << 16 : sum;
                sum = wmi_dot_step(&dot, p->a[i] + k, p->b[j] + k, step, c, p->saturates);
                if (to_bf16)
                    sum = wmi_dot_bf16_of(sum);
            }
            p->d[i][j] = sum;
        }
}

WMI_DEFINE(wmma)
{
    const struct wmi_frame *wave = (const struct wmi_frame *)(const void *)frame;
    struct product p = {.shape = wmi_matrix_of(op->x & ((1u << WMI_WMMA_RULES_AT) - 1)),
                        .rules = (enum wmi_wmma_rules)(op->x >> WMI_WMMA_RULES_AT),
                        .modifiers = op->y,
                        .saturates = wave->mode >> 23 & 1};
    gather(&p, frame, op);
    if (p.shape->d == WMI_ELEMENT_i32) {
        multiply_integers(&p);
    } else {
        apply_signs(&p);
        multiply_floats(&p);
    }
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned j = 0; j < SIDE; j++)
            put(frame, op->d, result_place(&p, i, j), bits_of(p.shape->d), p.d[i][j]);
    return op + 1;
}

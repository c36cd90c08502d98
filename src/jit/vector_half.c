/* SPDX-License-Identifier: MIT */
/* Host code of vector steps on 16 bits: on the low halves of rows, with results whose high halves are 0. */
#include "jit/live.h"
#include "jit/vector.h"

enum { HALF = 16 };

/* Keeps the low halves of the result, and makes it the row d. */
static void write_low(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_rows *d)
{
    const unsigned low = wmi_vector_splat(s, 0xffff);
    for (unsigned i = 0; i < wmi_rows_strips(s, d); i++)
        wmi_evex_plain(&s->host, WMI_VPANDD, d->reg[i], d->reg[i], wmi_zmm(low));
    wmi_stretch_write(s, step->d, d);
}

/* The low half of the recipe's instruction depends on those of a and b alone. */
bool wmi_emit_half(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const bool reversed = recipe->flags & WMI_REVERSED;
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, reversed ? step->b : step->a, true),
                          b = wmi_stretch_use(s, reversed ? step->a : step->b, false);
    struct wmi_rows d = wmi_vector_two(s, recipe->host, &a, &b, false);
    write_low(s, step, &d);
    return true;
}

/* b shifted by the bits of a that `most` has. */
static struct wmi_rows shifted(struct wmi_stretch *s, const struct wmi_step *step, uint32_t most)
{
    const struct wmi_rows amount = wmi_stretch_use(s, step->a, false),
                          value = wmi_stretch_use(s, step->b, true),
                          mask = wmi_vector_uniform(wmi_vector_splat(s, most)),
                          count = wmi_vector_two(s, WMI_VPANDD, &mask, &amount, false);
    return wmi_vector_two(s, wmi_recipe_of(step)->host, &value, &count, false);
}

bool wmi_emit_half_shift(struct wmi_stretch *s, const struct wmi_step *step)
{
    struct wmi_rows d = shifted(s, step, HALF - 1);
    write_low(s, step, &d);
    return true;
}

/* a * b + c */
bool wmi_emit_half_multiply_add(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, false),
                          c = wmi_stretch_use(s, step->c, false),
                          product = wmi_vector_two(s, WMI_VPMULLW, &a, &b, false);
    struct wmi_rows d = wmi_vector_two(s, WMI_VPADDD, &product, &c, false);
    write_low(s, step, &d);
    return true;
}

/* The low halves of the row in the high ones, which compare as they do. */
static struct wmi_rows raised(struct wmi_stretch *s, uint32_t row)
{
    const struct wmi_rows a = wmi_stretch_use(s, row, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++)
        wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_rows_operand(s, &a, i), HALF);
    return d;
}

bool wmi_emit_half_compare(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_recipe *recipe = wmi_recipe_of(step);
    const struct wmi_rows a = raised(s, step->a), b = raised(s, step->b);
    wmi_vector_store_compare(s, recipe->host, &a, &b, recipe->argument, step->d);
    return true;
}

/* ---- both halves ---- */

bool wmi_emit_packed_shift(struct wmi_stretch *s, const struct wmi_step *step)
{
    struct wmi_rows d = shifted(s, step, (HALF - 1) * 0x10001u);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* a * b + c */
bool wmi_emit_packed_multiply_add(struct wmi_stretch *s, const struct wmi_step *step)
{
    if (!wmi_recipe_allows(s, step))
        return false;
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true), b = wmi_stretch_use(s, step->b, false),
                          c = wmi_stretch_use(s, step->c, false),
                          product = wmi_vector_two(s, WMI_VPMULLW, &a, &b, false);
    struct wmi_rows d = wmi_vector_two(s, WMI_VPADDW, &product, &c, false);
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* The halves of a that bits 0 and 1 of x select for the low and the high half. */
bool wmi_emit_select_halves(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { LOWS = 0, BOTH = 2, HIGHS = 3 };
    const struct wmi_rows a = wmi_stretch_use(s, step->a, true);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    const unsigned other = wmi_stretch_register(s);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        const unsigned from = wmi_rows_register(&a, i);
        if ((step->x & 3) == BOTH) {
            wmi_evex_plain(&s->host, WMI_VMOVDQA32, d.reg[i], 0, wmi_zmm(from));
        } else if ((step->x & 3) != LOWS && (step->x & 3) != HIGHS) {
            wmi_vector_shift(s, WMI_ROTATE_LEFT, d.reg[i], wmi_zmm(from), HALF);
        } else {
            const bool high = step->x & 1;
            wmi_vector_shift(s, high ? WMI_RIGHT : WMI_LEFT, d.reg[i], wmi_zmm(from), HALF);
            wmi_vector_shift(s, high ? WMI_LEFT : WMI_RIGHT, other, wmi_zmm(d.reg[i]), HALF);
            wmi_evex_plain(&s->host, WMI_VPORD, d.reg[i], d.reg[i], wmi_zmm(other));
        }
    }
    wmi_stretch_write_all_lanes(s, step->d, &d);
    return true;
}

/* ---- parts ---- */

struct part {
    unsigned bits, from;
};

/* The byte, word or dword that x selects; see sem/stage.h. */
static struct part part_of(unsigned x)
{
    enum { BYTE = 8, FIRST_WORD = 4, SECOND_WORD = 5, DWORD = 6 };
    const unsigned select = x & 7;
    return (struct part){.bits = select < FIRST_WORD ? BYTE
                                 : select < DWORD    ? HALF
                                                     : 32,
                         .from = select < FIRST_WORD     ? BYTE * select
                                 : select == SECOND_WORD ? HALF
                                                         : 0};
}

bool wmi_emit_sdwa_source(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { SIGNED = 8 };
    const struct part part = part_of(step->x);
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false);
    struct wmi_rows d = wmi_stretch_result(s, a.uniform);
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_rows_operand(s, &a, i), 32 - part.bits - part.from);
        wmi_vector_shift(s, step->x & SIGNED ? WMI_RIGHT_SIGNED : WMI_RIGHT, d.reg[i], wmi_zmm(d.reg[i]),
                         32 - part.bits);
    }
    wmi_stretch_write_all_lanes(s, step->d, &d);
    return true;
}

/* d = a in a byte or word of d, with what `argument` or else x says of the rest; see sem/stage.h. */
bool wmi_emit_part(struct wmi_stretch *s, const struct wmi_step *step)
{
    enum { SIGNED = 1, PRESERVE = 2, A_OR_B_WITHOUT_C = 0xf4 };
    const unsigned argument = wmi_recipe_of(step)->argument, x = argument ? argument : step->x,
                   rest = x >> 3 & 3;
    const struct part part = part_of(x);
    if (argument == WMI_TO_LOW_HALF && wmi_live_drops_half(s->live, s->at)) {
        const struct wmi_rows low = wmi_stretch_use(s, step->a, false);
        struct wmi_rows copy = wmi_vector_copy(s, &low, low.uniform);
        wmi_stretch_write(s, step->d, &copy);
        return true;
    }
    const struct wmi_rows a = wmi_stretch_use(s, step->a, false),
                          old = rest == PRESERVE ? wmi_stretch_use(s, step->d, true) : a;
    struct wmi_rows d = wmi_stretch_result(s, a.uniform && old.uniform);
    const unsigned mask =
        rest == PRESERVE ? wmi_vector_splat(s, UINT32_MAX >> (32 - part.bits) << part.from) : 0;
    for (unsigned i = 0; i < wmi_rows_strips(s, &d); i++) {
        wmi_vector_shift(s, WMI_LEFT, d.reg[i], wmi_rows_operand(s, &a, i), 32 - part.bits);
        wmi_vector_shift(s, rest == SIGNED ? WMI_RIGHT_SIGNED : WMI_RIGHT, d.reg[i], wmi_zmm(d.reg[i]),
                         32 - part.bits - part.from);
        if (rest == PRESERVE)
            wmi_evex(&s->host, WMI_VPTERNLOGD, d.reg[i], wmi_rows_register(&old, i), wmi_zmm(mask),
                     WMI_NO_MASK, A_OR_B_WITHOUT_C);
    }
    wmi_stretch_write(s, step->d, &d);
    return true;
}

/* ---- what is read ---- */

bool wmi_keeps_half(const struct wmi_step *step)
{
    return step->id == WMI_STEP_stage_OP_SEL_LOW || step->id == WMI_STEP_stage_OP_SEL_HIGH;
}

static bool is_low_mask(const struct wmi_code *code, uint32_t row)
{
    uint32_t value = 0;
    return wmi_code_constant(code, row, &value) && value <= UINT16_MAX;
}

bool wmi_reads_low_half(const struct wmi_code *code, const struct wmi_step *step,
                        enum wmi_step_operand operand)
{
    wmi_emit_step *emit = wmi_recipe_of(step)->emit;
    switch ((int)step->id) {
    case WMI_STEP_stage_OP_SEL_LOW:
    case WMI_STEP_stage_OP_SEL_HIGH:
    case WMI_STEP_lds_write_b8:
    case WMI_STEP_lds_write_b16:
        return operand == (wmi_keeps_half(step) ? WMI_OP_A : WMI_OP_B);
    case WMI_STEP_BODIES + WMI_INSN_v_and_b32:
        return is_low_mask(code, operand == WMI_OP_A ? step->b : step->a);
    default:
        return emit == wmi_emit_half || emit == wmi_emit_half_shift || emit == wmi_emit_half_compare ||
               emit == wmi_emit_half_multiply_add;
    }
}

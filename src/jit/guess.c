/* SPDX-License-Identifier: MIT */
/* Guesses how rows grow from lane to lane within a strip, in one pass over the steps in their order, whatever
 * way waves take through them. Work-item ids are guessed from what waves of whole workgroups start with. */
#include "jit/guess.h"
#include "jit/stretch.h"

#include <string.h>

struct guesses {
    const struct wmi_block *block;
    uint32_t row_bytes;
    int8_t of_row[WMI_MOST_ROWS];
};

/* Of an operand; 0 if it is no row, or none. */
static int guess_of(const struct guesses *g, const struct wmi_step *step, enum wmi_step_operand operand,
                    uint32_t row)
{
    const unsigned use = step->use[operand];
    if (!(use & WMI_USE_READ) || (use & WMI_USE_KIND) != WMI_USE_ROWS ||
        row < offsetof(struct wmi_frame, rows) || row >= g->block->code->constant_offset)
        return 0;
    return g->of_row[wmi_row_number(g->block->code, row)];
}

static bool constant_of(const struct guesses *g, uint32_t row, uint32_t *value)
{
    return wmi_code_constant(g->block->code, row, value);
}

static int limited(int stride)
{
    return stride < -WMI_MOST_STRIDE || stride > WMI_MOST_STRIDE ? WMI_NO_GUESS : stride;
}

static int sum(int a, int b)
{
    return a == WMI_NO_GUESS || b == WMI_NO_GUESS ? WMI_NO_GUESS : limited(a + b);
}

static int difference(int a, int b)
{
    return a == WMI_NO_GUESS || b == WMI_NO_GUESS ? WMI_NO_GUESS : limited(a - b);
}

static int shifted(const struct guesses *g, int a, uint32_t amount)
{
    uint32_t count = 0;
    if (a == WMI_NO_GUESS || a == 0)
        return a;
    return constant_of(g, amount, &count) && count < 7 ? limited(a * (1 << count)) : WMI_NO_GUESS;
}

/* The bits from a constant one on: all of them from bit 0; from bit 10, which in the VGPR that holds the ids
 * since gfx90a are those in y and z, something that does not grow. */
static int field(const struct guesses *g, int a, uint32_t from)
{
    enum { ID_BITS = 10 };
    uint32_t bit = 0;
    if (a == WMI_NO_GUESS || a == 0 || !constant_of(g, from, &bit))
        return a ? WMI_NO_GUESS : 0;
    return bit == 0 ? a : bit >= ID_BITS ? 0 : WMI_NO_GUESS;
}

/* What a step leaves in its first result. What depends on nothing that differs in a strip does not differ. */
static int result_of(const struct guesses *g, const struct wmi_step *step)
{
    const int a = guess_of(g, step, WMI_OP_A, step->a), b = guess_of(g, step, WMI_OP_B, step->b),
              c = guess_of(g, step, WMI_OP_C, step->c);
    switch (step->id) {
    case WMI_STEP_BODIES + WMI_INSN_v_mov_b32:
        return a;
    case WMI_STEP_BODIES + WMI_INSN_v_add_u32:
    case WMI_STEP_BODIES + WMI_INSN_v_add_co_u32:
    case WMI_STEP_BODIES + WMI_INSN_v_or_b32:
        return sum(a, b);
    case WMI_STEP_BODIES + WMI_INSN_v_add3_u32:
    case WMI_STEP_BODIES + WMI_INSN_v_or3_b32:
        return sum(sum(a, b), c);
    case WMI_STEP_BODIES + WMI_INSN_v_and_b32: /* a mask that keeps the id of gfx90a and later, or an index */
        return a && b ? WMI_NO_GUESS : sum(a, b);
    case WMI_STEP_BODIES + WMI_INSN_v_bfe_u32:
        return b || c ? WMI_NO_GUESS : field(g, a, step->b);
    case WMI_STEP_BODIES + WMI_INSN_v_lshrrev_b32:
        return a ? WMI_NO_GUESS : field(g, b, step->a);
    case WMI_STEP_BODIES + WMI_INSN_v_lshlrev_b32:
        return shifted(g, b, step->a);
    case WMI_STEP_BODIES + WMI_INSN_v_lshl_b32:
        return shifted(g, a, step->b);
    case WMI_STEP_BODIES + WMI_INSN_v_lshl_add_u32:
    case WMI_STEP_BODIES + WMI_INSN_v_lshl_or_b32:
        return sum(shifted(g, a, step->b), c);
    case WMI_STEP_BODIES + WMI_INSN_v_add_lshl_u32:
        return shifted(g, sum(a, b), step->c);
    case WMI_STEP_BODIES + WMI_INSN_v_sub_u32:
    case WMI_STEP_BODIES + WMI_INSN_v_sub_co_u32:
        return difference(a, b);
    case WMI_STEP_BODIES + WMI_INSN_v_subrev_u32:
    case WMI_STEP_BODIES + WMI_INSN_v_subrev_co_u32:
        return difference(b, a);
    case WMI_STEP_BODIES + WMI_INSN_v_mad_u32_u24:
    case WMI_STEP_BODIES + WMI_INSN_v_mad_u64_u32:
        return a == 0 && b == 0 ? c : WMI_NO_GUESS;
    default:
        return a == 0 && b == 0 && c == 0 ? 0 : WMI_NO_GUESS;
    }
}

/* Loads do not say how many rows they write: most of them one or two. */
static void write_results(struct guesses *g, const struct wmi_step *step, int result)
{
    enum { ROWS_OF_LOAD = 2 };
    const struct wmi_code *code = g->block->code;
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        struct wmi_extent span = wmi_step_span(step, (enum wmi_step_operand)i, code->options.lanes);
        if (!(step->use[i] & WMI_USE_WRITE) || (step->use[i] & WMI_USE_KIND) != WMI_USE_ROWS ||
            span.from < offsetof(struct wmi_frame, rows))
            continue;
        if ((step->use[i] & WMI_USE_COUNT) == WMI_USE_MANY)
            span.to = span.from + ROWS_OF_LOAD * g->row_bytes;
        for (uint32_t row = span.from; row < span.to && row < code->constant_offset; row += g->row_bytes)
            g->of_row[wmi_row_number(g->block->code, row)] =
                (int8_t)(row == span.from || result == 0 ? result : WMI_NO_GUESS);
    }
}

void wmi_guess_strides(const struct wmi_block *block, int8_t *guess)
{
    struct guesses g = {.block = block, .row_bytes = block->code->row_bytes};
    memset(g.of_row, WMI_NO_GUESS, sizeof g.of_row);
    for (unsigned id = 0; id < WMI_START_IDS; id++)
        g.of_row[wmi_row_number(block->code, block->code->vgpr_offset + id * g.row_bytes)] = id == 0;
    for (size_t i = 0; i < block->count; i++) {
        const struct wmi_step *step = &block->steps[i];
        const bool crosses = wmi_step_facts_of(step->id).flags & WMI_STEP_CROSSES_LANES;
        guess[i] = (int8_t)guess_of(&g, step, WMI_OP_A, step->a);
        write_results(&g, step, crosses ? WMI_NO_GUESS : result_of(&g, step));
    }
}

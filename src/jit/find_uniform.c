/* SPDX-License-Identifier: MIT */
/* A forward analysis of the steps of a block that waves start in and never leave. At first every row is taken
 * for uniform; passes over the steps remove what is not so by one of the ways to a step. */
#include "jit/find_uniform.h"

#include "jit/cut.h"
#include "jit/live.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_WORDS = 1 << 20, /* of sets of rows, for all steps */
    MOST_PASSES = 32,
};

/* Whether a constant of the program is of the kind. */
static bool is_constant(const struct wmi_code *code, uint32_t row, enum wmi_uniform_kind kind)
{
    uint32_t value;
    return wmi_code_constant(code, row, &value) && (kind == WMI_UNIFORM_ANY || !value);
}

static bool has(const struct wmi_uniform *uniform, const uint64_t *set, uint32_t row,
                enum wmi_uniform_kind kind)
{
    const struct wmi_code *code = uniform->block->code;
    return row >= code->constant_offset ? is_constant(code, row, kind) : wmi_uniform_has(uniform, set, row);
}

/* Whether all that the step reads for its results is uniform. sets: in front of it. */
static bool reads_uniform(const struct wmi_uniform *uniform, const struct wmi_step *step,
                          const uint64_t *sets)
{
    const unsigned lanes = uniform->block->code->options.lanes;
    for (unsigned i = WMI_OP_A; i < WMI_STEP_OPERANDS; i++) {
        const unsigned kind = step->use[i] & WMI_USE_KIND, count = step->use[i] & WMI_USE_COUNT;
        if (!(step->use[i] & WMI_USE_READ) || step->use[i] & WMI_USE_WRITE)
            continue;
        if (kind == WMI_USE_WORDS && count != WMI_USE_MANY && count != WMI_USE_MASK)
            continue;
        if (kind != WMI_USE_ROWS || count == WMI_USE_MANY)
            return false;
        const struct wmi_extent span = wmi_step_span(step, (enum wmi_step_operand)i, lanes);
        if (span.from < offsetof(struct wmi_frame, rows)) /* an operand that the step lacks */
            return false;
        for (uint32_t row = span.from; row < span.to; row += uniform->block->code->row_bytes)
            if (!has(uniform, sets, row, WMI_UNIFORM_ANY))
                return false;
    }
    return true;
}

/* Whether the step computes the same in each lane, from what it reads there. */
static bool is_same_in_lanes(const struct wmi_uniform *uniform, size_t at)
{
    const struct wmi_step *step = &uniform->block->steps[at];
    switch ((int)step->id) {
    case WMI_STEP_fused_ADD_64_ALONE:
    case WMI_STEP_fused_ADD_64_SCALAR_ALONE:
    case WMI_STEP_fused_ADD_64_SCALARS_ALONE:
        return true;
    case WMI_STEP_stage_OP_SEL_LOW:
        return wmi_live_drops_half(uniform->live, at);
    default:
        return wmi_vector_works_on_bases(step);
    }
}

static void write_rows(const struct wmi_uniform *uniform, size_t at, uint64_t *sets)
{
    const struct wmi_step *step = &uniform->block->steps[at];
    const struct wmi_code *code = uniform->block->code;
    const bool active = step->lanes == offsetof(struct wmi_frame, exec),
               same = active && is_same_in_lanes(uniform, at) && reads_uniform(uniform, step, sets),
               zero = same && step->id == WMI_STEP_BODIES + WMI_INSN_v_mov_b32 &&
                      has(uniform, &sets[uniform->words], step->a, WMI_UNIFORM_ZERO);
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        if (!(step->use[i] & WMI_USE_WRITE) || (step->use[i] & WMI_USE_KIND) != WMI_USE_ROWS)
            continue;
        const struct wmi_extent span = wmi_step_span(step, (enum wmi_step_operand)i, code->options.lanes);
        if (span.from < offsetof(struct wmi_frame, rows))
            continue;
        for (uint32_t row = span.from; row < span.to && row < code->constant_offset; row += code->row_bytes) {
            const size_t number = wmi_row_number(code, row);
            const uint64_t bit = UINT64_C(1) << number % 64;
            uint64_t *any = &sets[number / 64], *zeros = any + uniform->words;
            *any = same ? *any | bit : *any & ~bit;
            *zeros = zero ? *zeros | bit : *zeros & ~bit;
        }
    }
}

/* The sets behind the step, from those in front of it. */
static void pass_step(const struct wmi_uniform *uniform, size_t at, uint64_t *sets)
{
    const struct wmi_step *step = &uniform->block->steps[at];
    const struct wmi_step_facts facts = wmi_step_facts_of(step->id);
    const bool changes_exec = step->id == WMI_STEP_stage_EXEC || facts.writes & WMI_ON_EXEC,
               shrinks = wmi_exec_shrinks(uniform->block, at) || wmi_exec_shrinks(uniform->block, at + 1);
    if ((changes_exec && !shrinks) || facts.writes & WMI_ON_VGPRS)
        memset(sets, 0, WMI_UNIFORM_KINDS * uniform->words * sizeof *sets);
    else
        write_rows(uniform, at, sets);
}

/* Removes from the sets of a step what is not in `sets`. Returns whether that was something. */
static bool meet(const struct wmi_uniform *uniform, size_t at, const uint64_t *sets)
{
    uint64_t *own = wmi_uniform_set(uniform, at, WMI_UNIFORM_ANY), lost = 0;
    for (size_t i = 0; i < WMI_UNIFORM_KINDS * uniform->words; i++) {
        lost |= own[i] & ~sets[i];
        own[i] &= sets[i];
    }
    return lost;
}

static bool pass(const struct wmi_uniform *uniform, uint64_t *sets)
{
    const struct wmi_block *block = uniform->block;
    const size_t bytes = WMI_UNIFORM_KINDS * uniform->words * sizeof *sets;
    bool changes = false;
    for (size_t i = 0; i < block->count; i++) {
        const struct wmi_step *step = &block->steps[i];
        memcpy(sets, wmi_uniform_set(uniform, i, WMI_UNIFORM_ANY), bytes);
        pass_step(uniform, i, sets);
        if (wmi_is_branch(step))
            changes |= meet(uniform, wmi_step_number(block, wmi_branch_target(block, i)), sets);
        if (i + 1 < block->count && step->id != WMI_STEP_branch &&
            !(wmi_step_facts_of(step->id).flags & WMI_STEP_ENDS_WAVE))
            changes |= meet(uniform, i + 1, sets);
    }
    return changes;
}

static bool fill(const struct wmi_uniform *uniform)
{
    const struct wmi_block *block = uniform->block;
    const size_t words = WMI_UNIFORM_KINDS * uniform->words;
    uint64_t *sets = malloc(words * sizeof *sets);
    unsigned passes = 0;
    if (!sets)
        return false;
    memset(uniform->sets, 0xff, block->count * words * sizeof *sets);
    memset(wmi_uniform_set(uniform, wmi_step_number(block, block->entry), WMI_UNIFORM_ANY), 0,
           words * sizeof *sets);
    while (passes < MOST_PASSES && pass(uniform, sets))
        passes++;
    free(sets);
    return passes < MOST_PASSES;
}

/* A step that executes the next one in its own way may write other rows than that one says. */
static bool takes_steps(const struct wmi_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (wmi_step_facts_of(block->steps[i].id).flags & WMI_STEP_TAKES_NEXT)
            return true;
    return false;
}

struct wmi_uniform *wmi_find_uniform(const struct wmi_block *block, const struct wmi_live *live)
{
    size_t head;
    if (!wmi_is_closed(block, &head) || takes_steps(block))
        return NULL;
    struct wmi_uniform *uniform = calloc(1, sizeof *uniform);
    if (!uniform)
        return NULL;
    uniform->block = block;
    uniform->live = live;
    uniform->words = wmi_row_number(block->code, block->code->constant_offset) / 64 + 1;
    const size_t words = block->count * WMI_UNIFORM_KINDS * uniform->words;
    if (words <= MOST_WORDS)
        uniform->sets = malloc(words * sizeof *uniform->sets);
    if (uniform->sets && fill(uniform))
        return uniform;
    wmi_uniform_free(uniform);
    return NULL;
}

void wmi_uniform_free(struct wmi_uniform *uniform)
{
    if (uniform)
        free(uniform->sets);
    free(uniform);
}

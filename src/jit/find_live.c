/* SPDX-License-Identifier: MIT */
/* Which VGPRs a wave may still read: a backward analysis of the steps of a block.
 *
 * Most steps write active lanes only, so a row has two states at each step: whether it may be read in lanes
 * that are active then, and in others. A write ends the first one. Where EXEC changes, any lane may become
 * active, so that a row is read in all lanes if it is in some; or lanes may only become inactive. */
#include "jit/find_live.h"

#include "jit/stretch.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_WORDS = 1 << 20, /* of sets of rows, for all steps */
    MOST_PASSES = 32,
};

/* The VGPRs among the rows of an operand. */
static struct wmi_extent vgprs_of(const struct wmi_live *live, const struct wmi_step *step, unsigned operand)
{
    const struct wmi_code *code = live->block->code;
    struct wmi_extent span = wmi_step_span(step, (enum wmi_step_operand)operand, code->options.lanes);
    if ((step->use[operand] & WMI_USE_KIND) != WMI_USE_ROWS)
        return (struct wmi_extent){0, 0};
    span.from = span.from < code->vgpr_offset ? code->vgpr_offset : span.from;
    span.to = span.to > code->constant_offset ? code->constant_offset : span.to;
    return span;
}

static void add_rows(const struct wmi_live *live, uint64_t *set, struct wmi_extent span)
{
    for (uint32_t row = span.from; row < span.to; row += live->block->code->row_bytes)
        set[wmi_live_number(live, row) / 64] |= UINT64_C(1) << wmi_live_number(live, row) % 64;
}

static void remove_rows(const struct wmi_live *live, uint64_t *set, struct wmi_extent span)
{
    for (uint32_t row = span.from; row < span.to; row += live->block->code->row_bytes)
        set[wmi_live_number(live, row) / 64] &= ~(UINT64_C(1) << wmi_live_number(live, row) % 64);
}

/* So do those of all steps that are compiled, whose emitters do not read them, but for atomics and what keeps
 * parts of them. */
bool wmi_live_replaces(const struct wmi_step *step, bool drops_half)
{
    const bool is_lds_read = wmi_lds_reach(step) && step->use[WMI_OP_D] & WMI_USE_WRITE;
    if (wmi_vector_keeps(step) && !drops_half)
        return false;
    return step->lanes == offsetof(struct wmi_frame, exec) &&
           (step->use[WMI_OP_D] & WMI_USE_COUNT) != WMI_USE_MANY &&
           (is_lds_read || wmi_vector_emitter(step) || wmi_memory_emitter(step) || wmi_private_emitter(step));
}

/* Where one of these steps has EXEC. */
enum exec_operands { AS_D_AND_A = 1, AS_D_AND_B = 2, IMPLIED = 4 };

/* The steps after which only lanes are active that were so before: they replace EXEC by a part of it. */
static const struct narrowing {
    uint16_t id;
    uint8_t lanes; /* of a wave, of whose EXEC they write all bits */
    uint8_t exec_operands;
} narrowing[] = {
    {WMI_STEP_BODIES + WMI_INSN_s_and_saveexec_b64, 64, IMPLIED},
    {WMI_STEP_BODIES + WMI_INSN_s_and_saveexec_b32, 32, IMPLIED},
    {WMI_STEP_BODIES + WMI_INSN_s_and_b64, 64, AS_D_AND_A | AS_D_AND_B},
    {WMI_STEP_BODIES + WMI_INSN_s_and_b32, 32, AS_D_AND_A | AS_D_AND_B},
    {WMI_STEP_BODIES + WMI_INSN_s_andn2_b64, 64, AS_D_AND_A},
    {WMI_STEP_BODIES + WMI_INSN_s_andn2_b32, 32, AS_D_AND_A},
};

/* Whether the step is a vector compare into EXEC, which gives inactive lanes 0. */
static bool compares_into_exec(const struct wmi_step *step)
{
    return step->d == offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC &&
           (step->use[WMI_OP_D] & (WMI_USE_KIND | WMI_USE_COUNT)) == (WMI_USE_WORDS | WMI_USE_MASK) &&
           step->lanes == offsetof(struct wmi_frame, exec);
}

static unsigned exec_operands(const struct wmi_step *step)
{
    const uint32_t exec = offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC;
    if (step->d != exec)
        return IMPLIED;
    return IMPLIED | (step->a == exec ? AS_D_AND_A : 0) | (step->b == exec ? AS_D_AND_B : 0);
}

bool wmi_exec_shrinks(const struct wmi_block *block, size_t at)
{
    if (!at || at >= block->count || block->leads[at] || block->steps[at].id != WMI_STEP_stage_EXEC)
        return false;
    const struct wmi_step *step = &block->steps[at - 1];
    if (compares_into_exec(step))
        return true;
    for (size_t i = 0; i < sizeof narrowing / sizeof *narrowing; i++)
        if (narrowing[i].id == step->id)
            return narrowing[i].lanes == block->code->options.lanes &&
                   narrowing[i].exec_operands & exec_operands(step);
    return false;
}

/* The sets before the step, from those behind it. */
static void pass_step(const struct wmi_live *live, size_t at, uint64_t *active, uint64_t *inactive)
{
    const struct wmi_step *step = &live->block->steps[at];
    const struct wmi_step_facts facts = wmi_step_facts_of(step->id);
    const bool in_all_lanes =
        facts.flags & WMI_STEP_CROSSES_LANES || step->lanes != offsetof(struct wmi_frame, exec);
    const bool replaced = wmi_live_replaces(step, live->drops_half[at]);
    if (step->id == WMI_STEP_stage_EXEC || facts.writes & WMI_ON_EXEC) {
        const bool shrinks = wmi_exec_shrinks(live->block, at) || wmi_exec_shrinks(live->block, at + 1);
        for (size_t i = 0; i < live->words; i++) {
            active[i] |= inactive[i];
            inactive[i] = shrinks ? inactive[i] : active[i];
        }
    }
    if (replaced)
        remove_rows(live, active, vgprs_of(live, step, WMI_OP_D));
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        if (!(step->use[i] & WMI_USE_READ) || (replaced && i == WMI_OP_D))
            continue;
        add_rows(live, active, vgprs_of(live, step, i));
        if (in_all_lanes)
            add_rows(live, inactive, vgprs_of(live, step, i));
    }
    if (facts.reads & WMI_ON_VGPRS || (facts.flags & WMI_STEP_TAKES_NEXT && !wmi_private_skips(step))) {
        memset(active, 0xff, live->words * sizeof *active);
        memset(inactive, 0xff, live->words * sizeof *inactive);
    }
}

/* Adds what may be read where a branch leads. */
static void add_target(const struct wmi_live *live, size_t at, uint64_t *sets)
{
    const struct wmi_block *block = live->block;
    const uint64_t *there =
        wmi_live_set(live, wmi_step_number(block, wmi_branch_target(block, at)), WMI_LIVE_ACTIVE);
    for (size_t i = 0; i < WMI_LIVE_LANES * live->words; i++)
        sets[i] |= there[i];
}

/* Goes through all steps once, from the last one to the first one. Returns whether a set has grown. sets: for
 * those of a step. */
static bool pass(const struct wmi_live *live, uint64_t *sets)
{
    const struct wmi_block *block = live->block;
    const size_t words = WMI_LIVE_LANES * live->words;
    bool grown = false;
    for (size_t i = block->count; i-- > 0;) {
        const struct wmi_step *step = &block->steps[i];
        const unsigned flags = wmi_step_facts_of(step->id).flags;
        const bool is_branch = wmi_is_branch(step);
        uint64_t *before = wmi_live_set(live, i, WMI_LIVE_ACTIVE);
        if (flags & WMI_STEP_ENDS_WAVE)
            continue;
        if ((!is_branch && flags & (WMI_STEP_LEAVES | WMI_STEP_BRANCHES)) ||
            wmi_code_shows(block->code, is_branch, flags & WMI_STEP_PAUSES, flags & WMI_STEP_FAULTS))
            memset(sets, 0xff, words * sizeof *sets); /* what comes then is unknown */
        else if (step->id == WMI_STEP_branch)
            memset(sets, 0, words * sizeof *sets);
        else
            memcpy(sets, wmi_live_set(live, i + 1, WMI_LIVE_ACTIVE), words * sizeof *sets);
        if (is_branch)
            add_target(live, i, sets);
        pass_step(live, i, sets, &sets[live->words]);
        grown |= memcmp(before, sets, words * sizeof *sets) != 0;
        memcpy(before, sets, words * sizeof *sets);
    }
    return grown;
}

static size_t words_before(const struct wmi_live *live)
{
    return live->block->count * WMI_LIVE_LANES * live->words;
}

static bool fill(const struct wmi_live *live)
{
    uint64_t *sets = malloc(WMI_LIVE_LANES * live->words * sizeof *sets);
    unsigned passes = 0;
    if (!sets)
        return false;
    memset(live->sets, 0, words_before(live) * sizeof *sets);
    memset(wmi_live_set(live, live->block->count, WMI_LIVE_ACTIVE), 0xff,
           WMI_LIVE_LANES * live->words * sizeof *sets);
    while (passes < MOST_PASSES && pass(live, sets))
        passes++;
    free(sets);
    return passes < MOST_PASSES;
}

struct wmi_live *wmi_find_live(const struct wmi_block *block)
{
    const struct wmi_code *code = block->code;
    const size_t rows = (code->constant_offset - code->vgpr_offset) / code->row_bytes;
    struct wmi_live *live = calloc(1, sizeof *live);
    if (!live)
        return NULL;
    *live = (struct wmi_live){.block = block, .words = (rows + 63) / 64};
    if ((block->count + 1) * WMI_LIVE_LANES * live->words <= MOST_WORDS)
        live->sets = calloc((block->count + 1) * WMI_LIVE_LANES * live->words + 1, sizeof *live->sets);
    live->drops_half = calloc(block->count, sizeof *live->drops_half);
    if (live->sets && live->drops_half && fill(live) && (!wmi_find_unread_halves(live) || fill(live)))
        return live;
    wmi_live_free(live);
    return NULL;
}

void wmi_live_free(struct wmi_live *live)
{
    if (live) {
        free(live->sets);
        free(live->drops_half);
    }
    free(live);
}

unsigned wmi_live_rows(const struct wmi_live *live, const struct wmi_block *block, size_t step)
{
    const struct wmi_code *code = block->code;
    unsigned rows = (code->constant_offset - code->vgpr_offset) / code->row_bytes;
    while (rows && !wmi_live_is(live, code->vgpr_offset + (rows - 1) * code->row_bytes, step, true))
        rows--;
    return rows;
}

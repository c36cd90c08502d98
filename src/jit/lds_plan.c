/* SPDX-License-Identifier: MIT */
/* Finds addresses in LDS that stay the same for the rest of the wave. */
#include "jit/lds_plan.h"

#include "jit/cut.h"
#include "jit/guess.h"
#include "jit/stretch.h"

#include <string.h>

static bool writes(const struct wmi_block *block, size_t at, uint32_t row)
{
    const struct wmi_extent span = {row, row + block->code->row_bytes};
    return wmi_step_writes_rows(&block->steps[at], span, block->code->options.lanes);
}

/* Steps between which a row stays as it is: from the one behind a write to the next one that writes. */
struct span {
    size_t from, to;
};

static struct span find_span(const struct wmi_block *block, size_t at, uint32_t row)
{
    struct span span = {at, at};
    while (span.from && !writes(block, span.from - 1, row))
        span.from--;
    while (span.to < block->count && !writes(block, span.to, row))
        span.to++;
    return span;
}

/* Whether the row has one value wherever a wave is at the step: it is written before loops, and not again if
 * the step is in a loop. */
static bool stays(const struct wmi_block *block, struct span span, size_t at, size_t head)
{
    return span.from <= head && (at < head || span.to == block->count);
}

static bool is_vgpr(const struct wmi_block *block, uint32_t row)
{
    return row >= block->code->vgpr_offset && row < block->code->constant_offset;
}

/* Whether waves get from their start to the step by one way, with the lanes and the MODE that they start
 * with.
 */
static bool is_reached_straight(const struct wmi_block *block, size_t at)
{
    for (size_t i = wmi_step_number(block, block->entry); i < at; i++) {
        const struct wmi_step_facts facts = wmi_step_facts_of(block->steps[i].id);
        if (facts.writes & (WMI_ON_EXEC | WMI_ON_MODE) ||
            facts.flags & (WMI_STEP_LEAVES | WMI_STEP_BRANCHES | WMI_STEP_TAKES_NEXT))
            return false;
    }
    return true;
}

/* Whether all that the vector step reads is computed from work-item ids and constants. What its results were
 * does not matter, because all lanes are active. */
static bool uses_only_ids(const struct wmi_block *block, size_t at, unsigned depth);

/* The same of the rows in front of the step, which waves reach straight. */
static bool are_from_ids(const struct wmi_block *block, struct wmi_extent rows, size_t at, unsigned depth)
{
    const struct wmi_code *code = block->code;
    for (uint32_t row = rows.from; row < rows.to; row += code->row_bytes) {
        size_t i = at;
        if (row >= code->constant_offset)
            continue;
        while (i && !writes(block, i - 1, row))
            i--;
        /* VGPRs that no step has written are ids or 0. */
        if (i ? !depth || !uses_only_ids(block, i - 1, depth - 1) : row < code->vgpr_offset)
            return false;
    }
    return true;
}

static bool uses_only_ids(const struct wmi_block *block, size_t at, unsigned depth)
{
    const struct wmi_step *step = &block->steps[at];
    if (!wmi_vector_emitter(step) || wmi_vector_keeps(step) ||
        wmi_step_facts_of(step->id).reads & ~(WMI_ON_EXEC | WMI_ON_MODE))
        return false;
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const enum wmi_step_operand operand = (enum wmi_step_operand)i;
        if (operand == WMI_OP_D || !(step->use[i] & WMI_USE_READ))
            continue;
        if ((step->use[i] & WMI_USE_KIND) != WMI_USE_ROWS ||
            !are_from_ids(block, wmi_step_span(step, operand, block->code->options.lanes), at, depth))
            return false;
    }
    return true;
}

/* Whether the row is the same behind its write, or the start, in all workgroups. */
static bool is_same_everywhere(const struct wmi_block *block, uint32_t row, size_t at)
{
    enum { MOST_STEPS = 6 }; /* from an id to the row */
    const struct wmi_extent span = {row, row + block->code->row_bytes};
    return is_reached_straight(block, at) && are_from_ids(block, span, at, MOST_STEPS);
}

/* Gives the steps of the span that use the address of step `first` the same number, if that is worth it. */
static void number_address(const struct wmi_block *block, const int8_t *guess, size_t first, struct span span,
                           size_t head, struct wmi_lds_plan *plan, unsigned *count)
{
    const uint32_t row = block->steps[first].a;
    unsigned uses = 0;
    uint32_t reach = 0;
    for (size_t i = first; i <= span.to && i < block->count; i++) {
        const uint32_t own = block->steps[i].a == row ? wmi_lds_reach(&block->steps[i]) : 0;
        if (!own || guess[i] != guess[first] || !stays(block, span, i, head))
            continue;
        plan->number[i] = (uint8_t)*count;
        uses += i < head ? 1 : 2;
        reach = own > reach ? own : reach;
    }
    if (uses > 1) {
        plan->lasts[*count] = is_same_everywhere(block, row, span.from);
        plan->reach[(*count)++] = reach;
    } else {
        plan->number[first] = WMI_NO_LDS_ADDRESS;
    }
}

/* ---- compares ---- */

/* Whether the row of an operand is the same in all workgroups wherever a wave is at the step. */
static bool operand_lasts(const struct wmi_block *block, size_t at, uint32_t row, size_t head)
{
    if (row >= block->code->constant_offset)
        return true;
    if (!is_vgpr(block, row))
        return false;
    const struct span span = find_span(block, at, row);
    return stays(block, span, at, head) && is_same_everywhere(block, row, span.from);
}

static void number_masks(const struct wmi_block *block, size_t head, struct wmi_lds_plan *plan)
{
    unsigned count = 0;
    uint32_t instruction;
    int predicate;
    for (size_t i = 0; i < block->count && count < WMI_LASTING_MASKS; i++) {
        const struct wmi_step *step = &block->steps[i];
        if (step->lanes == offsetof(struct wmi_frame, exec) &&
            wmi_vector_compares(step, &instruction, &predicate) && operand_lasts(block, i, step->a, head) &&
            operand_lasts(block, i, step->b, head))
            plan->mask[i] = (uint8_t)count++;
    }
}

static bool uses_lds(const struct wmi_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (wmi_lds_reach(&block->steps[i]))
            return true;
    return false;
}

void wmi_plan_lds(const struct wmi_block *block, const int8_t *guess, struct wmi_lds_plan *plan)
{
    size_t head;
    unsigned count = 0;
    memset(plan->number, WMI_NO_LDS_ADDRESS, block->count);
    memset(plan->mask, WMI_NO_MASK_NUMBER, block->count);
    if (!wmi_is_closed(block, &head))
        return;
    if (uses_lds(block))
        number_masks(block, head, plan);
    for (size_t i = 0; i < block->count && count < WMI_LDS_ADDRESSES; i++) {
        const struct wmi_step *step = &block->steps[i];
        if (plan->number[i] != WMI_NO_LDS_ADDRESS || guess[i] == WMI_NO_GUESS || !wmi_lds_reach(step) ||
            !is_vgpr(block, step->a))
            continue;
        const struct span span = find_span(block, i, step->a);
        if (stays(block, span, i, head))
            number_address(block, guess, i, span, head, plan, &count);
    }
}

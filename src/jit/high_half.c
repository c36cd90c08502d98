/* SPDX-License-Identifier: MIT */
/* Results of 16 bits that keep the high half of a VGPR, as on gfx10 and later, of which no step reads that
 * half. Such a step may leave anything in it, so that its result does not depend on what the VGPR was. */
#include "jit/find_live.h"
#include "jit/stretch.h"

/* Whether the step reads the row's high half, but to keep it. */
static bool reads_high(const struct wmi_live *live, const struct wmi_step *step, uint32_t row)
{
    const struct wmi_step_facts facts = wmi_step_facts_of(step->id);
    const struct wmi_code *code = live->block->code;
    if (facts.reads & WMI_ON_VGPRS || facts.flags & WMI_STEP_TAKES_NEXT)
        return true;
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent span = wmi_step_span(step, (enum wmi_step_operand)i, code->options.lanes);
        if (!(step->use[i] & WMI_USE_READ) || (step->use[i] & WMI_USE_KIND) != WMI_USE_ROWS ||
            row < span.from || row >= span.to)
            continue;
        if (i == WMI_OP_D ? !wmi_keeps_half(step) && !wmi_live_replaces(step, false)
                          : !wmi_reads_low_half(code, step, (enum wmi_step_operand)i))
            return true;
    }
    return false;
}

static bool is_written(const struct wmi_live *live, const struct wmi_step *step, uint32_t row)
{
    const struct wmi_extent span = wmi_step_span(step, WMI_OP_D, live->block->code->options.lanes);
    return (step->use[WMI_OP_D] & WMI_USE_KIND) == WMI_USE_ROWS && row >= span.from && row < span.to;
}

/* Whether nothing reads the row's high half from the step `at` on, in lanes that were active where it was
 * written. has_changed_exec: since then. *budget: how many steps may be looked at. */
static bool is_unread(const struct wmi_live *live, uint32_t row, size_t at, bool has_changed_exec,
                      unsigned *budget)
{
    const struct wmi_block *block = live->block;
    for (; at < block->count; at++) {
        const struct wmi_step *step = &block->steps[at];
        const struct wmi_step_facts facts = wmi_step_facts_of(step->id);
        if (facts.flags & WMI_STEP_ENDS_WAVE || !wmi_live_is(live, row, at, has_changed_exec))
            return true;
        if (!*budget || reads_high(live, step, row) ||
            wmi_code_shows(block->code, wmi_is_branch(step), facts.flags & WMI_STEP_PAUSES,
                           facts.flags & WMI_STEP_FAULTS))
            return false;
        --*budget;
        if (is_written(live, step, row) && wmi_live_replaces(step, false))
            return !has_changed_exec || !wmi_live_is_in(live, row, at + 1, WMI_LIVE_INACTIVE);
        has_changed_exec |= step->id == WMI_STEP_stage_EXEC || facts.writes & WMI_ON_EXEC;
        if (wmi_is_branch(step)) {
            const size_t target = wmi_step_number(block, wmi_branch_target(block, at));
            if (target == block->count || !is_unread(live, row, target, has_changed_exec, budget))
                return false;
            if (step->id == WMI_STEP_branch)
                return true;
        } else if (facts.flags & (WMI_STEP_LEAVES | WMI_STEP_BRANCHES)) {
            return false;
        }
    }
    return false;
}

bool wmi_find_unread_halves(struct wmi_live *live)
{
    enum { MOST_LOOKED_AT = 500 }; /* of steps */
    const struct wmi_block *block = live->block;
    bool has_some = false;
    for (size_t i = 0; i < block->count; i++) {
        unsigned budget = MOST_LOOKED_AT;
        const struct wmi_step *step = &block->steps[i];
        live->drops_half[i] = step->id == WMI_STEP_stage_OP_SEL_LOW && wmi_vector_emitter(step) &&
                              is_unread(live, step->d, i + 1, false, &budget);
        has_some |= live->drops_half[i];
    }
    return has_some;
}

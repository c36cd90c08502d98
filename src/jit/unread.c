/* SPDX-License-Identifier: MIT */
/* What no step reads of the results of the current one. */
#include "jit/live.h"
#include "jit/stretch.h"

bool wmi_stretch_drops_row(const struct wmi_stretch *s, uint32_t row)
{
    return row >= s->block->code->vgpr_offset && !wmi_live_is(s->live, row, s->at + 1, false);
}

bool wmi_is_branch(const struct wmi_step *step)
{
    return step->id >= WMI_STEP_branch && step->id <= WMI_STEP_branch_execnz;
}

const struct wmi_op *wmi_branch_target(const struct wmi_block *block, size_t at)
{
    const struct wmi_step *step = &block->steps[at];
    return block->find(block->user, (uint64_t)step->y << 32 | step->x);
}

size_t wmi_step_number(const struct wmi_block *block, const struct wmi_op *op)
{
    return op >= block->ops && op < &block->ops[block->count] ? (size_t)(op - block->ops) : block->count;
}

static const uint32_t scc = offsetof(struct wmi_frame, s) + 4 * WMI_S_SCC;

/* Whether the step gives the scalar a new value, whatever it was. */
static bool replaces(const struct wmi_stretch *s, const struct wmi_step *step, struct wmi_extent span)
{
    const bool sets_scc = wmi_step_facts_of(step->id).writes & WMI_ON_SCC && wmi_scalar_emitter(step);
    return (span.from == scc && sets_scc) || wmi_step_overwrites(step, span, s->lanes);
}

/* Whether nothing reads a scalar from the step `at` on. *budget: how many steps may be looked at. */
static bool is_scalar_dead(const struct wmi_stretch *s, uint32_t place, size_t at, unsigned *budget)
{
    const struct wmi_block *block = s->block;
    const struct wmi_extent span = {place, place + 4};
    for (; at < block->count; at++) {
        const struct wmi_step *step = &block->steps[at];
        const unsigned flags = wmi_step_facts_of(step->id).flags;
        if (flags & WMI_STEP_ENDS_WAVE)
            return true;
        if (!*budget || flags & WMI_STEP_TAKES_NEXT || wmi_step_reads_scalars(step, span, s->lanes))
            return false;
        --*budget;
        if (wmi_code_shows(block->code, wmi_is_branch(step), flags & WMI_STEP_PAUSES,
                           flags & WMI_STEP_FAULTS))
            return false;
        if (replaces(s, step, span))
            return true;
        if (wmi_is_branch(step)) {
            const struct wmi_op *target = wmi_branch_target(block, at);
            if (target < block->ops || target >= &block->ops[block->count] ||
                !is_scalar_dead(s, place, (size_t)(target - block->ops), budget))
                return false;
            if (step->id == WMI_STEP_branch)
                return true;
        } else if (flags & (WMI_STEP_LEAVES | WMI_STEP_BRANCHES)) {
            return false;
        }
    }
    return false;
}

/* The same of so many words. */
static bool is_dropped(const struct wmi_stretch *s, uint32_t place, unsigned words, size_t at)
{
    enum { MOST_LOOKED_AT = 500 };
    for (unsigned word = 0; word < words; word++) {
        unsigned budget = MOST_LOOKED_AT;
        if (!is_scalar_dead(s, place + 4 * word, at, &budget))
            return false;
    }
    return true;
}

bool wmi_stretch_drops_mask(const struct wmi_stretch *s, uint32_t place, size_t at)
{
    return wmi_is_null(place) || is_dropped(s, place, s->lanes / 32, at + 1);
}

bool wmi_stretch_drops_scc(const struct wmi_stretch *s)
{
    return is_dropped(s, scc, 1, s->at + 1);
}

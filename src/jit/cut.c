/* SPDX-License-Identifier: MIT */
#include "jit/cut.h"

enum { LEAST_STEPS = 2 }; /* of a stretch that is worth its entry */

wmi_emit_step *wmi_step_emitter(const struct wmi_step *step)
{
    wmi_emit_step *emit = wmi_vector_emitter(step);
    if (!emit)
        emit = wmi_scalar_emitter(step);
    if (!emit)
        emit = wmi_memory_emitter(step);
    if (!emit)
        emit = wmi_private_emitter(step);
    return emit ? emit : wmi_lds_emitter(step);
}

/* Whether the stretch goes on behind the branch, because it leads ahead and may not be taken. */
bool wmi_falls_through(const struct wmi_block *block, size_t at, const struct wmi_op *target)
{
    const bool back = target >= block->ops && target <= &block->ops[at];
    return block->steps[at].id != WMI_STEP_branch && !back;
}

size_t wmi_next_step(const struct wmi_block *block, size_t at)
{
    return at + (wmi_private_skips(&block->steps[at]) ? 2 : 1);
}

/* The end of the stretch that begins at `from`. */
size_t wmi_stretch_end(const struct wmi_block *block, size_t from)
{
    size_t i = from;
    for (; i < block->count - 1 && i - from < WMI_MOST_STEPS && (i == from || !block->leads[i]);
         i = wmi_next_step(block, i)) {
        const struct wmi_step *step = &block->steps[i];
        if (wmi_is_branch(step)) {
            const struct wmi_op *target = wmi_branch_target(block, i);
            if (!target)
                break;
            if (!wmi_falls_through(block, i, target))
                return i + 1;
        } else if (step->id != WMI_STEP_stage_EXEC && !wmi_step_emitter(step)) {
            break;
        }
    }
    return i;
}

/* How many steps from here on must stay as they are: a step that executes the next one, and the return to it.
 */
unsigned wmi_steps_taken(const struct wmi_block *block, size_t at)
{
    if (!(wmi_step_facts_of(block->steps[at].id).flags & WMI_STEP_TAKES_NEXT) ||
        wmi_private_skips(&block->steps[at]))
        return 0;
    return at + 2 < block->count && block->steps[at + 2].id == WMI_STEP_return_to_loop ? 3 : 2;
}

/* Whether a stretch that is worth its entry begins at the step. */
bool wmi_begins_stretch(const struct wmi_block *block, size_t at)
{
    return !wmi_steps_taken(block, at) && wmi_stretch_end(block, at) - at >= LEAST_STEPS;
}

bool wmi_ends_wave(const struct wmi_step *step)
{
    return wmi_step_facts_of(step->id).flags & WMI_STEP_ENDS_WAVE;
}

/* Whether a later branch leads back to the step. */
static bool is_loop_head(const struct wmi_block *block, size_t at)
{
    enum { LONGEST = 2048 }; /* steps of a loop; heads of longer ones are not worth the search */
    for (size_t i = at; block->leads[at] && i + 1 < block->count && i - at < LONGEST; i++)
        if (wmi_is_branch(&block->steps[i]) && wmi_branch_target(block, i) == &block->ops[at])
            return true;
    return false;
}

/* Code for waves that start goes on where branches lead, too, but not into loops. */
bool wmi_ends_launch(const struct wmi_stretch *s, size_t at)
{
    const struct wmi_block *block = s->block;
    const struct wmi_step *step = &block->steps[at];
    if (at == s->from)
        return false;
    if (at - s->from >= WMI_MOST_STEPS || is_loop_head(block, at))
        return true;
    return wmi_is_branch(step) ? !wmi_branch_target(block, at)
                               : step->id != WMI_STEP_stage_EXEC && !wmi_step_emitter(step);
}

bool wmi_is_closed(const struct wmi_block *block, size_t *head)
{
    *head = block->count;
    if (wmi_step_number(block, block->entry) == block->count)
        return false;
    for (size_t i = 0; i < block->count; i++) {
        const struct wmi_step *step = &block->steps[i];
        const unsigned flags = wmi_step_facts_of(step->id).flags;
        if (wmi_is_branch(step)) {
            const size_t target = wmi_step_number(block, wmi_branch_target(block, i));
            if (target == block->count)
                return false;
            if (target <= i && target < *head)
                *head = target;
        } else if (flags & WMI_STEP_ENDS_WAVE || step->id == WMI_STEP_fault) {
            continue;
        } else if (flags & (WMI_STEP_LEAVES | WMI_STEP_BRANCHES) || i + 1 == block->count) {
            return false;
        }
    }
    return true;
}

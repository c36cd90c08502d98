/* SPDX-License-Identifier: MIT */
#include "jit/branches.h"

#include "jit/cut.h"
#include "jit/exits.h"
#include "jit/next_wave.h"

/* ---- branches ---- */

/* Compares with 0 what the branch depends on; returns the condition under which it is not taken. */
static enum wmi_condition put_condition(struct wmi_stretch *s, const struct wmi_step *step)
{
    const int32_t scc = offsetof(struct wmi_frame, s) + 4 * WMI_S_SCC,
                  vcc = offsetof(struct wmi_frame, s) + 4 * WMI_S_VCC;
    switch (step->id) {
    case WMI_STEP_branch_scc0:
    case WMI_STEP_branch_scc1:
        wmi_arithmetic_memory(&s->host, 7, false, WMI_FRAME, scc, 0);
        return step->id == WMI_STEP_branch_scc0 ? WMI_IF_NOT_EQUAL : WMI_IF_EQUAL;
    case WMI_STEP_branch_vccz:
    case WMI_STEP_branch_vccnz:
        wmi_arithmetic_memory(&s->host, 7, s->lanes == 64, WMI_FRAME, vcc, 0);
        return step->id == WMI_STEP_branch_vccz ? WMI_IF_NOT_EQUAL : WMI_IF_EQUAL;
    default:
        wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, WMI_EXEC_BITS, 0);
        return step->id == WMI_STEP_branch_execz ? WMI_IF_NOT_EQUAL : WMI_IF_EQUAL;
    }
}

static void count_block(struct wmi_stretch *s)
{
    wmi_arithmetic_memory(&s->host, 5, true, WMI_FRAME, WMI_TURN_LEFT, (int32_t)s->block->steps[s->at].c);
}

/* Counts the block, and leaves if the branch is not taken or the turn is over. */
void wmi_put_branch(struct wmi_stretch *s, const struct wmi_op *target)
{
    const struct wmi_step *step = &s->block->steps[s->at];
    count_block(s);
    if (step->id != WMI_STEP_branch) {
        const enum wmi_condition not_taken = put_condition(s, step);
        wmi_stretch_exit_at(s, wmi_jump_if(&s->host, not_taken), WMI_EXIT_CONTINUES,
                            &s->block->ops[s->at + 1]);
    }
    wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, WMI_TURN_LEFT, 0);
    wmi_stretch_exit_at(s, wmi_jump_if(&s->host, WMI_IF_LESS), WMI_EXIT_PAUSES, target);
}

/* Counts the block, and leaves if the branch is taken. */
void wmi_put_branch_ahead(struct wmi_stretch *s, const struct wmi_op *target)
{
    enum { NOT = 1 }; /* of a condition */
    count_block(s);
    const enum wmi_condition not_taken = put_condition(s, &s->block->steps[s->at]);
    wmi_stretch_exit_at(s, wmi_jump_if(&s->host, not_taken ^ NOT), WMI_EXIT_BRANCHES, target);
}

static void compare_exec(struct wmi_stretch *s, int32_t value)
{
    wmi_arithmetic_memory(&s->host, 7, s->lanes == 64, WMI_FRAME,
                          (int32_t)(offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC), value);
}

/* Leaves, with the EXEC that the current step makes valid. */
static void leave_with_exec_if(struct wmi_stretch *s, enum wmi_condition condition)
{
    wmi_stretch_exit_at(s, wmi_jump_if(&s->host, condition), WMI_EXIT_CHANGES_EXEC,
                        &s->block->ops[s->at + 1]);
}

/* Where a wave of which all lanes are active again goes on in the code for full waves, or NULL. That takes no
 * row for uniform there: since the stretch began, other lanes may have become active. */
static const struct wmi_reentry *place_to_rejoin(const struct wmi_stretch *s)
{
    const struct wmi_reentry *full = wmi_find_reentry(&s->rejoins, 0, s->rejoins.count, s->at + 1);
    return full && wmi_stretch_is_clean(s) ? full : NULL;
}

/* Whether the step in front of the current one has left all lanes active. */
static bool stays_full(const struct wmi_stretch *s)
{
    return s->at > s->from && wmi_exec_stays_full(s, s->at - 1);
}

static void leave_if_partial(struct wmi_stretch *s)
{
    if (!wmi_stretch_has_exec(s)) {
        compare_exec(s, -1);
        leave_with_exec_if(s, WMI_IF_NOT_EQUAL);
        return;
    }
    wmi_arithmetic_immediate(&s->host, 7, s->lanes == 64, WMI_RAX, -1);
    leave_with_exec_if(s, WMI_IF_NOT_EQUAL);
    if (s->exit_count)
        s->exits[s->exit_count - 1].exec_in_rax = true;
}

/* EXEC changes. Waves that are in code for full ones, and are not full any more, leave it for the other code;
 * those that are full again may come back. */
void wmi_change_exec(struct wmi_stretch *s)
{
    if (s->partial) {
        const bool in_rax = wmi_stretch_has_exec(s);
        wmi_stretch_leave_lanes(s); /* leaves RAX as it is */
        wmi_put_exec(s, in_rax, place_to_rejoin(s));
    } else if (!stays_full(s)) {
        leave_if_partial(s);
    }
    s->has_changed_exec = true;
    if (!s->partial && wmi_stretch_is_spread(s))
        wmi_stretch_note(s, &s->rejoins, s->at + 1);
    wmi_stretch_come_back(s);
}

/* ---- EXEC of waves that start ---- */

/* The number of the step where the branch behind the current step leads if no lane is active, or 0. */
static size_t place_without_lanes(const struct wmi_stretch *s)
{
    const struct wmi_block *block = s->block;
    const size_t next = s->at + 1;
    if (next >= block->count || block->steps[next].id != WMI_STEP_branch_execz)
        return 0;
    const struct wmi_op *target = wmi_branch_target(block, next);
    return target > &block->ops[next] && target < &block->ops[block->count] ? (size_t)(target - block->ops)
                                                                            : 0;
}

/* Whether the wave only ends there. */
static bool is_end(const struct wmi_block *block, size_t at)
{
    while (at + 1 < block->count && block->steps[at].id == WMI_STEP_count)
        at++;
    return wmi_ends_wave(&block->steps[at]);
}

/* Whether what stands there is without effect on lanes until EXEC changes. */
static bool waits_for_exec(const struct wmi_block *block, size_t at)
{
    for (; at < block->count - 1 && block->steps[at].id != WMI_STEP_stage_EXEC; at++) {
        const struct wmi_step *step = &block->steps[at];
        if (!wmi_scalar_emitter(step) ||
            !(step->id == WMI_STEP_count || wmi_step_facts_of(step->id).flags & WMI_STEP_PURE))
            return false;
    }
    return at < block->count - 1;
}

/* Whether the current step makes EXEC valid for the lanes that did not take the first way of two: none in
 * waves of which all lanes took it. */
static bool begins_second_way(const struct wmi_stretch *s)
{
    const struct wmi_step *steps = s->block->steps;
    const uint32_t exec = offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC;
    if (s->at == s->from)
        return false;
    switch ((int)steps[s->at - 1].id) {
    case WMI_STEP_BODIES + WMI_INSN_s_andn2_saveexec_b64:
    case WMI_STEP_BODIES + WMI_INSN_s_andn2_saveexec_b32:
        return true;
    case WMI_STEP_BODIES + WMI_INSN_s_xor_b64:
    case WMI_STEP_BODIES + WMI_INSN_s_xor_b32:
        return steps[s->at - 1].d == exec;
    default:
        return false;
    }
}

/* Counts the block of the branch behind the current step. Leaves if the turn is over then. */
static void count_branch(struct wmi_stretch *s)
{
    const int32_t instructions = (int32_t)s->block->steps[s->at + 1].c;
    wmi_arithmetic_memory(&s->host, 7, true, WMI_FRAME, WMI_TURN_LEFT, instructions);
    leave_with_exec_if(s, WMI_IF_LESS);
    wmi_arithmetic_memory(&s->host, 5, true, WMI_FRAME, WMI_TURN_LEFT, instructions);
}

/* EXEC changes in a wave that started here. It goes on if all lanes are active; or ends if none is and
 * nothing is left to do; or goes on behind the second way of two. */
void wmi_change_exec_of_started(struct wmi_stretch *s)
{
    const size_t place = place_without_lanes(s);
    if (stays_full(s))
        return;
    if (place && begins_second_way(s) && waits_for_exec(s->block, place)) {
        compare_exec(s, 0);
        leave_with_exec_if(s, WMI_IF_NOT_EQUAL);
        count_branch(s);
        s->at = place - 1;
    } else if (place && is_end(s->block, place)) {
        compare_exec(s, -1);
        const size_t full = wmi_jump_if(&s->host, WMI_IF_EQUAL);
        compare_exec(s, 0);
        leave_with_exec_if(s, WMI_IF_NOT_EQUAL);
        count_branch(s);
        wmi_stretch_restore_spilled(s);
        if (wmi_ends_wave(&s->block->steps[place]))
            wmi_put_next_wave(s, place);
        wmi_continue_at(s, &s->block->ops[place]);
        wmi_land(&s->host, full);
    } else {
        compare_exec(s, -1);
        leave_with_exec_if(s, WMI_IF_NOT_EQUAL);
    }
}

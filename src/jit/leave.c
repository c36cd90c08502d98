/* SPDX-License-Identifier: MIT */
#include "jit/leave.h"

#include "base/grow.h"
#include "jit/moves.h"

#include <string.h>

/* ---- exits ---- */

void wmi_stretch_flush(struct wmi_stretch *s, size_t next, size_t target)
{
    const bool ends =
        next < s->block->count && wmi_step_facts_of(s->block->steps[next].id).flags & WMI_STEP_ENDS_WAVE;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (!held->used || !held->dirty)
            continue;
        if (!ends && (wmi_row_is_temporary(s, held->row) ? wmi_row_is_temporary_read(s, held->row, next)
                                                         : wmi_held_is_read_from(s, held, target)))
            wmi_stretch_store(s, held);
        held->dirty = false;
    }
}

/* Whether the row must be stored for what follows an exit at the current step. */
static bool is_kept_by_exit(const struct wmi_stretch *s, const struct wmi_held_row *held,
                            enum wmi_exit_kind kind, const struct wmi_op *op)
{
    if (!held->used || !held->dirty)
        return false;
    if (kind == WMI_EXIT_INTERPRETS)
        return true;
    /* Before EXEC changes, the active lanes are those for which the registers have values. */
    if (!wmi_row_is_temporary(s, held->row))
        return wmi_held_is_read_from(s, held,
                                     kind == WMI_EXIT_CHANGES_EXEC ? s->at : wmi_step_number(s->block, op));
    return (kind == WMI_EXIT_CONTINUES || kind == WMI_EXIT_CHANGES_EXEC) &&
           wmi_row_is_temporary_read(s, held->row, s->at + 1);
}

void wmi_stretch_exit_at(struct wmi_stretch *s, size_t jump, enum wmi_exit_kind kind, const struct wmi_op *op)
{
    if (!wmi_grow(&s->exits, &s->exit_capacity, s->exit_count, sizeof *s->exits)) {
        s->failed = true;
        return;
    }
    struct wmi_exit *leave = &s->exits[s->exit_count++];
    leave->jump = jump;
    leave->kind = kind;
    leave->op = op;
    leave->version = s->version;
    leave->exec_in_rax = false;
    leave->count = 0;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        if (is_kept_by_exit(s, &s->held[i], kind, op))
            leave->dirty[leave->count++] = s->held[i];
}

void wmi_stretch_exit_here(struct wmi_stretch *s, size_t jump)
{
    wmi_stretch_exit_at(s, jump, WMI_EXIT_INTERPRETS, &s->block->ops[wmi_stretch_first_undone(s)]);
}

void wmi_stretch_exit_if(struct wmi_stretch *s, enum wmi_condition condition)
{
    if (s->by_halves) {
        wmi_set_if(&s->host, condition, WMI_RBX);
        wmi_scalar_registers(&s->host, WMI_OR, false, WMI_R8, WMI_RBX);
        s->halves.may_fail = s->halves.may_fail_by_flag = true;
        return;
    }
    wmi_stretch_exit_here(s, wmi_jump_if(&s->host, condition));
}

/* Leaves if a base compares so. */
void wmi_stretch_leave_if(struct wmi_stretch *s, uint32_t instruction, unsigned a, struct wmi_host_operand b,
                          int predicate)
{
    wmi_evex(&s->host, instruction, WMI_K, a, b, WMI_NO_MASK, predicate);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

bool wmi_stretch_is_clean(const struct wmi_stretch *s)
{
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        if (s->held[i].used && s->held[i].dirty)
            return false;
    return true;
}

bool wmi_stretch_is_spread(const struct wmi_stretch *s)
{
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        if (s->held[i].used && s->held[i].shared && !wmi_row_is_constant(s, s->held[i].row))
            return false;
    return true;
}

bool wmi_stretch_has_exec(const struct wmi_stretch *s)
{
    return s->exec_in_rax == s->host.count;
}

/* Whether waves that come from elsewhere could not be given what the registers hold. */
static bool holds_runs(const struct wmi_stretch *s)
{
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        if (s->held[i].used && s->held[i].runs)
            return true;
    return false;
}

void wmi_stretch_note(struct wmi_stretch *s, struct wmi_reentries *reentries, size_t step)
{
    if (holds_runs(s))
        return;
    if (!wmi_grow(&reentries->one, &reentries->capacity, reentries->count, sizeof *reentries->one)) {
        s->failed = true;
        return;
    }
    struct wmi_reentry *back = &reentries->one[reentries->count++];
    s->exec_in_rax = 0; /* not in waves that come here */
    s->known_places = 0;
    back->step = step;
    back->code = s->host.count;
    back->mask = s->mask;
    back->count = 0;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        if (s->held[i].used)
            back->held[back->count++] = s->held[i];
}

/* Waves that start here come back to another version. The version for full waves may take rows that were
 * written since EXEC changed for uniform, which they are not in a wave that was not full then and is now. */
void wmi_stretch_come_back(struct wmi_stretch *s)
{
    if (s->version == WMI_PARTIAL ||
        (s->version == WMI_FULL && (!s->has_changed_exec || wmi_stretch_is_spread(s))))
        wmi_stretch_note(s, &s->reentries, s->at + 1);
}

/* ---- code aside ---- */

void wmi_stretch_set_aside(struct wmi_stretch *s, size_t from, size_t first_exit, const size_t *jumps,
                           size_t jump_count, size_t back)
{
    const size_t count = s->host.count - from;
    struct wmi_host *bytes = &s->aside_bytes;
    if (!wmi_grow(&s->asides, &s->aside_capacity, s->aside_count, sizeof *s->asides))
        s->failed = true;
    for (size_t i = 0; i < jump_count && !s->failed; i++) {
        if (wmi_grow(&s->aside_jumps, &s->aside_jump_capacity, s->aside_jump_count, sizeof *jumps))
            s->aside_jumps[s->aside_jump_count++] = jumps[i];
        else
            s->failed = true;
    }
    if (s->failed || s->host.full)
        return;
    s->asides[s->aside_count++] = (struct wmi_aside){.from = bytes->count,
                                                     .count = count,
                                                     .first_exit = first_exit,
                                                     .exit_count = s->exit_count - first_exit,
                                                     .first_jump = s->aside_jump_count - jump_count,
                                                     .jump_count = jump_count,
                                                     .back = back};
    wmi_put_bytes(bytes, s->host.bytes + from, count);
    for (size_t i = first_exit; i < s->exit_count; i++)
        s->exits[i].jump -= from; /* relative to where the code will be */
    s->host.count = from;
    wmi_host_forget_masks(&s->host);
}

void wmi_stretch_put_asides(struct wmi_stretch *s)
{
    s->failed |= s->aside_bytes.full;
    for (size_t i = 0; i < s->aside_count && !s->failed; i++) {
        const struct wmi_aside *aside = &s->asides[i];
        for (size_t j = 0; j < aside->jump_count; j++)
            wmi_land(&s->host, s->aside_jumps[aside->first_jump + j]);
        for (size_t j = 0; j < aside->exit_count; j++)
            s->exits[aside->first_exit + j].jump += s->host.count;
        wmi_put_bytes(&s->host, s->aside_bytes.bytes + aside->from, aside->count);
        wmi_jump_back(&s->host, aside->back);
    }
    s->aside_count = s->aside_jump_count = s->aside_bytes.count = 0;
}

/* ---- splits ---- */

void wmi_stretch_split_at(struct wmi_stretch *s, size_t jump)
{
    if (!wmi_grow(&s->splits, &s->split_capacity, s->split_count, sizeof *s->splits)) {
        s->failed = true;
        return;
    }
    struct wmi_split *split = &s->splits[s->split_count++];
    *split = (struct wmi_split){
        .jump = jump, .step = s->at, .has_changed_exec = s->has_changed_exec, .mask = s->mask};
    wmi_stretch_save(s, &split->kept);
}

void wmi_stretch_go_back(struct wmi_stretch *s, const struct wmi_split *split)
{
    wmi_stretch_restore(s, &split->kept);
    s->known_places = 0;
    s->has_changed_exec = split->has_changed_exec;
    s->mask = split->mask;
    s->clear.is_held = s->joins_next = false;
    s->sum = NULL;
    s->at = split->step;
}

/* ---- loops ---- */

void wmi_stretch_keep(struct wmi_stretch *s, struct wmi_kept *kept)
{
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (held->used && !wmi_row_is_constant(s, held->row) &&
            (wmi_row_is_temporary(s, held->row) || !wmi_held_is_read_from(s, held, s->from)))
            wmi_held_release(s, held);
        held->step = 0;
        /* In later iterations it may be, at this point. */
        held->dirty = held->used && !wmi_row_is_constant(s, held->row);
    }
    wmi_stretch_save(s, kept);
    s->mask.is_held = s->clear.is_held = false;
}

/* How the registers come to hold a row as they did when the loop was entered. */
enum match { STAYS, MOVES, IS_LOADED };

/* now NULL: they do not hold it. */
static enum match match_of(const struct wmi_held_row *now, const struct wmi_held_row *before)
{
    if (!now || now->strips != before->strips || now->active_only != before->active_only)
        return IS_LOADED;
    return memcmp(now->reg, before->reg, now->strips) ? MOVES : STAYS;
}

void wmi_stretch_match(struct wmi_stretch *s, const struct wmi_kept *kept)
{
    uint8_t from[WMI_ZMM_REGISTERS];
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++)
        from[i] = (uint8_t)i;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        const struct wmi_held_row *held = &s->held[i];
        if (!held->used || !held->dirty || wmi_row_is_temporary(s, held->row))
            continue;
        const unsigned before = kept->held_of_row[wmi_row_number(s->block->code, held->row)];
        if (before == WMI_NOT_HELD ? wmi_held_is_read_from(s, held, s->from)
                                   : match_of(held, &kept->held[before]) == IS_LOADED)
            wmi_stretch_store(s, held);
    }
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        const struct wmi_held_row *before = &kept->held[i],
                                  *now = before->used ? wmi_held_find(s, before->row) : NULL;
        if (now && match_of(now, before) == MOVES)
            for (unsigned strip = 0; strip < before->strips; strip++)
                from[before->reg[strip]] = now->reg[strip];
    }
    wmi_move_registers(&s->host, from);
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        const struct wmi_held_row *before = &kept->held[i];
        if (before->used && match_of(wmi_held_find(s, before->row), before) == IS_LOADED)
            wmi_stretch_load(s, before);
    }
}

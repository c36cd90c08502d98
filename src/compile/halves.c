/* SPDX-License-Identifier: MIT */
#include "compile/halves.h"

#include <string.h>

enum {
    MOST_STEPS = 64,
    LEAST_STEPS = 2,
    HALVES = 2, /* of a strip */
};

struct run {
    struct wmi_stretch *s;
    size_t from, end;
    uint8_t waiting[MOST_STEPS]; /* scalar steps, counted from `from` */
    unsigned waiting_count;
    unsigned whole_cost, cost;    /* host instructions for eight lanes: as usual, and in the run */
    uint32_t kept[WMI_KEPT_ROWS]; /* rows that are read and then replaced */
    unsigned kept_count;
    struct wmi_kept outside; /* what the registers hold in front of the run */
};

static uint32_t row_of(const struct run *r, unsigned number)
{
    return (uint32_t)offsetof(struct wmi_frame, rows) + number * r->s->row_bytes;
}

/* What is noted of the row. */
static struct wmi_half_row *note(struct run *r, uint32_t row)
{
    const struct wmi_stretch *s = r->s;
    const unsigned number = wmi_row_number(s->block->code, row), held = s->held_of_row[number];
    struct wmi_half_row *noted = &s->half_rows->row[number];
    if (!noted->flags) {
        const bool uniform = held != WMI_NOT_HELD && s->held[held].shared;
        noted->flags = (uint8_t)(WMI_ROW_IS_NOTED | (uniform ? WMI_ROW_IS_UNIFORM : 0));
        s->half_rows->number[s->half_rows->count++] = (uint16_t)number;
    }
    return noted;
}

static bool is_constant(const struct run *r, uint32_t row)
{
    return row >= r->s->block->code->constant_offset;
}

static bool reads_mask(const struct wmi_step *step)
{
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++)
        if (step->use[i] & WMI_USE_READ && (step->use[i] & WMI_USE_KIND) == WMI_USE_WORDS &&
            (step->use[i] & WMI_USE_COUNT) == WMI_USE_MASK)
            return true;
    return false;
}

static bool is_held_in_runs(const struct run *r, uint32_t row)
{
    const uint8_t held = r->s->held_of_row[wmi_row_number(r->s->block->code, row)];
    return held != WMI_NOT_HELD && r->s->held[held].runs;
}

static bool writes_mask(const struct wmi_step *step)
{
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++)
        if (step->use[i] & WMI_USE_WRITE && (step->use[i] & WMI_USE_KIND) == WMI_USE_WORDS)
            return true;
    return false;
}

/* Whether the step of a run may be left to what follows the run: a scalar one of a kind that never leaves. */
static bool may_wait(const struct wmi_step *step)
{
    return step->id >= WMI_STEP_BODIES && wmi_scalar_emitter(step);
}

/* Whether a step of the run needs what an earlier one, which waits, does. */
static bool needs(const struct run *r, const struct wmi_step *step, const struct wmi_step *earlier)
{
    const unsigned lanes = r->s->lanes;
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const unsigned kind = earlier->use[i] & WMI_USE_KIND;
        if (!(earlier->use[i] & (WMI_USE_READ | WMI_USE_WRITE)) || kind == WMI_USE_ROWS)
            continue;
        const struct wmi_extent span = wmi_step_span(earlier, (enum wmi_step_operand)i, lanes);
        if (wmi_step_writes_scalars(step, span, lanes) ||
            (earlier->use[i] & WMI_USE_WRITE && wmi_step_reads_scalars(step, span, lanes)))
            return true;
    }
    return false;
}

static bool needs_waiting(const struct run *r, const struct wmi_step *step)
{
    for (unsigned i = 0; i < r->waiting_count; i++)
        if (needs(r, step, &r->s->block->steps[r->from + r->waiting[i]]))
            return true;
    return false;
}

/* Adds a step, unless it needs a row that is held in a run, which other emitters are for. *uniform: the
 * result is the same in all lanes. */
static bool add_step(struct run *r, size_t at, bool *uniform)
{
    const struct wmi_step *step = &r->s->block->steps[at];
    const unsigned stored = r->s->partial ? 4 : 1; /* a row is merged with what it was */
    const uint64_t bit = UINT64_C(1) << (at - r->from);
    unsigned reads = 0, writes = 0;
    *uniform = !reads_mask(step) && !writes_mask(step);
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent span = wmi_stretch_operand_rows(r->s, step, i, WMI_USE_READ);
        for (uint32_t row = span.from; row < span.to; row += r->s->row_bytes) {
            if (is_constant(r, row))
                continue;
            struct wmi_half_row *noted = note(r, row);
            if (!(noted->flags & WMI_ROW_IS_WRITTEN) && is_held_in_runs(r, row))
                return false;
            *uniform &= (noted->flags & WMI_ROW_IS_UNIFORM) != 0;
            r->cost += !(noted->flags & (WMI_ROW_IS_WRITTEN | WMI_ROW_IS_READ));
            noted->flags |= noted->flags & WMI_ROW_IS_WRITTEN ? 0 : WMI_ROW_IS_READ;
            noted->reads |= bit;
            reads++;
        }
    }
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent span = wmi_stretch_operand_rows(r->s, step, i, WMI_USE_WRITE);
        for (uint32_t row = span.from; row < span.to; row += r->s->row_bytes) {
            struct wmi_half_row *noted = note(r, row);
            noted->flags &= (uint8_t)~WMI_ROW_IS_UNIFORM;
            noted->flags |= (uint8_t)(WMI_ROW_IS_WRITTEN | (*uniform ? WMI_ROW_IS_UNIFORM : 0));
            noted->writes |= bit;
            writes++;
        }
    }
    r->cost++;
    r->whole_cost += *uniform ? 0 : reads + 1 + writes * stored;
    return true;
}

static void begin(struct run *r)
{
    struct wmi_half_rows *rows = r->s->half_rows;
    for (unsigned i = 0; i < rows->count; i++)
        rows->row[rows->number[i]] = (struct wmi_half_row){.flags = 0};
    rows->count = 0;
    r->whole_cost = r->cost = r->waiting_count = 0;
    r->s->halves_from = r->from;
}

/* Finds the steps up to `limit` that can be in a run. What is the same in all lanes is neither its first step
 * nor its last one: such a step costs less outside. */
static bool find(struct run *r, size_t limit)
{
    const struct wmi_stretch *s = r->s;
    bool uniform;
    size_t at = r->end = r->from;
    begin(r);
    for (; at < limit; at++) {
        const struct wmi_step *step = &s->block->steps[at];
        if (may_wait(step) && at > r->from) {
            r->waiting[r->waiting_count++] = (uint8_t)(at - r->from);
            continue;
        }
        if (!wmi_vector_works_by_halves(step) || needs_waiting(r, step) || !add_step(r, at, &uniform) ||
            (uniform && at == r->from))
            break;
        if (!uniform)
            r->end = at + 1;
    }
    if (r->end - r->from < LEAST_STEPS)
        return false;
    begin(r); /* once more, without what is behind the end */
    for (at = r->from; at < r->end; at++)
        if (!may_wait(&s->block->steps[at]))
            add_step(r, at, &uniform);
    return true;
}

/* Finds what is kept and adds what it costs. */
static bool find_kept(struct run *r)
{
    const struct wmi_half_rows *rows = r->s->half_rows;
    r->kept_count = 0;
    if (!r->s->may_fail)
        return true;
    for (unsigned i = 0; i < rows->count; i++) {
        const uint8_t flags = rows->row[rows->number[i]].flags;
        if (!(flags & WMI_ROW_IS_READ) || !(flags & WMI_ROW_IS_WRITTEN))
            continue;
        if (r->kept_count == WMI_KEPT_ROWS)
            return false;
        r->kept[r->kept_count++] = row_of(r, rows->number[i]);
        r->cost += 2;
    }
    return true;
}

/* ---- code ---- */

static struct wmi_host_operand home(const struct run *r, uint32_t row)
{
    const struct wmi_rows rows = {.row = row, .in_memory = true};
    return wmi_rows_operand(r->s, &rows, 0);
}

/* The code is for one half, or for the wave again. */
static void choose_half(struct wmi_stretch *s, unsigned strip, unsigned half)
{
    s->by_halves = true;
    s->first_strip = strip;
    s->strips = 1;
    s->host.only_half = (uint8_t)(1 + half);
    s->host.needs_both = false;
    wmi_host_forget_masks(&s->host);
}

static void choose_wave(struct wmi_stretch *s)
{
    s->by_halves = false;
    s->first_strip = 0;
    s->strips = s->lanes / WMI_STRIP_LANES;
    s->host.only_half = 0;
    wmi_host_forget_masks(&s->host);
}

/* Whether the step reads a mask that the run has computed in another way than lane by lane. */
static bool takes_mask_apart(const struct wmi_stretch *s, const struct wmi_step *step)
{
    for (unsigned i = 0; i < s->half_masks; i++) {
        const uint32_t place = s->half_mask[i].place;
        const struct wmi_extent span = {place, place + s->lanes / 8};
        if (wmi_step_reads_scalars(step, span, s->lanes) && !(reads_mask(step) && step->c == place))
            return true;
    }
    return false;
}

/* Jumps over the code of a half none of whose lanes is active. 0: all are. */
static size_t unless_active(struct wmi_stretch *s, unsigned strip, unsigned half)
{
    if (!s->partial)
        return 0;
    wmi_test_memory_8(&s->host, WMI_FRAME, WMI_EXEC_BITS + (int32_t)(strip * HALVES + half), 0xff);
    return wmi_jump_if(&s->host, WMI_IF_EQUAL);
}

static void land(struct wmi_stretch *s, size_t idle)
{
    if (idle)
        wmi_land(&s->host, idle);
}

/* Emits the steps for a half. The result is the first one that cannot be, or the end. */
static size_t put_half(struct run *r, unsigned strip, unsigned half)
{
    struct wmi_stretch *s = r->s;
    wmi_stretch_restore(s, &r->outside);
    const size_t idle = unless_active(s, strip, half);
    choose_half(s, strip, half);
    s->halves_end = r->end;
    s->half_masks = 0;
    for (unsigned i = 0; i < r->kept_count; i++)
        s->host.vectors->keep_half(&s->host, i, strip, home(r, r->kept[i]));
    for (s->at = r->from; s->at < r->end; s->at++) {
        const struct wmi_step *step = &s->block->steps[s->at];
        if (may_wait(step))
            continue;
        const bool can =
            !takes_mask_apart(s, step) && wmi_vector_emitter(step)(s, step) && !s->host.needs_both;
        wmi_stretch_end_step(s);
        if (!can)
            return s->at;
    }
    wmi_stretch_flush_half(s, r->end);
    land(s, idle);
    return r->end;
}

/* Behind the run: leaves for its first step if lanes have failed. */
static void put_test(struct run *r)
{
    enum { TEST = 0x85 };
    struct wmi_stretch *s = r->s;
    const unsigned strips = s->strips;
    size_t jumps[2];
    unsigned count = 0;
    s->host.vectors->test_failed(&s->host);
    jumps[count++] = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    if (s->may_fail_by_flag) {
        wmi_scalar_registers(&s->host, TEST, false, WMI_R8, WMI_R8);
        jumps[count++] = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    }
    const size_t from = s->host.count, first_exit = s->exit_count;
    for (unsigned half = 0; half < HALVES * strips; half++) {
        const size_t idle = unless_active(s, half / HALVES, half % HALVES);
        choose_half(s, half / HALVES, half % HALVES);
        for (unsigned i = 0; i < r->kept_count; i++)
            s->host.vectors->restore_half(&s->host, i, half / HALVES, home(r, r->kept[i]));
        land(s, idle);
    }
    choose_wave(s);
    wmi_stretch_exit_here(s, wmi_jump(&s->host));
    wmi_stretch_set_aside(s, from, first_exit, jumps, count, from);
}

/* The scalar steps among those of the run. False: there is no code for one. */
static bool put_waiting(struct run *r)
{
    struct wmi_stretch *s = r->s;
    for (s->at = r->from; s->at < r->end; s->at++) {
        const struct wmi_step *step = &s->block->steps[s->at];
        if (may_wait(step) && !wmi_scalar_emitter(step)(s, step))
            return false;
        wmi_stretch_end_step(s);
    }
    return true;
}

static void put_run(struct run *r)
{
    enum { MOST_CONSTANTS = 8 };
    struct wmi_stretch *s = r->s;
    const struct wmi_half_rows *rows = s->half_rows;
    const unsigned strips = s->strips;
    struct wmi_constant_row constant[MOST_CONSTANTS];
    if (s->may_fail)
        s->host.vectors->begin_halves(&s->host);
    if (s->may_fail_by_flag)
        wmi_scalar_registers(&s->host, WMI_XOR, false, WMI_R8, WMI_R8);
    for (unsigned i = 0; i < s->half_masks; i++)
        if (s->half_mask[i].is_collected)
            wmi_scalar_registers(&s->host, WMI_XOR, false, s->half_mask[i].reg, s->half_mask[i].reg);
    for (unsigned half = 0; half < HALVES * strips; half++)
        put_half(r, half / HALVES, half % HALVES);
    const unsigned constants = wmi_stretch_constants(s, constant, MOST_CONSTANTS);
    wmi_stretch_restore(s, &r->outside);
    choose_wave(s);
    s->at = r->from;
    if (s->may_fail)
        put_test(r);
    for (unsigned i = 0; i < s->half_masks; i++)
        if (s->half_mask[i].is_collected)
            wmi_scalar_memory(&s->host, WMI_MOV_STORE, s->lanes == 64, s->half_mask[i].reg, WMI_FRAME,
                              (int32_t)s->half_mask[i].place);
    wmi_stretch_end_halves(s);
    for (unsigned i = 0; i < rows->count; i++)
        if (rows->row[rows->number[i]].flags & WMI_ROW_IS_WRITTEN)
            wmi_stretch_written_in_memory(s, row_of(r, rows->number[i]));
    for (unsigned i = 0; i < constants; i++)
        wmi_stretch_hold_constant(s, &constant[i]);
    put_waiting(r);
    s->at = r->end - 1;
}

/* Tries the steps on a half, which finds those that cannot be in a run, and whether lanes may fail. */
static bool try_half(struct run *r)
{
    struct wmi_stretch *s = r->s;
    const size_t code = s->host.count, exits = s->exit_count;
    bool is_whole;
    do {
        s->may_fail = s->may_fail_by_flag = false;
        r->kept_count = 0;
        const size_t end = put_half(r, 0, 0);
        is_whole = end == r->end;
        choose_wave(s);
        /* A wave that left from one of the scalar steps would come to steps of the run once more. */
        const bool can_wait = !is_whole || (put_waiting(r) && s->exit_count == exits);
        s->host.count = code;
        s->exit_count = exits;
        s->at = r->from;
        wmi_stretch_restore(s, &r->outside);
        if (!can_wait || (!is_whole && !find(r, end)))
            return false;
    } while (!is_whole);
    return find_kept(r) && r->cost < r->whole_cost;
}

bool wmi_put_halves(struct wmi_stretch *s)
{
    if (!s->half_rows || s->version == WMI_LAUNCH || s->has_points ||
        !wmi_vector_works_by_halves(&s->block->steps[s->at]))
        return false;
    struct run run;
    struct wmi_kept before;
    const size_t code = s->host.count, limit = s->end - s->at > MOST_STEPS ? s->at + MOST_STEPS : s->end;
    run.s = s;
    run.from = s->at;
    if (!find(&run, limit) || run.cost >= run.whole_cost)
        return false;
    wmi_stretch_save(s, &before);
    const bool has_room = wmi_stretch_make_room(s);
    wmi_stretch_save(s, &run.outside);
    if (has_room && try_half(&run)) {
        put_run(&run);
        return true;
    }
    wmi_stretch_restore(s, &before);
    s->host.count = code;
    return false;
}

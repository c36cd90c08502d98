/* SPDX-License-Identifier: MIT */
#include "jit/halves.h"

#include "jit/cut.h"

#include <string.h>

enum {
    MOST_STEPS = 64,
    LEAST_STEPS = 2,
    LEAST_OF_STARTED = 5, /* in waves that start, as what is stored must be restored where they end */
    HALVES = 2,           /* of a strip */
};

struct sequence {
    struct wmi_stretch *s;
    size_t from, end;
    uint8_t waiting[MOST_STEPS]; /* scalar steps, counted from `from` */
    unsigned waiting_count;
    unsigned whole_cost, cost;    /* host instructions for eight lanes: as usual, and in the sequence */
    uint32_t kept[WMI_KEPT_ROWS]; /* rows that are read and then replaced */
    unsigned kept_count;
    struct wmi_kept outside; /* what the registers hold in front of the sequence */
};

static uint32_t row_of(const struct sequence *q, unsigned number)
{
    return (uint32_t)offsetof(struct wmi_frame, rows) + number * q->s->row_bytes;
}

/* What is noted of the row. */
static struct wmi_half_row *note(struct sequence *q, uint32_t row)
{
    const struct wmi_stretch *s = q->s;
    const unsigned number = wmi_row_number(s->block->code, row), held = s->held_of_row[number];
    struct wmi_half_row *noted = &s->halves.rows->row[number];
    if (!noted->flags) {
        const bool uniform = held != WMI_NOT_HELD && s->held[held].shared;
        noted->flags = (uint8_t)(WMI_ROW_IS_NOTED | (uniform ? WMI_ROW_IS_UNIFORM : 0));
        s->halves.rows->number[s->halves.rows->count++] = (uint16_t)number;
    }
    return noted;
}

static bool reads_mask(const struct wmi_step *step)
{
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++)
        if (step->use[i] & WMI_USE_READ && (step->use[i] & WMI_USE_KIND) == WMI_USE_WORDS &&
            (step->use[i] & WMI_USE_COUNT) == WMI_USE_MASK)
            return true;
    return false;
}

static bool is_in_runs(const struct sequence *q, uint32_t row)
{
    const uint8_t held = q->s->held_of_row[wmi_row_number(q->s->block->code, row)];
    return wmi_stretch_is_id(q->s, row) || (held != WMI_NOT_HELD && q->s->held[held].runs);
}

static bool writes_mask(const struct wmi_step *step)
{
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++)
        if (step->use[i] & WMI_USE_WRITE && (step->use[i] & WMI_USE_KIND) == WMI_USE_WORDS)
            return true;
    return false;
}

/* Whether the step of a sequence may be left to what follows the sequence: a scalar one of a kind that never
 * leaves. */
static bool may_wait(const struct wmi_step *step)
{
    return step->id >= WMI_STEP_BODIES && wmi_scalar_emitter(step);
}

/* Whether a step of the sequence needs what an earlier one, which waits, does. */
static bool needs(const struct sequence *q, const struct wmi_step *step, const struct wmi_step *earlier)
{
    const unsigned lanes = q->s->lanes;
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

static bool needs_waiting(const struct sequence *q, const struct wmi_step *step)
{
    for (unsigned i = 0; i < q->waiting_count; i++)
        if (needs(q, step, &q->s->block->steps[q->from + q->waiting[i]]))
            return true;
    return false;
}

/* Adds a step, unless it needs a row in runs, which other emitters are for. *uniform: the
 * result is the same in all lanes. */
static bool add_step(struct sequence *q, size_t at, bool *uniform)
{
    const struct wmi_step *step = &q->s->block->steps[at];
    const unsigned stored = q->s->partial ? 4 : 1; /* a row is merged with what it was */
    const uint64_t bit = UINT64_C(1) << (at - q->from);
    unsigned reads = 0, writes = 0;
    *uniform = !reads_mask(step) && !writes_mask(step);
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent span = wmi_stretch_operand_rows(q->s, step, i, WMI_USE_READ);
        for (uint32_t row = span.from; row < span.to; row += q->s->row_bytes) {
            if (wmi_row_is_constant(q->s, row))
                continue;
            struct wmi_half_row *noted = note(q, row);
            if (!(noted->flags & WMI_ROW_IS_WRITTEN) && is_in_runs(q, row))
                return false;
            *uniform &= (noted->flags & WMI_ROW_IS_UNIFORM) != 0;
            q->cost += !(noted->flags & (WMI_ROW_IS_WRITTEN | WMI_ROW_IS_READ));
            noted->flags |= noted->flags & WMI_ROW_IS_WRITTEN ? 0 : WMI_ROW_IS_READ;
            noted->reads |= bit;
            reads++;
        }
    }
    for (unsigned i = 0; i < WMI_STEP_OPERANDS; i++) {
        const struct wmi_extent span = wmi_stretch_operand_rows(q->s, step, i, WMI_USE_WRITE);
        for (uint32_t row = span.from; row < span.to; row += q->s->row_bytes) {
            struct wmi_half_row *noted = note(q, row);
            noted->flags &= (uint8_t)~WMI_ROW_IS_UNIFORM;
            noted->flags |= (uint8_t)(WMI_ROW_IS_WRITTEN | (*uniform ? WMI_ROW_IS_UNIFORM : 0));
            noted->writes |= bit;
            writes++;
        }
    }
    q->cost++;
    q->whole_cost += *uniform ? 0 : reads + 1 + writes * stored;
    return true;
}

static void begin(struct sequence *q)
{
    struct wmi_half_rows *rows = q->s->halves.rows;
    for (unsigned i = 0; i < rows->count; i++)
        rows->row[rows->number[i]] = (struct wmi_half_row){.flags = 0};
    rows->count = 0;
    q->whole_cost = q->cost = q->waiting_count = 0;
    q->s->halves.from = q->from;
}

/* Finds the steps up to `limit` that can be in a sequence. What is the same in all lanes is neither its first
 * step nor its last one: such a step costs less outside. */
static bool find(struct sequence *q, size_t limit)
{
    const struct wmi_stretch *s = q->s;
    bool uniform;
    size_t at = q->end = q->from;
    begin(q);
    for (; at < limit; at++) {
        const struct wmi_step *step = &s->block->steps[at];
        if (s->version == WMI_LAUNCH && wmi_ends_launch(s, at))
            break;
        if (may_wait(step) && at > q->from) {
            q->waiting[q->waiting_count++] = (uint8_t)(at - q->from);
            continue;
        }
        if (!wmi_vector_works_by_halves(step) || needs_waiting(q, step) || !add_step(q, at, &uniform) ||
            (uniform && at == q->from))
            break;
        if (!uniform)
            q->end = at + 1;
    }
    if (q->end - q->from < (s->version == WMI_LAUNCH ? LEAST_OF_STARTED : LEAST_STEPS))
        return false;
    begin(q); /* once more, without what is behind the end */
    for (at = q->from; at < q->end; at++)
        if (!may_wait(&s->block->steps[at]))
            add_step(q, at, &uniform);
    return true;
}

/* Finds what is kept and adds what it costs. */
static bool find_kept(struct sequence *q)
{
    const struct wmi_half_rows *rows = q->s->halves.rows;
    q->kept_count = 0;
    if (!q->s->halves.may_fail)
        return true;
    for (unsigned i = 0; i < rows->count; i++) {
        const uint8_t flags = rows->row[rows->number[i]].flags;
        if (!(flags & WMI_ROW_IS_READ) || !(flags & WMI_ROW_IS_WRITTEN))
            continue;
        if (q->kept_count == WMI_KEPT_ROWS)
            return false;
        q->kept[q->kept_count++] = row_of(q, rows->number[i]);
        q->cost += 2;
    }
    return true;
}

/* ---- what the registers hold ---- */

/* Gives up what the code for half strips needs: rows with a register for each strip, and the registers of the
 * host. False: there are not enough others. */
static bool make_room(struct wmi_stretch *s)
{
    unsigned far = WMI_HALF_REGISTERS;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (held->used && !held->shared)
            wmi_held_give_up(s, held);
    }
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        held->is_outer = held->used;
        if (!held->used || held->reg[0] >= WMI_HALF_REGISTERS)
            continue;
        while (far < WMI_ZMM_REGISTERS && s->owner[far] != WMI_FREE)
            far++;
        if (far == WMI_ZMM_REGISTERS)
            return false;
        wmi_evex_plain(&s->host, WMI_VMOVDQA32, far, 0, wmi_zmm(held->reg[0]));
        s->owner[far] = (uint8_t)i;
        s->owner[held->reg[0]] = WMI_FREE;
        held->reg[0] = (uint8_t)far;
    }
    return true;
}

/* Behind the sequence, what was held before is as any row again. */
static void end_halves(struct wmi_stretch *s)
{
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        s->held[i].is_outer = false;
}

/* Stores what the sequence has written of the half and may be read from the step `next` on. */
static void flush_half(struct wmi_stretch *s, size_t next)
{
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        const struct wmi_held_row *held = &s->held[i];
        if (held->used && held->dirty && !held->is_outer && wmi_held_is_read_at(s, held, next))
            wmi_stretch_store(s, held);
    }
}

/* Rows that the sequence has left in the registers as constants: up to `most` of them. */
struct constant_row {
    uint32_t row, value;
};

static unsigned find_constants(const struct wmi_stretch *s, struct constant_row *found, unsigned most)
{
    unsigned count = 0;
    for (unsigned i = 0; i < WMI_HELD_ROWS && count < most; i++) {
        const struct wmi_held_row *held = &s->held[i];
        if (held->used && !held->is_outer && held->shared && held->is_known &&
            !wmi_row_is_constant(s, held->row))
            found[count++] = (struct constant_row){held->row, held->value};
    }
    return count;
}

/* The row, of which the frame has all lanes, is held as this constant. */
static void hold_constant(struct wmi_stretch *s, const struct constant_row *constant)
{
    const unsigned far = wmi_far_register(s);
    if (far == WMI_NOT_HELD)
        return;
    const uint8_t reg = (uint8_t)far;
    struct wmi_held_row *held = wmi_held_add(s, constant->row, &reg, true);
    wmi_move_immediate(&s->host, WMI_RAX, constant->value);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_GPR, reg, 0, wmi_zmm(WMI_RAX));
    held->active_only = s->partial;
    held->is_known = true;
    held->value = constant->value;
}

/* ---- code ---- */

static struct wmi_host_operand home(const struct sequence *q, uint32_t row)
{
    const struct wmi_rows rows = {.row = row, .in_memory = true};
    return wmi_rows_operand(q->s, &rows, 0);
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

/* Whether the step reads a mask that the sequence has computed in another way than lane by lane. */
static bool takes_mask_apart(const struct wmi_stretch *s, const struct wmi_step *step)
{
    for (unsigned i = 0; i < s->halves.masks; i++) {
        const uint32_t place = s->halves.mask[i].place;
        const struct wmi_extent span = {place, place + s->lanes / 8};
        if (wmi_step_reads_scalars(step, span, s->lanes) && !(reads_mask(step) && step->c == place))
            return true;
    }
    return false;
}

/* A jump over the code of a half, taken if none of its lanes is active, for wmi_land_if(); 0: all are. */
static size_t unless_active(struct wmi_stretch *s, unsigned strip, unsigned half)
{
    if (!s->partial)
        return 0;
    wmi_test_memory_8(&s->host, WMI_FRAME, WMI_EXEC_BITS + (int32_t)(strip * HALVES + half), 0xff);
    return wmi_jump_if(&s->host, WMI_IF_EQUAL);
}

/* Emits the steps for a half. The result is the first one that cannot be, or the end. */
static size_t put_half(struct sequence *q, unsigned strip, unsigned half)
{
    struct wmi_stretch *s = q->s;
    wmi_stretch_restore(s, &q->outside);
    const size_t idle = unless_active(s, strip, half);
    choose_half(s, strip, half);
    s->halves.end = q->end;
    s->halves.masks = 0;
    for (unsigned i = 0; i < q->kept_count; i++)
        s->host.vectors->keep_half(&s->host, i, strip, home(q, q->kept[i]));
    for (s->at = q->from; s->at < q->end; s->at++) {
        const struct wmi_step *step = &s->block->steps[s->at];
        if (may_wait(step))
            continue;
        const bool can =
            !takes_mask_apart(s, step) && wmi_vector_emitter(step)(s, step) && !s->host.needs_both;
        wmi_stretch_end_step(s);
        if (!can)
            return s->at;
    }
    flush_half(s, q->end);
    wmi_land_if(&s->host, idle);
    return q->end;
}

/* Behind the sequence: leaves for its first step if lanes have failed. */
static void put_test(struct sequence *q)
{
    struct wmi_stretch *s = q->s;
    const unsigned strips = s->strips;
    size_t jumps[2];
    unsigned count = 0;
    s->host.vectors->test_failed(&s->host);
    jumps[count++] = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    if (s->halves.may_fail_by_flag) {
        wmi_scalar_registers(&s->host, WMI_TEST, false, WMI_R8, WMI_R8);
        jumps[count++] = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    }
    const size_t from = s->host.count, first_exit = s->exit_count;
    for (unsigned half = 0; half < HALVES * strips; half++) {
        const size_t idle = unless_active(s, half / HALVES, half % HALVES);
        choose_half(s, half / HALVES, half % HALVES);
        for (unsigned i = 0; i < q->kept_count; i++)
            s->host.vectors->restore_half(&s->host, i, half / HALVES, home(q, q->kept[i]));
        wmi_land_if(&s->host, idle);
    }
    choose_wave(s);
    wmi_stretch_exit_here(s, wmi_jump(&s->host));
    wmi_stretch_set_aside(s, from, first_exit, jumps, count, from);
}

/* The scalar steps among those of the sequence. False: there is no code for one. */
static bool put_waiting(struct sequence *q)
{
    struct wmi_stretch *s = q->s;
    for (s->at = q->from; s->at < q->end; s->at++) {
        const struct wmi_step *step = &s->block->steps[s->at];
        if (may_wait(step) && !wmi_scalar_emitter(step)(s, step))
            return false;
        wmi_stretch_end_step(s);
    }
    return true;
}

static void put_sequence(struct sequence *q)
{
    enum { MOST_CONSTANTS = 8 };
    struct wmi_stretch *s = q->s;
    const struct wmi_half_rows *rows = s->halves.rows;
    const unsigned strips = s->strips;
    struct constant_row constant[MOST_CONSTANTS];
    if (s->halves.may_fail)
        s->host.vectors->begin_halves(&s->host);
    if (s->halves.may_fail_by_flag)
        wmi_scalar_registers(&s->host, WMI_XOR, false, WMI_R8, WMI_R8);
    for (unsigned i = 0; i < s->halves.masks; i++)
        if (s->halves.mask[i].is_collected)
            wmi_scalar_registers(&s->host, WMI_XOR, false, s->halves.mask[i].reg, s->halves.mask[i].reg);
    for (unsigned half = 0; half < HALVES * strips; half++)
        put_half(q, half / HALVES, half % HALVES);
    const unsigned constants = find_constants(s, constant, MOST_CONSTANTS);
    wmi_stretch_restore(s, &q->outside);
    choose_wave(s);
    s->at = q->from;
    if (s->halves.may_fail)
        put_test(q);
    for (unsigned i = 0; i < s->halves.masks; i++)
        if (s->halves.mask[i].is_collected)
            wmi_scalar_memory(&s->host, WMI_MOV_STORE, s->lanes == 64, s->halves.mask[i].reg, WMI_FRAME,
                              (int32_t)s->halves.mask[i].place);
    end_halves(s);
    for (unsigned i = 0; i < rows->count; i++)
        if (rows->row[rows->number[i]].flags & WMI_ROW_IS_WRITTEN)
            wmi_stretch_written_in_memory(s, row_of(q, rows->number[i]));
    for (unsigned i = 0; i < constants; i++)
        hold_constant(s, &constant[i]);
    put_waiting(q);
    s->at = q->end - 1;
}

/* Tries the steps on a half, which finds those that cannot be in a sequence, and whether lanes may fail. */
static bool try_half(struct sequence *q)
{
    struct wmi_stretch *s = q->s;
    const size_t code = s->host.count, exits = s->exit_count;
    bool is_whole;
    do {
        s->halves.may_fail = s->halves.may_fail_by_flag = false;
        q->kept_count = 0;
        const size_t end = put_half(q, 0, 0);
        is_whole = end == q->end;
        choose_wave(s);
        /* A wave that left from one of the scalar steps would come to steps of the sequence once more. */
        const bool can_wait = !is_whole || (put_waiting(q) && s->exit_count == exits);
        s->host.count = code;
        s->exit_count = exits;
        s->at = q->from;
        wmi_stretch_restore(s, &q->outside);
        if (!can_wait || (!is_whole && !find(q, end)))
            return false;
    } while (!is_whole);
    return find_kept(q) && q->cost < q->whole_cost;
}

/* Which rows code for waves that start has written up to here. A sequence that is tried and given up must not
 * add to them: the wave would restore more rows at its end, and ids would no longer be read as rows in runs.
 */
struct written {
    bool is_written[WMI_MOST_ROWS], is_spilled[WMI_MOST_ROWS];
};

static void save_written(const struct wmi_stretch *s, struct written *written)
{
    if (s->version != WMI_LAUNCH)
        return;
    memcpy(written->is_written, s->is_written, sizeof s->is_written);
    memcpy(written->is_spilled, s->is_spilled, sizeof s->is_spilled);
}

static void restore_written(struct wmi_stretch *s, const struct written *written)
{
    if (s->version != WMI_LAUNCH)
        return;
    memcpy(s->is_written, written->is_written, sizeof s->is_written);
    memcpy(s->is_spilled, written->is_spilled, sizeof s->is_spilled);
}

bool wmi_put_halves(struct wmi_stretch *s)
{
    if (!s->halves.rows || s->has_points || !wmi_vector_works_by_halves(&s->block->steps[s->at]))
        return false;
    struct sequence sequence;
    struct wmi_kept before;
    struct written written;
    const size_t code = s->host.count, limit = s->end - s->at > MOST_STEPS ? s->at + MOST_STEPS : s->end;
    sequence.s = s;
    sequence.from = s->at;
    if (!find(&sequence, limit) || sequence.cost >= sequence.whole_cost)
        return false;
    wmi_stretch_save(s, &before);
    save_written(s, &written);
    const bool has_room = make_room(s);
    wmi_stretch_save(s, &sequence.outside);
    if (has_room && try_half(&sequence)) {
        put_sequence(&sequence);
        return true;
    }
    wmi_stretch_restore(s, &before);
    restore_written(s, &written);
    s->host.count = code;
    return false;
}

/* SPDX-License-Identifier: MIT */
/* What the host's registers hold, and for how long that is worth a register. */
#include "jit/held.h"

#include "jit/live.h"
#include "jit/uniform.h"

#include <string.h>

enum { NEAR = 128 * 64 }; /* distance that a displacement of 8 bits reaches */

uint32_t wmi_stretch_origin(const struct wmi_stretch *s)
{
    return s->block->code->vgpr_offset + NEAR;
}

struct wmi_host_operand wmi_row_home(const struct wmi_stretch *s, uint32_t row, unsigned strip)
{
    const unsigned number = wmi_row_is_constant(s, row) ? 0 : s->first_strip + strip;
    return wmi_at(WMI_ROWS, (int32_t)(row + number * WMI_STRIP_BYTES - wmi_stretch_origin(s)));
}

bool wmi_row_is_in_frame(const struct wmi_stretch *s, uint32_t row, enum wmi_uniform_kind kind)
{
    return !wmi_row_is_constant(s, row) && s->version != WMI_LAUNCH &&
           wmi_is_uniform(s->uniform, row, s->at, kind);
}

bool wmi_stretch_constant(const struct wmi_stretch *s, uint32_t row, uint32_t *value)
{
    const struct wmi_code *code = s->block->code;
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)];
    if (index != WMI_NOT_HELD && s->held[index].is_known) {
        *value = s->held[index].value;
        return true;
    }
    if (index == WMI_NOT_HELD && wmi_row_is_in_frame(s, row, WMI_UNIFORM_ZERO)) {
        *value = 0;
        return true;
    }
    for (unsigned i = 0; i < code->vector_constants; i++) {
        const struct wmi_vector_constant *c = &code->vector_constant[i];
        if (row >= c->offset && row < c->offset + c->rows * s->row_bytes) {
            *value = (uint32_t)(c->value >> 32 * ((row - c->offset) / s->row_bytes));
            return true;
        }
    }
    return false;
}

void wmi_stretch_set_constant(struct wmi_stretch *s, uint32_t row, uint32_t value)
{
    struct wmi_held_row *held = wmi_held_find(s, row);
    if (!held)
        return;
    held->is_known = true;
    held->value = value;
}

void wmi_stretch_copies_constant(struct wmi_stretch *s, uint32_t from, uint32_t to)
{
    uint32_t value;
    if (wmi_stretch_constant(s, from, &value))
        wmi_stretch_set_constant(s, to, value);
}

bool wmi_stretch_is_uniform(const struct wmi_stretch *s, uint32_t row)
{
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)];
    if (index != WMI_NOT_HELD)
        return s->held[index].shared && !s->held[index].runs;
    return wmi_row_is_constant(s, row) || wmi_row_is_in_frame(s, row, WMI_UNIFORM_ANY);
}

/* ---- loads and stores ---- */

/* d = the lanes of a strip of a row in runs. Changes k5 and, but for waves that start, R11. */
void wmi_held_spread_strip(struct wmi_stretch *s, unsigned d, const struct wmi_held_row *held, unsigned strip)
{
    if (s->version != WMI_LAUNCH && strip == 1)
        wmi_spread_begin(&s->host);
    if (held->half)
        wmi_spread_half(&s->host, d, held->reg[0], held->stride, strip, held->half == WMI_HIGH_HALF, WMI_K);
    else
        wmi_spread_strip(&s->host, d, held->reg[0], held->stride, strip);
}

void wmi_stretch_store(struct wmi_stretch *s, const struct wmi_held_row *held)
{
    if (held->runs) {
        for (unsigned i = 0; i < s->strips; i++) {
            wmi_held_spread_strip(s, WMI_SCRATCH, held, i);
            wmi_evex(&s->host, WMI_VMOVUPS_STORE, WMI_SCRATCH, 0, wmi_row_home(s, held->row, i),
                     held->active_only ? WMI_K_EXEC + i : WMI_NO_MASK, WMI_NO_IMMEDIATE);
        }
        return;
    }
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex(&s->host, WMI_VMOVUPS_STORE, held->reg[held->shared ? 0 : i], 0,
                 wmi_row_home(s, held->row, i),
                 held->active_only ? WMI_K_EXEC + s->first_strip + i : WMI_NO_MASK, WMI_NO_IMMEDIATE);
}

/* R10 = the number of the first active lane, or any lane. Changes R11. */
static void find_first_active(struct wmi_stretch *s)
{
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R10, WMI_FRAME, WMI_EXEC_BITS);
    wmi_move_immediate(&s->host, WMI_R11, UINT64_C(1) << (s->lanes - 1));
    wmi_scalar_registers(&s->host, WMI_OR, true, WMI_R10, WMI_R11);
    wmi_scalar_registers(&s->host, WMI_BSF, true, WMI_R10, WMI_R10);
}

void wmi_stretch_load(struct wmi_stretch *s, const struct wmi_held_row *held)
{
    if (held->is_known && !held->value) {
        for (unsigned i = 0; i < held->strips; i++)
            wmi_evex_plain(&s->host, WMI_VPXORD, held->reg[i], held->reg[i], wmi_zmm(held->reg[i]));
        return;
    }
    if (held->active_only && held->shared) {
        const struct wmi_host_operand row = wmi_row_home(s, held->row, 0);
        find_first_active(s);
        wmi_shift_immediate(&s->host, 4, true, WMI_R10, 2);
        wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_R10, WMI_ROWS);
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, held->reg[0], 0, wmi_at(WMI_R10, row.displacement));
        return;
    }
    for (unsigned i = 0; i < held->strips; i++)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, held->reg[i], 0, wmi_row_home(s, held->row, i));
}

/* Stores the row in the middle of a stretch. */
void wmi_held_spill(struct wmi_stretch *s, struct wmi_held_row *held)
{
    wmi_stretch_store(s, held);
    held->dirty = false;
    s->is_spilled[wmi_row_number(s->block->code, held->row)] = true;
}

void wmi_held_release(struct wmi_stretch *s, struct wmi_held_row *held)
{
    for (unsigned i = 0; i < held->strips; i++)
        s->owner[held->reg[i]] = held->is_outer ? WMI_OF_OTHERS : WMI_FREE;
    s->held_of_row[wmi_row_number(s->block->code, held->row)] = WMI_NOT_HELD;
    held->used = false;
    if (!held->half)
        return;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        if (s->held[i].used && s->held[i].half && s->held[i].reg[0] == held->reg[0])
            s->owner[held->reg[0]] = (uint8_t)i;
}

void wmi_stretch_store_aside(struct wmi_stretch *s, uint32_t row)
{
    const struct wmi_held_row *held = wmi_held_find(s, row);
    if (held && held->dirty)
        wmi_stretch_store(s, held);
}

/* ---- what is read later ---- */

/* Whether a step from `next` on may read the temporary row. */
bool wmi_row_is_temporary_read(const struct wmi_stretch *s, uint32_t row, size_t next)
{
    const struct wmi_block *block = s->block;
    const struct wmi_extent span = {row, row + s->row_bytes};
    for (size_t i = next; i < block->count && !block->leads[i]; i++) {
        const unsigned flags = wmi_step_facts_of(block->steps[i].id).flags;
        if (wmi_step_reads_rows(&block->steps[i], span, s->lanes))
            return true;
        if (flags & WMI_STEP_LEAVES || wmi_step_overwrites(&block->steps[i], span, s->lanes))
            return false;
    }
    return false; /* temporary rows are not live across blocks */
}

/* Whether a wave that goes on at the step may read the VGPR where the registers have new values. */
bool wmi_held_is_read_from(const struct wmi_stretch *s, const struct wmi_held_row *held, size_t step)
{
    return wmi_live_is(s->live, held->row, step, s->partial && !held->active_only);
}

/* The step with which the interpreter begins if it executes the current one. */
size_t wmi_stretch_first_undone(const struct wmi_stretch *s)
{
    return s->sum ? s->at - 1 : s->at;
}

static struct wmi_half_row *half_row(const struct wmi_stretch *s, uint32_t row)
{
    return &s->halves.rows->row[wmi_row_number(s->block->code, row)];
}

/* Whether the sequence of half strips reads the row from its step `next` on, before it writes it. *written:
 * it writes it. */
bool wmi_row_is_read_in_sequence(const struct wmi_stretch *s, uint32_t row, size_t next, bool *written)
{
    const struct wmi_half_row *known = half_row(s, row);
    const unsigned past = (unsigned)(next - s->halves.from);
    const uint64_t reads = past < 64 ? known->reads >> past : 0,
                   writes = past < 64 ? known->writes >> past : 0;
    *written = writes;
    return reads && (!writes || (reads & -reads) <= (writes & -writes));
}

/* Whether a step from `next` on, which is one of the sequence or the one behind it, may read the row. */
static bool is_read_from_sequence(const struct wmi_stretch *s, const struct wmi_held_row *held, size_t next)
{
    bool written;
    if (wmi_row_is_read_in_sequence(s, held->row, next, &written))
        return true;
    if (written)
        return false;
    struct wmi_half_row *known = half_row(s, held->row);
    if (!(known->flags & WMI_ROW_IS_LOOKED_UP)) {
        const bool live = wmi_row_is_temporary(s, held->row)
                              ? wmi_row_is_temporary_read(s, held->row, s->halves.end)
                              : wmi_held_is_read_from(s, held, s->halves.end);
        known->flags |= (uint8_t)(WMI_ROW_IS_LOOKED_UP | (live ? WMI_ROW_IS_LIVE : 0));
    }
    return known->flags & WMI_ROW_IS_LIVE;
}

/* Whether a step from `next` on may read the row. */
bool wmi_held_is_read_at(const struct wmi_stretch *s, const struct wmi_held_row *held, size_t next)
{
    if (s->by_halves && !wmi_row_is_constant(s, held->row))
        return is_read_from_sequence(s, held, next);
    if (wmi_row_is_temporary(s, held->row))
        return wmi_row_is_temporary_read(s, held->row, next);
    return wmi_row_is_constant(s, held->row) || wmi_held_is_read_from(s, held, next);
}

/* Whether the current step or a later one may read the row. */
static bool is_read_later(const struct wmi_stretch *s, const struct wmi_held_row *held)
{
    return wmi_held_is_read_at(s, held, s->has_read ? s->at + 1 : wmi_stretch_first_undone(s));
}

/* ---- registers ---- */

/* How much worse it is to lose the row than others: nothing reads it any more; it has a register per strip,
 * so that losing it gives many; it has one, which all lanes share. */
enum worth { DEAD, MANY_REGISTERS, ONE_REGISTER };

static enum worth worth_of(const struct wmi_stretch *s, const struct wmi_held_row *held)
{
    if (!is_read_later(s, held))
        return DEAD;
    return held->shared ? ONE_REGISTER : MANY_REGISTERS;
}

/* Frees the registers of a row: of those worth least, the one that was not used for the longest time. False:
 * the current step needs all of them. */
static bool evict(struct wmi_stretch *s)
{
    struct wmi_held_row *least = NULL;
    enum worth worth = DEAD;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (!held->used || (held->step == s->at + 1 && !s->has_read) || held->is_outer)
            continue;
        const enum worth own = worth_of(s, held);
        if (!least || own < worth || (own == worth && held->step < least->step)) {
            least = held;
            worth = own;
        }
    }
    if (!least)
        return false;
    if (least->dirty && worth != DEAD)
        wmi_held_spill(s, least);
    wmi_held_release(s, least);
    return true;
}

/* Gives up the registers of a row. What the current step knows by names is now in the frame. */
void wmi_held_give_up(struct wmi_stretch *s, struct wmi_held_row *held)
{
    if (held->dirty && worth_of(s, held) != DEAD) /* what the step still reads is not dead */
        wmi_held_spill(s, held);
    for (unsigned i = 0; i < held->strips; i++)
        for (unsigned name = 0; name < s->host.names; name++)
            if (!s->host.name[name].in_memory && s->host.name[name].reg == held->reg[i])
                s->host.name[name] = wmi_row_home(s, held->row, i);
    wmi_held_release(s, held);
}

/* A register that is one of the host, or else WMI_NOT_HELD: on hosts that have few of them, the row that was
 * not used for the longest time loses its own, as operands in memory cost less than copies to there. */
unsigned wmi_near_register(struct wmi_stretch *s)
{
    struct wmi_held_row *oldest = NULL;
    for (unsigned i = 0; i < WMI_STRIPS; i++) {
        if (s->owner[i] == WMI_FREE) {
            s->owner[i] = WMI_OF_STEP;
            return i;
        }
        struct wmi_held_row *held = s->owner[i] == WMI_OF_STEP ? NULL : &s->held[s->owner[i]];
        if (held && !held->shared && held->numbered != s->at + 1 && (!oldest || held->step < oldest->step))
            oldest = held;
    }
    if (!oldest)
        return WMI_NOT_HELD;
    const unsigned reg = oldest->reg[0];
    wmi_held_give_up(s, oldest);
    s->owner[reg] = WMI_OF_STEP;
    return reg;
}

/* A register for a row that all lanes share, or for the current step alone. */
unsigned wmi_far_register(struct wmi_stretch *s)
{
    for (unsigned i = WMI_ZMM_REGISTERS; i-- > (s->by_halves ? WMI_HALF_REGISTERS : WMI_NEAR_REGISTERS);)
        if (s->owner[i] == WMI_FREE) {
            s->owner[i] = WMI_OF_STEP;
            return i;
        }
    return WMI_NOT_HELD;
}

static bool is_in(const struct wmi_held_row *held, unsigned strip, unsigned reg)
{
    return held->used && strip < held->strips && held->reg[strip] == reg;
}

/* Moves what a register of the host holds to one that is in memory, unless the current step has used it. Two
 * rows may share it: halves of a pair. */
static void move_away(struct wmi_stretch *s, unsigned reg)
{
    const uint8_t owner = s->owner[reg];
    if (owner == WMI_FREE || owner == WMI_OF_STEP)
        return;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        for (unsigned strip = 0; strip < WMI_STRIPS; strip++)
            if (is_in(&s->held[i], strip, reg) && s->held[i].step == s->at + 1)
                return;
    const unsigned far = wmi_far_register(s);
    if (far == WMI_NOT_HELD)
        return;
    wmi_evex_plain(&s->host, WMI_VMOVDQA32, far, 0, wmi_zmm(reg));
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        for (unsigned strip = 0; strip < WMI_STRIPS; strip++)
            if (is_in(&s->held[i], strip, reg))
                s->held[i].reg[strip] = (uint8_t)far;
    s->owner[far] = owner;
    s->owner[reg] = WMI_FREE;
}

unsigned wmi_stretch_register(struct wmi_stretch *s)
{
    if (wmi_names_memory(s)) {
        const unsigned near = WMI_NEAR_REGISTERS - 1; /* what steps compute in */
        move_away(s, near);
        unsigned reg = near;
        while (reg && s->owner[reg] != WMI_FREE)
            reg--;
        if (s->owner[reg] != WMI_FREE)
            reg = wmi_far_register(s);
        if (reg != WMI_NOT_HELD) {
            s->owner[reg] = WMI_OF_STEP;
            return reg;
        }
    }
    for (;;) {
        for (unsigned i = 0; i < (s->by_halves ? WMI_HALF_REGISTERS : WMI_ZMM_REGISTERS); i++)
            if (s->owner[i] == WMI_FREE) {
                s->owner[i] = WMI_OF_STEP;
                return i;
            }
        if (evict(s))
            continue;
        const unsigned far = s->by_halves ? wmi_far_register(s) : (unsigned)WMI_NOT_HELD;
        s->failed |= far == WMI_NOT_HELD;
        return s->failed ? 0 : far;
    }
}

/* One for a row that all lanes share: the few registers of the host are for others. */
uint8_t wmi_lasting_register(struct wmi_stretch *s)
{
    const unsigned far = wmi_names_memory(s) ? wmi_far_register(s) : (unsigned)WMI_NOT_HELD;
    return (uint8_t)(far != WMI_NOT_HELD ? far : wmi_stretch_register(s));
}

/* The current step may have written where the mask is in the frame. */
static void look_at_mask(const struct wmi_stretch *s, struct wmi_held_mask *mask)
{
    const struct wmi_extent span = {mask->place, mask->place + s->lanes / 8};
    if (mask->is_held && mask->step != s->at &&
        wmi_step_writes_scalars(&s->block->steps[s->at], span, s->lanes))
        mask->is_held = false;
}

void wmi_stretch_end_step(struct wmi_stretch *s)
{
    look_at_mask(s, &s->mask);
    look_at_mask(s, &s->clear);
    s->has_read = false;
    s->is_whole = true;
    s->sum = s->joins_next ? &s->block->steps[s->at] : NULL;
    s->joins_next = false;
    s->host.names = 0;
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++)
        if (s->owner[i] == WMI_OF_STEP)
            s->owner[i] = WMI_FREE;
}

/* Enters the row with registers that the step owns. */
struct wmi_held_row *wmi_held_add(struct wmi_stretch *s, uint32_t row, const uint8_t *reg, bool shared)
{
    const unsigned strips = shared ? 1 : s->strips;
    unsigned index = 0;
    while (s->held[index].used)
        index++; /* each holds a register, at most two the same one, and there are twice as many places */
    struct wmi_held_row *held = &s->held[index];
    *held = (struct wmi_held_row){
        .row = row, .strips = (uint8_t)strips, .shared = shared, .used = true, .step = s->at + 1};
    for (unsigned i = 0; i < strips; i++) {
        held->reg[i] = reg[i];
        s->owner[reg[i]] = (uint8_t)index;
    }
    s->held_of_row[wmi_row_number(s->block->code, row)] = (uint8_t)index;
    return held;
}

struct wmi_held_row *wmi_held_load_row(struct wmi_stretch *s, uint32_t row)
{
    const bool uniform = wmi_row_is_in_frame(s, row, WMI_UNIFORM_ANY) && !s->by_halves,
               shared = uniform || wmi_row_is_constant(s, row);
    uint8_t reg[WMI_STRIPS];
    for (unsigned i = 0; i < (shared ? 1 : s->strips); i++)
        reg[i] = shared ? wmi_lasting_register(s) : (uint8_t)wmi_stretch_register(s);
    if (s->failed)
        return NULL;
    struct wmi_held_row *held = wmi_held_add(s, row, reg, shared);
    held->active_only = uniform && s->partial;
    held->is_known = wmi_row_is_in_frame(s, row, WMI_UNIFORM_ZERO);
    wmi_stretch_load(s, held);
    return held;
}

/* ---- all of them ---- */

void wmi_stretch_save(const struct wmi_stretch *s, struct wmi_kept *kept)
{
    memcpy(kept->held, s->held, sizeof s->held);
    memcpy(kept->held_of_row, s->held_of_row, sizeof s->held_of_row);
    memcpy(kept->owner, s->owner, sizeof s->owner);
}

void wmi_stretch_restore(struct wmi_stretch *s, const struct wmi_kept *kept)
{
    memcpy(s->held, kept->held, sizeof s->held);
    memcpy(s->held_of_row, kept->held_of_row, sizeof s->held_of_row);
    memcpy(s->owner, kept->owner, sizeof s->owner);
}

void wmi_stretch_forget(struct wmi_stretch *s)
{
    memset(s->held, 0, sizeof s->held);
    memset(s->held_of_row, WMI_NOT_HELD, sizeof s->held_of_row);
    memset(s->owner, WMI_FREE, sizeof s->owner);
    memset(s->is_written, 0, sizeof s->is_written);
    memset(s->is_spilled, 0, sizeof s->is_spilled);
    s->has_changed_exec = false;
    s->known_places = 0;
    s->is_whole = true;
    s->joins_next = false;
    s->sum = NULL;
    s->mask.is_held = s->clear.is_held = false;
}

/* SPDX-License-Identifier: MIT */
/* Which rows the host's registers hold: loads, stores, spills, and exits to the interpreter. */
#include "compile/stretch.h"

#include "base/grow.h"
#include "compile/live.h"
#include "compile/moves.h"
#include "compile/uniform.h"

#include <stdlib.h>
#include <string.h>

enum {
    FREE = 0xfe,      /* owner of a register: nobody */
    OF_STEP = 0xfd,   /* the current step */
    OF_OTHERS = 0xfc, /* the code for the halves of strips that follow */
    LOOK_AHEAD = 48,  /* steps in which a row must be read again to be worth a register */
    NEAR = 128 * 64,  /* distance that a displacement of 8 bits reaches */
};

/* ---- rows ---- */

static bool is_temporary(const struct wmi_stretch *s, uint32_t row)
{
    return row < s->block->code->vgpr_offset;
}

static bool is_constant(const struct wmi_stretch *s, uint32_t row)
{
    return row >= s->block->code->constant_offset;
}

uint32_t wmi_stretch_origin(const struct wmi_stretch *s)
{
    return s->block->code->vgpr_offset + NEAR;
}

/* `strip`: of those that the code is for. */
static struct wmi_host_operand home(const struct wmi_stretch *s, uint32_t row, unsigned strip)
{
    const unsigned number = is_constant(s, row) ? 0 : s->first_strip + strip;
    return wmi_at(WMI_ROWS, (int32_t)(row + number * WMI_STRIP_BYTES - wmi_stretch_origin(s)));
}

/* Whether registers are few, and an operand in memory can be a source wherever a register can. */
static bool names_memory(const struct wmi_stretch *s)
{
    return s->host.vectors->names_memory && !s->by_halves;
}

static struct wmi_held_row *find(struct wmi_stretch *s, uint32_t row)
{
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)];
    return index == WMI_NOT_HELD ? NULL : &s->held[index];
}

/* Whether the row in the frame is the same, or 0, in all active lanes. The registers of a wave that starts
 * may have a newer one. */
static bool is_in_frame(const struct wmi_stretch *s, uint32_t row, enum wmi_uniform_kind kind)
{
    return !is_constant(s, row) && s->version != WMI_LAUNCH && wmi_is_uniform(s->uniform, row, s->at, kind);
}

bool wmi_stretch_constant(const struct wmi_stretch *s, uint32_t row, uint32_t *value)
{
    const struct wmi_code *code = s->block->code;
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)];
    if (index != WMI_NOT_HELD && s->held[index].is_known) {
        *value = s->held[index].value;
        return true;
    }
    if (index == WMI_NOT_HELD && is_in_frame(s, row, WMI_UNIFORM_ZERO)) {
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
    struct wmi_held_row *held = find(s, row);
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

/* d = the lanes of a strip of a row in runs. Changes k5 and, but for waves that start, R11. */
static void spread_strip(struct wmi_stretch *s, unsigned d, const struct wmi_held_row *held, unsigned strip)
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
            spread_strip(s, WMI_SCRATCH, held, i);
            wmi_evex(&s->host, WMI_VMOVUPS_STORE, WMI_SCRATCH, 0, home(s, held->row, i),
                     held->active_only ? WMI_K_EXEC + i : WMI_NO_MASK, WMI_NO_IMMEDIATE);
        }
        return;
    }
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex(&s->host, WMI_VMOVUPS_STORE, held->reg[held->shared ? 0 : i], 0, home(s, held->row, i),
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
        const struct wmi_host_operand row = home(s, held->row, 0);
        find_first_active(s);
        wmi_shift_immediate(&s->host, 4, true, WMI_R10, 2);
        wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_R10, WMI_ROWS);
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, held->reg[0], 0, wmi_at(WMI_R10, row.displacement));
        return;
    }
    for (unsigned i = 0; i < held->strips; i++)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, held->reg[i], 0, home(s, held->row, i));
}

/* Stores the row in the middle of a stretch. */
static void spill(struct wmi_stretch *s, struct wmi_held_row *held)
{
    wmi_stretch_store(s, held);
    held->dirty = false;
    s->is_spilled[wmi_row_number(s->block->code, held->row)] = true;
}

static void release(struct wmi_stretch *s, struct wmi_held_row *held)
{
    for (unsigned i = 0; i < held->strips; i++)
        s->owner[held->reg[i]] = held->is_outer ? OF_OTHERS : FREE;
    s->held_of_row[wmi_row_number(s->block->code, held->row)] = WMI_NOT_HELD;
    held->used = false;
    if (!held->half)
        return;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        if (s->held[i].used && s->held[i].half && s->held[i].reg[0] == held->reg[0])
            s->owner[held->reg[0]] = (uint8_t)i;
}

/* Whether a step from `next` on may read the temporary row. */
static bool is_temporary_read(const struct wmi_stretch *s, uint32_t row, size_t next)
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
static bool is_read_from(const struct wmi_stretch *s, const struct wmi_held_row *held, size_t step)
{
    return wmi_live_is(s->live, held->row, step, s->partial && !held->active_only);
}

/* The step with which the interpreter begins if it executes the current one. */
static size_t first_undone(const struct wmi_stretch *s)
{
    return s->sum ? s->at - 1 : s->at;
}

static struct wmi_half_row *half_row(const struct wmi_stretch *s, uint32_t row)
{
    return &s->half_rows->row[wmi_row_number(s->block->code, row)];
}

/* Whether the run of half strips reads the row from its step `next` on, before it writes it. *written: it
 * writes it. */
static bool is_read_in_run(const struct wmi_stretch *s, uint32_t row, size_t next, bool *written)
{
    const struct wmi_half_row *known = half_row(s, row);
    const unsigned past = (unsigned)(next - s->halves_from);
    const uint64_t reads = past < 64 ? known->reads >> past : 0,
                   writes = past < 64 ? known->writes >> past : 0;
    *written = writes;
    return reads && (!writes || (reads & -reads) <= (writes & -writes));
}

/* Whether a step from `next` on, which is one of the run or the one behind it, may read the row. */
static bool is_read_from_run(const struct wmi_stretch *s, const struct wmi_held_row *held, size_t next)
{
    bool written;
    if (is_read_in_run(s, held->row, next, &written))
        return true;
    if (written)
        return false;
    struct wmi_half_row *known = half_row(s, held->row);
    if (!(known->flags & WMI_ROW_IS_LOOKED_UP)) {
        const bool live = is_temporary(s, held->row) ? is_temporary_read(s, held->row, s->halves_end)
                                                     : is_read_from(s, held, s->halves_end);
        known->flags |= (uint8_t)(WMI_ROW_IS_LOOKED_UP | (live ? WMI_ROW_IS_LIVE : 0));
    }
    return known->flags & WMI_ROW_IS_LIVE;
}

/* Whether a step from `next` on may read the row. */
static bool is_read_at(const struct wmi_stretch *s, const struct wmi_held_row *held, size_t next)
{
    if (s->by_halves && !is_constant(s, held->row))
        return is_read_from_run(s, held, next);
    if (is_temporary(s, held->row))
        return is_temporary_read(s, held->row, next);
    return is_constant(s, held->row) || is_read_from(s, held, next);
}

/* Whether the current step or a later one may read the row. */
static bool is_read_later(const struct wmi_stretch *s, const struct wmi_held_row *held)
{
    return is_read_at(s, held, s->has_read ? s->at + 1 : first_undone(s));
}

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
        spill(s, least);
    release(s, least);
    return true;
}

/* Gives up the registers of a row. What the current step knows by names is now in the frame. */
static void give_up(struct wmi_stretch *s, struct wmi_held_row *held)
{
    if (held->dirty && worth_of(s, held) != DEAD) /* what the step still reads is not dead */
        spill(s, held);
    for (unsigned i = 0; i < held->strips; i++)
        for (unsigned name = 0; name < s->host.names; name++)
            if (!s->host.name[name].in_memory && s->host.name[name].reg == held->reg[i])
                s->host.name[name] = home(s, held->row, i);
    release(s, held);
}

/* A register that is one of the host, or else WMI_NOT_HELD: on hosts that have few of them, the row that was
 * not used for the longest time loses its own, as operands in memory cost less than copies to there. */
static unsigned near_register(struct wmi_stretch *s)
{
    struct wmi_held_row *oldest = NULL;
    for (unsigned i = 0; i < WMI_STRIPS; i++) {
        if (s->owner[i] == FREE) {
            s->owner[i] = OF_STEP;
            return i;
        }
        struct wmi_held_row *held = s->owner[i] == OF_STEP ? NULL : &s->held[s->owner[i]];
        if (held && !held->shared && held->numbered != s->at + 1 && (!oldest || held->step < oldest->step))
            oldest = held;
    }
    if (!oldest)
        return WMI_NOT_HELD;
    const unsigned reg = oldest->reg[0];
    give_up(s, oldest);
    s->owner[reg] = OF_STEP;
    return reg;
}

/* A register for a row that all lanes share, or for the current step alone. */
static unsigned far_register(struct wmi_stretch *s)
{
    for (unsigned i = WMI_ZMM_REGISTERS; i-- > (s->by_halves ? WMI_HALF_REGISTERS : WMI_NEAR_REGISTERS);)
        if (s->owner[i] == FREE) {
            s->owner[i] = OF_STEP;
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
    if (owner == FREE || owner == OF_STEP)
        return;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        for (unsigned strip = 0; strip < WMI_STRIPS; strip++)
            if (is_in(&s->held[i], strip, reg) && s->held[i].step == s->at + 1)
                return;
    const unsigned far = far_register(s);
    if (far == WMI_NOT_HELD)
        return;
    wmi_evex_plain(&s->host, WMI_VMOVDQA32, far, 0, wmi_zmm(reg));
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        for (unsigned strip = 0; strip < WMI_STRIPS; strip++)
            if (is_in(&s->held[i], strip, reg))
                s->held[i].reg[strip] = (uint8_t)far;
    s->owner[far] = owner;
    s->owner[reg] = FREE;
}

unsigned wmi_stretch_register(struct wmi_stretch *s)
{
    if (names_memory(s)) {
        const unsigned near = WMI_NEAR_REGISTERS - 1; /* what steps compute in */
        move_away(s, near);
        unsigned reg = near;
        while (reg && s->owner[reg] != FREE)
            reg--;
        if (s->owner[reg] != FREE)
            reg = far_register(s);
        if (reg != WMI_NOT_HELD) {
            s->owner[reg] = OF_STEP;
            return reg;
        }
    }
    for (;;) {
        for (unsigned i = 0; i < (s->by_halves ? WMI_HALF_REGISTERS : WMI_ZMM_REGISTERS); i++)
            if (s->owner[i] == FREE) {
                s->owner[i] = OF_STEP;
                return i;
            }
        if (evict(s))
            continue;
        const unsigned far = s->by_halves ? far_register(s) : (unsigned)WMI_NOT_HELD;
        s->failed |= far == WMI_NOT_HELD;
        return s->failed ? 0 : far;
    }
}

/* One for a row that all lanes share: the few registers of the host are for others. */
static uint8_t lasting_register(struct wmi_stretch *s)
{
    const unsigned far = names_memory(s) ? far_register(s) : (unsigned)WMI_NOT_HELD;
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
        if (s->owner[i] == OF_STEP)
            s->owner[i] = FREE;
}

/* Enters the row with registers that the step owns. */
static struct wmi_held_row *hold(struct wmi_stretch *s, uint32_t row, const uint8_t *reg, bool shared)
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

bool wmi_stretch_is_uniform(const struct wmi_stretch *s, uint32_t row)
{
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)];
    if (index != WMI_NOT_HELD)
        return s->held[index].shared && !s->held[index].runs;
    return is_constant(s, row) || is_in_frame(s, row, WMI_UNIFORM_ANY);
}

static struct wmi_held_row *load_row(struct wmi_stretch *s, uint32_t row)
{
    const bool uniform = is_in_frame(s, row, WMI_UNIFORM_ANY) && !s->by_halves,
               shared = uniform || is_constant(s, row);
    uint8_t reg[WMI_STRIPS];
    for (unsigned i = 0; i < (shared ? 1 : s->strips); i++)
        reg[i] = shared ? lasting_register(s) : (uint8_t)wmi_stretch_register(s);
    if (s->failed)
        return NULL;
    struct wmi_held_row *held = hold(s, row, reg, shared);
    held->active_only = uniform && s->partial;
    held->is_known = is_in_frame(s, row, WMI_UNIFORM_ZERO);
    wmi_stretch_load(s, held);
    return held;
}

static bool is_read_soon(const struct wmi_stretch *s, uint32_t row)
{
    bool written;
    if (s->by_halves) /* a constant is an operand in memory */
        return !is_constant(s, row) && is_read_in_run(s, row, s->at + 1, &written);
    const struct wmi_extent span = {row, row + s->row_bytes};
    for (size_t i = s->at + 1; i < s->end && i - s->at < LOOK_AHEAD; i++) {
        if (wmi_step_reads_rows(&s->block->steps[i], span, s->lanes))
            return true;
        if (wmi_step_overwrites(&s->block->steps[i], span, s->lanes))
            return false;
    }
    return false;
}

struct wmi_extent wmi_stretch_operand_rows(const struct wmi_stretch *s, const struct wmi_step *step,
                                           unsigned operand, unsigned access)
{
    const struct wmi_extent none = {0, 0};
    if (!(step->use[operand] & access) || (step->use[operand] & WMI_USE_KIND) != WMI_USE_ROWS)
        return none;
    if (operand == WMI_OP_D && access == WMI_USE_READ && !wmi_vector_keeps(step))
        return none;
    const struct wmi_extent span = wmi_step_span(step, (enum wmi_step_operand)operand, s->lanes);
    return span.from < offsetof(struct wmi_frame, rows) ? none : span;
}

/* ---- rows in runs ---- */

/* The number of an id that the row still holds, or WMI_START_IDS. */
static unsigned id_in(const struct wmi_stretch *s, uint32_t row)
{
    if (s->version != WMI_LAUNCH || is_temporary(s, row) ||
        s->is_written[wmi_row_number(s->block->code, row)])
        return WMI_START_IDS;
    const unsigned number = (row - s->block->code->vgpr_offset) / s->row_bytes;
    return number < WMI_START_IDS ? number : WMI_START_IDS;
}

/* The lanes of a strip differ in x only. */
static int stride_of_id(unsigned id)
{
    return id == 0;
}

bool wmi_stretch_has_ids(const struct wmi_stretch *s, uint32_t row)
{
    return id_in(s, row) == 0;
}

/* A register = the first lanes of the strips of an id. */
static void load_id(struct wmi_stretch *s, unsigned reg, unsigned id)
{
    wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, reg, 0,
                   wmi_at(WMI_FRAME, (int32_t)(offsetof(struct wmi_frame, id_bases) + id * WMI_STRIP_BYTES)));
}

void wmi_stretch_restore_start(struct wmi_stretch *s, unsigned vgpr)
{
    struct wmi_held_row held = {.row = s->block->code->vgpr_offset + vgpr * s->row_bytes, .strips = 1};
    if (vgpr < WMI_START_IDS) {
        held.runs = true;
        held.stride = (uint8_t)stride_of_id(vgpr);
        load_id(s, 0, vgpr);
    } else {
        wmi_evex_plain(&s->host, WMI_VPXORD, 0, 0, wmi_zmm(0));
    }
    wmi_stretch_store(s, &held);
}

bool wmi_stretch_has_base(const struct wmi_stretch *s, uint32_t row)
{
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)];
    if (index != WMI_NOT_HELD)
        return s->held[index].shared;
    return is_constant(s, row) || id_in(s, row) < WMI_START_IDS;
}

int wmi_stretch_stride(const struct wmi_stretch *s, uint32_t row)
{
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)], id = id_in(s, row);
    if (index != WMI_NOT_HELD && s->held[index].half == WMI_HIGH_HALF)
        return 0;
    if (index != WMI_NOT_HELD)
        return s->held[index].runs ? s->held[index].stride : -1;
    return id < WMI_START_IDS ? stride_of_id(id) : -1;
}

static struct wmi_rows rows_in_runs(struct wmi_stretch *s, const struct wmi_held_row *held)
{
    s->is_whole &= !held->runs || held->whole;
    return (struct wmi_rows){.row = held->row,
                             .reg = {held->reg[0]},
                             .uniform = true,
                             .runs = held->runs,
                             .whole = !held->runs || held->whole,
                             .stride = held->stride};
}

/* Leaves if a base compares so. */
void wmi_stretch_leave_if(struct wmi_stretch *s, uint32_t instruction, unsigned a, struct wmi_host_operand b,
                          int predicate)
{
    wmi_evex(&s->host, instruction, WMI_K, a, b, WMI_NO_MASK, predicate);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

struct wmi_host_operand wmi_stretch_reach(const struct wmi_stretch *s, size_t table,
                                          const struct wmi_rows *row)
{
    const enum wmi_reach reach = !row->whole      ? WMI_IN_STRIP
                                 : s->lanes == 64 ? WMI_IN_WAVE_64
                                                  : WMI_IN_WAVE_32;
    return wmi_at(
        WMI_R11, (int32_t)(table + (reach * WMI_STRIDES + wmi_stride_number(row->stride)) * WMI_STRIP_BYTES));
}

void wmi_stretch_leave_if_wraps(struct wmi_stretch *s, const struct wmi_rows *row)
{
    if (row->stride)
        wmi_stretch_leave_if(s, WMI_VPCMPUD, row->reg[0],
                             wmi_stretch_reach(s, offsetof(struct wmi_spread_tables, most), row), WMI_ABOVE);
}

/* The words of a half, in a register of the step. */
static struct wmi_rows take_half(struct wmi_stretch *s, const struct wmi_held_row *held, struct wmi_rows rows)
{
    const unsigned pair = held->reg[0], reg = wmi_stretch_register(s);
    const bool high = held->half == WMI_HIGH_HALF;
    rows.reg[0] = (uint8_t)reg;
    if (!high || rows.stride) {
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, reg, 0,
                       wmi_at(WMI_R11, offsetof(struct wmi_spread_tables, even)));
        wmi_evex_plain(&s->host, WMI_VPERMD, reg, reg, wmi_zmm(pair));
    }
    if (!high)
        return rows;
    wmi_stretch_leave_if_wraps(s, &rows);
    rows.stride = 0;
    wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, reg, 0,
                   wmi_at(WMI_R11, offsetof(struct wmi_spread_tables, odd)));
    wmi_evex_plain(&s->host, WMI_VPERMD, reg, reg, wmi_zmm(pair));
    return rows;
}

struct wmi_rows wmi_stretch_use_base(struct wmi_stretch *s, uint32_t row)
{
    struct wmi_held_row *held = find(s, row);
    const unsigned id = id_in(s, row);
    if (!held && id < WMI_START_IDS) {
        const uint8_t reg = (uint8_t)wmi_stretch_register(s);
        if (s->failed)
            return (struct wmi_rows){.uniform = true};
        held = hold(s, row, &reg, true);
        held->runs = true;
        held->whole = s->whole_waves;
        held->stride = (uint8_t)stride_of_id(id);
        load_id(s, reg, id);
    } else if (!held) {
        held = load_row(s, row); /* a constant */
    }
    if (!held)
        return (struct wmi_rows){.uniform = true};
    held->step = s->at + 1;
    const struct wmi_rows rows = rows_in_runs(s, held);
    return held->half ? take_half(s, held, rows) : rows;
}

bool wmi_stretch_use_pair(struct wmi_stretch *s, uint32_t low, uint32_t high, struct wmi_rows *pair)
{
    struct wmi_held_row *a = find(s, low), *b = find(s, high);
    if (!a || !b || a->half != WMI_LOW_HALF || b->half != WMI_HIGH_HALF || a->reg[0] != b->reg[0])
        return false;
    a->step = b->step = s->at + 1;
    *pair = rows_in_runs(s, a);
    return true;
}

bool wmi_stretch_use_high_half(struct wmi_stretch *s, uint32_t high, struct wmi_rows *pair)
{
    struct wmi_held_row *held = find(s, high);
    if (!held || held->half != WMI_HIGH_HALF)
        return false;
    held->step = s->at + 1;
    *pair = rows_in_runs(s, held);
    return true;
}

void wmi_stretch_move_half(struct wmi_stretch *s, uint32_t from, uint32_t to)
{
    if (from == to)
        return;
    const struct wmi_held_row moved = *find(s, from);
    release(s, find(s, from));
    if (find(s, to))
        release(s, find(s, to));
    struct wmi_held_row *held = hold(s, to, moved.reg, moved.shared);
    held->runs = true;
    held->whole = moved.whole;
    held->stride = moved.stride;
    held->half = moved.half;
    held->dirty = s->is_written[wmi_row_number(s->block->code, to)] = true;
}

void wmi_stretch_restore_spilled(struct wmi_stretch *s)
{
    const uint32_t first = s->block->code->vgpr_offset, end = s->block->code->constant_offset;
    for (uint32_t row = first; row < end; row += s->row_bytes) {
        if (s->is_spilled[wmi_row_number(s->block->code, row)])
            wmi_stretch_restore_start(s, (row - first) / s->row_bytes);
    }
}

/* All lanes of a row in runs, in registers of the step. */
static struct wmi_rows spread_runs(struct wmi_stretch *s, struct wmi_held_row *held)
{
    struct wmi_rows rows = {.row = held->row};
    held->step = s->at + 1;
    for (unsigned i = 0; i < s->strips; i++)
        rows.reg[i] = (uint8_t)wmi_stretch_register(s);
    for (unsigned i = 0; i < s->strips; i++)
        spread_strip(s, rows.reg[i], held, i);
    return rows;
}

void wmi_stretch_spread(struct wmi_stretch *s, uint32_t row)
{
    if (id_in(s, row) < WMI_START_IDS)
        wmi_stretch_use_base(s, row);
    struct wmi_held_row *held = find(s, row);
    if (!held || !held->runs)
        return;
    const bool dirty = held->dirty, active_only = held->active_only;
    const struct wmi_rows rows = spread_runs(s, held);
    release(s, held);
    if (s->failed)
        return;
    held = hold(s, row, rows.reg, false);
    held->dirty = dirty;
    held->active_only = active_only;
}

/* The row in the frame, where the host takes operands in memory for registers. */
static struct wmi_rows name_row(struct wmi_stretch *s, uint32_t row)
{
    struct wmi_rows rows = {.row = row, .uniform = is_constant(s, row)};
    for (unsigned i = 0; i < wmi_rows_strips(s, &rows); i++)
        rows.reg[i] = (uint8_t)wmi_host_name(&s->host, home(s, row, i));
    return rows;
}

static bool can_name(const struct wmi_stretch *s, uint32_t row)
{
    return names_memory(s) && !is_in_frame(s, row, WMI_UNIFORM_ANY) &&
           s->host.names + s->strips <= WMI_MOST_NAMES;
}

void wmi_stretch_hold(struct wmi_stretch *s, uint32_t row)
{
    struct wmi_held_row *held = find(s, row);
    if (!held)
        held = load_row(s, row);
    if (held)
        held->numbered = s->at + 1;
}

struct wmi_rows wmi_stretch_use(struct wmi_stretch *s, uint32_t row, bool must_be_register)
{
    struct wmi_rows rows = {.row = row};
    if (s->on_bases)
        return wmi_stretch_use_base(s, row);
    if (id_in(s, row) < WMI_START_IDS)
        wmi_stretch_use_base(s, row); /* it stays in runs for others */
    struct wmi_held_row *held = find(s, row);
    if (held && held->runs)
        return spread_runs(s, held);
    const bool constant = is_constant(s, row);
    if (!held && must_be_register && can_name(s, row))
        return name_row(s, row);
    if (!held && (must_be_register || (is_read_soon(s, row) && !can_name(s, row)) ||
                  (is_in_frame(s, row, WMI_UNIFORM_ANY) && !s->by_halves)))
        held = load_row(s, row);
    if (!held) {
        rows.in_memory = true;
        rows.uniform = constant;
        return rows;
    }
    held->step = s->at + 1;
    memcpy(rows.reg, held->reg, sizeof rows.reg);
    rows.uniform = held->shared;
    const bool by_name = names_memory(s) && !rows.uniform && held->numbered != s->at + 1 &&
                         s->host.names + s->strips <= WMI_MOST_NAMES;
    if (by_name)
        for (unsigned i = 0; i < s->strips; i++)
            rows.reg[i] = (uint8_t)wmi_host_name(&s->host, wmi_zmm(held->reg[i]));
    else
        held->numbered = s->at + 1;
    return rows;
}

struct wmi_rows wmi_stretch_use_in_memory(struct wmi_stretch *s, uint32_t row)
{
    struct wmi_held_row *held = find(s, row);
    if (held && held->dirty)
        spill(s, held);
    return (struct wmi_rows){.row = row, .in_memory = true, .uniform = is_constant(s, row)};
}

void wmi_stretch_store_aside(struct wmi_stretch *s, uint32_t row)
{
    const struct wmi_held_row *held = find(s, row);
    if (held && held->dirty)
        wmi_stretch_store(s, held);
}

unsigned wmi_rows_register(const struct wmi_rows *rows, unsigned strip)
{
    return rows->reg[rows->uniform ? 0 : strip];
}

struct wmi_host_operand wmi_rows_operand(const struct wmi_stretch *s, const struct wmi_rows *rows,
                                         unsigned strip)
{
    const unsigned part = rows->uniform ? 0 : strip;
    return rows->in_memory ? home(s, rows->row, part) : wmi_zmm(rows->reg[part]);
}

struct wmi_rows wmi_stretch_result(struct wmi_stretch *s, bool uniform)
{
    struct wmi_rows rows = {.uniform = uniform};
    for (unsigned i = 0; i < (uniform ? 1 : s->strips); i++) {
        const unsigned own = names_memory(s) && !uniform ? near_register(s) : (unsigned)WMI_NOT_HELD;
        rows.reg[i] = own != WMI_NOT_HELD ? (uint8_t)own
                      : uniform           ? lasting_register(s)
                                          : (uint8_t)wmi_stretch_register(s);
    }
    return rows;
}

struct wmi_rows wmi_stretch_result_in(struct wmi_stretch *s, const struct wmi_rows *a, bool uniform)
{
    struct wmi_held_row *held =
        s->host.names && !uniform && !a->uniform && !a->in_memory ? find(s, a->row) : NULL;
    if (!held || held->shared || held->reg[0] >= WMI_STRIPS || held->numbered == s->at + 1)
        return wmi_stretch_result(s, uniform);
    if (is_read_at(s, held, s->at + 1))
        return wmi_stretch_result(s, uniform);
    struct wmi_rows rows = {.uniform = uniform};
    memcpy(rows.reg, held->reg, sizeof rows.reg);
    release(s, held);
    for (unsigned i = 0; i < s->strips; i++)
        s->owner[rows.reg[i]] = OF_STEP;
    return rows;
}

unsigned wmi_rows_strips(const struct wmi_stretch *s, const struct wmi_rows *rows)
{
    return rows->uniform ? 1 : s->strips;
}

void wmi_stretch_write_all_lanes(struct wmi_stretch *s, uint32_t row, struct wmi_rows *result)
{
    struct wmi_held_row *old = find(s, row);
    if (old)
        release(s, old);
    if (s->failed)
        return;
    struct wmi_held_row *held = hold(s, row, result->reg, result->uniform);
    held->dirty = true;
    held->runs = s->on_bases;
    held->whole = s->is_whole;
    s->is_written[wmi_row_number(s->block->code, row)] = true;
}

void wmi_stretch_write_runs(struct wmi_stretch *s, uint32_t row, unsigned reg, unsigned stride)
{
    struct wmi_rows result = {.reg = {(uint8_t)reg}, .uniform = true};
    wmi_stretch_write_all_lanes(s, row, &result);
    struct wmi_held_row *held = find(s, row);
    if (!held)
        return;
    held->runs = true;
    held->stride = (uint8_t)stride;
    held->active_only = s->partial;
}

void wmi_stretch_write_pair(struct wmi_stretch *s, uint32_t low, uint32_t high, unsigned reg, unsigned stride)
{
    wmi_stretch_write_runs(s, low, reg, stride);
    wmi_stretch_write_runs(s, high, reg, stride);
    if (s->failed)
        return;
    find(s, low)->half = WMI_LOW_HALF;
    find(s, high)->half = WMI_HIGH_HALF;
}

void wmi_stretch_write(struct wmi_stretch *s, uint32_t row, struct wmi_rows *result)
{
    wmi_stretch_write_all_lanes(s, row, result);
    struct wmi_held_row *held = find(s, row);
    if (held)
        held->active_only = s->partial;
}

bool wmi_stretch_has_lanes(const struct wmi_stretch *s, uint32_t row)
{
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)];
    if (index == WMI_NOT_HELD)
        return s->version != WMI_LAUNCH && !is_constant(s, row);
    return !s->held[index].shared && !s->held[index].active_only;
}

struct wmi_rows wmi_stretch_use_later(struct wmi_stretch *s, uint32_t row, bool *is_loaded)
{
    *is_loaded = find(s, row);
    if (*is_loaded)
        return wmi_stretch_use(s, row, true);
    struct wmi_rows rows = wmi_stretch_result(s, false);
    rows.row = row;
    return rows;
}

void wmi_stretch_load_later(struct wmi_stretch *s, const struct wmi_rows *rows)
{
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, rows->reg[i], 0, home(s, rows->row, i));
}

void wmi_stretch_written_in_memory(struct wmi_stretch *s, uint32_t row)
{
    struct wmi_held_row *held = find(s, row);
    if (held)
        release(s, held);
    s->is_written[wmi_row_number(s->block->code, row)] = s->is_spilled[wmi_row_number(s->block->code, row)] =
        true;
}

void wmi_stretch_hold_mask(struct wmi_stretch *s, uint32_t place)
{
    s->mask = (struct wmi_held_mask){.is_held = !s->partial, .place = place, .step = s->at};
}

bool wmi_stretch_holds_mask(const struct wmi_stretch *s, uint32_t place)
{
    return s->mask.is_held && s->mask.place == place;
}

void wmi_stretch_clears_mask(struct wmi_stretch *s, uint32_t place)
{
    s->clear = (struct wmi_held_mask){.is_held = true, .place = place, .step = s->at};
}

bool wmi_stretch_has_clear_mask(const struct wmi_stretch *s, uint32_t place)
{
    return s->clear.is_held && s->clear.place == place;
}

void wmi_stretch_load_mask(struct wmi_stretch *s, uint32_t place)
{
    for (unsigned i = 0; i < s->strips; i++)
        wmi_kmov_load(&s->host, WMI_K_HELD + i, WMI_FRAME, (int32_t)(place + 2 * i));
}

void wmi_stretch_leave_lanes(struct wmi_stretch *s)
{
    const bool shrinks = wmi_exec_shrinks(s->block, s->at);
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (!held->used || !(held->active_only || held->runs))
            continue;
        if (shrinks && !is_temporary(s, held->row) && !held->runs) {
            if (held->dirty && wmi_live_is_in(s->live, held->row, s->at + 1, WMI_LIVE_INACTIVE)) {
                wmi_stretch_store(s, held);
                held->dirty = false;
            }
            continue;
        }
        if (held->dirty && (is_temporary(s, held->row) || is_read_from(s, held, s->at)))
            wmi_stretch_store(s, held);
        release(s, held);
    }
}

/* ---- leaving ---- */

void wmi_stretch_flush(struct wmi_stretch *s, size_t next, size_t target)
{
    const bool ends =
        next < s->block->count && wmi_step_facts_of(s->block->steps[next].id).flags & WMI_STEP_ENDS_WAVE;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (!held->used || !held->dirty)
            continue;
        if (!ends && (is_temporary(s, held->row) ? is_temporary_read(s, held->row, next)
                                                 : is_read_from(s, held, target)))
            wmi_stretch_store(s, held);
        held->dirty = false;
    }
}

void wmi_stretch_forget(struct wmi_stretch *s)
{
    memset(s->held, 0, sizeof s->held);
    memset(s->held_of_row, WMI_NOT_HELD, sizeof s->held_of_row);
    memset(s->owner, FREE, sizeof s->owner);
    memset(s->is_written, 0, sizeof s->is_written);
    memset(s->is_spilled, 0, sizeof s->is_spilled);
    s->has_changed_exec = false;
    s->known_places = 0;
    s->is_whole = true;
    s->joins_next = false;
    s->sum = NULL;
    s->mask.is_held = s->clear.is_held = false;
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
    if (!is_temporary(s, held->row))
        return is_read_from(s, held, kind == WMI_EXIT_CHANGES_EXEC ? s->at : wmi_step_number(s->block, op));
    return (kind == WMI_EXIT_CONTINUES || kind == WMI_EXIT_CHANGES_EXEC) &&
           is_temporary_read(s, held->row, s->at + 1);
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
    wmi_stretch_exit_at(s, jump, WMI_EXIT_INTERPRETS, &s->block->ops[first_undone(s)]);
}

void wmi_stretch_exit_if(struct wmi_stretch *s, enum wmi_condition condition)
{
    if (s->by_halves) {
        wmi_set_if(&s->host, condition, WMI_R10);
        wmi_scalar_registers(&s->host, WMI_OR, false, WMI_R8, WMI_R10);
        s->may_fail = s->may_fail_by_flag = true;
        return;
    }
    wmi_stretch_exit_here(s, wmi_jump_if(&s->host, condition));
}

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
    for (size_t i = 0; i < count; i++)
        wmi_put_8(bytes, s->host.bytes[from + i]);
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
        for (size_t j = 0; j < aside->count; j++)
            wmi_put_8(&s->host, s->aside_bytes.bytes[aside->from + j]);
        wmi_jump_back(&s->host, aside->back);
    }
    s->aside_count = s->aside_jump_count = s->aside_bytes.count = 0;
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
        if (s->held[i].used && s->held[i].shared && !is_constant(s, s->held[i].row))
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

/* ---- splits ---- */

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

/* ---- runs of half strips ---- */

bool wmi_stretch_make_room(struct wmi_stretch *s)
{
    unsigned far = WMI_HALF_REGISTERS;
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (held->used && !held->shared)
            give_up(s, held);
    }
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        held->is_outer = held->used;
        if (!held->used || held->reg[0] >= WMI_HALF_REGISTERS)
            continue;
        while (far < WMI_ZMM_REGISTERS && s->owner[far] != FREE)
            far++;
        if (far == WMI_ZMM_REGISTERS)
            return false;
        wmi_evex_plain(&s->host, WMI_VMOVDQA32, far, 0, wmi_zmm(held->reg[0]));
        s->owner[far] = (uint8_t)i;
        s->owner[held->reg[0]] = FREE;
        held->reg[0] = (uint8_t)far;
    }
    return true;
}

/* Whether the run replaces the mask behind the current step. *splits: it writes a part of it. */
static bool is_replaced_in_run(const struct wmi_stretch *s, uint32_t place, bool *splits)
{
    const struct wmi_extent span = {place, place + s->lanes / 8};
    *splits = false;
    for (size_t i = s->at + 1; i < s->halves_end; i++) {
        const struct wmi_step *step = &s->block->steps[i];
        if (!wmi_vector_emitter(step) || !wmi_step_writes_scalars(step, span, s->lanes))
            continue;
        *splits = step->d != place && step->e != place;
        return true;
    }
    return false;
}

/* Whether something behind the run reads the mask, or a scalar step among those of the run, which follow it.
 */
static bool is_read_behind_run(const struct wmi_stretch *s, uint32_t place)
{
    const struct wmi_extent span = {place, place + s->lanes / 8};
    for (size_t i = s->at + 1; i < s->halves_end; i++)
        if (!wmi_vector_emitter(&s->block->steps[i]) &&
            wmi_step_reads_scalars(&s->block->steps[i], span, s->lanes))
            return true;
    return !wmi_stretch_drops_mask(s, place, s->halves_end - 1);
}

unsigned wmi_stretch_add_half_mask(struct wmi_stretch *s, uint32_t place)
{
    static const enum wmi_gpr reg[] = {WMI_RCX, WMI_R11, WMI_R9};
    bool splits;
    const bool is_collected = !is_replaced_in_run(s, place, &splits) && is_read_behind_run(s, place);
    unsigned collected = 0;
    for (unsigned i = 0; i < s->half_masks; i++)
        collected += s->half_mask[i].is_collected;
    if (splits || s->half_masks == WMI_LANE_MASKS || (is_collected && collected == sizeof reg / sizeof *reg))
        return WMI_LANE_MASKS;
    s->half_mask[s->half_masks] =
        (struct wmi_half_mask){place, is_collected, is_collected ? reg[collected] : WMI_RAX};
    return s->half_masks++;
}

unsigned wmi_stretch_find_half_mask(const struct wmi_stretch *s, uint32_t place)
{
    for (unsigned i = s->by_halves ? s->half_masks : 0; i-- > 0;)
        if (s->half_mask[i].place == place)
            return i;
    return WMI_LANE_MASKS;
}

void wmi_stretch_end_halves(struct wmi_stretch *s)
{
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++)
        s->held[i].is_outer = false;
}

void wmi_stretch_flush_half(struct wmi_stretch *s, size_t next)
{
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        const struct wmi_held_row *held = &s->held[i];
        if (held->used && held->dirty && !held->is_outer && is_read_at(s, held, next))
            wmi_stretch_store(s, held);
    }
}

unsigned wmi_stretch_constants(const struct wmi_stretch *s, struct wmi_constant_row *found, unsigned most)
{
    unsigned count = 0;
    for (unsigned i = 0; i < WMI_HELD_ROWS && count < most; i++) {
        const struct wmi_held_row *held = &s->held[i];
        if (held->used && !held->is_outer && held->shared && held->is_known && !is_constant(s, held->row))
            found[count++] = (struct wmi_constant_row){held->row, held->value};
    }
    return count;
}

void wmi_stretch_hold_constant(struct wmi_stretch *s, const struct wmi_constant_row *constant)
{
    const unsigned far = far_register(s);
    if (far == WMI_NOT_HELD)
        return;
    const uint8_t reg = (uint8_t)far;
    struct wmi_held_row *held = hold(s, constant->row, &reg, true);
    wmi_move_immediate(&s->host, WMI_RAX, constant->value);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_GPR, reg, 0, wmi_zmm(WMI_RAX));
    held->active_only = s->partial;
    held->is_known = true;
    held->value = constant->value;
}

/* ---- loops ---- */

void wmi_stretch_keep(struct wmi_stretch *s, struct wmi_kept *kept)
{
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (held->used && !is_constant(s, held->row) &&
            (is_temporary(s, held->row) || !is_read_from(s, held, s->from)))
            release(s, held);
        held->step = 0;
        /* In later iterations it may be, at this point. */
        held->dirty = held->used && !is_constant(s, held->row);
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
        if (!held->used || !held->dirty || is_temporary(s, held->row))
            continue;
        const unsigned before = kept->held_of_row[wmi_row_number(s->block->code, held->row)];
        if (before == WMI_NOT_HELD ? is_read_from(s, held, s->from)
                                   : match_of(held, &kept->held[before]) == IS_LOADED)
            wmi_stretch_store(s, held);
    }
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        const struct wmi_held_row *before = &kept->held[i], *now = before->used ? find(s, before->row) : NULL;
        if (now && match_of(now, before) == MOVES)
            for (unsigned strip = 0; strip < before->strips; strip++)
                from[before->reg[strip]] = now->reg[strip];
    }
    wmi_move_registers(&s->host, from);
    for (unsigned i = 0; i < WMI_HELD_ROWS; i++) {
        const struct wmi_held_row *before = &kept->held[i];
        if (before->used && match_of(find(s, before->row), before) == IS_LOADED)
            wmi_stretch_load(s, before);
    }
}

/* ---- memory ---- */

void wmi_stretch_find_hit(struct wmi_stretch *s, const struct wmi_memory_op *m)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    const int32_t hit = (int32_t)(layout->worker_hits + m->hit * sizeof(struct wmi_hit));
    if (s->version == WMI_LAUNCH) {
        wmi_scalar_memory(&s->host, WMI_LEA, true, WMI_R9, WMI_R10, hit);
        return;
    }
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R9, WMI_FRAME,
                      (int32_t)offsetof(struct wmi_frame, wave));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R9, WMI_R9, (int32_t)layout->wave_worker);
    wmi_arithmetic_immediate(&s->host, 0, true, WMI_R9, hit);
}

void wmi_stretch_check_hit(struct wmi_stretch *s, unsigned bytes)
{
    const int32_t low = offsetof(struct wmi_hit, low), high = offsetof(struct wmi_hit, high);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_RAX, WMI_R9, low);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R8, WMI_R9, high);
    wmi_scalar_memory(&s->host, WMI_SUB, true, WMI_R8, WMI_R9, low);
    wmi_arithmetic_immediate(&s->host, 5, true, WMI_R8, (int32_t)bytes);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_scalar_registers(&s->host, WMI_CMP, true, WMI_RAX, WMI_R8);
    wmi_stretch_exit_if(s, WMI_IF_ABOVE);
    wmi_scalar_memory(&s->host, WMI_ADD, true, WMI_RAX, WMI_R9, offsetof(struct wmi_hit, host));
}

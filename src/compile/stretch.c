/* SPDX-License-Identifier: MIT */
/* Which rows the host's registers hold: loads, stores, spills, and exits to the interpreter. */
#include "compile/stretch.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum {
    FREE = 0xfe,     /* owner of a register: nobody */
    OF_STEP = 0xfd,  /* the current step */
    LOOK_AHEAD = 48, /* steps in which a row must be read again to be worth a register */
    NEAR = 128 * 64, /* distance that a displacement of 8 bits reaches */
};

/* ---- rows ---- */

static unsigned number_of(const struct wmi_stretch *s, uint32_t row)
{
    return (row - (uint32_t)offsetof(struct wmi_frame, rows)) / s->row_bytes;
}

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

static struct wmi_host_operand home(const struct wmi_stretch *s, uint32_t row, unsigned strip)
{
    return wmi_at(WMI_ROWS, (int32_t)(row + strip * WMI_STRIP_BYTES - wmi_stretch_origin(s)));
}

static struct wmi_held_row *find(struct wmi_stretch *s, uint32_t row)
{
    const unsigned index = s->held_of_row[number_of(s, row)];
    return index == WMI_NOT_HELD ? NULL : &s->held[index];
}

bool wmi_stretch_constant(const struct wmi_stretch *s, uint32_t row, uint32_t *value)
{
    const struct wmi_code *code = s->block->code;
    for (unsigned i = 0; i < code->vector_constants; i++) {
        const struct wmi_vector_constant *c = &code->vector_constant[i];
        if (row >= c->offset && row < c->offset + c->rows * s->row_bytes) {
            *value = (uint32_t)(c->value >> 32 * ((row - c->offset) / s->row_bytes));
            return true;
        }
    }
    return false;
}

void wmi_stretch_store(struct wmi_stretch *s, const struct wmi_held_row *held)
{
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex(&s->host, WMI_VMOVUPS_STORE, held->reg[held->strips == 1 ? 0 : i], 0, home(s, held->row, i),
                 WMI_NO_MASK, WMI_NO_IMMEDIATE);
}

void wmi_stretch_load(struct wmi_stretch *s, const struct wmi_held_row *held)
{
    for (unsigned i = 0; i < held->strips; i++)
        wmi_evex(&s->host, WMI_VMOVUPS_LOAD, held->reg[i], 0, home(s, held->row, i), WMI_NO_MASK,
                 WMI_NO_IMMEDIATE);
}

static void release(struct wmi_stretch *s, struct wmi_held_row *held)
{
    for (unsigned i = 0; i < held->strips; i++)
        s->owner[held->reg[i]] = FREE;
    s->held_of_row[number_of(s, held->row)] = WMI_NOT_HELD;
    held->used = false;
}

/* Frees the registers of the row that was not used for the longest time, other than `kept`. */
static void evict(struct wmi_stretch *s, const struct wmi_held_row *kept)
{
    struct wmi_held_row *oldest = NULL;
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (held->used && held != kept && (held->step != s->at + 1 || s->has_read) &&
            (!oldest || held->step < oldest->step))
            oldest = held;
    }
    if (!oldest) {
        s->failed = true;
        return;
    }
    if (oldest->dirty)
        wmi_stretch_store(s, oldest);
    release(s, oldest);
}

static unsigned take_register(struct wmi_stretch *s, const struct wmi_held_row *kept)
{
    for (;;) {
        for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++)
            if (s->owner[i] == FREE) {
                s->owner[i] = OF_STEP;
                return i;
            }
        evict(s, kept);
        if (s->failed)
            return 0;
    }
}

unsigned wmi_stretch_register(struct wmi_stretch *s)
{
    return take_register(s, NULL);
}

void wmi_stretch_end_step(struct wmi_stretch *s)
{
    s->has_read = false;
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++)
        if (s->owner[i] == OF_STEP)
            s->owner[i] = FREE;
}

/* Enters the row with registers that the step owns. */
static struct wmi_held_row *hold(struct wmi_stretch *s, uint32_t row, const uint8_t *reg, unsigned strips)
{
    unsigned index = 0;
    while (s->held[index].used)
        index++; /* each holds at least one register, so one is free */
    struct wmi_held_row *held = &s->held[index];
    *held = (struct wmi_held_row){.row = row, .strips = (uint8_t)strips, .used = true, .step = s->at + 1};
    for (unsigned i = 0; i < strips; i++) {
        held->reg[i] = reg[i];
        s->owner[reg[i]] = (uint8_t)index;
    }
    s->held_of_row[number_of(s, row)] = (uint8_t)index;
    return held;
}

static struct wmi_held_row *load_row(struct wmi_stretch *s, uint32_t row, unsigned strips)
{
    uint8_t reg[WMI_STRIPS];
    for (unsigned i = 0; i < strips; i++)
        reg[i] = (uint8_t)wmi_stretch_register(s);
    if (s->failed)
        return NULL;
    struct wmi_held_row *held = hold(s, row, reg, strips);
    wmi_stretch_load(s, held);
    return held;
}

static bool is_read_soon(const struct wmi_stretch *s, uint32_t row)
{
    const struct wmi_extent span = {row, row + s->row_bytes};
    for (size_t i = s->at + 1; i < s->end && i - s->at < LOOK_AHEAD; i++) {
        if (wmi_step_reads_rows(&s->block->steps[i], span, s->lanes))
            return true;
        if (wmi_step_overwrites(&s->block->steps[i], span, s->lanes))
            return false;
    }
    return false;
}

struct wmi_rows wmi_stretch_use(struct wmi_stretch *s, uint32_t row, bool must_be_register)
{
    struct wmi_rows rows = {.row = row};
    struct wmi_held_row *held = find(s, row);
    const bool constant = is_constant(s, row);
    if (!held && (must_be_register || is_read_soon(s, row)))
        held = load_row(s, row, constant ? 1 : s->strips);
    if (!held) {
        rows.in_memory = true;
        rows.uniform = constant;
        return rows;
    }
    held->step = s->at + 1;
    memcpy(rows.reg, held->reg, sizeof rows.reg);
    rows.uniform = held->strips == 1;
    return rows;
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
    for (unsigned i = 0; i < (uniform ? 1 : s->strips); i++)
        rows.reg[i] = (uint8_t)wmi_stretch_register(s);
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
    if (!s->failed)
        hold(s, row, result->reg, wmi_rows_strips(s, result))->dirty = true;
}

/* Gives a uniform row a register per strip. */
static void spread(struct wmi_stretch *s, struct wmi_held_row *held)
{
    const unsigned index = (unsigned)(held - s->held);
    held->step = s->at + 1;
    for (unsigned i = 1; i < s->strips; i++) {
        held->reg[i] = (uint8_t)take_register(s, held);
        s->owner[held->reg[i]] = (uint8_t)index;
        wmi_evex(&s->host, WMI_VMOVDQA32, held->reg[i], 0, wmi_zmm(held->reg[0]), WMI_NO_MASK,
                 WMI_NO_IMMEDIATE);
    }
    held->strips = (uint8_t)s->strips;
}

void wmi_stretch_write(struct wmi_stretch *s, uint32_t row, struct wmi_rows *result)
{
    if (!s->partial) {
        wmi_stretch_write_all_lanes(s, row, result);
        return;
    }
    s->has_read = true;
    struct wmi_held_row *held = find(s, row);
    if (!held)
        held = load_row(s, row, s->strips);
    else if (held->strips != s->strips)
        spread(s, held);
    if (s->failed)
        return;
    held->step = s->at + 1;
    held->dirty = true;
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex(&s->host, WMI_VMOVDQA32, held->reg[i], 0, wmi_zmm(wmi_rows_register(result, i)),
                 WMI_K_EXEC + i, WMI_NO_IMMEDIATE);
}

/* ---- what is not read ---- */

/* Whether the step may be followed by others than the next one, or changes which lanes are active. */
static bool ends_scan(const struct wmi_stretch *s, size_t step)
{
    const unsigned flags = wmi_step_facts_of(s->block->steps[step].id).flags;
    return s->block->leads[step] || flags & (WMI_STEP_LEAVES | WMI_STEP_BRANCHES | WMI_STEP_TAKES_NEXT) ||
           s->block->steps[step].id == WMI_STEP_stage_EXEC;
}

bool wmi_stretch_drops_row(const struct wmi_stretch *s, uint32_t row)
{
    const struct wmi_extent span = {row, row + s->row_bytes};
    for (size_t i = s->at + 1; i < s->block->count && !ends_scan(s, i); i++) {
        const struct wmi_step *step = &s->block->steps[i];
        const bool moves = (step->id == WMI_STEP_BODIES + WMI_INSN_v_mov_b32 && step->a != row) ||
                           step->id == WMI_STEP_fused_MOVE_SCALAR;
        if (moves && step->d == row && step->lanes == offsetof(struct wmi_frame, exec))
            return true;
        if (wmi_step_reads_rows(step, span, s->lanes))
            return false;
    }
    return false;
}

bool wmi_stretch_drops_mask(const struct wmi_stretch *s, uint32_t place)
{
    const struct wmi_extent span = {place, place + s->lanes / 8};
    for (size_t i = s->at + 1; i < s->block->count; i++) {
        const struct wmi_step *step = &s->block->steps[i];
        if (wmi_step_facts_of(step->id).flags & WMI_STEP_ENDS_WAVE)
            return true;
        if (ends_scan(s, i) || wmi_step_reads_scalars(step, span, s->lanes))
            return false;
        if (wmi_step_overwrites(step, span, s->lanes))
            return true;
    }
    return false;
}

/* ---- leaving ---- */

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

void wmi_stretch_flush(struct wmi_stretch *s, size_t next)
{
    const bool ends =
        next < s->block->count && wmi_step_facts_of(s->block->steps[next].id).flags & WMI_STEP_ENDS_WAVE;
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (!held->used || !held->dirty)
            continue;
        if (!ends && (!is_temporary(s, held->row) || is_temporary_read(s, held->row, next)))
            wmi_stretch_store(s, held);
        held->dirty = false;
    }
}

void wmi_stretch_forget(struct wmi_stretch *s)
{
    memset(s->held, 0, sizeof s->held);
    memset(s->held_of_row, WMI_NOT_HELD, sizeof s->held_of_row);
    memset(s->owner, FREE, sizeof s->owner);
}

/* Whether the row must be stored for what follows an exit at the current step. */
static bool is_kept_by_exit(const struct wmi_stretch *s, const struct wmi_held_row *held,
                            enum wmi_exit_kind kind)
{
    if (!held->used || !held->dirty)
        return false;
    if (!is_temporary(s, held->row) || kind == WMI_EXIT_INTERPRETS)
        return true;
    return kind == WMI_EXIT_CONTINUES && is_temporary_read(s, held->row, s->at + 1);
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
    leave->count = 0;
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++)
        if (is_kept_by_exit(s, &s->held[i], kind))
            leave->dirty[leave->count++] = s->held[i];
}

void wmi_stretch_exit_if(struct wmi_stretch *s, enum wmi_condition condition)
{
    wmi_stretch_exit_at(s, wmi_jump_if(&s->host, condition), WMI_EXIT_INTERPRETS, &s->block->ops[s->at]);
}

void wmi_stretch_come_back(struct wmi_stretch *s)
{
    if (!wmi_grow(&s->reentries, &s->reentry_capacity, s->reentry_count, sizeof *s->reentries)) {
        s->failed = true;
        return;
    }
    struct wmi_reentry *back = &s->reentries[s->reentry_count++];
    back->step = s->at + 1;
    back->code = s->host.count;
    back->count = 0;
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++)
        if (s->held[i].used)
            back->held[back->count++] = s->held[i];
}

/* ---- loops ---- */

void wmi_stretch_keep(struct wmi_stretch *s, struct wmi_kept *kept)
{
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++) {
        struct wmi_held_row *held = &s->held[i];
        if (held->used && is_temporary(s, held->row))
            release(s, held);
        held->step = 0;
        /* In later iterations it may be, at this point. */
        held->dirty = held->used && !is_constant(s, held->row);
    }
    memcpy(kept->held, s->held, sizeof s->held);
    memcpy(kept->held_of_row, s->held_of_row, sizeof s->held_of_row);
    memcpy(kept->owner, s->owner, sizeof s->owner);
}

static bool is_same(const struct wmi_held_row *a, const struct wmi_held_row *b)
{
    return a->used && b->used && a->row == b->row && a->strips == b->strips &&
           !memcmp(a->reg, b->reg, a->strips);
}

void wmi_stretch_match(struct wmi_stretch *s, const struct wmi_kept *kept)
{
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++) {
        const struct wmi_held_row *held = &s->held[i];
        if (!held->used || !held->dirty || is_temporary(s, held->row))
            continue;
        const unsigned before = kept->held_of_row[number_of(s, held->row)];
        if (before == WMI_NOT_HELD || !is_same(held, &kept->held[before]))
            wmi_stretch_store(s, held);
    }
    /* Registers of rows that stay where they are belong to no other row. */
    for (unsigned i = 0; i < WMI_ZMM_REGISTERS; i++) {
        const struct wmi_held_row *before = &kept->held[i];
        if (!before->used)
            continue;
        const unsigned now = s->held_of_row[number_of(s, before->row)];
        if (now == WMI_NOT_HELD || !is_same(before, &s->held[now]))
            wmi_stretch_load(s, before);
    }
}

/* ---- memory ---- */

void wmi_stretch_find_hit(struct wmi_stretch *s, const struct wmi_memory_op *m)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R9, WMI_FRAME,
                      (int32_t)offsetof(struct wmi_frame, wave));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_R9, WMI_R9, (int32_t)layout->wave_worker);
    wmi_arithmetic_immediate(&s->host, 0, true, WMI_R9,
                             (int32_t)(layout->worker_hits + m->hit * sizeof(struct wmi_hit)));
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

/* SPDX-License-Identifier: MIT */
#include "jit/stretch.h"

#include "jit/live.h"

#include <string.h>

enum { LOOK_AHEAD = 48 }; /* steps in which a row must be read again to be worth a register */

/* ---- rows ---- */

static bool is_read_soon(const struct wmi_stretch *s, uint32_t row)
{
    bool written;
    if (s->by_halves) /* a constant is an operand in memory */
        return !wmi_row_is_constant(s, row) && wmi_row_is_read_in_sequence(s, row, s->at + 1, &written);
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
    if (s->version != WMI_LAUNCH || wmi_row_is_temporary(s, row) ||
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

bool wmi_stretch_is_id(const struct wmi_stretch *s, uint32_t row)
{
    return id_in(s, row) < WMI_START_IDS;
}

/* A register = the first lanes of the strips of an id. */
static void load_id(struct wmi_stretch *s, unsigned reg, unsigned id)
{
    wmi_evex_plain(
        &s->host, WMI_VMOVUPS_LOAD, reg, 0,
        wmi_at(WMI_FRAME, (int32_t)(offsetof(struct wmi_frame, compiled.id_bases) + id * WMI_STRIP_BYTES)));
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
    return wmi_row_is_constant(s, row) || wmi_stretch_is_id(s, row);
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
    struct wmi_held_row *held = wmi_held_find(s, row);
    const unsigned id = id_in(s, row);
    if (!held && id < WMI_START_IDS) {
        const uint8_t reg = (uint8_t)wmi_stretch_register(s);
        if (s->failed)
            return (struct wmi_rows){.uniform = true};
        held = wmi_held_add(s, row, &reg, true);
        held->runs = true;
        held->whole = s->whole_waves;
        held->stride = (uint8_t)stride_of_id(id);
        load_id(s, reg, id);
    } else if (!held) {
        held = wmi_held_load_row(s, row); /* a constant */
    }
    if (!held)
        return (struct wmi_rows){.uniform = true};
    held->step = s->at + 1;
    const struct wmi_rows rows = rows_in_runs(s, held);
    return held->half ? take_half(s, held, rows) : rows;
}

bool wmi_stretch_use_pair(struct wmi_stretch *s, uint32_t low, uint32_t high, struct wmi_rows *pair)
{
    struct wmi_held_row *a = wmi_held_find(s, low), *b = wmi_held_find(s, high);
    if (!a || !b || a->half != WMI_LOW_HALF || b->half != WMI_HIGH_HALF || a->reg[0] != b->reg[0])
        return false;
    a->step = b->step = s->at + 1;
    *pair = rows_in_runs(s, a);
    return true;
}

bool wmi_stretch_use_high_half(struct wmi_stretch *s, uint32_t high, struct wmi_rows *pair)
{
    struct wmi_held_row *held = wmi_held_find(s, high);
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
    const struct wmi_held_row moved = *wmi_held_find(s, from);
    wmi_held_release(s, wmi_held_find(s, from));
    if (wmi_held_find(s, to))
        wmi_held_release(s, wmi_held_find(s, to));
    struct wmi_held_row *held = wmi_held_add(s, to, moved.reg, moved.shared);
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
        wmi_held_spread_strip(s, rows.reg[i], held, i);
    return rows;
}

void wmi_stretch_spread(struct wmi_stretch *s, uint32_t row)
{
    if (wmi_stretch_is_id(s, row))
        wmi_stretch_use_base(s, row);
    struct wmi_held_row *held = wmi_held_find(s, row);
    if (!held || !held->runs)
        return;
    const bool dirty = held->dirty, active_only = held->active_only;
    const struct wmi_rows rows = spread_runs(s, held);
    wmi_held_release(s, held);
    if (s->failed)
        return;
    held = wmi_held_add(s, row, rows.reg, false);
    held->dirty = dirty;
    held->active_only = active_only;
}

/* The row in the frame, where the host takes operands in memory for registers. */
static struct wmi_rows name_row(struct wmi_stretch *s, uint32_t row)
{
    struct wmi_rows rows = {.row = row, .uniform = wmi_row_is_constant(s, row)};
    for (unsigned i = 0; i < wmi_rows_strips(s, &rows); i++)
        rows.reg[i] = (uint8_t)wmi_host_name(&s->host, wmi_row_home(s, row, i));
    return rows;
}

static bool can_name(const struct wmi_stretch *s, uint32_t row)
{
    return wmi_names_memory(s) && !wmi_row_is_in_frame(s, row, WMI_UNIFORM_ANY) &&
           s->host.names + s->strips <= WMI_MOST_NAMES;
}

void wmi_stretch_hold(struct wmi_stretch *s, uint32_t row)
{
    struct wmi_held_row *held = wmi_held_find(s, row);
    if (!held)
        held = wmi_held_load_row(s, row);
    if (held)
        held->numbered = s->at + 1;
}

struct wmi_rows wmi_stretch_use(struct wmi_stretch *s, uint32_t row, bool must_be_register)
{
    struct wmi_rows rows = {.row = row};
    if (s->on_bases)
        return wmi_stretch_use_base(s, row);
    if (wmi_stretch_is_id(s, row))
        wmi_stretch_use_base(s, row); /* it stays in runs for others */
    struct wmi_held_row *held = wmi_held_find(s, row);
    if (held && held->runs)
        return spread_runs(s, held);
    const bool constant = wmi_row_is_constant(s, row);
    if (!held && must_be_register && can_name(s, row))
        return name_row(s, row);
    if (!held && (must_be_register || (is_read_soon(s, row) && !can_name(s, row)) ||
                  (wmi_row_is_in_frame(s, row, WMI_UNIFORM_ANY) && !s->by_halves)))
        held = wmi_held_load_row(s, row);
    if (!held) {
        rows.in_memory = true;
        rows.uniform = constant;
        return rows;
    }
    held->step = s->at + 1;
    memcpy(rows.reg, held->reg, sizeof rows.reg);
    rows.uniform = held->shared;
    const bool by_name = wmi_names_memory(s) && !rows.uniform && held->numbered != s->at + 1 &&
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
    struct wmi_held_row *held = wmi_held_find(s, row);
    if (held && held->dirty)
        wmi_held_spill(s, held);
    return (struct wmi_rows){.row = row, .in_memory = true, .uniform = wmi_row_is_constant(s, row)};
}

unsigned wmi_rows_register(const struct wmi_rows *rows, unsigned strip)
{
    return rows->reg[rows->uniform ? 0 : strip];
}

struct wmi_host_operand wmi_rows_operand(const struct wmi_stretch *s, const struct wmi_rows *rows,
                                         unsigned strip)
{
    const unsigned part = rows->uniform ? 0 : strip;
    return rows->in_memory ? wmi_row_home(s, rows->row, part) : wmi_zmm(rows->reg[part]);
}

struct wmi_rows wmi_stretch_result(struct wmi_stretch *s, bool uniform)
{
    struct wmi_rows rows = {.uniform = uniform};
    for (unsigned i = 0; i < (uniform ? 1 : s->strips); i++) {
        const unsigned own = wmi_names_memory(s) && !uniform ? wmi_near_register(s) : (unsigned)WMI_NOT_HELD;
        rows.reg[i] = own != WMI_NOT_HELD ? (uint8_t)own
                      : uniform           ? wmi_lasting_register(s)
                                          : (uint8_t)wmi_stretch_register(s);
    }
    return rows;
}

struct wmi_rows wmi_stretch_result_in(struct wmi_stretch *s, const struct wmi_rows *a, bool uniform)
{
    struct wmi_held_row *held =
        s->host.names && !uniform && !a->uniform && !a->in_memory ? wmi_held_find(s, a->row) : NULL;
    if (!held || held->shared || held->reg[0] >= WMI_STRIPS || held->numbered == s->at + 1)
        return wmi_stretch_result(s, uniform);
    if (wmi_held_is_read_at(s, held, s->at + 1))
        return wmi_stretch_result(s, uniform);
    struct wmi_rows rows = {.uniform = uniform};
    memcpy(rows.reg, held->reg, sizeof rows.reg);
    wmi_held_release(s, held);
    for (unsigned i = 0; i < s->strips; i++)
        s->owner[rows.reg[i]] = WMI_OF_STEP;
    return rows;
}

unsigned wmi_rows_strips(const struct wmi_stretch *s, const struct wmi_rows *rows)
{
    return rows->uniform ? 1 : s->strips;
}

void wmi_stretch_write_all_lanes(struct wmi_stretch *s, uint32_t row, struct wmi_rows *result)
{
    struct wmi_held_row *old = wmi_held_find(s, row);
    if (old)
        wmi_held_release(s, old);
    if (s->failed)
        return;
    struct wmi_held_row *held = wmi_held_add(s, row, result->reg, result->uniform);
    held->dirty = true;
    held->runs = s->on_bases;
    held->whole = s->is_whole;
    s->is_written[wmi_row_number(s->block->code, row)] = true;
}

void wmi_stretch_write_runs(struct wmi_stretch *s, uint32_t row, unsigned reg, unsigned stride)
{
    struct wmi_rows result = {.reg = {(uint8_t)reg}, .uniform = true};
    wmi_stretch_write_all_lanes(s, row, &result);
    struct wmi_held_row *held = wmi_held_find(s, row);
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
    wmi_held_find(s, low)->half = WMI_LOW_HALF;
    wmi_held_find(s, high)->half = WMI_HIGH_HALF;
}

void wmi_stretch_write(struct wmi_stretch *s, uint32_t row, struct wmi_rows *result)
{
    wmi_stretch_write_all_lanes(s, row, result);
    struct wmi_held_row *held = wmi_held_find(s, row);
    if (held)
        held->active_only = s->partial;
}

bool wmi_stretch_has_lanes(const struct wmi_stretch *s, uint32_t row)
{
    const unsigned index = s->held_of_row[wmi_row_number(s->block->code, row)];
    if (index == WMI_NOT_HELD)
        return s->version != WMI_LAUNCH && !wmi_row_is_constant(s, row);
    return !s->held[index].shared && !s->held[index].active_only;
}

struct wmi_rows wmi_stretch_use_later(struct wmi_stretch *s, uint32_t row, bool *is_loaded)
{
    *is_loaded = wmi_held_find(s, row);
    if (*is_loaded)
        return wmi_stretch_use(s, row, true);
    struct wmi_rows rows = wmi_stretch_result(s, false);
    rows.row = row;
    return rows;
}

void wmi_stretch_load_later(struct wmi_stretch *s, const struct wmi_rows *rows)
{
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, rows->reg[i], 0, wmi_row_home(s, rows->row, i));
}

void wmi_stretch_written_in_memory(struct wmi_stretch *s, uint32_t row)
{
    struct wmi_held_row *held = wmi_held_find(s, row);
    if (held)
        wmi_held_release(s, held);
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
        if (shrinks && !wmi_row_is_temporary(s, held->row) && !held->runs) {
            if (held->dirty && wmi_live_is_in(s->live, held->row, s->at + 1, WMI_LIVE_INACTIVE)) {
                wmi_stretch_store(s, held);
                held->dirty = false;
            }
            continue;
        }
        if (held->dirty && (wmi_row_is_temporary(s, held->row) || wmi_held_is_read_from(s, held, s->at)))
            wmi_stretch_store(s, held);
        wmi_held_release(s, held);
    }
}

void wmi_stretch_count_active(struct wmi_stretch *s, enum wmi_gpr reg)
{
    enum { PREFIX = 0xf3, POPCNT = 0x1b8 };
    wmi_put_8(&s->host, PREFIX);
    wmi_scalar_memory(&s->host, POPCNT, true, reg, WMI_FRAME, WMI_EXEC_BITS);
}

/* ---- memory ---- */

void wmi_stretch_find_hit(struct wmi_stretch *s, const struct wmi_memory_op *m)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    const int32_t hit = (int32_t)(layout->worker_hits + m->hit * sizeof(struct wmi_hit));
    s->scattered = (int32_t)(layout->worker_scattered + m->hit * sizeof(uint32_t)) - hit;
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

/* SPDX-License-Identifier: MIT */
#include "jit/next_wave.h"

#include "jit/cut.h"
#include "jit/exits.h"
#include "jit/live.h"

enum {
    PIECE_WORDS = 8, /* scalars that are restored together */
    PIECES = WMI_START_SGPRS / PIECE_WORDS,
    SCC = 4 * WMI_S_SCC,
    MOST_ROWS = 8, /* that are restored */
};

/* The steps whose effects are undone. */
struct steps {
    size_t from, to;
};

static struct steps own_steps(const struct wmi_stretch *s)
{
    return (struct steps){s->from, s->end};
}

static struct steps all_steps(const struct wmi_stretch *s)
{
    return (struct steps){0, s->block->count};
}

static bool writes(const struct wmi_stretch *s, struct steps steps, uint32_t from, uint32_t to)
{
    const struct wmi_extent span = {from, to};
    for (size_t i = steps.from; i < steps.to; i++)
        if (wmi_step_writes_scalars(&s->block->steps[i], span, s->lanes))
            return true;
    return false;
}

/* Whether a wave that has executed only these steps leaves a frame in which only VGPRs, EXEC, scalars that
 * are restored here, and what nothing reads are not those of a start. */
static bool can_restore(const struct wmi_stretch *s, struct steps steps)
{
    for (size_t i = steps.from; i < steps.to; i++) {
        const struct wmi_step_facts facts = wmi_step_facts_of(s->block->steps[i].id);
        if ((facts.reads | facts.writes) & WMI_ON_LDS) /* frame->compiled.lds_known */
            return false;
    }
    return !writes(s, steps, 4 * WMI_START_SGPRS, 4 * WMI_S_NULL) &&
           !writes(s, steps, 4 * WMI_S_NULL_END, SCC) && !writes(s, steps, SCC + 4, 4 * WMI_SCALARS);
}

/* Whether the step changes what a frame or a wave has besides registers. */
static bool changes_more(const struct wmi_step *step)
{
    const struct wmi_step_facts facts = wmi_step_facts_of(step->id);
    if (wmi_is_branch(step) || step->id == WMI_STEP_count || facts.flags & WMI_STEP_ENDS_WAVE)
        return false;
    return facts.writes & (WMI_ON_WAVE | WMI_ON_MODE | WMI_ON_SCRATCH | WMI_ON_VGPRS | WMI_ON_OBSERVER);
}

/* Finds VGPRs that waves may read before they write them; returns how many, up to `most`. */
static unsigned find_start_rows(const struct wmi_stretch *s, unsigned *rows, unsigned most)
{
    const struct wmi_code *code = s->block->code;
    const size_t entry = wmi_step_number(s->block, s->block->entry);
    unsigned count = 0;
    for (uint32_t row = code->vgpr_offset; row < code->constant_offset && count < most; row += s->row_bytes)
        if (wmi_live_is(s->live, row, entry, true))
            rows[count++] = (row - code->vgpr_offset) / s->row_bytes;
    return count;
}

enum wmi_pristine wmi_find_left_behind(const struct wmi_stretch *s)
{
    const struct wmi_block *block = s->block;
    unsigned rows[MOST_ROWS];
    size_t head;
    if (!wmi_is_closed(block, &head) || find_start_rows(s, rows, MOST_ROWS) == MOST_ROWS ||
        !can_restore(s, all_steps(s)))
        return WMI_TOUCHED;
    for (size_t i = 0; i < block->count; i++)
        if (block->steps[i].id != WMI_STEP_fault && changes_more(&block->steps[i]))
            return WMI_TOUCHED;
    return WMI_RESTARTS;
}

/* Scalars get the values that the worker keeps of them. Changes RAX, RCX and zmm0. Some hosts forward the
 * low half of a store of 64 bytes to loads of its words, but not the high half, hence pieces of 32 bytes. */
static void restore_scalars(struct wmi_stretch *s, struct steps steps)
{
    const uint32_t load = WMI_EVEX_OF(0x10, WMI_MAP_0F, 0, 0, 5) | WMI_EVEX_256,
                   store = WMI_EVEX_OF(0x11, WMI_MAP_0F, 0, 0, 5) | WMI_EVEX_256;
    const struct wmi_compile_layout *layout = s->block->layout;
    const uint32_t exec = 4 * WMI_S_EXEC;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R10, (int32_t)layout->worker_start_scalars);
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        const uint32_t at = 4 * PIECE_WORDS * piece;
        if (piece >= WMI_ID_SGPRS / PIECE_WORDS && !writes(s, steps, at, at + 4 * PIECE_WORDS))
            continue;
        wmi_evex_plain(&s->host, load, 0, 0, wmi_at(WMI_RAX, (int32_t)at));
        wmi_evex_plain(&s->host, store, 0, 0, wmi_at(WMI_FRAME, (int32_t)at));
        if (at <= exec && exec < at + 4 * PIECE_WORDS)
            wmi_store_immediate(&s->host, s->lanes == 64, WMI_FRAME, (int32_t)exec, -1);
    }
    if (writes(s, steps, SCC, SCC + 4))
        wmi_store_immediate(&s->host, false, WMI_FRAME, SCC, 0);
    /* A vector that is loaded after one of its words was stored would wait for that store. */
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R10, (int32_t)layout->worker_id_place);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RCX, WMI_R10, (int32_t)layout->worker_id);
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_FRAME);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RCX, WMI_RAX, 0);
}

/* The workgroup is the next one. */
static void begin_group(struct wmi_stretch *s)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    wmi_arithmetic_memory(&s->host, 5, true, WMI_R10, (int32_t)layout->worker_groups_ahead, 1);
    wmi_arithmetic_memory(&s->host, 0, false, WMI_R10, (int32_t)layout->worker_id, 1);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, wave));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_RAX, (int32_t)layout->wave_group);
    wmi_arithmetic_memory(&s->host, 0, false, WMI_RAX, (int32_t)layout->group_id, 1);
    wmi_arithmetic_memory(&s->host, 0, true, WMI_RAX, (int32_t)layout->group_flat_id, 1);
}

/* RAX = what the wave that has ended has left of its turn. */
static void count_turn(struct wmi_stretch *s)
{
    enum { ADD_STORE = 0x01 };
    wmi_scalar_memory(&s->host, ADD_STORE, true, WMI_RAX, WMI_R10,
                      (int32_t)s->block->layout->worker_slices_left);
}

/* The wave in the frame has the registers of a start, and starts. */
static void begin_turn(struct wmi_stretch *s)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R10, (int32_t)layout->worker_first_slice);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, WMI_TURN_LEFT);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_FRAME, WMI_R10, (int32_t)layout->worker_running);
    wmi_put_rows_address(s);
    wmi_jump_back(&s->host, s->launch_begin);
}

/* A jump that is taken unless frame->compiled.pristine of the frame at `reg` compares so. */
static size_t unless_pristine(struct wmi_stretch *s, enum wmi_gpr reg, enum wmi_condition condition,
                              enum wmi_pristine value)
{
    enum { NOT = 1 }; /* of a condition */
    wmi_arithmetic_memory(&s->host, 7, false, reg, offsetof(struct wmi_frame, compiled.pristine),
                          (int32_t)value);
    return wmi_jump_if(&s->host, condition ^ NOT);
}

/* Finds the frame of the next wave for RCX and, behind a jump that `starts` takes back, that of the first
 * wave of the next workgroup, if frame->compiled.pristine compares so there; else one of the jumps is taken.
 */
struct next {
    size_t is_last, none[3];
};

static void find_next(struct wmi_stretch *s, struct next *next, enum wmi_condition condition,
                      enum wmi_pristine value)
{
    wmi_scalar_memory(&s->host, WMI_CMP, true, WMI_FRAME, WMI_R10,
                      (int32_t)s->block->layout->worker_last_start);
    next->is_last = wmi_jump_if(&s->host, WMI_IF_NOT_BELOW);
    wmi_scalar_memory(&s->host, WMI_LEA, true, WMI_RCX, WMI_FRAME,
                      (int32_t)wmi_code_frame_size(s->block->code));
    next->none[0] = unless_pristine(s, WMI_RCX, condition, value);
}

static void find_next_group(struct wmi_stretch *s, struct next *next, enum wmi_condition condition,
                            enum wmi_pristine value, size_t starts)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    wmi_land(&s->host, next->is_last);
    wmi_arithmetic_memory(&s->host, 7, true, WMI_R10, (int32_t)layout->worker_groups_ahead, 0);
    next->none[1] = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_R10, (int32_t)layout->worker_first_start);
    next->none[2] = unless_pristine(s, WMI_RCX, condition, value);
    begin_group(s);
    wmi_jump_back(&s->host, starts);
    for (unsigned i = 0; i < 3; i++)
        wmi_land(&s->host, next->none[i]);
}

void wmi_put_next_wave(struct wmi_stretch *s, size_t end)
{
    const struct wmi_step *step = &s->block->steps[end];
    struct next next;
    if (!can_restore(s, own_steps(s)))
        return;
    find_next(s, &next, WMI_IF_EQUAL, WMI_PRISTINE);
    const size_t starts = s->host.count;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, WMI_TURN_LEFT);
    if (step->c)
        wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX, (int32_t)step->c);
    count_turn(s);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_FRAME, WMI_RCX);
    restore_scalars(s, own_steps(s));
    begin_turn(s);
    find_next_group(s, &next, WMI_IF_EQUAL, WMI_PRISTINE, starts);
    wmi_put_restart(s, &s->block->ops[end]);
}

/* ---- waves that have left the code ---- */

/* The frame's EXEC, and the VGPRs that waves may read, are those of a start. Changes zmm0. */
static void restore_vectors(struct wmi_stretch *s)
{
    const int32_t exec = offsetof(struct wmi_frame, exec), row = offsetof(struct wmi_lanes, row);
    wmi_store_immediate(&s->host, true, WMI_FRAME, exec + (int32_t)offsetof(struct wmi_lanes, full), 1);
    wmi_move_immediate(&s->host, WMI_RAX, UINT64_MAX >> (64 - s->lanes));
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, WMI_EXEC_BITS);
    wmi_evex(&s->host, WMI_VPTERNLOGD, 0, 0, wmi_zmm(0), WMI_NO_MASK, 0xff);
    for (unsigned i = 0; i < s->strips; i++)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_STORE, 0, 0,
                       wmi_at(WMI_FRAME, exec + row + (int32_t)(i * WMI_STRIP_BYTES)));
    wmi_put_rows_address(s);
    unsigned rows[MOST_ROWS];
    for (unsigned i = 0, count = find_start_rows(s, rows, MOST_ROWS); i < count; i++)
        wmi_stretch_restore_start(s, rows[i]);
    wmi_set_pristine(s, WMI_PRISTINE);
}

size_t wmi_put_next_start(struct wmi_stretch *s)
{
    if (s->left_behind != WMI_RESTARTS)
        return 0;
    const size_t code = wmi_code_address(&s->host, WMI_RAX);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_R10,
                      (int32_t)s->block->layout->worker_next_start);
    return code;
}

/* R10: the worker. */
void wmi_put_restarts(struct wmi_stretch *s, size_t next_start)
{
    struct next next;
    wmi_land(&s->host, next_start);
    wmi_spread_begin(&s->host);
    find_next(s, &next, WMI_IF_NOT_EQUAL, WMI_TOUCHED);
    const size_t starts = s->host.count;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, WMI_TURN_LEFT);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_R8, WMI_ENDED, offsetof(struct wmi_op, c));
    wmi_scalar_registers(&s->host, WMI_SUB, true, WMI_RAX, WMI_R8);
    count_turn(s);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_FRAME, WMI_RCX);
    restore_scalars(s, all_steps(s));
    const size_t touched = unless_pristine(s, WMI_FRAME, WMI_IF_EQUAL, WMI_PRISTINE);
    begin_turn(s);
    wmi_land(&s->host, touched);
    restore_vectors(s);
    begin_turn(s);
    find_next_group(s, &next, WMI_IF_NOT_EQUAL, WMI_TOUCHED, starts);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_OP, WMI_ENDED);
    wmi_continue_there(s);
}

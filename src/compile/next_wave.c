/* SPDX-License-Identifier: MIT */
#include "compile/next_wave.h"

#include "compile/exits.h"

enum {
    PIECE_WORDS = 8, /* scalars that are restored together */
    PIECES = WMI_START_SGPRS / PIECE_WORDS,
    SCC = 4 * WMI_S_SCC,
};

static bool writes(const struct wmi_stretch *s, uint32_t from, uint32_t to)
{
    const struct wmi_extent span = {from, to};
    for (size_t i = s->from; i < s->end; i++)
        if (wmi_step_writes_scalars(&s->block->steps[i], span, s->lanes))
            return true;
    return false;
}

/* Whether a wave of which no step has left this code leaves a frame in which only VGPRs, scalars that are
 * restored here, and what nothing reads are not those of a start. */
static bool can_restore(const struct wmi_stretch *s)
{
    for (size_t i = s->from; i < s->end; i++) {
        const struct wmi_step_facts facts = wmi_step_facts_of(s->block->steps[i].id);
        if ((facts.reads | facts.writes) & WMI_ON_LDS) /* frame->lds_known */
            return false;
    }
    return !writes(s, 4 * WMI_START_SGPRS, 4 * WMI_S_NULL) && !writes(s, 4 * WMI_S_NULL_END, SCC) &&
           !writes(s, SCC + 4, 4 * WMI_SCALARS);
}

/* Scalars get the values that the worker keeps of them. Changes RAX, RCX and zmm0. Some hosts forward the
 * low half of a store of 64 bytes to loads of its words, but not the high half, hence pieces of 32 bytes. */
static void restore_scalars(struct wmi_stretch *s)
{
    const uint32_t load = WMI_EVEX_OF(0x10, WMI_MAP_0F, 0, 0, 5) | WMI_EVEX_256,
                   store = WMI_EVEX_OF(0x11, WMI_MAP_0F, 0, 0, 5) | WMI_EVEX_256;
    const struct wmi_compile_layout *layout = s->block->layout;
    const uint32_t exec = 4 * WMI_S_EXEC;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R10, (int32_t)layout->worker_start_scalars);
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        const uint32_t at = 4 * PIECE_WORDS * piece;
        if (piece >= WMI_ID_SGPRS / PIECE_WORDS && !writes(s, at, at + 4 * PIECE_WORDS))
            continue;
        wmi_evex_plain(&s->host, load, 0, 0, wmi_at(WMI_RAX, (int32_t)at));
        wmi_evex_plain(&s->host, store, 0, 0, wmi_at(WMI_FRAME, (int32_t)at));
        if (at <= exec && exec < at + 4 * PIECE_WORDS)
            wmi_store_immediate(&s->host, s->lanes == 64, WMI_FRAME, (int32_t)exec, -1);
    }
    if (writes(s, SCC, SCC + 4))
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

/* The wave has ended by the step, and the one in the frame at RCX starts. */
static void begin_wave(struct wmi_stretch *s, const struct wmi_step *end)
{
    enum { ADD_STORE = 0x01 };
    const struct wmi_compile_layout *layout = s->block->layout;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, WMI_TURN_LEFT);
    if (end->c)
        wmi_arithmetic_immediate(&s->host, 5, true, WMI_RAX, (int32_t)end->c);
    wmi_scalar_memory(&s->host, ADD_STORE, true, WMI_RAX, WMI_R10, (int32_t)layout->worker_turns_left);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_FRAME, WMI_RCX);
    restore_scalars(s);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_R10, (int32_t)layout->worker_first_turn);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, WMI_TURN_LEFT);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_FRAME, WMI_R10, (int32_t)layout->worker_running);
    wmi_put_rows_address(s);
}

void wmi_put_next_wave(struct wmi_stretch *s, size_t end)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    if (!can_restore(s))
        return;
    wmi_scalar_memory(&s->host, WMI_CMP, true, WMI_FRAME, WMI_R10, (int32_t)layout->worker_last_start);
    const size_t is_last = wmi_jump_if(&s->host, WMI_IF_NOT_BELOW);
    wmi_scalar_memory(&s->host, WMI_LEA, true, WMI_RCX, WMI_FRAME,
                      (int32_t)wmi_code_frame_size(s->block->code));
    wmi_arithmetic_memory(&s->host, 7, false, WMI_RCX, offsetof(struct wmi_frame, pristine), 0);
    const size_t is_used = wmi_jump_if(&s->host, WMI_IF_EQUAL), starts = s->host.count;
    begin_wave(s, &s->block->steps[end]);
    wmi_jump_back(&s->host, s->launch_begin);
    wmi_land(&s->host, is_last);
    wmi_arithmetic_memory(&s->host, 7, true, WMI_R10, (int32_t)layout->worker_groups_ahead, 0);
    const size_t is_last_group = wmi_jump_if(&s->host, WMI_IF_EQUAL);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_R10, (int32_t)layout->worker_first_start);
    begin_group(s);
    wmi_jump_back(&s->host, starts);
    wmi_land(&s->host, is_used);
    wmi_land(&s->host, is_last_group);
}

/* SPDX-License-Identifier: MIT */
/* Steps that hold a wave until the caller of wavemem/stop.h lets it go on. */
#include "exec/observe/hold.h"

#include "arithmetic/host_float.h"
#include "exec/control/steps.h"
#include "exec/run/executor.h"

#include <string.h>

/* Calls the holder, and ends the dispatch if it requests that. */
static enum wmi_held hold(struct wmi_wave *wave, enum wmi_hold why, uint64_t pc, uint64_t instructions)
{
    struct wmi_executor *executor = (struct wmi_executor *)wave->worker;
    struct wmi_dispatch *dispatch = wave->group->dispatch;
    if (dispatch->deadlock) /* the wave runs only to find out where it waits */
        return WMI_HELD_NOT;
    const enum wmi_held held =
        dispatch->holder->hold(wave->worker->observers[0], why, wave, pc, instructions);
    if (held == WMI_HELD_NOT)
        return held;
    executor->progressed = true; /* the caller may have changed what other waves wait for */
    wmi_host_float_set(wave->frame->mxcsr32);
    if (held == WMI_HELD)
        return held;
    if (why == WMI_HOLD_FAULT) { /* a fault ends the dispatch anyway */
        __atomic_store_n(&dispatch->stop_at, 0, __ATOMIC_RELAXED);
    } else {
        wmi_stop_all(executor, WM_FAULT_STOPPED, pc, wave->group->flat_id, wave->index);
        wave->state = WMI_WAVE_FAULTED;
    }
    return held;
}

static const struct wmi_op *go_on(struct wmi_wave *wave, const struct wmi_op *op)
{
    return ((struct wmi_executor *)wave->worker)->go_on(wave, op);
}

const struct wmi_op *wmi_step_hold(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    wave->resume = op;
    const enum wmi_held held = hold(wave, WMI_HOLD_INSTRUCTION, op->value, wmi_wave_clock(wave) + op->c);
    if (held == WMI_HELD_NOT)
        return op + 1;
    return held == WMI_HELD_AND_CANCELLED ? NULL : go_on(wave, op);
}

const struct wmi_op *wmi_step_hold_at_access(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    switch (hold(wave, WMI_HOLD_ACCESS, op->value, 0)) {
    case WMI_HELD:
        /* `resume` is the hold step of the instruction */
        return op->x ? go_on(wave, wave->resume) : op + 1;
    case WMI_HELD_AND_CANCELLED:
        return NULL;
    default:
        return op + 1;
    }
}

void wmi_hold_at_fault(struct wmi_wave *wave)
{
    hold(wave, WMI_HOLD_FAULT, wave->worker->fault.pc, 0);
}

static struct wmi_wave *find_in(struct wmi_workgroup *group, const uint32_t id[3], uint32_t index)
{
    if (memcmp(group->id, id, sizeof group->id) || index >= group->wave_count ||
        group->waves[index].state == WMI_WAVE_ENDED)
        return NULL;
    return &group->waves[index];
}

uint64_t wmi_executed_by_all(const struct wmi_wave *wave, uint64_t by_wave)
{
    const struct wmi_executor *executor = (const struct wmi_executor *)wave->worker;
    return executor->instructions + (by_wave - wave->instructions);
}

struct wmi_wave *wmi_wave_find(const struct wmi_wave *wave, const uint32_t id[3], uint32_t index)
{
    const struct wmi_executor *executor = (const struct wmi_executor *)wave->worker;
    struct wmi_resident *const lists[] = {executor->parked, executor->swept};
    const struct wmi_cluster *cluster = wave->group->cluster;
    struct wmi_wave *found = find_in(wave->group, id, index);
    for (uint32_t i = 0; cluster && i < cluster->size && !found; i++)
        found = find_in(cluster->member[i], id, index);
    for (unsigned i = 0; i < 2; i++)
        for (struct wmi_resident *resident = lists[i]; resident && !found; resident = resident->next)
            for (uint32_t k = 0; k < wmi_resident_members(resident) && !found; k++)
                found = find_in(&wmi_resident_member(resident, k)->group, id, index);
    return found;
}

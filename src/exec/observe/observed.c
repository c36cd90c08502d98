/* SPDX-License-Identifier: MIT */
/* Tells the observers of a dispatch about worker threads, workgroups and waves. */
#include "exec/observe/observed.h"
#include "exec/observe/show.h"
#include "exec/run/executor.h"

bool wmi_observers_begin(struct wmi_executor *executor)
{
    struct wmi_worker *worker = &executor->steps;
    const struct wmi_observers *observers = &worker->dispatch->observers;
    for (unsigned i = 0; i < observers->count; i++) {
        const struct wmi_observer *one = observers->one[i];
        void *local = worker->observers[i] = one->thread_begin(one->self);
        if (!local || (one->block && !(worker->blocks = one->block_counters(local))) ||
            (one->execution_counters && !(worker->executed = one->execution_counters(local))))
            return false;
    }
    return true;
}

void wmi_observers_end(struct wmi_executor *executor)
{
    const struct wmi_worker *worker = &executor->steps;
    const struct wmi_observers *observers = &worker->dispatch->observers;
    for (unsigned i = 0; i < observers->count; i++)
        if (worker->observers[i])
            observers->one[i]->thread_end(observers->one[i]->self, worker->observers[i]);
}

static bool is_requested(const struct wmi_executor *executor, uint64_t kinds)
{
    return executor->steps.dispatch->observers.events & kinds;
}

/* Sends an event of the workgroup, or of one of its waves. */
static void show(struct wmi_executor *executor, const struct wmi_resident *resident,
                 const struct wmi_wave *wave, enum wm_event_kind kind, struct wm_extent extent)
{
    struct wm_event event = {.kind = kind, .extent = extent};
    wmi_show_event(&executor->steps, &resident->group, wave, &event);
}

void wmi_show_wave_end(struct wmi_executor *executor, const struct wmi_wave *wave)
{
    if (!is_requested(executor, WM_EVENT_WAVE_END))
        return;
    struct wm_event event = {
        .kind = WM_EVENT_WAVE_END,
        .extent = {.completed = wave->state == WMI_WAVE_ENDED, .instructions = wave->instructions}};
    wmi_show_event(&executor->steps, wave->group, wave, &event);
}

void wmi_show_begin(struct wmi_executor *executor, const struct wmi_resident *resident)
{
    const uint32_t waves = resident->group.wave_count;
    if (!is_requested(executor, WM_EVENT_WORKGROUP_BEGIN | WM_EVENT_WAVE_BEGIN))
        return;
    show(executor, resident, NULL, WM_EVENT_WORKGROUP_BEGIN, (struct wm_extent){.waves = waves});
    for (uint32_t i = 0; i < waves; i++)
        show(executor, resident, &resident->waves[i], WM_EVENT_WAVE_BEGIN, (struct wm_extent){0});
}

void wmi_show_resume(struct wmi_executor *executor, struct wmi_resident *resident)
{
    const struct wmi_dispatch *dispatch = executor->steps.dispatch;
    const struct wmi_observers *observers = &dispatch->observers;
    const uint64_t scratch = dispatch->scratch_base + wmi_resident_scratch(executor, resident);
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->resume)
            observers->one[i]->resume(executor->steps.observers[i], &resident->watched[i],
                                      resident->group.flat_id, resident->group.wave_count, scratch);
}

void wmi_show_end(struct wmi_executor *executor, struct wmi_resident *resident)
{
    const struct wmi_observers *observers = &executor->steps.dispatch->observers;
    struct wm_extent extent = {.completed = true, .waves = resident->group.wave_count};
    if (!observers->count)
        return;
    for (unsigned i = 0; i < resident->group.wave_count; i++) {
        extent.instructions += resident->waves[i].instructions;
        if (resident->waves[i].state == WMI_WAVE_ENDED)
            continue;
        extent.completed = false;
        wmi_show_wave_end(executor, &resident->waves[i]);
    }
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->end)
            observers->one[i]->end(executor->steps.observers[i], resident->watched[i], extent.instructions);
    if (is_requested(executor, WM_EVENT_WORKGROUP_END))
        show(executor, resident, NULL, WM_EVENT_WORKGROUP_END, extent);
}

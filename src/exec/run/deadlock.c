/* SPDX-License-Identifier: MIT */
/* Detects that no workgroup of a dispatch can go on, and reports which waves wait. */
#include "exec/run/executor.h"
#include "exec/run/workgroup.h"

#include <sched.h>
#include <time.h>

enum {
    OTHERS_NANOSECONDS = 20000
}; /* between two checks whether the host or another dispatch has changed memory */

/* Whether agents outside of the dispatch cannot change anything, and have not since all executors last swept
 * their workgroups. If they may have, starts a new generation of sweeps. The caller holds the lock. */
static bool others_wait(struct wmi_dispatch *dispatch)
{
    const uint64_t state = dispatch->others ? dispatch->others(dispatch->others_user) : 0;
    if (!state || state == dispatch->others_state)
        return state;
    dispatch->others_state = state;
    dispatch->generation++;
    dispatch->quiescent = 0;
    return false;
}

/* Called after a sweep over the parked workgroups when no new one can be started. Returns true if every
 * executor has found its workgroups quiescent in a sweep that began after the last change, because nothing
 * can change any more. */
bool wmi_is_deadlock(struct wmi_executor *executor)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    pthread_mutex_lock(&dispatch->lock);
    const bool ends =
        dispatch->fault.kind != WM_FAULT_NONE; /* the workgroups that others wait for may have been stopped */
    const bool quiescent = !executor->progressed && ((executor->checks && executor->only_loads) || ends);
    if (executor->progressed) {
        dispatch->generation++;
        dispatch->quiescent = 0;
    } else if (quiescent && executor->sweep_generation == dispatch->generation &&
               executor->quiescent_generation != dispatch->generation) {
        executor->quiescent_generation = dispatch->generation;
        dispatch->quiescent++;
    }
    if (dispatch->quiescent && dispatch->quiescent == dispatch->working)
        dispatch->deadlock |= ends || !dispatch->waits_for_others || others_wait(dispatch);
    const bool deadlock = dispatch->deadlock;
    executor->sweep_generation = dispatch->generation;
    pthread_mutex_unlock(&dispatch->lock);
    if (quiescent && dispatch->waits_for_others)
        nanosleep(&(struct timespec){.tv_nsec = OTHERS_NANOSECONDS}, NULL);
    else if (quiescent)
        sched_yield(); /* another executor must make the change that this one waits for */
    executor->checks = !executor->progressed;
    executor->only_loads = true;
    executor->progressed = false;
    return deadlock;
}

static bool is_at_barrier(const struct wmi_wave *wave)
{
    return wave->state == WMI_WAVE_BARRIER || wave->state == WMI_WAVE_SIGNALS ||
           wave->state == WMI_WAVE_NAMED || wave->state == WMI_WAVE_CLUSTER;
}

static bool is_waiting(const struct wmi_wave *wave)
{
    return wave->state == WMI_WAVE_READY || is_at_barrier(wave);
}

static bool is_before(uint64_t group, uint32_t wave, uint64_t other_group, uint32_t other_wave)
{
    return group != other_group ? group < other_group : wave < other_wave;
}

/* The first waiting wave after `last` among those of the workgroup and `found`. */
static struct wmi_wave *first_waiting(const struct wmi_workgroup *group, const struct wmi_wave *last,
                                      struct wmi_wave *found)
{
    for (uint32_t i = 0; i < group->wave_count; i++)
        if (is_waiting(&group->waves[i]) &&
            (!last || is_before(last->group->flat_id, last->index, group->flat_id, i)) &&
            (!found || is_before(group->flat_id, i, found->group->flat_id, found->index)))
            found = &group->waves[i];
    return found;
}

/* The first waiting wave after `last`, in the order of workgroups and waves; NULL: there is none. last NULL:
 * the first one of all. */
static struct wmi_wave *next_waiting(struct wmi_resident *resident, const struct wmi_wave *last)
{
    struct wmi_wave *found = NULL;
    for (; resident; resident = resident->next)
        for (uint32_t i = 0; i < wmi_resident_members(resident); i++)
            found = first_waiting(&wmi_resident_member(resident, i)->group, last, found);
    return found;
}

static uint64_t count_waiting(const struct wmi_workgroup *group)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < group->wave_count; i++)
        count += is_waiting(&group->waves[i]);
    return count;
}

static uint64_t waiting_pc(struct wmi_executor *executor, struct wmi_wave *wave)
{
    const bool loops = wave->state == WMI_WAVE_READY && wmi_wave_waits(&executor->probe, wave);
    return loops ? wmi_waiting_pc(&executor->probe, wave) : wmi_program_pc_of(wave->program, wave->resume);
}

static void add_waiting(struct wmi_standstill *all, struct wmi_waiting_wave one)
{
    for (unsigned i = 0; i < all->count; i++) {
        const struct wmi_waiting_wave other = all->first[i];
        if (is_before(other.group, other.wave, one.group, one.wave))
            continue;
        all->first[i] = one;
        one = other;
    }
    if (all->count < WMI_WAITING_SHOWN)
        all->first[all->count++] = one;
}

static void add_standstill(struct wmi_executor *executor, struct wmi_resident *list)
{
    struct wmi_dispatch *dispatch = executor->steps.dispatch;
    struct wmi_standstill own = {0};
    struct wmi_wave *wave = NULL;
    while (own.count < WMI_WAITING_SHOWN && (wave = next_waiting(list, wave)))
        own.first[own.count++] =
            (struct wmi_waiting_wave){wave->group->flat_id, waiting_pc(executor, wave), wave->index};
    for (struct wmi_resident *resident = list; resident; resident = resident->next)
        for (uint32_t i = 0; i < wmi_resident_members(resident); i++) {
            const uint64_t waves = count_waiting(&wmi_resident_member(resident, i)->group);
            own.waves += waves;
            own.groups += waves != 0;
        }
    pthread_mutex_lock(&dispatch->lock);
    dispatch->standstill.waves += own.waves;
    dispatch->standstill.groups += own.groups;
    for (unsigned i = 0; i < own.count; i++)
        add_waiting(&dispatch->standstill, own.first[i]);
    pthread_mutex_unlock(&dispatch->lock);
}

/* Reports the deadlock as a fault of the lowest workgroup: of its lowest wave that waits in a loop, or else
 * at a barrier. */
void wmi_report_deadlock(struct wmi_executor *executor, struct wmi_resident *list)
{
    struct wmi_wave *wave = next_waiting(list, NULL);
    struct wmi_workgroup *group = wave->group;
    for (uint32_t i = group->wave_count; i-- > 0;)
        if (group->waves[i].state == WMI_WAVE_READY)
            wave = &group->waves[i];
    add_standstill(executor, list);
    executor->steps.fault = (struct wmi_fault){
        .kind = WM_FAULT_DEADLOCK, .pc = waiting_pc(executor, wave), .lanes = wave->frame->exec.bits};
    wmi_report_wave_fault(executor, group->flat_id, wave->index);
}

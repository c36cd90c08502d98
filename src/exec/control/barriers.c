/* SPDX-License-Identifier: MIT */
/* Barriers that waves signal and wait for apart: the workgroup's own, and the named ones.
 *
 * Sources: RDNA 4 ISA, "Barriers", S_BARRIER_SIGNAL and its kin; LLVM, AMDGPUExecutionSynchronization,
 * "GFX12" (numbers, and what named barriers do, which it says of gfx12.5 only; that gfx12.0 does the same is
 * unverified); CDNA 5 ISA, "Cluster Barriers". Numbers: -1 is the workgroup's barrier, -3 the cluster's; -2
 * and -4 are the trap handler's, which waves cannot reach; 0 is no barrier; 1 to 16 have names. In a
 * workgroup of one wave those of the workgroup do nothing, and outside of a cluster that of the cluster. */
#include "exec/control/barriers.h"

#include "exec/control/steps.h"
#include "exec/run/dispatch.h"

enum { MEMBERS_AT = 16, MEMBERS = 0x7f /* in M0 */, NUMBER_IN_M0 = 0x1f };

/* Once all remaining waves have signalled, waves waiting at the barrier resume; the others will pass
 * s_barrier_wait without blocking. */
void wmi_complete_barrier(struct wmi_workgroup *group)
{
    if (!group->signals || group->signals < group->waves_left)
        return;
    for (unsigned i = 0; i < group->wave_count; i++) {
        struct wmi_wave *wave = &group->waves[i];
        wave->barrier_complete = wave->state != WMI_WAVE_SIGNALS;
        if (wave->state == WMI_WAVE_SIGNALS)
            wave->state = WMI_WAVE_READY;
    }
    group->signals = group->waves_at_signals = 0;
}

/* Once as many waves have signalled as workgroups are left, all waves of the cluster resume or will pass. */
static void complete_cluster(struct wmi_cluster *cluster)
{
    if (!cluster->signals || cluster->signals < cluster->left)
        return;
    cluster->signals = 0;
    cluster->completed++;
    for (uint32_t i = 0; i < cluster->size; i++) {
        struct wmi_workgroup *group = cluster->member[i];
        for (uint32_t k = 0; k < group->wave_count; k++) {
            struct wmi_wave *wave = &group->waves[k];
            wave->cluster_complete = wave->state != WMI_WAVE_CLUSTER;
            if (wave->state != WMI_WAVE_CLUSTER)
                continue;
            wave->state = WMI_WAVE_READY;
            group->waves_at_cluster--;
        }
    }
}

void wmi_leave_cluster(struct wmi_workgroup *group)
{
    group->cluster->left--;
    complete_cluster(group->cluster);
}

static bool is_alone(const struct wmi_workgroup *group)
{
    return group->wave_count == 1;
}

/* The number in the step or, if the step says so, in M0. */
static int32_t number_of(const struct wmi_frame *f, const struct wmi_op *op)
{
    return op->y & WMI_SIGNAL_IN_M0 ? (int32_t)(f->s[WMI_S_M0] & NUMBER_IN_M0) : (int32_t)op->x;
}

static struct wmi_named_barrier *named(struct wmi_workgroup *group, int32_t number)
{
    return number > 0 && number <= WMI_NAMED_BARRIERS ? &group->named[number] : NULL;
}

static void complete_named(struct wmi_workgroup *group, int32_t number)
{
    struct wmi_named_barrier *barrier = named(group, number);
    if (barrier->signals != barrier->members)
        return;
    barrier->signals = 0;
    for (unsigned i = 0; i < group->wave_count; i++) {
        struct wmi_wave *wave = &group->waves[i];
        if (wave->joined != number)
            continue;
        wave->named_complete = wave->state != WMI_WAVE_NAMED;
        if (wave->state != WMI_WAVE_NAMED)
            continue;
        wave->state = WMI_WAVE_READY;
        group->waves_at_named--;
    }
}

/* Returns 1 for the first signal since the barrier was last completed, 0 for later ones, and -1 if the
 * instruction does nothing. */
static int signal_barrier(struct wmi_frame *f, const struct wmi_op *op)
{
    struct wmi_workgroup *group = wmi_wave_of((const char *)f)->group;
    const int32_t number = number_of(f, op);
    struct wmi_named_barrier *barrier = named(group, number);
    const uint8_t members = op->y & WMI_SIGNAL_IN_M0 ? f->s[WMI_S_M0] >> MEMBERS_AT & MEMBERS : 0;
    int first = -1;
    if (number == WM_BARRIER_CLUSTER && group->cluster) {
        first = !group->cluster->signals++;
        complete_cluster(group->cluster);
    } else if (is_alone(group)) {
        return -1;
    } else if (number == WM_BARRIER_WORKGROUP) {
        first = !group->signals++;
        wmi_complete_barrier(group);
    } else if (barrier) {
        if (members)
            barrier->members = members;
        first = !barrier->signals;
        barrier->signals = (barrier->signals + 1) & MEMBERS;
        complete_named(group, number);
    }
    return first;
}

const struct wmi_op *wmi_step_barrier_signal(char *restrict frame, const struct wmi_op *op)
{
    signal_barrier((struct wmi_frame *)frame, op);
    return op + 1;
}

const struct wmi_op *wmi_step_barrier_signal_is_first(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_frame *f = (struct wmi_frame *)frame;
    const int first = signal_barrier(f, op);
    if (first >= 0 || !(op->y & WMI_SIGNAL_KEEPS_SCC))
        f->s[WMI_S_SCC] = first > 0;
    return op + 1;
}

/* op->value of a step that pauses the wave is its pc. */
const struct wmi_op *wmi_step_barrier_wait(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    ((struct wmi_frame *)frame)->left -= op->c;
    if (wave->barrier_complete || is_alone(wave->group)) {
        wave->barrier_complete = false;
        return op + 1;
    }
    wave->state = WMI_WAVE_SIGNALS;
    wave->resume = op + 1;
    return NULL;
}

const struct wmi_op *wmi_step_barrier_wait_cluster(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    ((struct wmi_frame *)frame)->left -= op->c;
    if (wave->cluster_complete || !wave->group->cluster) {
        wave->cluster_complete = false;
        return op + 1;
    }
    wave->state = WMI_WAVE_CLUSTER;
    wave->resume = op + 1;
    return NULL;
}

/* Waits for the barrier that the wave joined last, whatever number the instruction has. A wave that has
 * joined none does not wait (unverified). */
const struct wmi_op *wmi_step_barrier_wait_named(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    ((struct wmi_frame *)frame)->left -= op->c;
    if (wave->named_complete || !wave->joined || is_alone(wave->group)) {
        wave->named_complete = false;
        return op + 1;
    }
    wave->state = WMI_WAVE_NAMED;
    wave->resume = op + 1;
    return NULL;
}

const struct wmi_op *wmi_step_barrier_init(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    struct wmi_named_barrier *barrier = named(wmi_wave_of(frame)->group, number_of(f, op));
    if (barrier)
        *barrier =
            (struct wmi_named_barrier){.members = f->s[WMI_S_M0] >> MEMBERS_AT & MEMBERS, .valid = true};
    return op + 1;
}

/* Of number 0: the wave belongs to none any more. */
const struct wmi_op *wmi_step_barrier_join(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    const int32_t number = number_of((const struct wmi_frame *)frame, op);
    wave->joined = named(wave->group, number) ? (uint8_t)number : 0;
    wave->named_complete = false;
    return op + 1;
}

/* SCC: whether there was one to leave (unverified; LLVM says only that it is written). */
const struct wmi_op *wmi_step_barrier_leave(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_named_barrier *barrier = named(wave->group, wave->joined);
    const uint8_t number = wave->joined;
    ((struct wmi_frame *)frame)->s[WMI_S_SCC] = barrier != NULL;
    wave->joined = 0;
    wave->named_complete = false;
    if (!barrier || !barrier->members)
        return op + 1;
    barrier->members--;
    if (barrier->signals)
        complete_named(wave->group, number);
    return op + 1;
}

/* valid [0], members [10:4], signals [22:16]. */
const struct wmi_op *wmi_step_barrier_state(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const int32_t number = number_of((const struct wmi_frame *)frame, op);
    const struct wmi_named_barrier *barrier = named(group, number);
    uint32_t *d = (uint32_t *)(frame + op->d);
    if (number == WM_BARRIER_CLUSTER)
        *d = group->cluster ? 1 | group->cluster->left << 4 | group->cluster->signals << 16 : 0;
    else if (number == WM_BARRIER_WORKGROUP)
        *d = 1 | (group->waves_left & MEMBERS) << 4 | (group->signals & MEMBERS) << 16;
    else
        *d =
            barrier ? barrier->valid | (uint32_t)barrier->members << 4 | (uint32_t)barrier->signals << 16 : 0;
    return op + 1;
}

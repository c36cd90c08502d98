/* SPDX-License-Identifier: MIT */
/* Global wave sync of a machine: 64 resources, each a barrier or a semaphore, numbered M0[21:16] + offset.
 * They keep their state from one dispatch to the next: runtimes prepare them by a kernel of its own (ROCclr,
 * for cooperative launches). Waiting waves yield. Source: Vega ISA, DS_GWS_INIT to DS_GWS_SEMA_RELEASE_ALL.
 */
#include "exec/control/steps.h"
#include "exec/memory/gds.h"
#include "exec/run/dispatch.h"

#include <stdlib.h>
#include <string.h>

struct wmi_gws {
    pthread_mutex_t lock;
    struct wmi_gws_state state;
};

struct wmi_gws *wmi_gws_create(void)
{
    struct wmi_gws *gws = calloc(1, sizeof *gws);
    if (gws)
        pthread_mutex_init(&gws->lock, NULL);
    return gws;
}

void wmi_gws_destroy(struct wmi_gws *gws)
{
    if (gws)
        pthread_mutex_destroy(&gws->lock);
    free(gws);
}

void wmi_gws_reset(struct wmi_gws *gws)
{
    pthread_mutex_lock(&gws->lock);
    memset(&gws->state, 0, sizeof gws->state);
    pthread_mutex_unlock(&gws->lock);
}

void wmi_gws_init(struct wmi_gws *gws, unsigned resource, uint32_t counter)
{
    pthread_mutex_lock(&gws->lock);
    gws->state.resource[resource] = (struct wmi_gws_resource){.counter = counter};
    pthread_mutex_unlock(&gws->lock);
}

void wmi_gws_save(struct wmi_gws *gws, struct wmi_gws_state *state)
{
    pthread_mutex_lock(&gws->lock);
    *state = gws->state;
    pthread_mutex_unlock(&gws->lock);
}

void wmi_gws_restore(struct wmi_gws *gws, const struct wmi_gws_state *state)
{
    pthread_mutex_lock(&gws->lock);
    gws->state = *state;
    pthread_mutex_unlock(&gws->lock);
}

/* Waves that a fault ended wait for no semaphore any more. */
void wmi_gws_leave(struct wmi_dispatch *dispatch)
{
    struct wmi_gws *gws = dispatch->gws;
    if (!gws)
        return;
    pthread_mutex_lock(&gws->lock);
    for (unsigned i = 0; i < WMI_GWS_RESOURCES; i++) {
        struct wmi_gws_resource *resource = &gws->state.resource[i];
        const uint32_t own = dispatch->gws_waiting[i];
        resource->waiting -= own < resource->waiting ? own : resource->waiting;
        dispatch->gws_waiting[i] = 0;
    }
    pthread_mutex_unlock(&gws->lock);
}

/* Applies the instruction to its resource. True: the wave waits in the next step; *flag is the barrier's
 * current flag. */
static bool act(struct wmi_gws_resource *resource, enum wmi_gws_action what, uint32_t value, uint64_t *flag)
{
    switch (what) {
    case WMI_GWS_INIT:
        *resource = (struct wmi_gws_resource){.counter = value};
        return false;
    case WMI_GWS_BARRIER: /* `value` is the number of waves minus one, for the next barrier */
        *flag = resource->flag;
        if (resource->counter) {
            resource->counter--;
            return true;
        }
        resource->flag = !resource->flag;
        resource->counter = value;
        return false;
    case WMI_GWS_SEMA_V:
        resource->counter++;
        return false;
    case WMI_GWS_SEMA_BR:
        resource->counter += value;
        return false;
    case WMI_GWS_SEMA_P:
        resource->waiting++;
        return true;
    default:
        resource->counter = resource->waiting;
        return false;
    }
}

static unsigned number_of(const char *frame, const struct wmi_op *op)
{
    const uint32_t m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0];
    return ((m0 >> 16) + op->x) % WMI_GWS_RESOURCES;
}

/* x: offset; y: enum wmi_gws_action; a: data row; d: 64 bits passed to the waiting step; value: pc. */
const struct wmi_op *wmi_step_gws_act(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_dispatch *dispatch = wave->group->dispatch;
    uint64_t flag = 0;
    struct wmi_gws *gws = dispatch->gws;
    const unsigned number = number_of(frame, op);
    if (!gws)
        return wmi_gds_no_memory(wave, op->value);
    pthread_mutex_lock(&gws->lock);
    const bool waits =
        act(&gws->state.resource[number], (enum wmi_gws_action)op->y, wmi_gds_first_lane(frame, op), &flag);
    dispatch->gws_waiting[number] += op->y == WMI_GWS_SEMA_P;
    pthread_mutex_unlock(&gws->lock);
    memcpy(frame + op->d, &flag, sizeof flag);
    return waits ? op + 1 : op + 2;
}

const struct wmi_op *wmi_step_gws_wait(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_dispatch *dispatch = wave->group->dispatch;
    uint64_t flag;
    memcpy(&flag, frame + op->d, sizeof flag);
    struct wmi_gws *gws = dispatch->gws;
    const unsigned number = number_of(frame, op);
    pthread_mutex_lock(&gws->lock);
    struct wmi_gws_resource *resource = &gws->state.resource[number];
    bool goes_on = resource->flag != flag;
    if (op->y == WMI_GWS_SEMA_P && (goes_on = resource->counter != 0)) {
        resource->counter--;
        resource->waiting -= resource->waiting != 0; /* zero after a reset by another wave's ds_gws_init */
        dispatch->gws_waiting[number]--;
    }
    pthread_mutex_unlock(&gws->lock);
    if (goes_on)
        return op + 1;
    ((struct wmi_frame *)frame)->left--; /* makes endless waits reach the instruction limit */
    wave->resume = op;
    return NULL;
}

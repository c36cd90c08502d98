/* SPDX-License-Identifier: MIT */
/* Global wave sync of one dispatch: 64 resources, each a barrier or a semaphore, numbered M0[21:16] + offset.
 * Waiting waves yield. Source: Vega ISA, DS_GWS_INIT to DS_GWS_SEMA_RELEASE_ALL. */
#include "exec/dispatch.h"
#include "exec/gds.h"
#include "exec/steps.h"

#include <stdlib.h>
#include <string.h>

enum { RESOURCES = 64 };

struct wmi_gws_state {
    struct resource {
        uint32_t counter;
        uint32_t waiting; /* waves waiting for the semaphore */
        bool flag;        /* toggles when a barrier releases its waves */
    } resource[RESOURCES];
};

void wmi_gws_destroy(struct wmi_gws_state *gws)
{
    free(gws);
}

/* The dispatch's resources, allocated on first use; NULL if out of host memory. The caller holds the
 * dispatch's lock. */
static struct wmi_gws_state *gws_of(struct wmi_dispatch *dispatch)
{
    if (!dispatch->gws)
        dispatch->gws = calloc(1, sizeof *dispatch->gws);
    return dispatch->gws;
}

/* Applies the instruction to its resource. True: the wave waits in the next step; *flag is the barrier's
 * current flag. */
static bool act(struct resource *resource, enum wmi_gws what, uint32_t value, uint64_t *flag)
{
    switch (what) {
    case WMI_GWS_INIT:
        *resource = (struct resource){.counter = value};
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

static struct resource *resource_of(struct wmi_gws_state *gws, const char *frame, const struct wmi_op *op)
{
    const uint32_t m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0];
    return &gws->resource[((m0 >> 16) + op->x) % RESOURCES];
}

/* x: offset; y: enum wmi_gws; a: data row; d: 64 bits passed to the waiting step; value: pc. */
const struct wmi_op *wmi_step_gws_act(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_dispatch *dispatch = wave->group->dispatch;
    uint64_t flag = 0;
    bool waits = false;
    pthread_mutex_lock(&dispatch->lock);
    struct wmi_gws_state *gws = gws_of(dispatch);
    if (gws)
        waits = act(resource_of(gws, frame, op), (enum wmi_gws)op->y, wmi_gds_first_lane(frame, op), &flag);
    pthread_mutex_unlock(&dispatch->lock);
    if (!gws)
        return wmi_gds_no_memory(wave, op->value);
    memcpy(frame + op->d, &flag, sizeof flag);
    return waits ? op + 1 : op + 2;
}

const struct wmi_op *wmi_step_gws_wait(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_dispatch *dispatch = wave->group->dispatch;
    uint64_t flag;
    memcpy(&flag, frame + op->d, sizeof flag);
    pthread_mutex_lock(&dispatch->lock);
    struct resource *resource = resource_of(dispatch->gws, frame, op);
    bool goes_on = resource->flag != flag;
    if (op->y == WMI_GWS_SEMA_P && (goes_on = resource->counter != 0)) {
        resource->counter--;
        resource->waiting--;
    }
    pthread_mutex_unlock(&dispatch->lock);
    if (goes_on)
        return op + 1;
    ((struct wmi_frame *)frame)->left--; /* makes endless waits reach the instruction limit */
    wave->resume = op;
    return NULL;
}

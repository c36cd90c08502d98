/* SPDX-License-Identifier: MIT */
/* State that workgroups share besides memory: the global data share of a dispatch (gds.c) and the global wave
 * sync of a machine (gws.c). */
#ifndef WMI_GDS_H
#define WMI_GDS_H

#include "exec/run/dispatch.h"
#include "wavemem/machine.h"

struct wmi_gds;
struct wmi_gws;

/* Frees the state, which a dispatch allocates on first use; NULL is allowed. */
void wmi_gds_destroy(struct wmi_gds *gds);

/* A copy, to be freed with wmi_gds_destroy(); NULL: no memory. */
struct wmi_gds *wmi_gds_copy(const struct wmi_gds *gds);
extern const size_t wmi_gds_bytes;

/* All resources are 0 at first, and after a reset. NULL: no memory, and may be destroyed. */
struct wmi_gws *wmi_gws_create(void);
void wmi_gws_destroy(struct wmi_gws *gws);
void wmi_gws_reset(struct wmi_gws *gws);
/* As ds_gws_init does. */
void wmi_gws_init(struct wmi_gws *gws, unsigned resource, uint32_t counter);
/* The state of all resources. */
struct wmi_gws_state {
    struct wmi_gws_resource {
        uint32_t counter;
        uint32_t waiting; /* waves waiting for the semaphore */
        bool flag;        /* toggles when a barrier releases its waves */
    } resource[WMI_GWS_RESOURCES];
};
void wmi_gws_save(struct wmi_gws *gws, struct wmi_gws_state *state);
void wmi_gws_restore(struct wmi_gws *gws, const struct wmi_gws_state *state);
/* The dispatch is over. */
void wmi_gws_leave(struct wmi_dispatch *dispatch);

static inline const struct wmi_op *wmi_gds_no_memory(struct wmi_wave *wave, uint64_t pc)
{
    return wmi_wave_fault(wave, &(struct wmi_fault){.kind = WM_FAULT_NO_MEMORY, .pc = pc});
}

/* Row a in the first active lane; lane 0 if none is active. */
static inline uint32_t wmi_gds_first_lane(const char *frame, const struct wmi_op *op)
{
    const uint64_t lanes = ((const struct wmi_frame *)frame)->exec.bits;
    return ((const uint32_t *)(frame + op->a))[lanes ? __builtin_ctzll(lanes) : 0];
}

#endif

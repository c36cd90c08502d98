/* SPDX-License-Identifier: MIT */
/* State shared by all workgroups of a dispatch besides memory: the global data share (gds.c) and global wave
 * sync (gws.c). */
#ifndef WMI_GDS_H
#define WMI_GDS_H

#include "exec/wave.h"
#include "wavemem/machine.h"

struct wmi_gds;
struct wmi_gws_state;

/* Free the state, which a dispatch allocates on first use; NULL is allowed. */
void wmi_gds_destroy(struct wmi_gds *gds);
void wmi_gws_destroy(struct wmi_gws_state *gws);

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

/* SPDX-License-Identifier: MIT */
/* Initialisation of a wave's frame. */
#ifndef WMI_LAUNCH_H
#define WMI_LAUNCH_H

#include "sem/sem.h"

#include <stdbool.h>

/* What the waves of a workgroup have in common. */
struct wmi_wave_start {
    const uint32_t *sgpr; /* first WMI_START_SGPRS slots of the scalar file, 64-byte aligned; without EXEC */
    uint32_t vgpr_offset; /* offset of v0's row in the frame */
    unsigned id_rows;     /* rows of work-item ids, copied to v0 and the following VGPRs */
    bool repeats;         /* the workgroup is whole, so that a frame receives the same ids each time */
    bool only_ids;        /* the caller sets no other registers */
    bool has_lds;         /* the kernel has LDS, in which compiled code may remember addresses */
    unsigned zero_rows;   /* further VGPRs that waves may read, which are cleared */
    uint32_t mode, mxcsr32, mxcsr64;
};

/* ids: rows of work-item ids, 64-byte aligned. */
typedef void wmi_start_frame(struct wmi_frame *frame, const struct wmi_wave_start *start, const uint32_t *ids,
                             const struct wmi_lanes *exec);

/* The function for a CPU level and a wave size (32 or 64). */
wmi_start_frame *wmi_launcher(enum wmi_cpu_level level, unsigned lanes);

#endif

/* SPDX-License-Identifier: MIT */
/* Initialisation of a wave's frame. */
#ifndef WMI_LAUNCH_H
#define WMI_LAUNCH_H

#include "sem/sem.h"

#include <stdbool.h>

enum { WMI_START_SGPRS = 128 };

struct wmi_wave_start {
    const uint32_t *sgpr; /* first WMI_START_SGPRS slots of the scalar file, 64-byte aligned; without EXEC */
    const struct wmi_lanes *exec;
    const uint32_t *ids;  /* rows of work-item ids, 64-byte aligned */
    uint32_t vgpr_offset; /* offset of v0's row in the frame */
    unsigned id_rows;     /* rows of `ids`, copied to v0 and the following VGPRs */
    bool repeats;         /* the wave that used the frame before had the same ids */
    unsigned zero_rows;   /* VGPRs after them that waves may read, which are cleared */
    uint64_t flat_scratch;
    uint32_t mode, mxcsr32, mxcsr64;
};

typedef void wmi_start_frame(struct wmi_frame *frame, const struct wmi_wave_start *start);

/* The function for a CPU level and a wave size (32 or 64). */
wmi_start_frame *wmi_launcher(enum wmi_cpu_level level, unsigned lanes);

#endif

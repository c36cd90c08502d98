/* SPDX-License-Identifier: MIT */
/* How a wave's frame is filled when the wave starts. */
#ifndef WMI_LAUNCH_H
#define WMI_LAUNCH_H

#include "sem/sem.h"

enum { WMI_START_SGPRS = 128 };

struct wmi_wave_start {
    const uint32_t *sgpr; /* the scalar file's first WMI_START_SGPRS slots, 64-byte aligned; not EXEC */
    const struct wmi_lanes *exec;
    const uint32_t *ids;  /* rows of work-item ids, 64-byte aligned */
    uint32_t vgpr_offset; /* of v0's row in the frame */
    unsigned id_rows;     /* rows of `ids` that become v0 and so on */
    unsigned zero_rows;   /* VGPRs behind them, which become 0 */
    uint64_t flat_scratch;
    uint32_t mode, mxcsr32, mxcsr64;
};

typedef void wmi_start_frame(struct wmi_frame *frame, const struct wmi_wave_start *start);

/* For a CPU level and a wave size (32 or 64). */
wmi_start_frame *wmi_launcher(enum wmi_cpu_level level, unsigned lanes);

#endif

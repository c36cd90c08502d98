/* SPDX-License-Identifier: MIT */
/* Latencies and rates of products that only the predicted time needs.
 *
 * Latencies of loads: chains of dependent loads, published by gpu-benches (gpu-latency), in clocks; those
 * behind L2 do not follow the clock of the compute units and are kept in nanoseconds. The others are fitted
 * to the calibration measurements; docs/model.md lists them and how. */
#include "profile/time/clocks.h"

#include <string.h>

/* The clocks at which the latencies were measured, in MHz. */
#define NS(clocks, mhz) ((clocks) * 1e3 / (mhz))

static const struct wmi_clocks rows[] = {
    {"mi100", .l1 = 133, .l2 = 265, .memory = NS(545, 1502), .scalar = 80, .lds = 64, .turnaround = 250,
     .launch = 400, .memory_share = 0.89, .l2_share = 0.7},
    {"mi210", .l1 = 125, .l2 = 249, .memory = NS(584, 1700), .scalar = 80, .lds = 64, .turnaround = 250,
     .launch = 400, .memory_share = 0.92, .l2_share = 0.7},
    {"mi300a", .l1 = 120, .l2 = 213, .last = NS(450, 2096), .memory = NS(560, 2096), .scalar = 80, .lds = 64,
     .turnaround = 250, .launch = 450, .last_bandwidth = 4100, .memory_share = 0.6, .l2_share = 0.55},
    {"mi300x", .l1 = 119, .l2 = 213, .last = NS(457, 2100), .memory = NS(560, 2100), .scalar = 80, .lds = 64,
     .turnaround = 250, .launch = 450, .last_bandwidth = 5500, .memory_share = 0.8, .l2_share = 0.55},
    {"rx6900xt", .l1 = 73, .gl1 = 124, .l2 = 221, .last = NS(423, 2560), .memory = NS(480, 2560),
     .scalar = 80, .lds = 64, .turnaround = 300, .launch = 550, .last_bandwidth = 1986, .memory_share = 0.92,
     .l2_share = 0.5},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const struct wmi_clocks *own(const struct wm_gpu *gpu)
{
    for (unsigned i = 0; i < ROWS; i++)
        if (strcmp(rows[i].gpu, gpu->name) == 0)
            return &rows[i];
    return NULL;
}

/* The measured product whose memory system is most like that of the product: RDNA; several dies with an
 * Infinity Cache; lines of 128 bytes in L2; the rest. */
static const char *nearest(const struct wm_gpu *gpu)
{
    return gpu->vgpr_lanes == 32                 ? "rx6900xt"
           : gpu->cache[WM_CACHE_LAST].bytes     ? "mi300x"
           : gpu->cache[WM_CACHE_L2].line == 128 ? "mi210"
                                                 : "mi100";
}

const char *wmi_clocks_like(const struct wm_gpu *gpu)
{
    return own(gpu) ? NULL : nearest(gpu);
}

struct wmi_clocks wmi_clocks_of(const struct wm_gpu *gpu)
{
    const struct wmi_clocks *row = own(gpu);
    struct wmi_clocks clocks = {0};
    for (unsigned i = 0; !row && i < ROWS; i++)
        if (strcmp(rows[i].gpu, nearest(gpu)) == 0)
            row = &rows[i];
    if (row)
        clocks = *row;
    if (!gpu->cache[WM_CACHE_LAST].bytes)
        clocks.last = 0;
    if (!gpu->cache[WM_CACHE_GL1].bytes)
        clocks.gl1 = 0;
    return clocks;
}

/* SPDX-License-Identifier: MIT */
/* Latencies and rates of products that only the predicted time needs. */
#ifndef WMI_PROFILE_CLOCKS_H
#define WMI_PROFILE_CLOCKS_H

#include "wavemem/wavemem.h"

struct wmi_clocks {
    const char *gpu;     /* product */
    double l1, gl1, l2;  /* latency of a load by where it hits, clocks; gl1 0: there is none */
    double last, memory; /* the same of the Infinity Cache, 0: there is none; and of memory: nanoseconds */
    double scalar;       /* of a scalar load that hits, clocks */
    double lds;          /* of LDS, clocks */
    double turnaround;   /* from the last instruction of a workgroup to the first of the next, clocks */
    double launch; /* from the start of a dispatch to its first wave, and from its last to its end: ns */
    double last_bandwidth; /* that programs usually reach of the Infinity Cache, GB/s; 0: unknown */
    double memory_share;   /* of the theoretical bandwidth of memory that programs usually reach */
    double l2_share;       /* the same of L2 */
};

/* The product's clocks. Those without a row of their own have those of the product of their generation that
 * was measured, see docs/model.md. */
struct wmi_clocks wmi_clocks_of(const struct wm_gpu *gpu);

/* The product whose clocks are used because its own were not measured; NULL: they were. */
const char *wmi_clocks_like(const struct wm_gpu *gpu);

#endif

/* SPDX-License-Identifier: MIT */
/* The kernels of a profile: what their dispatches did, and what bounds them. */
#ifndef WMI_PROFILE_KERNELS_H
#define WMI_PROFILE_KERNELS_H

#include "profile/inside.h"

/* The kernels of the report; false: out of memory. */
bool wmi_kernels_make(struct wm_profile *profile);
/* Called at the start and end of the dispatch profile->source.dispatch. */
void wmi_kernels_begin(struct wm_profile *profile);
void wmi_kernels_end(struct wm_profile *profile);
void wmi_kernels_destroy(struct wm_profile *profile);
/* The kernel whose entry is `pc` (or the only kernel), the part that bounds it, its clocks (as counted, not
 * scaled for a sample), the numbers of compute units and SIMDs with work, and the wave size. False: no part
 * does. */
struct wmi_binding {
    const struct wm_profile_kernel *row;
    const struct wmi_kernel_profile *kernel;
    enum wmi_gpu_part part;
    double clocks, units, simds;
    double atomics, hottest_atomics; /* requests: all, and to the line of L2 that has most */
    unsigned wave_lanes;
};
/* Bytes that the kernel's dispatches wrote to memory for the slot: without what was written back while others
 * ran. */
uint64_t wmi_kernel_written(const struct wmi_kernel_profile *kernel, uint32_t slot);
/* Waves of a dispatch that share a vector cache, on average over the compute units with work. */
double wmi_kernel_waves_at_once(const struct wmi_kernel_profile *kernel, const struct wm_gpu *gpu);
/* The clocks that each part spends on the code; other parts keep theirs. */
void wmi_code_clocks(const struct wm_profile *profile, const struct wmi_binding *binding,
                     const struct wmi_executed *code, double clocks[WMI_GPU_PARTS]);
bool wmi_kernels_binding(const struct wm_profile *profile, uint64_t pc, struct wmi_binding *binding);

#endif

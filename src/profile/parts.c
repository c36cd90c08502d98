/* SPDX-License-Identifier: MIT */
/* The parts of a GPU that can bound a kernel, and the clocks of transfers. */
#include "profile/parts.h"
#include "profile/inside.h"

const char *const *wmi_profile_parts(size_t *count)
{
    *count = WMI_GPU_PARTS;
    return wmi_gpu_part_names;
}

double wmi_memory_bandwidth(const struct wm_gpu *gpu)
{
    return gpu->memory_reached > 0 ? gpu->memory_reached : gpu->memory_bandwidth;
}

double wmi_transfer_clocks(uint64_t bytes, double bandwidth, const struct wm_gpu *gpu)
{
    return (double)bytes * gpu->clock_mhz / (bandwidth * 1e3);
}

enum wmi_gpu_part wmi_part_of(const struct wm_bound *bound)
{
    enum wmi_gpu_part part = 0;
    while (part + 1 < WMI_GPU_PARTS && bound->name != wmi_gpu_part_names[part])
        part++;
    return part;
}

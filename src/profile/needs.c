/* SPDX-License-Identifier: MIT */
/* The clocks that each part of the GPU spends on an instruction, and their share of the kernel's time. */
#include "profile/needs.h"
#include "profile/inside.h"
#include "profile/kernels.h"
#include "profile/parts.h"
#include "profile/slots.h"

#include <string.h>

static double memory_clocks(uint64_t bytes, const struct wm_gpu *gpu)
{
    return wmi_transfer_clocks(bytes, wmi_memory_bandwidth(gpu), gpu);
}

void wmi_needs(const struct wm_profile_row *row, const struct wm_gpu *gpu, const struct wmi_binding *binding,
               double clocks[WMI_GPU_PARTS])
{
    const double units = binding->units;
    const struct wmi_rates *rates = wmi_rates_of(gpu);
    const uint64_t dwords = row->lanes ? (row->bytes_asked / row->lanes + 3) / 4 : 1;
    const struct wm_cache *l2 = &gpu->cache[WM_CACHE_L2];
    const double l2_bytes = (double)l2->clock_bytes * l2->channels * gpu->xcds;
    clocks[WMI_GPU_MEMORY] = memory_clocks(row->memory_read + row->memory_written, gpu);
    if (gpu->last_bandwidth > 0)
        clocks[WMI_GPU_LAST] = wmi_transfer_clocks(WMI_LAST_BYTES * row->cache[WM_CACHE_LAST].requests,
                                                   gpu->last_bandwidth, gpu);
    if (binding->atomics > 0) /* those of the hottest line, as if all instructions shared it alike */
        clocks[WMI_GPU_ATOMIC] = (double)row->atomic_requests * binding->hottest_atomics / binding->atomics;
    clocks[WMI_GPU_L2] = l2_bytes > 0 ? (double)row->cache[WM_CACHE_L2].bytes / l2_bytes : 0;
    clocks[WMI_GPU_L1] = (double)row->tag_clocks / units;
    clocks[WMI_GPU_ADDRESS] = (double)row->address_clocks / units;
    clocks[WMI_GPU_DATA] = (double)row->data_clocks / units;
    clocks[WMI_GPU_LDS] = (double)row->lds_passes / units;
    if (rates && strcmp(row->path, wm_path_name(WM_PATH_DS)) == 0)
        clocks[WMI_GPU_LDS_ISSUE] =
            wmi_lds_clocks(rates, row->executions * dwords, binding->wave_lanes) / binding->simds;
    clocks[WMI_GPU_ISSUE] = (double)row->executions / (units * gpu->issue);
}

/* The part that the instruction occupies longest, except issue. */
static const char *limit_of(const double clocks[WMI_GPU_PARTS])
{
    unsigned most = WMI_GPU_PARTS;
    for (unsigned part = 0; part < WMI_GPU_ISSUE; part++)
        if (clocks[part] > (most < WMI_GPU_PARTS ? clocks[most] : 0))
            most = part;
    return most < WMI_GPU_PARTS ? wmi_gpu_part_names[most] : NULL;
}

void wmi_judge(struct wm_profile *profile, uint32_t slot, struct wm_profile_row *row)
{
    double clocks[WMI_GPU_PARTS] = {0};
    /* Without a kernel: the numbers affect all parts equally, except L2 and memory. */
    struct wmi_binding binding = {.units = profile->gpu.compute_units,
                                  .simds = (double)profile->gpu.compute_units * profile->gpu.simds,
                                  .wave_lanes = wmi_profile_lanes(profile)};
    if (!profile->rounds || (!row->has_caches && !row->has_lds))
        return;
    const bool bound = wmi_kernels_binding(profile, row->pc - row->offset, &binding);
    wmi_needs(row, &profile->gpu, &binding, clocks);
    row->limit = limit_of(clocks);
    if (!bound)
        return;
    clocks[WMI_GPU_MEMORY] =
        memory_clocks(row->memory_read + wmi_kernel_written(binding.kernel, slot), &profile->gpu);
    row->has_share = row->limit && binding.part < WMI_GPU_FETCH;
    row->share = clocks[binding.part] / binding.clocks;
}

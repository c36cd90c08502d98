/* SPDX-License-Identifier: MIT */
/* The parts of a GPU that can bound a kernel, and the clocks of transfers. */
#ifndef WMI_PROFILE_PARTS_H
#define WMI_PROFILE_PARTS_H

#include "profile/inside.h"

/* The bandwidth of DRAM that a bound may assume, GB/s. */
double wmi_memory_bandwidth(const struct wm_gpu *gpu);
/* Clocks of the GPU in which so many bytes are transferred at `bandwidth`, GB/s. */
double wmi_transfer_clocks(uint64_t bytes, double bandwidth, const struct wm_gpu *gpu);
/* The part that the bound names. */
enum wmi_gpu_part wmi_part_of(const struct wm_bound *bound);

#endif

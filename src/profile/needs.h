/* SPDX-License-Identifier: MIT */
/* The clocks that each part of the GPU spends on an instruction, and their share of the kernel's time. */
#ifndef WMI_PROFILE_NEEDS_H
#define WMI_PROFILE_NEEDS_H

#include "profile/kernels.h"

/* The clocks that each part spends on the instruction, with the compute units and SIMDs that the
 * binding has; 0: none or unknown. */
void wmi_needs(const struct wm_profile_row *row, const struct wm_gpu *gpu, const struct wmi_binding *binding,
               double clocks[WMI_GPU_PARTS]);
/* Sets limit and share of a row that is otherwise complete. */
void wmi_judge(struct wm_profile *profile, uint32_t slot, struct wm_profile_row *row);

#endif

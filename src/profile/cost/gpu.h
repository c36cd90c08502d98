/* SPDX-License-Identifier: MIT */
/* What src/profile asks of products beyond the public API. */
#ifndef WMI_PROFILE_GPU_H
#define WMI_PROFILE_GPU_H

#include "wavemem/wavemem.h"

#include "isa/isa.h"

/* Whether its caches and bounds can be modelled: no figure is 0 that something is divided by, and the model
 * fits into memory. WM_BAD_ARGUMENT: it says which figure is wrong. */
enum wm_status wmi_gpu_check(const struct wm_gpu *gpu, struct wm_diag *diag);

/* Whether what code for `target` asks of memory can be modelled on it: it is of the target's generation,
 * which measures accesses alike. WM_BAD_ARGUMENT, with the products that are, after `what` ("the code object
 * is for gfx900"). */
enum wm_status wmi_gpu_fits(const struct wm_gpu *gpu, const struct wmi_target *target, const char *what,
                            struct wm_diag *diag);

#endif

/* SPDX-License-Identifier: MIT */
/* What src/profile asks of products beyond the public API. */
#ifndef WMI_PROFILE_GPU_H
#define WMI_PROFILE_GPU_H

#include "wavemem/wavemem.h"

/* Whether code for `target` ("gfx90a", "gfx90a:xnack+") can be modelled on it. */
bool wmi_gpu_runs(const struct wm_gpu *gpu, const char *target);

#endif

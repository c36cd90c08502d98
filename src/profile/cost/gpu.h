/* SPDX-License-Identifier: MIT */
/* Functions on products beyond the public API. */
#ifndef WMI_PROFILE_GPU_H
#define WMI_PROFILE_GPU_H

#include "wavemem/wavemem.h"

#include "isa/isa.h"
#include "memory/tiling/tiling.h"

/* Checks that the product's caches and bounds can be modelled: no figure that is a divisor is 0, and the
 * model fits into memory. Otherwise WM_BAD_ARGUMENT; the message names the figure. */
enum wm_status wmi_gpu_check(const struct wm_gpu *gpu, struct wm_diag *diag);

/* The product's own target, the first in `targets`; NULL: not known. */
const struct wmi_target *wmi_gpu_target(const struct wm_gpu *gpu);

/* Checks that accesses of code for `target` can be modelled on the product: it must be of the target's
 * generation, with the same cost rules. Otherwise WM_BAD_ARGUMENT; the message begins with `what` ("the code
 * object is for gfx900") and lists the suitable products. */
enum wm_status wmi_gpu_fits(const struct wm_gpu *gpu, const struct wmi_target *target, const char *what,
                            struct wm_diag *diag);

/* How the product tiles images; gpu NULL: the target's default product. */
struct wmi_tiling wmi_gpu_tiling(const struct wm_gpu *gpu, const struct wmi_target *target);

#endif

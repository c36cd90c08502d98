/* SPDX-License-Identifier: MIT */
/* Compares of integers that depend on work-item ids and constants alone. In a workgroup with LDS a frame gets
 * the same ids again and again, so what the first wave finds out holds for those after it: the frame keeps
 * the mask of all lanes (wmi_compiled_state.mask) and whether it is known (wmi_compiled_state.masks_known),
 * by the numbers that lds_plan.c gives. */
#ifndef WMI_MASKS_H
#define WMI_MASKS_H

#include "jit/stretch.h"

/* Whether the current step is such a compare. Code for waves that start makes it each time. */
bool wmi_mask_lasts(const struct wmi_stretch *s);
/* Emits the compare. */
void wmi_put_lasting_mask(struct wmi_stretch *s, const struct wmi_step *step, uint32_t instruction,
                          int predicate);

#endif

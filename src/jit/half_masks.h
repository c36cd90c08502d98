/* SPDX-License-Identifier: MIT */
/* Masks that a sequence of half strips computes: see halves.h. */
#ifndef WMI_HALF_MASKS_H
#define WMI_HALF_MASKS_H

#include "jit/stretch.h"

/* The mask that the current step computes for the half and writes to the place: its number, behind
 * WMI_K_LANES; WMI_LANE_MASKS: the sequence cannot hold it. The last one that was written there, or the same.
 */
unsigned wmi_stretch_add_half_mask(struct wmi_stretch *s, uint32_t place);
unsigned wmi_stretch_find_half_mask(const struct wmi_stretch *s, uint32_t place);

#endif

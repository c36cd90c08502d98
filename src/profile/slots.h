/* SPDX-License-Identifier: MIT */
/* Finds the slot of an instruction in a profile. */
#ifndef WMI_PROFILE_SLOTS_H
#define WMI_PROFILE_SLOTS_H

#include "profile/inside.h"

/* The slot of instruction `id` at `pc`, or WMI_NO_SLOT. */
uint32_t wmi_profile_slot(const struct wm_profile *profile, uint64_t pc, unsigned id);
/* Returns the index entry of the instruction, or where to insert it. The index is never full. */
uint32_t *wmi_profile_index(const struct wm_profile *profile, uint64_t pc, unsigned id);
/* The slot of a row of the report. */
uint32_t wmi_profile_slot_of(const struct wm_profile *profile, const struct wm_profile_row *row);
unsigned wmi_profile_lanes(const struct wm_profile *profile); /* of a wave */

#endif

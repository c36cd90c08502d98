/* SPDX-License-Identifier: MIT */
/* Finds out which VGPRs a wave may still read. */
#ifndef WMI_FIND_LIVE_H
#define WMI_FIND_LIVE_H

#include "jit/live.h"

/* NULL: there is no memory, or too much would be needed. */
struct wmi_live *wmi_find_live(const struct wmi_block *block);
void wmi_live_free(struct wmi_live *live);
/* Whether the rows at d become new in all active lanes, whatever they were. drops_half: it is one of those
 * that wmi_find_unread_halves() finds. */
bool wmi_live_replaces(const struct wmi_step *step, bool drops_half);
/* Sets `drops_half`. Returns whether there are such steps. */
bool wmi_find_unread_halves(struct wmi_live *live);
/* How many VGPRs, from v0 on, contain those that a wave at the step may still read. Without `live`, all. */
unsigned wmi_live_rows(const struct wmi_live *live, const struct wmi_block *block, size_t step);

#endif

/* SPDX-License-Identifier: MIT */
/* Finds out which VGPRs a wave may still read. */
#ifndef WMI_FIND_LIVE_H
#define WMI_FIND_LIVE_H

#include "compile/live.h"

/* NULL: there is no memory, or too much would be needed. */
struct wmi_live *wmi_find_live(const struct wmi_block *block);
void wmi_live_free(struct wmi_live *live);

#endif

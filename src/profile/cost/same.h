/* SPDX-License-Identifier: MIT */
/* Scratch memory for finding lanes with equal values, see same_lanes.h. */
#ifndef WMI_PROFILE_SAME_H
#define WMI_PROFILE_SAME_H

#include <stdint.h>

enum { WMI_SAME_SLOT_BITS = 12 };

/* Need not be initialized: only values that were just written are read. */
struct wmi_same {
    uint32_t slot[1 << WMI_SAME_SLOT_BITS]; /* key and number of the lowest lane in this slot */
};

#endif

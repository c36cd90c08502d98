/* SPDX-License-Identifier: MIT */
/* Room to find out which of a wave's lanes have the same: same_lanes.h does. */
#ifndef WMI_PROFILE_SAME_H
#define WMI_PROFILE_SAME_H

#include <stdint.h>

enum { WMI_SAME_SLOT_BITS = 12 };

/* What is left in it from before does no harm: what is read was written just before. */
struct wmi_same {
    uint32_t slot[1 << WMI_SAME_SLOT_BITS]; /* key and number of the lowest lane that has the slot */
};

#endif

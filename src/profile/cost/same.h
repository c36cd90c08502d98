/* SPDX-License-Identifier: MIT */
/* Scratch memory for finding lanes with equal values, see same_lanes.h. */
#ifndef WMI_PROFILE_SAME_H
#define WMI_PROFILE_SAME_H

#include "observe/observer.h"

#include <stddef.h>
#include <stdint.h>

/* The addresses of a wave's lanes. */
struct wmi_lane_addresses {
    const uint64_t *address;                   /* by lane; or NULL: */
    const struct wmi_address_summary *summary; /* it has them, and only those are accepted that it allows */
};

static inline uint64_t wmi_lane_address(struct wmi_lane_addresses of, unsigned lane)
{
    return of.address ? of.address[lane] : wmi_summary_address(of.summary, lane);
}

enum { WMI_SAME_SLOT_BITS = 12, WMI_SAME_SMALL_BITS = 14 };

/* Zeros at first. */
struct wmi_same {
    uint32_t slot[1 << WMI_SAME_SLOT_BITS];  /* key and number of the lowest lane in this slot */
    uint16_t seen[1 << WMI_SAME_SMALL_BITS]; /* `now` of the last call in which a lane had this value */
    uint16_t now;
};

#endif

/* SPDX-License-Identifier: MIT */
/* The set of lanes of a wave that a vector instruction operates on. */
#ifndef WMI_LANE_SET_H
#define WMI_LANE_SET_H

#include <stdalign.h>
#include <stdint.h>

/* Lanes of a wave in this translation unit: 64 or 32; every *_lanes.c is built for both. */
#ifndef WMI_LANES
#define WMI_LANES 64
#endif

/* A name specific to this build of a *_lanes.c: WMI_BODY_SUFFIX is _<level>_<lanes>. */
#define WMI_BUILD_NAME(name)           WMI_BUILD_NAME_2(name, WMI_BODY_SUFFIX)
#define WMI_BUILD_NAME_2(name, suffix) WMI_BUILD_NAME_1(name, suffix)
#define WMI_BUILD_NAME_1(name, suffix) name##suffix

/* A set of lanes, as bits and as one word per lane (all ones or zero) for the vector loops.
 * `bits` never has a bit above the wave size. */
struct wmi_lanes {
    alignas(64) uint64_t bits;
    uint64_t full; /* nonzero if it contains all lanes of the wave */
    alignas(64) uint32_t row[64];
};

#endif

/* SPDX-License-Identifier: MIT */
/* Places of a program: guest addresses of instructions together with the state that they run in. */
#ifndef WMI_PLACE_H
#define WMI_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State of a wave that decides what instructions mean. Code is lowered once for each state that it runs in,
 * so that no step has to ask: a place is a guest address, a multiple of 4, with this in its low bits. */
enum wmi_state {
    WMI_STATE_GPR_INDEX = 1, /* MODE.GPR_IDX_EN: M0 is added to the numbers of VGPRs */
    WMI_STATE_VSKIP = 2,     /* MODE.VSKIP: vector instructions do nothing */
    WMI_STATE_BITS = 3,
};

/* The bits of MODE that are such state, and where they begin. Source: CDNA 3 ISA, "Mode register". */
enum { WMI_MODE_STATE_SHIFT = 27 };
#define WMI_MODE_STATE ((uint32_t)WMI_STATE_BITS << WMI_MODE_STATE_SHIFT)

static inline uint64_t wmi_pc_of(uint64_t place)
{
    return place & ~(uint64_t)WMI_STATE_BITS;
}

/* place -> a value that is not NULL; open addressing, capacity is a power of two. */
struct wmi_place_map {
    struct wmi_place_entry {
        uint64_t place;
        const void *value;
    } *entries;
    size_t capacity, count;
};

/* NULL: the place is not in the map. */
const void *wmi_place_find(const struct wmi_place_map *map, uint64_t place);
/* Makes room for `more` places. False: no memory. */
bool wmi_place_reserve(struct wmi_place_map *map, size_t more);
/* Adds a place that is not in the map, and for which there is room. */
void wmi_place_add(struct wmi_place_map *map, uint64_t place, const void *value);

#endif

/* SPDX-License-Identifier: MIT */
/* The search for the places that control flow reaches. */
#ifndef WMI_SCAN_H
#define WMI_SCAN_H

#include "lower/code.h"
#include "lower/place.h"

struct wmi_found { /* an instruction that the scan reached */
    uint64_t place;
    bool leader;
};

struct wmi_scan {
    struct wmi_found *found;
    size_t count, capacity;
    struct wmi_place_map seen; /* place -> found + 1, as a pointer-sized number */
    uint64_t *work;
    size_t work_count, work_capacity;
    bool out_of_memory;
};

/* Finds up to `limit` instructions that direct control flow reaches from `entry` and that `known` does not
 * have, in the order of their places. The caller frees with wmi_scan_free(). */
void wmi_scan(struct wmi_scan *scan, const struct wmi_code *code, const struct wmi_place_map *known,
              uint64_t entry, size_t limit);
void wmi_scan_free(struct wmi_scan *scan);

#endif

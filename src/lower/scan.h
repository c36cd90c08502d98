/* SPDX-License-Identifier: MIT */
/* Scan for the places that control flow can reach. */
#ifndef WMI_SCAN_H
#define WMI_SCAN_H

#include "lower/code.h"
#include "lower/place.h"

struct wmi_reached { /* a reached instruction */
    uint64_t place;
    bool leader;
};

/* A growing list of places. */
struct wmi_place_list {
    uint64_t *place;
    size_t count, capacity;
};

/* False: no memory. */
bool wmi_place_list_add(struct wmi_place_list *list, uint64_t place);
void wmi_place_list_free(struct wmi_place_list *list);

struct wmi_scan {
    struct wmi_reached *found;
    size_t count, capacity;
    struct wmi_place_map seen;  /* place -> index in found + 1, cast to a pointer */
    struct wmi_place_list work; /* still to be followed */
    bool out_of_memory;
};

/* Finds up to `limit` instructions that are reachable from `entry` through direct control flow and are not in
 * `known`, sorted by place. Notes their words in `words`, unless that is NULL. The caller frees with
 * wmi_scan_free(). */
void wmi_scan(struct wmi_scan *scan, const struct wmi_code *code, struct wmi_code_words *words,
              const struct wmi_place_map *known, uint64_t entry, size_t limit);
void wmi_scan_free(struct wmi_scan *scan);

#endif

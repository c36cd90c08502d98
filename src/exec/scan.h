/* SPDX-License-Identifier: MIT */
/* Places of a program, a map of them to steps, and the search for those that control flow reaches. A place is
 * a guest address with enum wmi_state in its low bits. */
#ifndef WMI_SCAN_H
#define WMI_SCAN_H

#include "exec/program.h"

/* place -> step, open addressing; capacity is a power of two. */
struct wmi_step_map {
    struct wmi_step_entry {
        uint64_t place;
        const struct wmi_op *step;
    } *entries;
    size_t capacity, count;
};

const struct wmi_op *wmi_step_map_find(const struct wmi_step_map *map, uint64_t place);
/* Makes room for `more` places. False: no memory. */
bool wmi_step_map_reserve(struct wmi_step_map *map, size_t more);
/* Adds a place that is not there yet, and for which there is room. */
void wmi_step_map_add(struct wmi_step_map *map, uint64_t place, const struct wmi_op *step);

static inline uint64_t wmi_pc_of(uint64_t place)
{
    return place & ~(uint64_t)WMI_STATE_BITS;
}

struct wmi_found { /* an instruction that the scan reached */
    uint64_t place;
    bool leader;
};

struct wmi_scan {
    struct wmi_found *found;
    size_t count, capacity;
    struct wmi_step_map seen; /* place -> found + 1, as a pointer-sized number */
    uint64_t *work;
    size_t work_count, work_capacity;
    bool out_of_memory;
};

/* Finds up to `limit` instructions that direct control flow reaches from `entry` and that `known` does not
 * have, in the order of their places. The caller frees with wmi_scan_free(). */
void wmi_scan(struct wmi_scan *scan, const struct wmi_program *program, const struct wmi_step_map *known,
              uint64_t entry, size_t limit);
void wmi_scan_free(struct wmi_scan *scan);

#endif

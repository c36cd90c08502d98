/* SPDX-License-Identifier: MIT */
/* Finds reachable instructions before lowering. */
#include "lower/scan.h"

#include "lower/flow.h"

#include <stdlib.h>

static void scan_push(struct wmi_scan *scan, uint64_t place)
{
    if (scan->work_count == scan->work_capacity) {
        const size_t capacity = scan->work_capacity ? 2 * scan->work_capacity : 64;
        uint64_t *grown = realloc(scan->work, capacity * sizeof *grown);
        if (!grown) {
            scan->out_of_memory = true;
            return;
        }
        scan->work = grown;
        scan->work_capacity = capacity;
    }
    scan->work[scan->work_count++] = place;
}

static size_t scan_find(const struct wmi_scan *scan, uint64_t place) /* index + 1; 0: not seen */
{
    return (size_t)(uintptr_t)wmi_place_find(&scan->seen, place);
}

static void scan_add(struct wmi_scan *scan, uint64_t place, bool leader)
{
    if (scan->count == scan->capacity) {
        const size_t capacity = scan->capacity ? 2 * scan->capacity : 256;
        struct wmi_found *grown = realloc(scan->found, capacity * sizeof *grown);
        if (!grown) {
            scan->out_of_memory = true;
            return;
        }
        scan->found = grown;
        scan->capacity = capacity;
    }
    if (!wmi_place_reserve(&scan->seen, 1)) {
        scan->out_of_memory = true;
        return;
    }
    scan->found[scan->count++] = (struct wmi_found){place, leader};
    wmi_place_add(&scan->seen, place, (const void *)(uintptr_t)scan->count);
}

static int by_place(const void *a, const void *b)
{
    const uint64_t x = ((const struct wmi_found *)a)->place, y = ((const struct wmi_found *)b)->place;
    return (x > y) - (x < y);
}

void wmi_scan(struct wmi_scan *scan, const struct wmi_code *code, const struct wmi_place_map *known,
              uint64_t entry, size_t limit)
{
    scan_push(scan, entry);
    while (scan->work_count && !scan->out_of_memory) {
        uint64_t place = scan->work[--scan->work_count];
        bool leader = true;
        while (scan->count < limit && !scan->out_of_memory) {
            const size_t seen = scan_find(scan, place);
            if (seen) {
                scan->found[seen - 1].leader |= leader;
                break;
            }
            if (wmi_place_find(known, place))
                break;
            struct wmi_instruction insn;
            scan_add(scan, place, leader);
            leader = false;
            if (!wmi_code_decode(code, wmi_pc_of(place), &insn))
                break;
            const struct wmi_flow flow = wmi_control_flow(&insn);
            if (flow.branches) {
                scan_push(scan, place + 4u * insn.dwords + (uint64_t)(flow.distance * 4));
            }
            if (flow.ends)
                break;
            place = ((place + 4u * insn.dwords) & ~(uint64_t)flow.clears) | flow.sets;
        }
    }
    if (scan->count)
        qsort(scan->found, scan->count, sizeof *scan->found, by_place);
}

void wmi_scan_free(struct wmi_scan *scan)
{
    free(scan->found);
    free(scan->work);
    free(scan->seen.entries);
}

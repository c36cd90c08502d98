/* SPDX-License-Identifier: MIT */
/* Finds the instructions that control flow reaches, before they are lowered. */
#include "exec/scan.h"

#include "exec/control.h"

#include <stdlib.h>

/* ---- the map ---- */

static size_t hash(uint64_t place)
{
    return (size_t)((place >> 2) * 0x9e3779b97f4a7c15ULL >> 20);
}

const struct wmi_op *wmi_step_map_find(const struct wmi_step_map *map, uint64_t place)
{
    if (!map->capacity)
        return NULL;
    for (size_t i = hash(place) & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
        if (!map->entries[i].step)
            return NULL;
        if (map->entries[i].place == place)
            return map->entries[i].step;
    }
}

bool wmi_step_map_reserve(struct wmi_step_map *map, size_t more)
{
    if ((map->count + more) * 2 <= map->capacity)
        return true;
    size_t capacity = map->capacity ? map->capacity : 64;
    while ((map->count + more) * 2 > capacity)
        capacity *= 2;
    struct wmi_step_map grown = {calloc(capacity, sizeof *grown.entries), capacity, 0};
    if (!grown.entries)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->entries[i].step)
            continue;
        size_t j = hash(map->entries[i].place) & (capacity - 1);
        while (grown.entries[j].step)
            j = (j + 1) & (capacity - 1);
        grown.entries[j] = map->entries[i];
        grown.count++;
    }
    free(map->entries);
    *map = grown;
    return true;
}

void wmi_step_map_add(struct wmi_step_map *map, uint64_t place, const struct wmi_op *step)
{
    size_t i = hash(place) & (map->capacity - 1);
    while (map->entries[i].step)
        i = (i + 1) & (map->capacity - 1);
    map->entries[i] = (struct wmi_step_entry){place, step};
    map->count++;
}

/* ---- the search ---- */

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
    return (size_t)(uintptr_t)wmi_step_map_find(&scan->seen, place);
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
    if (!wmi_step_map_reserve(&scan->seen, 1)) {
        scan->out_of_memory = true;
        return;
    }
    scan->found[scan->count++] = (struct wmi_found){place, leader};
    wmi_step_map_add(&scan->seen, place, (const struct wmi_op *)(uintptr_t)scan->count);
}

static int by_place(const void *a, const void *b)
{
    const uint64_t x = ((const struct wmi_found *)a)->place, y = ((const struct wmi_found *)b)->place;
    return (x > y) - (x < y);
}

void wmi_scan(struct wmi_scan *scan, const struct wmi_program *program, const struct wmi_step_map *known,
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
            if (wmi_step_map_find(known, place))
                break;
            struct wmi_instruction insn;
            scan_add(scan, place, leader);
            leader = false;
            if (!wmi_program_decode(program, wmi_pc_of(place), &insn))
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
    qsort(scan->found, scan->count, sizeof *scan->found, by_place);
}

void wmi_scan_free(struct wmi_scan *scan)
{
    free(scan->found);
    free(scan->work);
    free(scan->seen.entries);
}

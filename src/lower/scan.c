/* SPDX-License-Identifier: MIT */
/* Finds reachable instructions before lowering. */
#include "lower/scan.h"

#include "lower/flow.h"

#include <stdlib.h>

bool wmi_place_list_add(struct wmi_place_list *list, uint64_t place)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 64;
        uint64_t *grown = realloc(list->place, capacity * sizeof *grown);
        if (!grown)
            return false;
        list->place = grown;
        list->capacity = capacity;
    }
    list->place[list->count++] = place;
    return true;
}

void wmi_place_list_free(struct wmi_place_list *list)
{
    free(list->place);
    *list = (struct wmi_place_list){0};
}

static void scan_push(struct wmi_scan *scan, uint64_t place)
{
    scan->out_of_memory |= !wmi_place_list_add(&scan->work, place);
}

static size_t scan_find(const struct wmi_scan *scan, uint64_t place) /* index + 1; 0: not seen */
{
    return (size_t)(uintptr_t)wmi_place_find(&scan->seen, place);
}

static void scan_add(struct wmi_scan *scan, uint64_t place, bool leader)
{
    if (scan->count == scan->capacity) {
        const size_t capacity = scan->capacity ? 2 * scan->capacity : 256;
        struct wmi_reached *grown = realloc(scan->found, capacity * sizeof *grown);
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
    scan->found[scan->count++] = (struct wmi_reached){place, leader};
    wmi_place_add(&scan->seen, place, (const void *)(uintptr_t)scan->count);
}

/* By address first: mostly a wave runs on behind an instruction that changes its state. */
static int by_place(const void *a, const void *b)
{
    const uint64_t x = ((const struct wmi_reached *)a)->place, y = ((const struct wmi_reached *)b)->place;
    const uint64_t from = wmi_pc_of(x), to = wmi_pc_of(y);
    return from != to ? (from > to) - (from < to) : (x > y) - (x < y);
}

void wmi_scan(struct wmi_scan *scan, const struct wmi_code *code, struct wmi_code_words *words,
              const struct wmi_place_map *known, uint64_t entry, size_t limit)
{
    scan_push(scan, entry);
    while (scan->work.count && !scan->out_of_memory) {
        uint64_t place = scan->work.place[--scan->work.count];
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
            const bool decoded = wmi_code_decode(code, wmi_pc_of(place), &insn);
            if (words)
                wmi_code_note(words, wmi_pc_of(place), decoded ? &insn : NULL);
            if (!decoded)
                break;
            const struct wmi_flow flow = wmi_control_flow(&insn);
            if (flow.branches) {
                scan_push(scan, place + 4u * insn.dwords + (uint64_t)(flow.distance * 4));
            }
            if (flow.ends)
                break;
            place = wmi_next_place(place, insn.dwords, &flow);
        }
    }
    if (scan->count)
        qsort(scan->found, scan->count, sizeof *scan->found, by_place);
}

void wmi_scan_free(struct wmi_scan *scan)
{
    free(scan->found);
    wmi_place_list_free(&scan->work);
    free(scan->seen.entries);
}

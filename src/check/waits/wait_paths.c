/* SPDX-License-Identifier: MIT */
/* The nodes and edges of remembered paths. */
#include "check/waits/wait_paths.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_NODES = 1 << 14, /* 2 to 3 KB each */
    MOST_EDGES = 64,      /* of a node */
    NODES_AT_FIRST = 256,
};

/* Something pending in the state of a node. */
struct operation {
    struct wmi_pending pending;
    uint16_t reg;
    bool held;
};

struct known {
    struct wmi_wait_node node; /* first: a node is a pointer to it */
    uint64_t key;
    uint64_t instructions;
    uint64_t issued[WMI_COUNTER_COUNT][WMI_ORDER_COUNT], done[WMI_COUNTER_COUNT][WMI_ORDER_COUNT];
    struct wmi_hazard_place *hazards; /* or NULL */
    unsigned reach;
    size_t count;
    struct operation operation[];
};

struct wmi_wait_paths {
    struct known **slot; /* open addressing, at most half full */
    size_t count, capacity;
};

struct wmi_wait_paths *wmi_wait_paths_create(void)
{
    return calloc(1, sizeof(struct wmi_wait_paths));
}

void wmi_wait_paths_destroy(struct wmi_wait_paths *paths)
{
    for (size_t i = 0; paths && i < paths->capacity; i++) {
        for (struct wmi_wait_edge *edge = paths->slot[i] ? paths->slot[i]->node.edge : NULL, *next; edge;
             edge = next) {
            next = edge->next;
            free(edge->found);
            free(edge);
        }
        if (paths->slot[i])
            free(paths->slot[i]->hazards);
        free(paths->slot[i]);
    }
    if (paths)
        free(paths->slot);
    free(paths);
}

/* ---- nodes ---- */

static uint64_t mix(uint64_t key, uint64_t value)
{
    return wmi_random_bits(key, value);
}

static bool is_vgpr(unsigned reg)
{
    return reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH;
}

static bool is_pending(const struct wmi_wait_state *state, const struct wmi_pending *pending)
{
    bool is = false;
    for (unsigned i = 0; i < pending->count; i++)
        is |= state->done[pending->counter[i]][pending->order[i]] < pending->serial[i];
    return is;
}

static uint64_t key_of_operation(uint64_t key, const struct wmi_wait_state *state,
                                 const struct wmi_pending *pending)
{
    const uint64_t age = state->instructions - pending->issued_at;
    key = mix(key, pending->number);
    key = mix(key, age < WMI_WAIT_AGES ? age : WMI_WAIT_AGES);
    for (unsigned i = 0; i < pending->count; i++) {
        const unsigned counter = pending->counter[i], order = pending->order[i];
        key = mix(key, counter | order << 8 | (unsigned)pending->sequence[i] << 16 | (i + 1) << 24);
        key = mix(key, state->issued[counter][order] - pending->serial[i]);
        key = mix(key, state->done[counter][order] < pending->serial[i]);
    }
    return key;
}

static uint64_t key_of_counters(uint64_t key, const struct wmi_wait_state *state)
{
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
        for (unsigned order = 0; order < WMI_ORDER_COUNT; order++)
            if (state->issued[counter][order] != state->done[counter][order] &&
                !(counter == WMI_COUNTER_TRANSLATION && wmi_counts_translations(state->target)))
                key = mix(mix(key, counter << 8 | order),
                          state->issued[counter][order] - state->done[counter][order]);
    return key;
}

static size_t slot_of(const struct wmi_wait_paths *paths, uint64_t key)
{
    size_t at = key & (paths->capacity - 1);
    while (paths->slot[at] && paths->slot[at]->key != key)
        at = (at + 1) & (paths->capacity - 1);
    return at;
}

static bool make_room(struct wmi_wait_paths *paths)
{
    struct wmi_wait_paths larger = *paths;
    if (2 * (paths->count + 1) <= paths->capacity)
        return true;
    if (paths->count >= MOST_NODES)
        return false;
    larger.capacity = paths->capacity ? 2 * paths->capacity : NODES_AT_FIRST;
    if (!(larger.slot = calloc(larger.capacity, sizeof *larger.slot)))
        return false;
    for (size_t i = 0; i < paths->capacity; i++)
        if (paths->slot[i])
            larger.slot[slot_of(&larger, paths->slot[i]->key)] = paths->slot[i];
    free(paths->slot);
    *paths = larger;
    return true;
}

/* A scan of what is pending. */
struct scan {
    uint64_t key, mask;
    size_t count;
    bool masked, other; /* writes are about the lanes `mask`; about others but all and none */
};

static void scan_operation(struct scan *scan, const struct wmi_wait_state *state, unsigned reg, bool held)
{
    const struct wmi_pending *pending = held ? &state->held[reg] : &state->written[reg];
    if (!pending->count || !is_pending(state, pending) || (held && wmi_wait_has_read(state, pending)))
        return;
    const bool lanes = !held && is_vgpr(reg) && pending->lanes && pending->lanes != UINT64_MAX;
    scan->masked |= lanes;
    scan->other |= lanes && pending->lanes != scan->mask;
    scan->count++;
    scan->key = mix(scan->key, reg << 3 | held << 2 | wmi_wait_lanes(pending->lanes));
    scan->key = key_of_operation(scan->key, state, pending);
}

struct wmi_wait_node *wmi_wait_node(struct wmi_wait_paths *paths, const struct wmi_wait_state *state,
                                    const struct wmi_hazard_wave *hazards, uint32_t number, unsigned reach,
                                    uint64_t mask, bool *is_new)
{
    struct scan scan = {.key = hazards ? wmi_hazard_wave_key(hazards, reach) : mix(0, number), .mask = mask};
    scan.key = key_of_counters(scan.key, state);
    for (unsigned reg = 0; reg < reach; reg++) {
        scan_operation(&scan, state, reg, false);
        scan_operation(&scan, state, reg, true);
    }
    if (scan.other || !make_room(paths))
        return NULL;
    struct known **slot = &paths->slot[slot_of(paths, scan.key)];
    *is_new = !*slot;
    if (*slot)
        return &(*slot)->node;
    struct wmi_hazard_place *place = hazards ? wmi_hazard_wave_place(hazards) : NULL;
    struct known *known =
        hazards && !place ? NULL : malloc(sizeof *known + scan.count * sizeof known->operation[0]);
    if (!known) {
        free(place);
        return NULL;
    }
    *known = (struct known){.node = {.masked = scan.masked, .mask = mask},
                            .key = scan.key,
                            .instructions = state->instructions,
                            .hazards = place,
                            .reach = reach};
    memcpy(known->issued, state->issued, sizeof known->issued);
    memcpy(known->done, state->done, sizeof known->done);
    for (unsigned at = 0; at < 2 * reach; at++) {
        const struct wmi_pending *pending = at % 2 ? &state->held[at / 2] : &state->written[at / 2];
        if (pending->count && is_pending(state, pending) && !(at % 2 && wmi_wait_has_read(state, pending)))
            known->operation[known->count++] = (struct operation){*pending, (uint16_t)(at / 2), at % 2 == 1};
    }
    *slot = known;
    paths->count++;
    return &known->node;
}

void wmi_wait_resume(const struct wmi_wait_node *node, struct wmi_wait_state *state,
                     struct wmi_hazard_wave *hazards, unsigned *reach, uint64_t mask)
{
    const struct known *known = (const struct known *)node;
    wmi_wait_clear(state, *reach);
    *reach = known->reach;
    state->instructions = known->instructions;
    memcpy(state->issued, known->issued, sizeof known->issued);
    memcpy(state->done, known->done, sizeof known->done);
    for (size_t i = 0; i < known->count; i++) {
        const struct operation *one = &known->operation[i];
        struct wmi_pending *pending = one->held ? &state->held[one->reg] : &state->written[one->reg];
        *pending = one->pending;
        if (!one->held && is_vgpr(one->reg) && node->masked && pending->lanes == node->mask)
            pending->lanes = mask;
    }
    if (hazards)
        wmi_hazard_wave_resume(hazards, known->hazards);
}

/* ---- edges ---- */

struct wmi_wait_edge *wmi_wait_add_edge(struct wmi_wait_node *from, const struct wmi_wait_edge *edge)
{
    struct wmi_wait_edge *added = from->edges < MOST_EDGES ? malloc(sizeof *added) : NULL;
    if (!added)
        return NULL;
    *added = *edge;
    added->found = NULL;
    if (edge->found_count) {
        if (!(added->found = malloc(edge->found_count * sizeof *added->found))) {
            free(added);
            return NULL;
        }
        memcpy(added->found, edge->found, edge->found_count * sizeof *added->found);
    }
    added->next = from->edge;
    from->edge = added;
    from->edges++;
    return added;
}

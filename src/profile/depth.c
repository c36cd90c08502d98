/* SPDX-License-Identifier: MIT */
/* How deep wait counters go. */
#include "profile/depth.h"

#include "memory/access.h"

#include <stdint.h>
#include <stdlib.h>

enum { COUNTER_BITS = 8 };

_Static_assert(COUNTER_BITS *WMI_COUNTER_COUNT <= 64, "a wave's counters fit into a word");
_Static_assert(sizeof(void *) == sizeof(uint64_t), "and that into a pointer");

uint32_t wmi_depths_add(struct wmi_depths *depths, const struct wmi_target *target,
                        const struct wmi_instruction *insn)
{
    const struct wmi_wait_facts facts = wmi_wait_facts_of(target, insn);
    struct wmi_depth_rule rule = {0};
    unsigned counted = WMI_COUNTER_COUNT; /* that says how deep a memory instruction is */
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++) {
        const uint64_t limit = facts.waits ? facts.limit[counter] : UINT8_MAX;
        rule.limit |= limit << counter * COUNTER_BITS;
        rule.most |= (uint64_t)(uint8_t)wmi_counter_largest(target, counter) << counter * COUNTER_BITS;
    }
    for (unsigned i = 0; i < facts.events; i++) {
        const struct wmi_wait_event *event = &facts.event[i];
        rule.add += (uint64_t)event->units << event->counter * COUNTER_BITS;
        if (event->counter != WMI_COUNTER_EXP && counted == WMI_COUNTER_COUNT)
            counted = event->counter;
    }
    if (counted != WMI_COUNTER_COUNT) {
        rule.shift = counted * COUNTER_BITS;
        rule.mask = UINT8_MAX;
    }
    const uint32_t chunk = depths->count / WMI_DEPTH_CHUNK;
    if ((!facts.waits && counted == WMI_COUNTER_COUNT) || chunk >= WMI_DEPTH_CHUNKS)
        return WMI_NOT_SHOWN;
    if (!depths->chunk[chunk])
        depths->chunk[chunk] = calloc(WMI_DEPTH_CHUNK, sizeof *depths->chunk[chunk]);
    if (!depths->chunk[chunk])
        return WMI_NOT_SHOWN;
    depths->chunk[chunk][depths->count % WMI_DEPTH_CHUNK] = rule;
    return depths->count++;
}

void wmi_depths_destroy(struct wmi_depths *depths)
{
    for (unsigned i = 0; i < WMI_DEPTH_CHUNKS; i++) {
        free(depths->chunk[i]);
        depths->chunk[i] = NULL;
    }
    depths->count = 0;
}

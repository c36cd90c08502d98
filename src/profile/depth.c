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
    struct wmi_depth_rule rule = {.counter = WMI_COUNTER_COUNT, .waits = facts.waits};
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++) {
        rule.limit[counter] = facts.waits ? facts.limit[counter] : UINT8_MAX;
        rule.most[counter] = (uint8_t)wmi_counter_largest(target, counter);
    }
    for (unsigned i = 0; i < facts.events; i++) {
        const struct wmi_wait_event *event = &facts.event[i];
        rule.add += (uint64_t)event->units << event->counter * COUNTER_BITS;
        rule.over |= (uint64_t)(uint8_t)~rule.most[event->counter] << event->counter * COUNTER_BITS;
        if (event->counter != WMI_COUNTER_EXP && rule.counter == WMI_COUNTER_COUNT)
            rule.counter = event->counter;
    }
    const uint32_t chunk = depths->count / WMI_DEPTH_CHUNK;
    if ((!rule.waits && rule.counter == WMI_COUNTER_COUNT) || chunk >= WMI_DEPTH_CHUNKS)
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

static unsigned value_of(uint64_t counters, unsigned counter)
{
    return counters >> counter * COUNTER_BITS & ((1u << COUNTER_BITS) - 1);
}

/* The counters, none of them above `most`. */
static uint64_t lower(uint64_t counters, const uint8_t most[WMI_COUNTER_COUNT])
{
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++) {
        const unsigned value = value_of(counters, counter);
        if (value > most[counter])
            counters -= (uint64_t)(value - most[counter]) << counter * COUNTER_BITS;
    }
    return counters;
}

unsigned wmi_depths_pass(const struct wmi_depths *depths, void **wave, uint32_t number)
{
    const struct wmi_depth_rule *rule = &depths->chunk[number / WMI_DEPTH_CHUNK][number % WMI_DEPTH_CHUNK];
    uint64_t counters = (uintptr_t)*wave;
    if (rule->waits)
        counters = lower(counters, rule->limit);
    counters += rule->add;
    if (counters & rule->over)
        counters = lower(counters, rule->most);
    *wave = (void *)(uintptr_t)counters;
    return rule->counter < WMI_COUNTER_COUNT ? value_of(counters, rule->counter) : 0;
}

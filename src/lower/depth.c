/* SPDX-License-Identifier: MIT */
/* Models wait-counter depth: see depth.h. */
#include "lower/depth.h"

_Static_assert(8 * WMI_COUNTER_COUNT <= 64, "a wave's counters fit into a word");

static unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Updates one counter: the instruction waits until at most `limit` are outstanding, then adds `add`,
 * saturating at `most`. */
static void append(struct wmi_depth_change *change, unsigned counter, unsigned limit, unsigned add,
                   unsigned most)
{
    const unsigned shift = 8 * counter;
    const unsigned added = change->add >> shift & UINT8_MAX, left = change->most >> shift & UINT8_MAX;
    const uint64_t now_added = lesser(added + add, UINT8_MAX);
    const uint64_t now_left = lesser(lesser(left, limit) + add, most);
    change->add = (change->add & ~((uint64_t)UINT8_MAX << shift)) | now_added << shift;
    change->most = (change->most & ~((uint64_t)UINT8_MAX << shift)) | now_left << shift;
}

struct wmi_depth wmi_depth_append(struct wmi_depth_change *change, const struct wmi_target *target,
                                  const struct wmi_instruction *insn)
{
    const struct wmi_wait_facts facts = wmi_wait_facts_of(target, insn);
    unsigned units[WMI_COUNTER_COUNT] = {0};
    unsigned counted = WMI_COUNTER_COUNT; /* counter that gives the instruction's depth */
    for (unsigned i = 0; i < facts.events; i++) {
        const struct wmi_wait_event *event = &facts.event[i];
        units[event->counter] += event->units;
        if (event->counter != WMI_COUNTER_EXP && counted == WMI_COUNTER_COUNT)
            counted = event->counter;
    }
    if (!facts.waits && counted == WMI_COUNTER_COUNT)
        return (struct wmi_depth){0};
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
        append(change, counter, facts.waits ? facts.limit[counter] : UINT8_MAX, units[counter],
               wmi_counter_largest(target, counter));
    if (counted == WMI_COUNTER_COUNT)
        return (struct wmi_depth){0};
    return (struct wmi_depth){.counter = (uint8_t)counted,
                              .add = (uint8_t)(change->add >> 8 * counted),
                              .most = (uint8_t)(change->most >> 8 * counted)};
}

/* SPDX-License-Identifier: MIT */
/* Needless waits. After a wait, its operations are known to be complete; it was early if everything up to
 * the next wait would have been right without it, and that wait makes them known as well. */
#include "check/waits/needless.h"

#include <string.h>

enum wmi_wait_role wmi_wait_role_of(const struct wmi_instruction *insn)
{
    static const uint8_t policies[] = {WMI_FIELD_glc, WMI_FIELD_dlc, WMI_FIELD_sc0, WMI_FIELD_sc1,
                                       WMI_FIELD_scope};
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->class == WMI_CLASS_EXPORT || row->counts == WMI_COUNTS_MESSAGE || row->flags & WMI_ROW_ENDS)
        return WMI_WAIT_ORDERS;
    if (row->memory == WMI_MEMORY_NONE)
        return WMI_WAIT_NEUTRAL;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (insn->field[policies[i]])
            return WMI_WAIT_ORDERS;
    return row->memory == WMI_MEMORY_LOAD ? WMI_WAIT_NEUTRAL : WMI_WAIT_ORDERS;
}

static void close_as_needed(struct wmi_last_wait *last, struct wmi_wait_use *uses)
{
    uses[last->number].needed += last->open;
    last->open = false;
}

/* Whether the pending operation is one that the last wait has waited for. */
static bool waited_for(const struct wmi_last_wait *last, const struct wmi_pending *pending)
{
    for (unsigned i = 0; i < pending->count; i++)
        if (pending->serial[i] > last->before[pending->counter[i]][pending->order[i]] &&
            pending->serial[i] <= last->after[pending->counter[i]][pending->order[i]])
            return true;
    return false;
}

void wmi_needless_instruction(struct wmi_last_wait *last, struct wmi_wait_use *uses,
                              const struct wmi_wait_state *state, enum wmi_wait_role role,
                              const struct wmi_span_of_registers *spans, unsigned count)
{
    bool needed = role == WMI_WAIT_ORDERS;
    for (unsigned i = 0; last->open && !needed && i < count; i++)
        for (unsigned reg = spans[i].first; reg < spans[i].first + spans[i].count; reg++)
            needed |= waited_for(last, &state->written[reg]) ||
                      (spans[i].written && waited_for(last, &state->held[reg]));
    if (last->open && needed)
        close_as_needed(last, uses);
}

void wmi_needless_issued(struct wmi_last_wait *last, const struct wmi_wait_state *state,
                         const struct wmi_wait_facts *facts, enum wmi_wait_role role)
{
    for (unsigned e = 0; role == WMI_WAIT_ORDERS && e < facts->events; e++) {
        const struct wmi_wait_event *event = &facts->event[e];
        last->ordered[event->counter][event->order] = state->issued[event->counter][event->order];
    }
}

/* Whether the wait alone, without the last one, makes known what that did. */
static bool covers(const struct wmi_last_wait *last, const struct wmi_wait_state *state,
                   const struct wmi_wait_facts *facts)
{
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
        for (unsigned order = 0; order < WMI_ORDER_COUNT; order++) {
            const uint64_t issued = state->issued[counter][order];
            const unsigned limit = facts->limit[counter];
            const bool in_order = order < WMI_ORDER_NONE;
            uint64_t known = last->before[counter][order];
            if (limit == 0)
                known = issued;
            else if (in_order && limit != UINT8_MAX && issued > limit && issued - limit > known)
                known = issued - limit;
            if (known < last->after[counter][order])
                return false;
        }
    return true;
}

void wmi_needless_wait(struct wmi_last_wait *last, struct wmi_wait_use *uses,
                       const uint64_t before[WMI_COUNTER_COUNT][WMI_ORDER_COUNT],
                       const struct wmi_wait_state *state, const struct wmi_wait_facts *facts,
                       uint32_t number, uint64_t pc)
{
    bool orders = false, idle = true;
    if (last->open && covers(last, state, facts)) {
        struct wmi_wait_use *use = &uses[last->number];
        const uint64_t distance = state->instructions - last->at - 1;
        if (!use->early || distance < use->distance || (distance == use->distance && pc < use->later)) {
            use->distance = distance;
            use->later = pc;
        }
        use->early++;
        last->open = false;
    }
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
        for (unsigned order = 0; order < WMI_ORDER_COUNT; order++) {
            const uint64_t done = state->done[counter][order], ordered = last->ordered[counter][order];
            idle &= done == before[counter][order];
            orders |= ordered > before[counter][order] && ordered <= done;
        }
    if (idle) {
        uses[number].idle++;
        return;
    }
    close_as_needed(last, uses);
    last->open = true;
    last->number = number;
    last->at = state->instructions;
    memcpy(last->before, before, sizeof last->before);
    memcpy(last->after, state->done, sizeof last->after);
    if (orders)
        close_as_needed(last, uses);
}

void wmi_wait_use_add(struct wmi_wait_use *use, const struct wmi_wait_use *more)
{
    if (more->early && (!use->early || more->distance < use->distance ||
                        (more->distance == use->distance && more->later < use->later))) {
        use->distance = more->distance;
        use->later = more->later;
    }
    use->idle += more->idle;
    use->early += more->early;
    use->needed += more->needed;
}

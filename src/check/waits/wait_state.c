/* SPDX-License-Identifier: MIT */
/* The model of wait counters: units issued and units known to be complete, per counter and order.
 *
 * When a counter is at most N, all but the last N units of an in-order sequence are complete: if an older one
 * were pending, all later ones would be too, and the counter would exceed N. If operations complete out of
 * order, nothing is known until the counter is 0. Both hold even if several orders share the counter. */
#include "check/waits/wait_state.h"

#include <string.h>

void wmi_wait_clear(struct wmi_wait_state *state, unsigned reach)
{
    memset(state->written, 0, reach * sizeof *state->written);
    memset(state->held, 0, reach * sizeof *state->held);
    memset(state->issued, 0, sizeof state->issued);
    memset(state->done, 0, sizeof state->done);
    state->instructions = 0;
}

static void wait_until(struct wmi_wait_state *state, unsigned counter, unsigned value)
{
    for (unsigned order = 0; order < WMI_ORDER_COUNT; order++) {
        const uint64_t issued = state->issued[counter][order];
        uint64_t *done = &state->done[counter][order];
        if (value == 0)
            *done = issued;
        else if (order < WMI_ORDER_NONE && issued > value && issued - value > *done)
            *done = issued - value;
    }
}

/* Increments a counter; the wave stalls if the counter would overflow. Source: RDNA 4 ISA, "Data Dependency
 * Resolution"; for earlier generations, measured on gfx942 with vmcnt. */
static void issue(struct wmi_wait_state *state, const struct wmi_wait_event *event)
{
    const unsigned largest = wmi_counter_largest(state->target, event->counter);
    wait_until(state, event->counter, largest > event->units ? largest - event->units : 0);
    if (event->counter == WMI_COUNTER_TRANSLATION && wmi_counts_translations(state->target))
        for (unsigned order = 0; order < WMI_ORDER_COUNT; order++) /* of the other kind of memory */
            if (order != event->order)
                state->done[event->counter][order] = state->issued[event->counter][order];
    state->issued[event->counter][event->order] += event->units;
}

static bool is_done(const struct wmi_wait_state *state, const struct wmi_pending *pending,
                    struct wmi_not_ready *why);

/* Whether the event's operation is complete only after the pending one is, so that it can stand for both. */
static bool is_later(const struct wmi_pending *pending, const struct wmi_wait_event *event)
{
    return pending->count == 1 && pending->counter[0] == event->counter &&
           pending->order[0] == event->order && event->order < WMI_ORDER_NONE;
}

/* What other lanes of the register wait for is kept only if this operation can stand for it: a missing wait
 * may be overlooked, but none is invented for operations of different counters. */
static void add(struct wmi_pending *pending, const struct wmi_wait_state *state,
                const struct wmi_wait_event *event, uint32_t number, uint64_t lanes)
{
    struct wmi_not_ready why;
    if (!pending->count || pending->number != number || pending->issued_at != state->instructions) {
        const bool both = is_later(pending, event) && !is_done(state, pending, &why);
        pending->lanes = both ? pending->lanes | lanes : lanes;
        pending->count = 0;
    }
    if (pending->count == 2)
        return;
    pending->counter[pending->count] = event->counter;
    pending->order[pending->count] = event->order;
    pending->sequence[pending->count] = event->sequence;
    pending->serial[pending->count++] = state->issued[event->counter][event->order];
    pending->number = number;
    pending->issued_at = state->instructions;
}

/* VGPRs that stay in use until the counter says that they were read: the data of stores, without addresses;
 * all VGPR sources of GDS instructions and exports; all sources until an address has been translated. */
static bool is_held(const struct wmi_wait_state *state, const struct wmi_span_of_registers *span,
                    const struct wmi_wait_event *event)
{
    if (event->counter == WMI_COUNTER_TRANSLATION && wmi_counts_translations(state->target))
        return span->read && span->first != WMI_REGISTER_M0 && span->first / 2 != WMI_REGISTER_EXEC / 2;
    if (span->first < WMI_REGISTER_VGPR || !span->read)
        return false;
    return span->role == WMI_ROLE_DATA || span->role == WMI_ROLE_DATA2 || event->order != WMI_ORDER_MEMORY;
}

/* Scalar registers count as if they had one lane. */
static uint64_t lanes_of(unsigned reg, uint64_t lanes)
{
    return reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH ? lanes : 1;
}

/* What a load writes has been read by then, as memory instructions are translated in order. */
static void release_overwritten(struct wmi_wait_state *state, const struct wmi_span_of_registers *spans,
                                unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; spans[i].written && k < spans[i].count; k++)
            state->held[spans[i].first + k].count = 0;
}

void wmi_wait_issue(struct wmi_wait_state *state, const struct wmi_wait_facts *facts,
                    const struct wmi_span_of_registers *spans, unsigned count, uint32_t number,
                    uint64_t lanes)
{
    for (unsigned counter = 0; facts->waits && counter < WMI_COUNTER_COUNT; counter++) {
        const unsigned largest = wmi_counter_largest(state->target, counter);
        if (largest && facts->limit[counter] < largest)
            wait_until(state, counter, facts->limit[counter]);
    }
    for (unsigned i = 0; i < count; i++) /* this write replaces pending ones */
        for (unsigned k = 0; spans[i].written && k < spans[i].count; k++) {
            struct wmi_pending *pending = &state->written[spans[i].first + k];
            pending->lanes &= ~lanes_of(spans[i].first, lanes);
            if (!pending->lanes)
                pending->count = 0;
        }
    for (unsigned e = 0; e < facts->events; e++) {
        const struct wmi_wait_event *event = &facts->event[e];
        issue(state, event);
        if (event->counter == WMI_COUNTER_TRANSLATION && wmi_counts_translations(state->target))
            release_overwritten(state, spans, count);
        for (unsigned i = 0; i < count; i++)
            for (unsigned k = 0; k < spans[i].count; k++) {
                if (event->writes && spans[i].written)
                    add(&state->written[spans[i].first + k], state, event, number,
                        lanes_of(spans[i].first, lanes));
                if (!event->holds || !is_held(state, &spans[i], event))
                    continue;
                if (e && event->counter == WMI_COUNTER_TRANSLATION &&
                    wmi_counts_translations(state->target)) /* or its own counter tells */
                    add(&state->held[spans[i].first + k], state, &facts->event[0], number, UINT64_MAX);
                add(&state->held[spans[i].first + k], state, event, number, UINT64_MAX);
            }
    }
    state->instructions++;
}

void wmi_wait_went(struct wmi_wait_state *state, const struct wmi_wait_facts *facts,
                   const struct wmi_span_of_registers *spans, unsigned count, bool to_lds)
{
    for (unsigned e = 0; facts->by_place && e < facts->events; e++) {
        struct wmi_wait_event event = facts->event[e];
        if ((event.counter == WMI_COUNTER_DS) != to_lds)
            continue;
        if (event.order == WMI_ORDER_FLAT) {
            state->issued[event.counter][WMI_ORDER_FLAT] -= event.units;
            event.order = to_lds ? WMI_ORDER_LDS : WMI_ORDER_MEMORY;
            state->issued[event.counter][event.order] += event.units;
        }
        for (unsigned i = 0; i < count; i++)
            for (unsigned k = 0; event.writes && spans[i].written && k < spans[i].count; k++) {
                struct wmi_pending *pending = &state->written[spans[i].first + k];
                pending->count = 1;
                pending->counter[0] = event.counter;
                pending->order[0] = event.order;
                pending->sequence[0] = event.sequence;
                pending->serial[0] = state->issued[event.counter][event.order];
            }
    }
}

static bool is_done(const struct wmi_wait_state *state, const struct wmi_pending *pending,
                    struct wmi_not_ready *why)
{
    for (unsigned i = 0; i < pending->count; i++) {
        const unsigned counter = pending->counter[i], order = pending->order[i];
        if (state->done[counter][order] >= pending->serial[i])
            continue;
        const uint64_t behind = state->issued[counter][order] - pending->serial[i];
        *why = (struct wmi_not_ready){
            .number = pending->number,
            .distance = state->instructions - pending->issued_at - 1,
            .counter = (enum wmi_counter)counter,
            .value = order < WMI_ORDER_NONE ? (unsigned)behind : 0,
        };
        return false;
    }
    return true;
}

bool wmi_wait_ready(const struct wmi_wait_state *state, unsigned reg, uint64_t lanes,
                    struct wmi_not_ready *why)
{
    const struct wmi_pending *pending = &state->written[reg];
    return !(pending->lanes & lanes_of(reg, lanes)) || is_done(state, pending, why);
}

bool wmi_wait_has_read(const struct wmi_wait_state *state, const struct wmi_pending *held)
{
    bool has = !held->count;
    for (unsigned i = 0; i < held->count; i++)
        has |= state->done[held->counter[i]][held->order[i]] >= held->serial[i];
    return has;
}

bool wmi_wait_free(const struct wmi_wait_state *state, unsigned reg, struct wmi_not_ready *why)
{
    const struct wmi_pending *held = &state->held[reg];
    if (wmi_wait_has_read(state, held))
        return true;
    const struct wmi_pending last = {.serial = {held->serial[held->count - 1]},
                                     .counter = {held->counter[held->count - 1]},
                                     .order = {held->order[held->count - 1]},
                                     .count = 1,
                                     .number = held->number,
                                     .issued_at = held->issued_at};
    return is_done(state, &last, why);
}

bool wmi_wait_follows(const struct wmi_wait_state *state, unsigned reg, const struct wmi_wait_facts *facts)
{
    const struct wmi_pending *pending = &state->written[reg];
    for (unsigned i = 0; i < facts->events; i++) {
        const struct wmi_wait_event *event = &facts->event[i];
        /* The destination of a FLAT instruction is not known yet; assume that of the pending one. */
        const unsigned order = event->order != WMI_ORDER_FLAT     ? event->order
                               : event->counter == WMI_COUNTER_DS ? WMI_ORDER_LDS
                                                                  : WMI_ORDER_MEMORY;
        if (event->writes && event->sequence && order < WMI_ORDER_NONE && pending->count == 1 &&
            pending->counter[0] == event->counter && pending->order[0] == order &&
            pending->sequence[0] == event->sequence)
            return true;
    }
    return false;
}

bool wmi_wait_is_idle(const struct wmi_wait_state *state)
{
    bool idle = true;
    for (unsigned counter = 0; counter < WMI_COUNTER_COUNT; counter++)
        for (unsigned order = 0; order < WMI_ORDER_COUNT; order++)
            idle &= (counter == WMI_COUNTER_TRANSLATION && wmi_counts_translations(state->target)) ||
                    state->issued[counter][order] == state->done[counter][order];
    return idle;
}

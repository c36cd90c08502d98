/* SPDX-License-Identifier: MIT */
/* Operations of LDS in flight. A barrier waits for no counter, and the LDS executes operations of different
 * waves, and loads to LDS and DS instructions of one wave, in any order. So what was in flight at a barrier
 * is not ordered before what other waves do behind it. Sources: LLVM AMDGPUUsage, "Memory Model" of gfx90a to
 * gfx12: operations of LDS of different waves "can be reordered relative to each other"; LLVM
 * SIInsertWaitcnts: loads to LDS count with vmcnt. */
#include "check/races/race_flight.h"

#include <stdlib.h>
#include <string.h>

void wmi_race_flights_begin(struct wmi_race_flights *flights)
{
    flights->done = flights->issued[0];
    flights->loads_to_lds.count = 0;
}

void wmi_race_flights_free(struct wmi_race_flights *flights)
{
    free(flights->ring);
    free(flights->loads_to_lds.entry);
}

static struct wmi_race_flight *append(struct wmi_race_flight_list *list)
{
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity ? 2 * list->capacity : 4;
        struct wmi_race_flight *more = realloc(list->entry, capacity * sizeof *more);
        if (!more)
            return NULL;
        list->entry = more;
        list->capacity = capacity;
    }
    return &list->entry[list->count++];
}

/* The number of the first LDS operation that may be in flight: an instruction that would exceed the counter's
 * maximum waits. */
static uint32_t first_of(const struct wmi_race_flights *flights, uint32_t most)
{
    const uint32_t issued = flights->issued[0];
    return issued - flights->done > most ? issued - most + 1 : flights->done + 1;
}

struct wmi_race_flight *wmi_race_flight_add(struct wmi_race_flights *flights, enum wmi_race_counter counter,
                                            uint32_t most)
{
    const bool load_to_lds = counter != WMI_RACE_COUNTS_LDS;
    struct wmi_race_flight *flight;
    if (!load_to_lds && !flights->ring && !(flights->ring = calloc(most + 1, sizeof *flights->ring)))
        return NULL;
    if (!(flight =
              load_to_lds ? append(&flights->loads_to_lds) : &flights->ring[flights->issued[0] % (most + 1)]))
        return NULL;
    flight->barrier = 0;
    flight->counter = (uint8_t)counter;
    flight->number = flights->issued[counter];
    return flight;
}

const struct wmi_race_flight *wmi_race_flight_next(const struct wmi_race_flights *flights, uint32_t most,
                                                   uint32_t *at)
{
    const uint32_t first = first_of(flights, most), count = flights->issued[0] + 1 - first;
    while (*at < count && flights->ring) {
        const uint32_t number = first + (*at)++;
        const struct wmi_race_flight *flight = &flights->ring[number % (most + 1)];
        if (flight->number == number)
            return flight;
    }
    *at = *at < count ? count : *at;
    return *at - count < flights->loads_to_lds.count ? &flights->loads_to_lds.entry[(*at)++ - count] : NULL;
}

void wmi_race_flight_bound(struct wmi_race_flight *flight)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (uint64_t left = flight->lanes; left; left &= left - 1) {
        const uint32_t at = flight->at[__builtin_ctzll(left)];
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    const uint32_t second = flight->places > 1 ? flight->distance : 0;
    const int32_t behind = (int32_t)second > 0 ? (int32_t)second : 0, before = (int32_t)second - behind;
    flight->low = flight->base + low + (uint32_t)before;
    flight->high = flight->base + high + flight->bytes + (uint32_t)behind;
}

void wmi_race_loads_to_lds_wait(struct wmi_race_flights *flights, enum wmi_race_counter counter,
                                unsigned limit)
{
    struct wmi_race_flight_list *list = &flights->loads_to_lds;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->entry[i].counter != counter || flights->issued[counter] - list->entry[i].number < limit)
            list->entry[kept++] = list->entry[i];
    list->count = kept;
}

void wmi_race_pending_free(struct wmi_race_pending *pending)
{
    free(pending->list.entry);
    free(pending->stored);
    *pending = (struct wmi_race_pending){0};
}

bool wmi_race_pending_arrive(struct wmi_race_pending *pending, const struct wmi_race_flights *flights,
                             uint32_t most, uint64_t pc)
{
    const struct wmi_race_flight *in_flight;
    for (uint32_t at = 0; (in_flight = wmi_race_flight_next(flights, most, &at));) {
        struct wmi_race_flight *flight = append(&pending->list);
        if (!flight)
            return false;
        *flight = *in_flight;
        flight->barrier = pc;
    }
    return true;
}

static void set_bits(uint64_t *bits, size_t words, uint64_t address, uint32_t bytes)
{
    for (uint64_t dword = address / 4; dword <= (address + bytes - 1) / 4; dword++)
        if (dword / 64 < words)
            bits[dword / 64] |= UINT64_C(1) << dword % 64;
}

bool wmi_race_pending_close(struct wmi_race_pending *pending, uint32_t lds_bytes)
{
    enum { BITS = 64 };
    const size_t words = (lds_bytes / 4 + BITS - 1) / BITS;
    if (!pending->list.count)
        return true;
    if (words > pending->words || !pending->stored) {
        uint64_t *more = realloc(pending->stored, 2 * words * sizeof *more);
        if (!more)
            return false;
        pending->stored = more;
        pending->words = words;
    }
    pending->touched = pending->stored + pending->words;
    memset(pending->stored, 0, 2 * pending->words * sizeof *pending->stored);
    for (uint32_t i = 0; i < pending->list.count; i++) {
        const struct wmi_race_flight *flight = &pending->list.entry[i];
        for (uint64_t left = flight->lanes; left; left &= left - 1) {
            const uint32_t at = flight->base + flight->at[__builtin_ctzll(left)];
            for (unsigned place = 0; place < flight->places; place++) {
                set_bits(pending->touched, pending->words, at + place * flight->distance, flight->bytes);
                if (flight->kind)
                    set_bits(pending->stored, pending->words, at + place * flight->distance, flight->bytes);
            }
        }
    }
    return true;
}

uint64_t wmi_race_flight_lanes(const struct wmi_race_flight *flight, uint64_t address, uint32_t bytes)
{
    uint64_t lanes = 0;
    for (uint64_t left = flight->lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        for (unsigned place = 0; place < flight->places; place++) {
            const uint64_t at = (uint32_t)(flight->base + flight->at[lane] + place * flight->distance);
            if (at < address + bytes && address < at + flight->bytes)
                lanes |= UINT64_C(1) << lane;
        }
    }
    return lanes;
}

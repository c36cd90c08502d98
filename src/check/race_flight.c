/* SPDX-License-Identifier: MIT */
/* Operations of LDS in flight. A barrier waits for no counter, and the LDS executes operations of different
 * waves, and loads to LDS and DS instructions of one wave, in any order. So what was in flight at a barrier
 * is not ordered before what other waves do behind it. Sources: LLVM AMDGPUUsage, "Memory Model" of gfx90a to
 * gfx12: operations of LDS of different waves "can be reordered relative to each other"; LLVM
 * SIInsertWaitcnts: loads to LDS count with vmcnt. */
#include "check/race_flight.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 128 /* operations that counters can have in flight: 63 each */ };

void wmi_race_flight_begin(struct wmi_race_flights *flights)
{
    flights->count = flights->moves = 0;
    flights->issued[0] = flights->issued[1] = 0;
}

static void remove_at(struct wmi_race_flights *flights, uint32_t index)
{
    flights->moves -= flights->entry[index].moves;
    flights->count--;
    memmove(&flights->entry[index], &flights->entry[index + 1],
            (flights->count - index) * sizeof *flights->entry);
}

static struct wmi_race_flight *append(struct wmi_race_flights *flights)
{
    if (flights->count == flights->capacity) {
        const uint32_t capacity = flights->capacity ? 2 * flights->capacity : 4;
        struct wmi_race_flight *more = realloc(flights->entry, capacity * sizeof *more);
        if (!more)
            return NULL;
        flights->entry = more;
        flights->capacity = capacity;
    }
    return &flights->entry[flights->count++];
}

struct wmi_race_flight *wmi_race_flight_add(struct wmi_race_flights *flights, bool moves)
{
    if (flights->count >= MOST)
        remove_at(flights, 0);
    struct wmi_race_flight *flight = append(flights);
    if (!flight)
        return NULL;
    flight->barrier = 0;
    flight->moves = moves;
    flight->number = flights->issued[moves];
    flights->moves += moves;
    return flight;
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

void wmi_race_flight_wait(struct wmi_race_flights *flights, bool moves, unsigned limit)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < flights->count; i++) {
        const struct wmi_race_flight *flight = &flights->entry[i];
        if (flight->moves == moves && flights->issued[moves] - flight->number >= limit) {
            flights->moves -= moves;
            continue;
        }
        if (kept != i)
            flights->entry[kept] = *flight;
        kept++;
    }
    flights->count = kept;
}

void wmi_race_pending_free(struct wmi_race_pending *pending)
{
    free(pending->list.entry);
    free(pending->stored);
    *pending = (struct wmi_race_pending){0};
}

bool wmi_race_pending_arrive(struct wmi_race_pending *pending, const struct wmi_race_flights *flights,
                             uint64_t pc)
{
    for (uint32_t i = 0; i < flights->count; i++) {
        struct wmi_race_flight *flight = append(&pending->list);
        if (!flight)
            return false;
        *flight = flights->entry[i];
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

/* SPDX-License-Identifier: MIT */
/* Tracks LDS operations in flight: those that their wave has not waited for yet, and those that were in
 * flight when it reached the last barrier. */
#ifndef WMI_RACE_FLIGHT_H
#define WMI_RACE_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WMI_RACE_FLIGHT_LANES = 64 };

/* By what an operation is counted. */
enum wmi_race_counter {
    WMI_RACE_COUNTS_LDS,
    WMI_RACE_COUNTS_MOVES, /* loads to LDS and, before gfx12.5, all loads of memory */
    WMI_RACE_COUNTS_OUT,   /* asynchronous stores of LDS: waited for by the counter of MOVES, but in no order
                              with these (CDNA 5 ISA, "Asynchronous Memory Load and Store") */
    WMI_RACE_COUNTS_TENSORS, /* tensor copies */
    WMI_RACE_COUNTERS
};

/* An operation of LDS in flight. */
struct wmi_race_flight {
    uint64_t lanes;
    uint64_t barrier; /* address of the last barrier that the wave reached while it was in flight; 0: none */
    uint32_t number;  /* sequence number among the wave's operations with the same counter */
    uint32_t slot;    /* of the instruction */
    uint32_t base,
        distance;          /* added to the lanes' addresses: `base` always, `distance` in the second place */
    uint32_t low, high;    /* all bytes are in [low, high) */
    uint8_t bytes, places; /* bytes of each place */
    uint8_t kind;          /* enum wmi_access_kind */
    uint8_t wave;
    uint8_t counter; /* enum wmi_race_counter */
    uint32_t at[WMI_RACE_FLIGHT_LANES];
};

struct wmi_race_flight_list {
    struct wmi_race_flight *entry; /* in the order of issue */
    uint32_t count, capacity;
};

/* The operations in flight of one wave. LDS operations with the numbers from done + 1 on are in flight, at
 * most `most`. */
struct wmi_race_flights {
    struct wmi_race_flight *ring; /* most + 1 of them, by number; NULL: none yet */
    uint32_t done;
    struct wmi_race_flight_list loads_to_lds; /* in flight, also by tensor copies */
    uint32_t issued[WMI_RACE_COUNTERS];       /* number of operations so far */
};

/* Resets the state for a new workgroup. */
void wmi_race_flights_begin(struct wmi_race_flights *flights);
void wmi_race_flights_free(struct wmi_race_flights *flights);
static inline void wmi_race_flights_count(struct wmi_race_flights *flights,
                                          const uint8_t counted[WMI_RACE_COUNTERS])
{
    for (unsigned i = 0; i < WMI_RACE_COUNTERS; i++)
        flights->issued[i] += counted[i];
}
/* An instruction without LDS operations of DS instructions. */
static inline void wmi_race_flights_count_moves(struct wmi_race_flights *flights,
                                                const uint8_t counted[WMI_RACE_COUNTERS])
{
    flights->issued[WMI_RACE_COUNTS_MOVES] += counted[WMI_RACE_COUNTS_MOVES];
    flights->issued[WMI_RACE_COUNTS_OUT] += counted[WMI_RACE_COUNTS_OUT];
}
/* Adds an operation that has just been counted. The caller fills in its addresses and calls
 * wmi_race_flight_bound(). most: the maximum of the LDS counter. NULL: no memory. */
struct wmi_race_flight *wmi_race_flight_add(struct wmi_race_flights *flights, enum wmi_race_counter counter,
                                            uint32_t most);
void wmi_race_flight_bound(struct wmi_race_flight *flight);

/* The next operation in flight that was issued after *at, which starts at 0; NULL: there is none. */
const struct wmi_race_flight *wmi_race_flight_next(const struct wmi_race_flights *flights, uint32_t most,
                                                   uint32_t *at);

/* Called when the wave has waited until at most `limit` LDS operations are in flight. */
static inline void wmi_race_flight_wait(struct wmi_race_flights *flights, unsigned limit)
{
    if (flights->issued[0] - flights->done > limit)
        flights->done = flights->issued[0] - limit;
}
/* Called when the wave has waited until at most `limit` operations of a counter of loads to LDS are in
 * flight. */
void wmi_race_loads_to_lds_wait(struct wmi_race_flights *flights, enum wmi_race_counter counter,
                                unsigned limit);

/* Operations of all waves that were in flight at a barrier. */
struct wmi_race_pending {
    struct wmi_race_flight_list list;
    uint64_t *stored,
        *touched; /* bit masks by dword: dwords that an operation stores to; dwords that one accesses */
    size_t words; /* of each mask */
};

void wmi_race_pending_free(struct wmi_race_pending *pending);
/* Called when the wave reaches a barrier at `pc`. False: no memory. */
bool wmi_race_pending_arrive(struct wmi_race_pending *pending, const struct wmi_race_flights *flights,
                             uint32_t most, uint64_t pc);
/* Called when all waves have reached the barrier: sets the masks. False: no memory. */
bool wmi_race_pending_close(struct wmi_race_pending *pending, uint32_t lds_bytes);

/* Whether an access to these bytes of LDS may conflict with a pending operation. */
static inline bool wmi_race_pending_at(const struct wmi_race_pending *pending, uint64_t address,
                                       uint32_t bytes, bool writes)
{
    const uint64_t *bits = writes ? pending->touched : pending->stored;
    for (uint64_t dword = address / 4; dword <= (address + bytes - 1) / 4; dword++)
        if (dword / 64 < pending->words && bits[dword / 64] >> dword % 64 & 1)
            return true;
    return false;
}

/* The lanes of the operation that access one of the bytes. */
uint64_t wmi_race_flight_lanes(const struct wmi_race_flight *flight, uint64_t address, uint32_t bytes);

#endif

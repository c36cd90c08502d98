/* SPDX-License-Identifier: MIT */
/* Where the lanes of a summary access memory, relative to one another: the part of races_lanes.c that knows
 * nothing of shadow memory. */
#ifndef WMI_RACE_PLACES_H
#define WMI_RACE_PLACES_H

#include "base/lanes.h"
#include "base/vector_bits.h"
#include "check/races/races.h"

#include <stdalign.h>
#include <string.h>

/* The lanes of a summary, at one place of the instruction. */
struct places {
    alignas(64) uint32_t at[WMI_LANES]; /* lane addresses relative to an origin */
    uint64_t lanes;
    uint64_t next, same; /* masks of lanes whose bytes follow those of the next lower lane, and of lanes that
                            access the same bytes as it */
    uint32_t bytes;      /* of each lane */
    bool dwords;         /* all lanes access whole dwords */
};

/* Whether no two active lanes overlap. */
static bool are_apart(const struct places *places)
{
    const uint64_t lanes = places->lanes;
    alignas(64) uint32_t twice[2 * WMI_LANES];
    const u32v reach = wmi_splat_u32(places->bytes - 1), both = wmi_splat_u32(2 * places->bytes - 1);
    uint64_t near = 0;
    memcpy(twice, places->at, sizeof places->at);
    memcpy(twice + WMI_LANES, places->at, sizeof places->at);
    for (unsigned turn = 1; turn <= WMI_LANES / 2; turn++) {
        const uint64_t turned = (lanes >> turn | lanes << (WMI_LANES - turn)) & WMI_ALL_LANES & lanes;
        uint64_t overlaps = 0;
        for (unsigned lane = 0; turned && lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
            const u32v now = *(const u32v *)&twice[lane],
                       other = (u32v) * (const wmi_loose_vector *)&twice[lane + turn];
            overlaps |= (uint64_t)wmi_less_bits(other - now + reach, both) << lane;
        }
        near |= overlaps & turned;
    }
    return !near;
}

/* Whether the lanes access consecutive bytes, [*start, *end), lowest lane first, or, for loads, all the same
 * bytes. *start is always set to the address of the lowest active lane. */
static inline bool is_run(const struct wmi_address_summary *summary, uint64_t base, uint32_t bytes,
                          bool writes, uint64_t *start, uint64_t *end)
{
    alignas(64) static const uint32_t numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const uint64_t lanes = summary->lanes;
    const unsigned first = (unsigned)__builtin_ctzll(lanes), count = (unsigned)__builtin_popcountll(lanes);
    const uint32_t *low = summary->low, *high = summary->high;
    const u32v lowest = wmi_splat_u32(low[first]), from = wmi_splat_u32(low[first] - first * bytes),
               step = wmi_splat_u32(bytes), upper = wmi_splat_u32(high ? high[first] : 0);
    uint64_t next = 0, same = 0;
    *start = base + (low[first] | (uint64_t)(high ? high[first] : 0) << 32);
    if ((lanes >> first & ((lanes >> first) + 1)) || low[first] + (uint64_t)count * bytes > UINT32_MAX)
        return false;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v now = wmi_load_u32((const char *)&low[lane]);
        uint32_t near = (1u << WMI_VECTOR_LANES) - 1;
        if (high)
            near = wmi_equal_bits(wmi_load_u32((const char *)&high[lane]), upper);
        next |= (uint64_t)(near & wmi_equal_bits(now, from + *(const u32v *)&numbers[lane] * step)) << lane;
        same |= (uint64_t)(near & wmi_equal_bits(now, lowest)) << lane;
    }
    const bool one = !(lanes & ~same) && !writes;
    *end = *start + bytes * (one ? 1 : count);
    return one || !(lanes & ~next);
}

/* A mask of the lanes that start a run of consecutive or, for loads, equal addresses. */
static inline uint64_t starts_of(const struct places *places, uint64_t lanes, bool writes)
{
    return lanes & ~((places->next | (writes ? 0 : places->same)) & lanes << 1);
}

/* Computes the lanes' places at their addresses plus `base`. The origin is `base` without its lowest `bits`
 * bits. False: an address is outside of the summary's bounds or too far from the others, or lanes of a store
 * may overlap. */
static inline bool find_places(const struct wmi_address_summary *summary, uint64_t base, uint32_t bytes,
                               unsigned bits, bool writes, struct places *places)
{
    const uint64_t lanes = summary->lanes, followers = lanes & lanes << 1;
    const uint64_t from = summary->from > base ? summary->from - base : 0;
    const uint64_t to = summary->to - bytes - base, most = UINT32_MAX - (1u << WMI_RACE_BLOCK_BITS);
    if (base + bytes > summary->to || from > most)
        return false;
    const u32v low = wmi_splat_u32((uint32_t)from), high = wmi_splat_u32((uint32_t)(to < most ? to : most)),
               offset = wmi_splat_u32((uint32_t)(base & ((UINT64_C(1) << bits) - 1))),
               step = wmi_splat_u32(bytes);
    u32v before = wmi_splat_u32(0);
    uint64_t bad = 0, next = 0, same = 0, before_end = 0, misaligned = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v now = wmi_load_u32((const char *)&summary->low[lane]), at = now + offset,
                   end = wmi_shift_lanes(before, now) + step;
        bad |= (uint64_t)(wmi_less_bits(now, low) | wmi_less_bits(high, now)) << lane;
        misaligned |= (uint64_t)(wmi_bits_at(at, 0) | wmi_bits_at(at, 1)) << lane;
        next |= (uint64_t)wmi_equal_bits(now, end) << lane;
        same |= (uint64_t)wmi_equal_bits(now + step, end) << lane;
        before_end |= (uint64_t)wmi_less_bits(now, end) << lane;
        *(u32v *)&places->at[lane] = at;
        before = now;
    }
    places->lanes = lanes;
    places->next = next;
    places->same = same;
    places->bytes = bytes;
    places->dwords = !(misaligned & lanes) && bytes % 4 == 0;
    if (bad & lanes)
        return false;
    const bool ascends = followers == (lanes & (lanes - 1)) && !(before_end & followers);
    return !writes || ascends || are_apart(places);
}

/* Records the accesses of some of the lanes. */
typedef bool touch_lanes(struct wmi_races *races, const struct places *places, uint64_t origin,
                         uint64_t lanes);

/* Records the accesses of the lanes, separately for each half of the wave if halves are distinguished. */
static inline bool touch_halves(struct wmi_races *races, const struct places *places, uint64_t origin,
                                touch_lanes *touch)
{
    const uint64_t lanes = places->lanes, lower = races->order.halves ? lanes & UINT32_MAX : lanes;
    if (lower && !touch(races, places, origin, lower))
        return false;
    if (lower == lanes)
        return true;
    wmi_race_choose_half(&races->order, 32, &races->now);
    return touch(races, places, origin, lanes & ~lower);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Sets of a cache as vectors of tags in LRU order. For *_lanes.c files only.
 *
 * Tags are not 0; the most recently used one is first, and zeros follow the last one. Using a line moves it
 * to the front and shifts the tags before it; on a miss, all are shifted and the last one is evicted. */
#ifndef WMI_PROFILE_SETS_H
#define WMI_PROFILE_SETS_H

#include "base/vector_bits.h"
#include "profile/caches/inside.h"

/* Uses the tag. Returns its previous way, or `ways`: it missed, and the last tag was evicted. */
static inline uint32_t wmi_sets_use(uint32_t *set, uint32_t ways, uint32_t tag)
{
    const u32v wanted = wmi_splat_u32(tag);
    u32v before = wanted;
    uint32_t first = 0;
    for (; first + WMI_VECTOR_LANES < ways; first += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(set + first);
        const uint32_t found = wmi_equal_bits(now, wanted);
        const u32v moved = wmi_shift_lanes(before, now);
        if (found) {
            *(u32v *)(set + first) = wmi_choose_bits(found ^ (found - 1), moved, now);
            return first + (uint32_t)__builtin_ctz(found);
        }
        *(u32v *)(set + first) = moved;
        before = now;
    }
    /* The last vector is handled without a branch, because hits and misses are unpredictable. */
    const u32v now = *(const u32v *)(set + first);
    const uint32_t end = 1u << (ways - first), found = wmi_equal_bits(now, wanted) | end;
    const uint32_t moves = (found ^ (found - 1)) & (end - 1);
    *(u32v *)(set + first) = wmi_choose_bits(moves, wmi_shift_lanes(before, now), now);
    return first + (uint32_t)__builtin_ctz(found);
}

/* Inserts `count` tags at the front, `largest` first, `step` apart, none of which may be present; evicts the
 * last `count` tags. count: at most `ways`, and at most the lanes of a vector. */
static inline void wmi_sets_bring(uint32_t *set, uint32_t ways, uint32_t largest, uint32_t step,
                                  uint32_t count)
{
    uint32_t first = (ways - 1) / WMI_VECTOR_LANES * WMI_VECTOR_LANES;
    const uint32_t behind = ways - first;
    u32v moved = *(const u32v *)set;
    for (; first; first -= WMI_VECTOR_LANES) {
        const u32v now = *(const wmi_loose_vector *)(set + first - count);
        *(u32v *)(set + first) = first + behind == ways && behind < WMI_VECTOR_LANES
                                     ? wmi_choose_bits((1u << behind) - 1, now, wmi_splat_u32(0))
                                     : now;
    }
    for (uint32_t i = count; i-- > 0;) /* in registers: a load could stall on a recent store */
        moved = wmi_shift_lanes(wmi_splat_u32(largest - i * step), moved);
    *(u32v *)set =
        ways < WMI_VECTOR_LANES ? wmi_choose_bits((1u << ways) - 1, moved, wmi_splat_u32(0)) : moved;
}

/* Moves data that belongs to the tags of a set in the same way: inserts `word` at the front and removes that
 * of `way`; way == ways: the last one. */
static inline void wmi_sets_follow(uint32_t *set, uint32_t ways, uint32_t way, uint32_t word)
{
    const uint32_t last = way < ways ? way : ways - 1;
    u32v before = wmi_splat_u32(word);
    for (uint32_t first = 0;; first += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(set + first), moved = wmi_shift_lanes(before, now);
        if (last - first < WMI_VECTOR_LANES) {
            *(u32v *)(set + first) = wmi_choose_bits((2u << (last - first)) - 1, moved, now);
            return;
        }
        *(u32v *)(set + first) = moved;
        before = now;
    }
}

/* Returns the way of the tag, or `ways`, without changing the order. */
static inline uint32_t wmi_sets_find(const uint32_t *set, uint32_t ways, uint32_t tag)
{
    const u32v wanted = wmi_splat_u32(tag);
    uint32_t first = 0;
    for (; first + WMI_VECTOR_LANES < ways; first += WMI_VECTOR_LANES) {
        const uint32_t found = wmi_equal_bits(*(const u32v *)(set + first), wanted);
        if (found)
            return first + (uint32_t)__builtin_ctz(found);
    }
    const uint32_t found = wmi_equal_bits(*(const u32v *)(set + first), wanted);
    return first +
           (uint32_t)__builtin_ctz(found | 1u << (ways - first)); /* no branch, as in wmi_sets_use() */
}

/* The first empty way, or the last one. */
static inline uint32_t wmi_sets_room(const uint32_t *set, uint32_t ways)
{
    const uint32_t way = wmi_sets_find(set, ways, 0);
    return way < ways ? way : ways - 1;
}

/* The way to evict, of a set's states: the last one with one of the bits if `most` ways or more have one,
 * else the last one. */
static inline uint32_t wmi_sets_victim(const uint32_t *states, uint32_t ways, uint32_t bits, uint32_t most)
{
    uint32_t marked = 0, last = ways - 1;
    for (uint32_t first = 0; first < ways; first += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(states + first) & wmi_splat_u32(bits);
        const uint32_t here = ways - first < WMI_VECTOR_LANES ? ways - first : WMI_VECTOR_LANES;
        const uint32_t found = ~wmi_equal_bits(now, wmi_splat_u32(0)) & ((1u << here) - 1);
        marked += (uint32_t)__builtin_popcount(found);
        last = found ? first + 31 - (uint32_t)__builtin_clz(found) : last;
    }
    return marked >= most ? last : ways - 1;
}

/* Removes the tag; returns whether it was present. */
static inline bool wmi_sets_drop(uint32_t *set, uint32_t ways, uint32_t tag)
{
    const u32v wanted = wmi_splat_u32(tag);
    for (uint32_t first = 0; first < ways; first += WMI_VECTOR_LANES) {
        const uint32_t found = wmi_equal_bits(*(const u32v *)(set + first), wanted);
        if (!found)
            continue;
        for (uint32_t way = first + (uint32_t)__builtin_ctz(found); way + 1 < ways; way++)
            set[way] = set[way + 1];
        set[ways - 1] = 0;
        return true;
    }
    return false;
}

#endif

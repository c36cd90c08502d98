/* SPDX-License-Identifier: MIT */
/* Finds lanes that have the same value as an earlier lane; for *_lanes.c files. */
#ifndef WMI_PROFILE_SAME_LANES_H
#define WMI_PROFILE_SAME_LANES_H

#include "base/lane_set.h"
#include "base/vector_bits.h"
#include "profile/cost/same.h"

#include <stddef.h>
#include <string.h>

enum {
    WMI_SAME_LANE_BITS = 6,
    WMI_SAME_KEY_BITS = 26, /* maximum bits of the compared values */
    WMI_SAME_FEW = 8,       /* up to this number, comparing lanes one by one is faster */
};

/* A word per lane. */
struct wmi_same_row {
    alignas(64) uint32_t of[WMI_LANES];
};

/* A mask of the lowest `count` bits; count: at least 1. */
static inline uint64_t wmi_same_bits(unsigned count)
{
    return UINT64_MAX >> (64 - count);
}

/* wmi_same_addresses() of a summary's addresses. */
static inline void wmi_same_summarised(const struct wmi_address_summary *of, uint64_t base, uint64_t active,
                                       struct wmi_same_row *low, u32v *low_bits, u32v *high_bits)
{
    const uint64_t distance = of->base - base, lowest = of->from > base ? of->from - base : 0;
    const uint64_t last = of->to - wmi_shape_bytes(of->shape);
    const uint64_t highest = last - base < UINT32_MAX ? last - base : UINT32_MAX;
    const u32v none = wmi_splat_u32(0), from = wmi_splat_u32((uint32_t)lowest),
               most = wmi_splat_u32((uint32_t)(highest - lowest));
    const bool empty = last < base || lowest > highest;
    *low_bits = none;
    *high_bits = wmi_splat_u32(empty);
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
        const u32v addend = wmi_load_u32((const char *)(of->low + i));
        const u32v words = addend + (uint32_t)distance;
        u32v high = wmi_splat_u32((uint32_t)(distance >> 32)) - (u32v)(words < addend); /* a carry is -1 */
        if (of->high)
            high += wmi_load_u32((const char *)(of->high + i));
        high |= (u32v)(words - from > most);
        *(u32v *)(low->of + i) = words;
        *low_bits |= wmi_choose_bits((uint32_t)(active >> i), words, none);
        *high_bits |= wmi_choose_bits((uint32_t)(active >> i), high, none);
    }
}

/* Subtracts `base` from the addresses. low: lower words of the differences; low_bits, high_bits: all lower
 * and upper words of lanes in `active`, combined by OR; high_bits is not 0 either if a lane is not accepted.
 */
static inline void wmi_same_addresses(struct wmi_lane_addresses of, uint64_t base, uint64_t active,
                                      struct wmi_same_row *low, u32v *low_bits, u32v *high_bits)
{
    if (!of.address) {
        wmi_same_summarised(of.summary, base, active, low, low_bits, high_bits);
        return;
    }
    typedef uint64_t loose_u64v __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias, aligned(8)));
    const u32v none = wmi_splat_u32(0);
    *low_bits = *high_bits = none;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
        const loose_u64v *at = (const loose_u64v *)(of.address + i);
        const struct wmi_f64x2 from_base = {{(f64v)(at[0] - base), (f64v)(at[1] - base)}};
        const u32v words = wmi_low_words(from_base);
        const uint32_t lanes = (uint32_t)(active >> i);
        *(u32v *)(low->of + i) = words;
        *low_bits |= wmi_choose_bits(lanes, words, none);
        *high_bits |= wmi_choose_bits(lanes, wmi_high_words(from_base), none);
    }
}

/* The lanes with the same key as `lane`. */
static inline uint64_t wmi_same_as(const struct wmi_same_row *keys, unsigned lane)
{
    const u32v wanted = wmi_splat_u32(keys->of[lane]);
    uint64_t same = 0;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES)
        same |= (uint64_t)wmi_equal_bits(*(const u32v *)(keys->of + i), wanted) << i;
    return same;
}

/* Keys that are less than the number of slots apart, and steps of powers of two, mostly have different slots.
 */
static inline u32v wmi_same_slot(u32v key)
{
    const u32v high = key >> WMI_SAME_SLOT_BITS;
    return (key + high + (high << WMI_SAME_LANE_BITS)) & ((1 << WMI_SAME_SLOT_BITS) - 1);
}

/* Writes key and number of each lane to its slot, so that the lowest lane wins; returns the contents of each
 * lane's slot. Lanes from `count` on have no effect: they are overwritten or never read. */
static inline void wmi_same_meet(struct wmi_same *scratch, unsigned count, const struct wmi_same_row *named,
                                 const struct wmi_same_row *slot, struct wmi_same_row *there)
{
    for (unsigned end = (count + WMI_VECTOR_LANES - 1) & -WMI_VECTOR_LANES; end > 0; end -= WMI_VECTOR_LANES)
        wmi_scatter_u32(scratch->slot, slot->of + end - WMI_VECTOR_LANES, named->of + end - WMI_VECTOR_LANES);
    for (unsigned i = 0; i < count; i += WMI_VECTOR_LANES)
        *(u32v *)(there->of + i) = wmi_gather_u32(scratch->slot, *(const u32v *)(slot->of + i));
}

/* Returns which of the lowest `count` lanes have the same key as an earlier lane. earliest: the lowest lane
 * with the same key, possibly itself. may: lanes outside are known to repeat no key. */
static inline uint64_t wmi_same_find(struct wmi_same *scratch, const struct wmi_same_row *keys,
                                     unsigned count, uint64_t may, struct wmi_same_row *earliest)
{
    enum { LANE = (1 << WMI_SAME_LANE_BITS) - 1 };
    struct wmi_same_row named, slot;
    uint64_t repeated = 0, unsure = may;
    u32v number;
    for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
        number[i] = i;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES, number += WMI_VECTOR_LANES) {
        const u32v key = *(const u32v *)(keys->of + i);
        *(u32v *)(earliest->of + i) = number;
        *(u32v *)(named.of + i) = key << WMI_SAME_LANE_BITS | number;
        *(u32v *)(slot.of + i) = wmi_same_slot(key);
    }
    if (may >> WMI_SAME_FEW && __builtin_popcountll(may) > WMI_SAME_FEW) {
        struct wmi_same_row there = {0};
        wmi_same_meet(scratch, count, &named, &slot, &there);
        unsure = 0;
        for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
            const u32v found = *(const u32v *)(there.of + i), differs = found ^ *(const u32v *)(named.of + i);
            *(u32v *)(earliest->of + i) = found & LANE;
            repeated |= (uint64_t)wmi_less_bits(wmi_splat_u32(0), differs) << i;
            unsure |= (uint64_t)wmi_less_bits(wmi_splat_u32(LANE), differs) << i; /* slot with another key */
        }
        unsure &= wmi_same_bits(count);
        repeated &= wmi_same_bits(count) & ~unsure;
    }
    for (; unsure; unsure &= unsure - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(unsure);
        const unsigned first = (unsigned)__builtin_ctzll(wmi_same_as(keys, lane));
        earliest->of[lane] = first;
        repeated |= (uint64_t)(first != lane) << lane;
    }
    return repeated;
}

/* Returns how many different values below 1 << WMI_SAME_SMALL_BITS the lowest `count` lanes have. */
static inline unsigned wmi_same_count(struct wmi_same *scratch, const struct wmi_same_row *values,
                                      unsigned count)
{
    unsigned different = 0;
    if (!++scratch->now) {
        memset(scratch->seen, 0, sizeof scratch->seen);
        scratch->now = 1;
    }
    const uint16_t now = scratch->now;
#pragma GCC unroll 8
    for (unsigned i = 0; i < count; i++) { /* not scattered: a gather would wait for all stores */
        uint16_t *seen = &scratch->seen[values->of[i]];
        different += *seen != now;
        *seen = now;
    }
    return different;
}

#endif

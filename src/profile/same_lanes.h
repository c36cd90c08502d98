/* SPDX-License-Identifier: MIT */
/* Which of a wave's lanes have what an earlier one has; for *_lanes.c files. */
#ifndef WMI_PROFILE_SAME_LANES_H
#define WMI_PROFILE_SAME_LANES_H

#include "base/lane_set.h"
#include "base/vector_bits.h"
#include "profile/same.h"

enum {
    WMI_SAME_LANE_BITS = 6,
    WMI_SAME_KEY_BITS = 26, /* what is compared has so many at most */
    WMI_SAME_FEW = 8,       /* lanes that are sooner compared with all others, one by one */
};

/* A word for each lane. */
struct wmi_same_row {
    alignas(64) uint32_t of[WMI_LANES];
};

/* The lowest `count` bits, at least one. */
static inline uint64_t wmi_same_bits(unsigned count)
{
    return UINT64_MAX >> (64 - count);
}

/* Lanes whose key is that of the lane. */
static inline uint64_t wmi_same_as(const struct wmi_same_row *keys, unsigned lane)
{
    const u32v wanted = wmi_splat_u32(keys->of[lane]);
    uint64_t same = 0;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES)
        same |= (uint64_t)wmi_equal_bits(*(const u32v *)(keys->of + i), wanted) << i;
    return same;
}

/* Each lane's slot gets key and number of the lowest lane that has it; returns what each finds there. What
 * lanes behind the `count` that matter do is overwritten, or nobody looks at it. */
static inline void wmi_same_meet(struct wmi_same *room, unsigned count, const struct wmi_same_row *named,
                                 const struct wmi_same_row *slot, struct wmi_same_row *there)
{
    enum { AT_ONCE = 8 };
    for (unsigned end = (count + AT_ONCE - 1) & -AT_ONCE; end > 0; end -= AT_ONCE)
        for (unsigned i = 1; i <= AT_ONCE; i++)
            room->slot[slot->of[end - i]] = named->of[end - i];
    for (unsigned i = 0; i < count; i += WMI_VECTOR_LANES)
        *(u32v *)(there->of + i) = wmi_gather_u32(room->slot, *(const u32v *)(slot->of + i));
}

/* Returns which of the lowest `count` lanes have the key of an earlier one, and each one's earliest with its
 * key, itself maybe. may: those of which it is not known already that they do not. */
static inline uint64_t wmi_same_find(struct wmi_same *room, const struct wmi_same_row *keys, unsigned count,
                                     uint64_t may, struct wmi_same_row *earliest)
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
        *(u32v *)(slot.of + i) = key * 0x9e3779b1 >> (32 - WMI_SAME_SLOT_BITS);
    }
    if (may >> WMI_SAME_FEW && __builtin_popcountll(may) > WMI_SAME_FEW) {
        struct wmi_same_row there = {0};
        wmi_same_meet(room, count, &named, &slot, &there);
        unsure = 0;
        for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
            const u32v found = *(const u32v *)(there.of + i), differs = found ^ *(const u32v *)(named.of + i);
            *(u32v *)(earliest->of + i) = found & LANE;
            repeated |= wmi_pack((u32v)(differs != 0)) << i;
            unsure |= wmi_pack((u32v)(differs > LANE)) << i; /* the slot is another key's */
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

#endif

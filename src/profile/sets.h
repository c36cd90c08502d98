/* SPDX-License-Identifier: MIT */
/* The sets of a cache, as vectors that hold a set's lines in the order of their use. For *_lanes.c files
 * only.
 *
 * A line has a tag that is not 0; the most recently used one of a set comes first, and behind its last line
 * are zeros. To use a line is to shift all before it by one and put it in front, whether it was there or the
 * last one makes room for it. */
#ifndef WMI_PROFILE_SETS_H
#define WMI_PROFILE_SETS_H

#include "base/vector.h"
#include "profile/caches_inside.h"

#if WMI_VECTOR_BYTES == 64
#define WMI_SETS_SHIFT 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#elif WMI_VECTOR_BYTES == 32
#define WMI_SETS_SHIFT 7, 8, 9, 10, 11, 12, 13, 14
#else
#define WMI_SETS_SHIFT 3, 4, 5, 6
#endif

/* The lanes of `now` a lane on, behind the last one of `before`. */
static inline u32v wmi_sets_shift(u32v before, u32v now)
{
    return __builtin_shufflevector(before, now, WMI_SETS_SHIFT);
}

/* The first `count` lanes of `yes` before the rest of `no`. */
static inline u32v wmi_sets_first(uint64_t count, u32v yes, u32v no)
{
    const uint64_t lanes = count < WMI_VECTOR_LANES ? (1ULL << count) - 1 : (1ULL << WMI_VECTOR_LANES) - 1;
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_mask_mov_epi32((__m512i)no, (__mmask16)lanes, (__m512i)yes);
#else
    return wmi_select_u32(wmi_expand(lanes), yes, no);
#endif
}

/* Uses the tag. Returns which way it was in, or `ways`: it was not there, and the last one is gone. */
static inline uint32_t wmi_sets_use(uint32_t *set, uint32_t ways, uint32_t tag)
{
    const u32v wanted = wmi_splat_u32(tag);
    u32v before = wanted;
    uint32_t first = 0;
    for (; first + WMI_VECTOR_LANES < ways; first += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(set + first);
        const uint64_t found = wmi_pack((u32v)(now == wanted));
        const u32v moved = wmi_sets_shift(before, now);
        if (found) {
            const uint32_t way = (uint32_t)__builtin_ctzll(found);
            *(u32v *)(set + first) = wmi_sets_first(way + 1, moved, now);
            return first + way;
        }
        *(u32v *)(set + first) = moved;
        before = now;
    }
    /* Of the last vector without a branch: whether a line is there is what one cannot foresee. */
    const u32v now = *(const u32v *)(set + first);
    const uint32_t left = ways - first;
    const uint64_t found = wmi_pack((u32v)(now == wanted)) | 1ULL << left;
    const uint32_t way = (uint32_t)__builtin_ctzll(found);
    const uint64_t count = way + (way < left);
    *(u32v *)(set + first) = wmi_sets_first(count, wmi_sets_shift(before, now), now);
    return first + way;
}

/* What goes with the tags of a set follows them: `word` comes first, that of `way` is gone; way == ways: the
 * last one. */
static inline void wmi_sets_follow(uint32_t *set, uint32_t ways, uint32_t way, uint32_t word)
{
    const uint32_t count = way + (way < ways);
    u32v before = wmi_splat_u32(word);
    for (uint32_t first = 0; first < count; first += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(set + first);
        *(u32v *)(set + first) = wmi_sets_first(count - first, wmi_sets_shift(before, now), now);
        before = now;
    }
}

/* Takes the tag out, if it is there. */
static inline void wmi_sets_drop(uint32_t *set, uint32_t ways, uint32_t tag)
{
    const u32v wanted = wmi_splat_u32(tag);
    for (uint32_t first = 0; first < ways; first += WMI_VECTOR_LANES) {
        const uint64_t found = wmi_pack((u32v)(*(const u32v *)(set + first) == wanted));
        if (!found)
            continue;
        for (uint32_t way = first + (uint32_t)__builtin_ctzll(found); way + 1 < ways; way++)
            set[way] = set[way + 1];
        set[ways - 1] = 0;
        return;
    }
}

#endif

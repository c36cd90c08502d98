/* SPDX-License-Identifier: MIT */
/* Places of a program: the guest address of an instruction combined with the wave state it runs in. */
#ifndef WMI_PLACE_H
#define WMI_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Wave state that changes the meaning of instructions. Code is lowered once for each such state, so steps
 * need not check it: a place is a guest address, a multiple of 4, with these bits in its low bits. */
enum wmi_state {
    WMI_STATE_GPR_INDEX = 1, /* MODE.GPR_IDX_EN: M0 is added to VGPR numbers */
    WMI_STATE_VSKIP = 2,     /* MODE.VSKIP: vector instructions are skipped */
    WMI_STATE_BITS = 3,
};

/* The upper bits of VGPR numbers are such a state, too: as in the operand of s_set_vgpr_msb, two bits each of
 * the first, second and third source and of the destination. They change the upper byte of a place, which
 * otherwise repeats bit 55: addresses have fewer bits. */
enum { WMI_PLACE_MSB_SHIFT = 56 };

/* Position of these bits in MODE. Source: CDNA 3 ISA, "Mode register". */
enum { WMI_MODE_STATE_SHIFT = 27 };
#define WMI_MODE_STATE ((uint32_t)WMI_STATE_BITS << WMI_MODE_STATE_SHIFT)

static inline uint64_t wmi_pc_of(uint64_t place)
{
    const unsigned unused = 64 - WMI_PLACE_MSB_SHIFT;
    return (uint64_t)((int64_t)(place << unused) >> unused) & ~(uint64_t)WMI_STATE_BITS;
}

static inline unsigned wmi_msb_of(uint64_t place)
{
    return (unsigned)((place ^ wmi_pc_of(place)) >> WMI_PLACE_MSB_SHIFT);
}

/* The place of the same address in another such state. */
static inline uint64_t wmi_place_with_msb(uint64_t place, unsigned msb)
{
    return place ^ (uint64_t)(wmi_msb_of(place) ^ msb) << WMI_PLACE_MSB_SHIFT;
}

/* The step at a place that a computed jump led to, or NULL. A thread keeps the last ones, at these indices.
 */
struct wmi_op;
struct wmi_jump {
    uint64_t place;
    const struct wmi_op *step;
};
enum { WMI_JUMPS = 128 /* a power of two */, WMI_JUMP_SHIFT = 9 };
static inline unsigned wmi_jump_index(uint64_t place)
{
    return (place ^ place >> WMI_JUMP_SHIFT) / 4 % WMI_JUMPS;
}

/* Maps places to non-NULL values. Open addressing; the capacity is a power of two. */
struct wmi_place_map {
    struct wmi_place_entry {
        uint64_t place;
        const void *value;
    } *entries;
    size_t capacity, count;
};

/* The value of a place, NULL if it is not in the map. */
const void *wmi_place_find(const struct wmi_place_map *map, uint64_t place);
/* Reserves space for `more` places. False if out of memory. */
bool wmi_place_reserve(struct wmi_place_map *map, size_t more);
/* Adds a place that is not in the map. Space must be reserved. */
void wmi_place_add(struct wmi_place_map *map, uint64_t place, const void *value);

#endif

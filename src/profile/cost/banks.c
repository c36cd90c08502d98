/* SPDX-License-Identifier: MIT */
/* LDS: passes and bank conflicts of an access.
 *
 * - Each element of an instruction (read2 and write2 have two) is served in fixed groups of lanes, which
 *   depend on its width.
 * - A group takes as many passes as the busiest bank has distinct dwords to serve, but at least one, even if
 *   none of its lanes is active or in range. Lanes that access the same dword, or parts of it, share it.
 *   Atomics do not share: each is a separate operation (unverified).
 * - If a lane is not aligned to the element's width, all active lanes are serialized, without counting as
 *   conflicts: 64 passes, measured on gfx90a for ds_write_b64 at multiples of 4. Three dwords need the
 *   alignment of four: LLVM, allowsMisalignedMemoryAccessesImpl. Unverified: that other widths behave like
 *   b64, and the passes if lanes are inactive.
 * - Lanes that exchange data (ds_permute_b32, ds_bpermute_b32, ds_swizzle_b32) access the bank of the lane
 *   that they send to or read from; lanes 32 apart share one (unverified). */
#include "profile/cost/banks.h"
#include "profile/cost/cost.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    DWORD = 4,
    BANKS = 64,           /* maximum */
    MOST_WANTS = 32 * 65, /* maximum dwords of a group: 32 lanes with 255 unaligned bytes each */
    NOTHING = UINT16_MAX,
};

/* The distinct dwords that one group accesses, as a chain per bank. */
struct group_banks {
    uint16_t depth[BANKS], chain[BANKS];
    uint16_t next[MOST_WANTS];
    uint32_t dword[MOST_WANTS];
    unsigned wants;
};

static uint64_t reaching(const struct wmi_element *element)
{
    return element->mask & ~(element->bad_range | element->bad_align | element->bad_aperture);
}

static void add_dword(struct group_banks *group, unsigned bank, uint32_t dword, bool share)
{
    for (uint16_t i = group->chain[bank]; share && i != NOTHING; i = group->next[i])
        if (group->dword[i] == dword)
            return;
    group->dword[group->wants] = dword;
    group->next[group->wants] = group->chain[bank];
    group->chain[bank] = (uint16_t)group->wants++;
    group->depth[bank]++;
}

/* The lanes of `mask` that access the bank. */
static uint64_t lanes_of_bank(const struct wmi_access *access, const struct wmi_element *element,
                              uint64_t mask, unsigned banks, unsigned bank)
{
    uint64_t lanes = 0;
    for (uint64_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        const uint64_t low = element->address[lane] / DWORD;
        const uint64_t last = (element->address[lane] + access->bytes - 1) / DWORD;
        for (uint64_t dword = low; dword <= last; dword++)
            if ((dword & (banks - 1)) == bank)
                lanes |= 1ULL << lane;
    }
    return lanes;
}

/* Adds the passes of one group: the lanes in `mask`. */
static void serve_group(const struct wmi_access *access, const struct wmi_element *element, uint64_t mask,
                        unsigned banks, struct wmi_lds_cost *cost)
{
    struct group_banks group;
    memset(group.depth, 0, banks * sizeof *group.depth);
    memset(group.chain, 0xff, banks * sizeof *group.chain);
    group.wants = 0;
    for (uint64_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        const uint64_t low = element->address[lane] / DWORD;
        const uint64_t last = (element->address[lane] + access->bytes - 1) / DWORD;
        for (uint64_t dword = low; dword <= last; dword++)
            add_dword(&group, (unsigned)(dword & (banks - 1)), (uint32_t)dword,
                      access->kind != WMI_ACCESS_ATOMIC);
    }
    unsigned busiest = 0;
    for (unsigned bank = 1; bank < banks; bank++)
        if (group.depth[bank] > group.depth[busiest])
            busiest = bank;
    const uint32_t depth = group.depth[busiest];
    cost->passes += depth ? depth : 1;
    cost->conflicts += depth ? depth - 1 : 0;
    if (depth > cost->depth) {
        cost->depth = depth;
        cost->bank = busiest;
        cost->lanes = lanes_of_bank(access, element, mask, banks, busiest);
    }
}

/* The alignment, a power of two, that lanes need to be served together. */
static unsigned alignment(unsigned bytes)
{
    return bytes > 8 ? 16 : bytes > 4 ? 8 : bytes > 2 ? 4 : bytes;
}

static bool is_misaligned(const struct wmi_element *element, uint64_t mask, unsigned bytes)
{
    uint64_t bits = 0;
    for (uint64_t left = mask; left; left &= left - 1)
        bits |= element->address[__builtin_ctzll(left)];
    return bits & (alignment(bytes) - 1);
}

wmi_banks_find *wmi_banks_finder(enum wmi_cpu_level level, unsigned wave_lanes)
{
    WMI_TABLE_OF_BUILDS(finders, wmi_banks_find);
    return finders[level][wave_lanes != 32];
}

/* Adds the passes of a group that is half of a wave, with a dword per lane. */
static void add_half(const struct wmi_busiest_bank *busiest, unsigned half, struct wmi_lds_cost *cost)
{
    cost->passes += busiest->depth ? busiest->depth : 1;
    cost->conflicts += busiest->depth ? busiest->depth - 1 : 0;
    if (busiest->depth <= cost->depth)
        return;
    cost->depth = busiest->depth;
    cost->bank = busiest->bank;
    cost->lanes = (uint64_t)busiest->lanes << half * WMI_BANK_LANES;
}

struct wmi_lds_cost wmi_lds_passes_of(const struct wmi_banks *banks, unsigned wave_lanes)
{
    struct wmi_lds_cost cost = {0};
    for (unsigned half = 0; half < wave_lanes / WMI_BANK_LANES; half++)
        add_half(&banks->half[half], half, &cost);
    return cost;
}

static const struct wmi_lds_groups *groups_for(const struct wmi_access *access,
                                               const struct wmi_lds_rules *rules)
{
    const unsigned dwords = (access->bytes + DWORD - 1) / DWORD;
    const unsigned width = (dwords < WMI_LDS_WIDTHS ? dwords : WMI_LDS_WIDTHS) - (dwords > 0);
    return access->kind == WMI_ACCESS_LOAD ? &rules->read[width] : &rules->write[width];
}

bool wmi_lds_by_halves(const struct wmi_access *access, const struct wmi_lds_rules *rules)
{
    const struct wmi_lds_groups *groups = groups_for(access, rules);
    return access->bytes && access->bytes <= DWORD && groups->count == 1 && groups->lanes[0] == UINT32_MAX;
}

/* Adds the passes of all groups of lanes for one element. */
static void serve_place(const struct wmi_access *access, const struct wmi_element *element,
                        const struct wmi_lds_rules *rules, unsigned wave_lanes, struct wmi_lds_cost *cost)
{
    const struct wmi_lds_groups *groups = groups_for(access, rules);
    const uint64_t lanes = reaching(element);
    for (unsigned half = 0; half < wave_lanes; half += WMI_BANK_LANES)
        for (unsigned g = 0; g < groups->count; g++)
            serve_group(access, element, lanes & (uint64_t)groups->lanes[g] << half, rules->banks, cost);
}

struct wmi_lds_cost wmi_lds_passes_by(const struct wmi_access *access, const struct wmi_lds_rules *rules,
                                      unsigned wave_lanes, wmi_banks_find *find, struct wmi_same *room)
{
    const bool by_halves = find && wmi_lds_by_halves(access, rules);
    struct wmi_lds_cost cost = {0};
    struct wmi_banks banks;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        const uint64_t lanes = reaching(element);
        const bool banked = element->space == WMI_SPACE_LDS || element->space == WMI_SPACE_LANES;
        if (!banked || (!element->mask && access->path != WMI_PATH_DS))
            continue;
        if (is_misaligned(element, lanes, access->bytes)) {
            cost.serial += (uint32_t)__builtin_popcountll(lanes);
            cost.passes += (uint32_t)__builtin_popcountll(lanes);
        } else if (by_halves && find(room, element->address, lanes, rules->banks,
                                     access->kind != WMI_ACCESS_ATOMIC, &banks)) {
            for (unsigned half = 0; half < wave_lanes / WMI_BANK_LANES; half++)
                add_half(&banks.half[half], half, &cost);
        } else {
            serve_place(access, element, rules, wave_lanes, &cost);
        }
    }
    return cost;
}

struct wmi_lds_cost wmi_lds_passes(const struct wmi_access *access, const struct wmi_lds_rules *rules,
                                   unsigned wave_lanes)
{
    return wmi_lds_passes_by(access, rules, wave_lanes, NULL, NULL);
}

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
    BANKS = 64, /* maximum */
};

static uint64_t reaching(const struct wmi_element *element)
{
    return element->mask & ~(element->bad_range | element->bad_align | element->bad_aperture);
}

/* The alignment, a power of two, that lanes need to be served together. */
static unsigned alignment(unsigned bytes)
{
    return bytes > 8 ? 16 : bytes > 4 ? 8 : bytes > 2 ? 4 : bytes;
}

/* Adds the passes of one group: the lanes in `mask`, whose elements of at most 16 bytes are aligned. So a
 * group of banks serves an element as a whole, and one bank stands for it: the lowest. */
static void serve_group(const struct wmi_access *access, const struct wmi_element *element, uint64_t mask,
                        unsigned banks, struct wmi_lds_cost *cost)
{
    const unsigned bytes = alignment(access->bytes) > DWORD ? alignment(access->bytes) : DWORD;
    const unsigned shift = (unsigned)__builtin_ctz(bytes), places = banks / (bytes / DWORD);
    const bool share = access->kind != WMI_ACCESS_ATOMIC;
    uint64_t lanes[BANKS]; /* by bank; of those that share an element the first one */
    uint8_t count[BANKS];  /* of them */
    unsigned busiest = 0, depth = 0;
    memset(lanes, 0, places * sizeof *lanes);
    memset(count, 0, places * sizeof *count);
    for (uint64_t left = mask; left; left &= left - 1) {
        const uint64_t at = element->address[__builtin_ctzll(left)] >> shift;
        const unsigned bank = (unsigned)at & (places - 1);
        uint64_t others = share ? lanes[bank] : 0;
        while (others && element->address[__builtin_ctzll(others)] >> shift != at)
            others &= others - 1;
        if (others)
            continue;
        lanes[bank] |= left & -left;
        if (++count[bank] > depth || (count[bank] == depth && bank < busiest)) {
            depth = count[bank];
            busiest = bank;
        }
    }
    cost->passes += depth ? depth : 1;
    cost->conflicts += depth ? depth - 1 : 0;
    if (depth <= cost->depth)
        return;
    cost->depth = depth;
    cost->bank = busiest * (bytes / DWORD);
    cost->lanes = 0;
    for (uint64_t left = mask; left; left &= left - 1)
        if ((element->address[__builtin_ctzll(left)] >> shift & (places - 1)) == busiest)
            cost->lanes |= left & -left;
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
                                      unsigned wave_lanes, wmi_banks_find *find, struct wmi_same *scratch)
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
        } else if (by_halves && find(scratch, (struct wmi_lane_addresses){.address = element->address}, lanes,
                                     rules->banks, access->kind != WMI_ACCESS_ATOMIC, &banks)) {
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

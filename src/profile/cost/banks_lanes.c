/* SPDX-License-Identifier: MIT */
/* Finds the distinct dwords and the busiest banks of lanes that access a dword each. */
#include "profile/cost/banks.h"

#include "profile/cost/same_lanes.h"

enum { DWORD_SHIFT = 2, NO_BANK = UINT8_MAX, WIDE = WMI_VECTOR_LANES / 2 };

#define INLINE inline __attribute__((always_inline))

/* Of the lanes in `repeated`, those that repeat only a lane of the other half of the wave. Lanes are
 * compressed; the first `lower` lanes are in the lower half. */
static inline uint64_t find_across(uint64_t repeated, unsigned lower, const struct wmi_same_row *earliest)
{
    uint64_t across = 0, seen = 0;
    for (uint64_t left = repeated & UINT64_MAX << lower; left; left &= left - 1) {
        const uint32_t same = earliest->of[__builtin_ctzll(left)];
        across |= same < lower && !(seen >> same & 1) ? left & -left : 0;
        seen |= 1ULL << same;
    }
    return across;
}

/* Whether each of the lowest `count` values is higher than the previous one. */
static inline bool is_rising(const struct wmi_same_row *row, unsigned count)
{
    u32v before = wmi_splat_u32(0);
    uint64_t rises = 1;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(row->of + i);
        rises |= (uint64_t)wmi_less_bits(wmi_shift_lanes(before, now), now) << i;
        before = now;
    }
    return !(wmi_same_bits(count) & ~rises);
}

/* The number of distinct dwords of `lanes`. small: all are below 1 << WMI_SAME_SMALL_BITS. *in_halves: the
 * lanes that access the same dword as an earlier one of their half of the wave; in_halves may be NULL. */
static INLINE unsigned count_different(struct wmi_same *scratch, const struct wmi_same_row *dword,
                                       uint64_t lanes, bool small, uint64_t *in_halves)
{
    struct wmi_same_row row = {0}, earliest;
    const unsigned count = (unsigned)__builtin_popcountll(lanes);
    if (in_halves)
        *in_halves = 0;
    if (!count)
        return 0;
    wmi_compress_row(row.of, dword->of, lanes);
    if (is_rising(&row, count))
        return count;
    if (!in_halves && small)
        return wmi_same_count(scratch, &row, count);
    const uint64_t repeated = wmi_same_find(scratch, &row, count, wmi_same_bits(count), &earliest);
    if (in_halves) {
        const unsigned lower = (unsigned)__builtin_popcountll(lanes & UINT32_MAX);
        *in_halves = wmi_deposit_bits(repeated & ~find_across(repeated, lower, &earliest), lanes);
    }
    return count - (unsigned)__builtin_popcountll(repeated);
}

/* Population count of each word. */
static inline u32v bits_of(u32v x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (x + (x >> 16)) & 0x3f;
}

/* Splits `lanes` by bank. plane[i]: the lanes whose bank number has bit i set. */
static INLINE void split(const uint64_t *plane, unsigned banks, uint64_t lanes, u64v *of_banks)
{
    u64v number;
    for (unsigned i = 0; i < WIDE; i++)
        number[i] = i;
    of_banks[0] = wmi_splat_u64(lanes);
    for (unsigned bit = 0; 1 << bit < WIDE; bit++, plane++) /* inverted where the bank's bit is 0 */
        of_banks[0] &= ((number >> bit & 1) - 1) ^ *plane;
    for (unsigned half = 1; half < banks / WIDE; half *= 2, plane++)
        for (unsigned i = 0; i < half; i++) {
            of_banks[half + i] = of_banks[i] & *plane;
            of_banks[i] &= ~*plane;
        }
}

/* Finds for each half of the wave the bank with the most lanes, the lowest of equal ones. */
static INLINE void find_busiest(const uint64_t *plane, unsigned banks, uint64_t lanes,
                                struct wmi_busiest_bank half[2])
{
    u64v of_banks[WMI_BANKS_MOST / WIDE];
    u32v most = {0}, bank;
    split(plane, banks, lanes, of_banks);
    for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
        bank[i] = NO_BANK - i / 2;
    for (unsigned i = 0; i < banks / WIDE; i++, bank -= WIDE) {
        const u32v order = bits_of((u32v)of_banks[i]) << 8 | bank;
        most = wmi_select_u32((u32v)((i32v)order > (i32v)most), order, most);
    }
    const u32v other = wmi_swap_in_quads(most, 2);
    most = wmi_select_u32((u32v)((i32v)other > (i32v)most), other, most);
    for (unsigned h = 0; h < 2; h++) {
        uint32_t deepest = most[h];
        for (unsigned i = h + 4; i < WMI_VECTOR_LANES; i += 4)
            deepest = most[i] > deepest ? most[i] : deepest;
        half[h] = (struct wmi_busiest_bank){.depth = deepest >> 8, .bank = NO_BANK - (deepest & 0xff)};
    }
}

wmi_banks_find WMI_BUILD_NAME(wmi_banks_find);
bool WMI_BUILD_NAME(wmi_banks_find)(struct wmi_same *scratch, struct wmi_lane_addresses addresses,
                                    uint64_t lanes, unsigned banks, bool share, struct wmi_banks *found)
{
    uint64_t plane[6] = {0};
    struct wmi_same_row dword;
    u32v bits, high;
    wmi_same_addresses(addresses, 0, lanes, &dword, &bits, &high);
    if (wmi_any(high | bits >> (WMI_SAME_KEY_BITS + DWORD_SHIFT)))
        return false;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES) {
        const u32v number = *(const u32v *)(dword.of + i) >> DWORD_SHIFT;
        *(u32v *)(dword.of + i) = number;
        for (unsigned bit = 0; bit < 6; bit++)
            plane[bit] |= (uint64_t)wmi_bits_at(number, bit) << i;
    }
    uint64_t shared = 0; /* lanes that share the dword of an earlier lane of their half */
    const bool small = !wmi_any(bits >> (WMI_SAME_SMALL_BITS + DWORD_SHIFT));
    found->different = count_different(scratch, &dword, lanes, small, share ? &shared : NULL);
    const uint64_t counted = lanes & ~shared;
    if (banks == WMI_BANKS_MOST)
        find_busiest(plane, WMI_BANKS_MOST, counted, found->half);
    else
        find_busiest(plane, WMI_BANKS_LEAST, counted, found->half);
    for (unsigned h = 0; h < 2; h++) {
        uint64_t meet = lanes;
        for (unsigned bit = 0; banks >> bit > 1; bit++)
            meet &= found->half[h].bank >> bit & 1 ? plane[bit] : ~plane[bit];
        found->half[h].lanes = (uint32_t)(meet >> h * WMI_BANK_LANES);
    }
    found->aligned = !wmi_any(bits & ((1 << DWORD_SHIFT) - 1));
    return true;
}

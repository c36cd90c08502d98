/* SPDX-License-Identifier: MIT */
/* Finds the different dwords and the busiest banks of lanes that want a dword each. */
#include "profile/banks.h"

#include "profile/same_lanes.h"

enum { DWORD_SHIFT = 2, NO_BANK = UINT8_MAX };

#define INLINE inline __attribute__((always_inline))

/* Lanes of `lanes` that want what an earlier one of them wants. */
static inline uint64_t repeated_of(struct wmi_same *room, const struct wmi_same_row *dword, uint64_t lanes)
{
    struct wmi_same_row row = {0}, earliest;
    const unsigned count = (unsigned)__builtin_popcountll(lanes);
    if (!count)
        return 0;
    wmi_compress_row(row.of, dword->of, lanes);
    return wmi_deposit_bits(wmi_same_find(room, &row, count, wmi_same_bits(count), &earliest), lanes);
}

/* How many bits are set in each word. */
static inline u32v bits_of(u32v x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (x + (x >> 16)) & 0x3f;
}

/* Lanes of each bank, of those in `lanes`. plane: by bit of a bank's number, the lanes that have it. */
static INLINE void split(const uint64_t *plane, unsigned banks, uint64_t lanes, uint64_t *by_bank)
{
    by_bank[0] = lanes;
    for (unsigned half = 1; half < banks; half *= 2, plane++)
        for (unsigned bank = 0; bank < half; bank++) {
            by_bank[half + bank] = by_bank[bank] & *plane;
            by_bank[bank] &= ~*plane;
        }
}

/* The bank that has the most lanes of each half, and the lowest of these: its number and how many. */
static INLINE void find_busiest(const uint64_t *plane, unsigned banks, uint64_t lanes,
                                struct wmi_busiest_bank half[2])
{
    enum { LANES = WMI_VECTOR_LANES };
    alignas(64) uint64_t by_bank[WMI_BANKS_MOST];
    u32v most = {0}, bank;
    split(plane, banks, lanes, by_bank);
    for (unsigned i = 0; i < LANES; i++)
        bank[i] = NO_BANK - i / 2;
    for (unsigned i = 0; i < 2 * banks; i += LANES, bank -= LANES / 2) {
        const u32v order = bits_of(*(const u32v *)((const uint32_t *)by_bank + i)) << 8 | bank;
        most = wmi_select_u32((u32v)((i32v)order > (i32v)most), order, most);
    }
    for (unsigned h = 0; h < 2; h++) {
        uint32_t deepest = 0;
        for (unsigned i = h; i < LANES; i += 2)
            deepest = most[i] > deepest ? most[i] : deepest;
        half[h] = (struct wmi_busiest_bank){.depth = deepest >> 8, .bank = NO_BANK - (deepest & 0xff)};
    }
}

wmi_banks_find WMI_BUILD_NAME(wmi_banks_find);
bool WMI_BUILD_NAME(wmi_banks_find)(struct wmi_same *room, const uint64_t *address, uint64_t lanes,
                                    unsigned banks, bool share, struct wmi_banks *found)
{
    uint64_t plane[6] = {0}, bits = 0;
    struct wmi_same_row dword;
    for (uint64_t lane = 0; lane < WMI_LANES; lane++) {
        dword.of[lane] = (uint32_t)(address[lane] >> DWORD_SHIFT);
        bits |= address[lane] & -(lanes >> lane & 1);
    }
    if (bits >> (WMI_SAME_KEY_BITS + DWORD_SHIFT))
        return false;
    for (unsigned i = 0; i < WMI_LANES; i += WMI_VECTOR_LANES)
        for (unsigned bit = 0; bit < 6; bit++)
            plane[bit] |= (uint64_t)wmi_bits_at(*(const u32v *)(dword.of + i), bit) << i;
    const uint64_t repeated = repeated_of(room, &dword, lanes), upper = UINT64_MAX << WMI_BANK_LANES;
    uint64_t counted = lanes;
    if (share) /* within a half */
        counted &=
            ~(repeated & upper ? (repeated & ~upper) | repeated_of(room, &dword, lanes & upper) : repeated);
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
    found->different = (unsigned)__builtin_popcountll(lanes & ~repeated);
    found->low_bits = bits & 3;
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Finds the sectors and words of an access with aligned lanes. */
#include "profile/sectors.h"

#include "base/lane_set.h"
#include "base/vector_bits.h"

/* All bits that an active lane's address has. */
static inline uint64_t bits_of(const uint64_t *address, uint64_t mask)
{
    uint64_t bits = 0;
    for (uint64_t lane = 0; lane < WMI_LANES; lane++)
        bits |= address[lane] & -(mask >> lane & 1);
    return bits;
}

static inline void append(struct wmi_sectors *sectors, uint64_t number, uint64_t asked, bool second)
{
    const uint32_t count = sectors->count++;
    sectors->number[count] = number;
    sectors->asked[count] = asked;
    sectors->second[count] = second;
    sectors->bytes += (unsigned)__builtin_popcountll(asked);
    sectors->lines += !second;
}

/* Puts entry `at`, behind which there is none that can be found, where it can be. */
static inline void hash(struct wmi_sectors *sectors, uint32_t at)
{
    const uint8_t bucket = wmi_sectors_bucket(sectors->number[at]), head = sectors->bucket[bucket];
    sectors->home[at] = bucket;
    sectors->next[at] = head < at && sectors->home[head] == bucket ? head : UINT8_MAX;
    sectors->bucket[bucket] = (uint8_t)at;
}

/* Adds bytes of a sector. As long as they ascend, none needs to be looked for. */
static inline void add(struct wmi_sectors *sectors, uint64_t number, uint64_t asked)
{
    const uint32_t count = sectors->count;
    const uint64_t last = count ? sectors->number[count - 1] : 0;
    if (sectors->ascend && (!count || number > last)) {
        append(sectors, number, asked, count && number % 2 && number - 1 == last);
        return;
    }
    for (uint32_t i = 0; sectors->ascend && i < count; i++)
        hash(sectors, i);
    sectors->ascend = false;
    const uint32_t at = wmi_sectors_place(sectors, number);
    if (at < count) {
        sectors->bytes += (unsigned)__builtin_popcountll(asked & ~sectors->asked[at]);
        sectors->asked[at] |= asked;
        return;
    }
    append(sectors, number, asked, wmi_sectors_place(sectors, number ^ 1) < count);
    hash(sectors, count);
}

static bool find(struct wmi_sectors *sectors, const uint64_t *address, uint64_t mask, unsigned bytes)
{
    if (bits_of(address, mask) & (bytes - 1))
        return false;
    const uint64_t ones = (1ULL << bytes) - 1;
    uint64_t left = mask, number = address[__builtin_ctzll(mask)] >> WMI_SECTOR_SHIFT, asked = 0;
    sectors->count = sectors->lines = 0;
    sectors->bytes = 0;
    sectors->ascend = true;
    for (; left; left &= left - 1) { /* neighbours mostly lie in one sector */
        const uint64_t at = address[__builtin_ctzll(left)];
        if (at >> WMI_SECTOR_SHIFT != number) {
            add(sectors, number, asked);
            number = at >> WMI_SECTOR_SHIFT;
            asked = 0;
        }
        asked |= ones << (at & (WMI_SECTOR - 1));
    }
    add(sectors, number, asked);
    return true;
}

static unsigned count_words(uint64_t seen[WMI_WORDS_BYTES / 4 / 64], const uint64_t *address, uint64_t mask)
{
    const uint64_t bits = bits_of(address, mask);
    unsigned count = 0;
    if (bits & 3 || bits >= WMI_WORDS_BYTES)
        return 0;
    for (uint64_t left = mask; left; left &= left - 1) {
        const uint64_t word = address[__builtin_ctzll(left)] / 4, bit = word % 64, old = seen[word / 64];
        count += !(old >> bit & 1);
        seen[word / 64] = old | 1ULL << bit;
    }
    for (uint64_t left = mask; left; left &= left - 1)
        seen[address[__builtin_ctzll(left)] / 4 / 64] = 0;
    return count;
}

static bool count_quads(const uint64_t *address, uint64_t mask, unsigned shift, bool pairs, uint32_t *count)
{
    const uint64_t base = address[__builtin_ctzll(mask)] & -(1ULL << 32);
    alignas(64) uint32_t block[WMI_LANES];
    uint64_t far = 0, repeated = 0;
    for (uint64_t lane = 0; lane < WMI_LANES; lane++) {
        const uint64_t at = address[lane] - base;
        far |= at >> 32 & -(mask >> lane & 1);
        block[lane] = mask >> lane & 1 ? (uint32_t)at >> shift : UINT32_MAX; /* no block's number */
    }
    if (far)
        return false;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v now = *(const u32v *)(block + lane);
        const uint64_t one = wmi_equal_bits(now, wmi_swap_in_quads(now, 1));
        const uint64_t two = wmi_equal_bits(now, wmi_swap_in_quads(now, 2));
        const uint64_t three = wmi_equal_bits(now, wmi_swap_in_quads(now, 3));
        /* An earlier lane has the same. */
        const uint64_t same = (one & 0xaaaa) | (pairs ? 0 : (two | three) & 0xcccc);
        repeated |= (same & ((1ULL << WMI_VECTOR_LANES) - 1)) << lane;
    }
    *count = (uint32_t)__builtin_popcountll(mask & ~repeated);
    return true;
}

extern const struct wmi_sector_steps WMI_BUILD_NAME(wmi_sector_steps);
const struct wmi_sector_steps WMI_BUILD_NAME(wmi_sector_steps) = {find, count_words, count_quads};

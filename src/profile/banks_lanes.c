/* SPDX-License-Identifier: MIT */
/* Finds the busiest bank of a group of LDS lanes that want a dword each. */
#include "profile/banks.h"

#include "base/lane_set.h"
#include "base/vector_bits.h"

#include <string.h>

enum { NO_BANK = UINT8_MAX };

/* Lanes of `lanes` that want what an earlier one wants. */
static inline uint32_t repeated_of(const uint32_t dword[WMI_BANK_LANES], uint32_t lanes)
{
    uint32_t repeated = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const u32v wanted = wmi_splat_u32(dword[__builtin_ctz(left)]);
        uint32_t same = 0;
        for (unsigned lane = 0; lane < WMI_BANK_LANES; lane += WMI_VECTOR_LANES)
            same |= wmi_equal_bits(*(const u32v *)(dword + lane), wanted) << lane;
        repeated |= same & (left & (left - 1));
    }
    return repeated;
}

wmi_banks_busiest WMI_BUILD_NAME(wmi_banks_busiest);
struct wmi_busiest_bank WMI_BUILD_NAME(wmi_banks_busiest)(const uint64_t *address, uint32_t lanes,
                                                          unsigned banks, bool share)
{
    enum { VECTORS = WMI_BANK_LANES / WMI_VECTOR_LANES };
    alignas(64) uint32_t dword[WMI_BANK_LANES], bank[WMI_BANK_LANES], depth[WMI_BANK_LANES];
    for (unsigned lane = 0; lane < WMI_BANK_LANES; lane++)
        dword[lane] = (uint32_t)(address[lane] / 4);
    const uint32_t counted = share ? lanes & ~repeated_of(dword, lanes) : lanes;
    for (unsigned lane = 0; lane < WMI_BANK_LANES; lane++)
        bank[lane] = counted >> lane & 1 ? dword[lane] & (banks - 1) : NO_BANK;
    /* Each lane learns how many have its bank: no step waits for another one. */
    u32v counts[VECTORS] = {{0}};
    for (unsigned lane = 0; lane < WMI_BANK_LANES; lane++) {
        const u32v here = wmi_splat_u32(bank[lane]);
        for (unsigned v = 0; v < VECTORS; v++)
            counts[v] -= (u32v)(*(const u32v *)(bank + v * WMI_VECTOR_LANES) == here);
    }
    memcpy(depth, counts, sizeof depth);
    uint32_t most = 0; /* the deepest, and of those the lowest bank */
    for (unsigned lane = 0; lane < WMI_BANK_LANES; lane++) {
        const uint32_t order = bank[lane] == NO_BANK ? 0 : depth[lane] << 8 | (NO_BANK - bank[lane]);
        most = order > most ? order : most;
    }
    struct wmi_busiest_bank busiest = {.depth = most >> 8, .bank = most ? NO_BANK - (most & 0xff) : 0};
    for (unsigned lane = 0; lane < WMI_BANK_LANES; lane++)
        busiest.lanes |= (uint32_t)((dword[lane] & (banks - 1)) == busiest.bank) << lane;
    busiest.lanes &= lanes;
    return busiest;
}

/* SPDX-License-Identifier: MIT */
/* Compares a wave's addresses with those of an earlier access. */
#include "base/vector_bits.h"
#include "profile/memo.h"

static bool compare_addresses(const uint64_t *address, uint64_t base, const int32_t *relative, uint64_t mask)
{
    uint64_t differs = 0;
    if (mask == UINT64_MAX >> (64 - WMI_LANES)) {
        for (unsigned lane = 0; lane < WMI_LANES; lane++)
            differs |= (address[lane] - base) ^ (uint64_t)(int64_t)relative[lane];
    } else {
        for (uint64_t lane = 0; lane < WMI_LANES; lane++)
            differs |= ((address[lane] - base) ^ (uint64_t)(int64_t)relative[lane]) & -(mask >> lane & 1);
    }
    return !differs;
}

static bool compare_rows(const uint32_t *low, const uint32_t *high, const int32_t *relative, uint64_t mask,
                         unsigned first)
{
    u32v differs = wmi_splat_u32(0);
    const u32v low_first = wmi_splat_u32(low[first]), high_first = wmi_splat_u32(high ? high[first] : 0);
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        u32v other = (wmi_load_u32((const char *)(low + lane)) - low_first) ^
                     *(const wmi_loose_vector *)(relative + lane);
        if (high)
            other |= wmi_load_u32((const char *)(high + lane)) ^ high_first;
        differs |= other & wmi_expand(mask >> lane & ((1ULL << WMI_VECTOR_LANES) - 1));
    }
    return !wmi_any(differs);
}

extern const struct wmi_memo_compares WMI_BUILD_NAME(wmi_memo_compares);
const struct wmi_memo_compares WMI_BUILD_NAME(wmi_memo_compares) = {compare_addresses, compare_rows};

/* SPDX-License-Identifier: MIT */
/* Compares a wave's addresses with those of an earlier access. */
#include "profile/measure/memo.h"

wmi_memo_compare WMI_BUILD_NAME(wmi_memo_compare);
bool WMI_BUILD_NAME(wmi_memo_compare)(const uint64_t *address, uint64_t base, const int32_t *relative,
                                      uint64_t mask)
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

/* SPDX-License-Identifier: MIT */
#include "compile/spread.h"

#define LANES(n)                                                                                             \
    {0,       (n),     2 * (n),  3 * (n),  4 * (n),  5 * (n),  6 * (n),  7 * (n),                            \
     8 * (n), 9 * (n), 10 * (n), 11 * (n), 12 * (n), 13 * (n), 14 * (n), 15 * (n)}

enum { LAST = WMI_STRIP_LANES - 1 };

static const struct wmi_spread_tables tables = {
    .lanes = {LANES(0), LANES(1), LANES(2), LANES(4), LANES(8), LANES(16)},
    .last = {0, LAST, 2 * LAST, 4 * LAST, 8 * LAST, 16 * LAST},
    .most = {UINT32_MAX, UINT32_MAX - LAST, UINT32_MAX - 2 * LAST, UINT32_MAX - 4 * LAST,
             UINT32_MAX - 8 * LAST, UINT32_MAX - 16 * LAST},
    .strip = {0, 1, 2, 3},
};

void wmi_spread_begin(struct wmi_host *host)
{
    wmi_move_immediate(host, WMI_R11, (uintptr_t)&tables);
}

void wmi_spread_strip(struct wmi_host *host, unsigned d, unsigned bases, unsigned stride, unsigned strip)
{
    const uint32_t vpermd = WMI_EVEX(0x36, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    const size_t number = offsetof(struct wmi_spread_tables, strip) + 4 * strip,
                 lanes =
                     offsetof(struct wmi_spread_tables, lanes) + wmi_stride_number(stride) * WMI_STRIP_BYTES;
    wmi_evex_plain(host, WMI_VPBROADCASTD_MEMORY, d, 0, wmi_at(WMI_R11, (int32_t)number));
    wmi_evex_plain(host, vpermd, d, d, wmi_zmm(bases));
    if (stride)
        wmi_evex_plain(host, WMI_VPADDD, d, d, wmi_at(WMI_R11, (int32_t)lanes));
}

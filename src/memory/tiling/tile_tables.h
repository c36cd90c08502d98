/* SPDX-License-Identifier: MIT */
/* The registers GB_TILE_MODE and GB_MACROTILE_MODE of chips, as drivers set them. */
#ifndef WMI_TILE_TABLES_H
#define WMI_TILE_TABLES_H

#include "memory/tiling/tiling.h"

enum { WMI_TILE_MODES = 32, WMI_MACRO_MODES = 16 };

struct wmi_tile_tables {
    const char *name;
    uint16_t chips[12]; /* PCI device numbers, up to a 0 */
    uint32_t tile[WMI_TILE_MODES], macro[WMI_MACRO_MODES];
    bool has_banks; /* gfx6: GB_TILE_MODE says what GB_MACROTILE_MODE says of later chips */
};

#endif

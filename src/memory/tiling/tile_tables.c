/* SPDX-License-Identifier: MIT */
/* The tables of tile modes of each chip.
 *
 * Source: linux, gfx_v8_0.c, gfx_v8_0_tiling_mode_table_init. Chips: PCI device numbers (libdrm,
 * data/amdgpu.ids). */
#include "memory/tiling/tile_tables.h"

#include <stddef.h>

static const struct wmi_tile_tables all[] = {
    {.name = "polaris10",
     .chips = {0x67df},
     .tile = {0x00800310, 0x00800b10, 0x00801310, 0x00801b10, 0x00802b10, 0x00802b08, 0x00802b14, 0x00802954,
              0x00000304, 0x02000308, 0x02000310, 0x06000314, 0x06000154, 0x02400308, 0x02400310, 0x02400330,
              0x06400314, 0x06400154, 0x0040030c, 0x0100030c, 0x0100031c, 0x01000334, 0x01000324, 0x01000164,
              0x0040031c, 0x01000320, 0x01000338, 0x02c00308, 0x02c00310, 0x06c00314, 0x06c00154, 0x00000000},
     .macro = {0x000000e8, 0x000000e8, 0x000000e8, 0x000000e8, 0x000000d4, 0x000000c0, 0x000000c0, 0x00000000,
               0x000000ec, 0x000000e8, 0x000000d4, 0x000000d0, 0x00000080, 0x00000040, 0x00000040,
               0x00000000}},
    {.name = "polaris12",
     .chips = {0x699f},
     .tile = {0x00800150, 0x00800950, 0x00801150, 0x00801950, 0x00802950, 0x00802948, 0x00802954, 0x00802954,
              0x00000144, 0x02000148, 0x02000150, 0x06000154, 0x06000154, 0x02400148, 0x02400150, 0x02400170,
              0x06400154, 0x06400154, 0x0040014c, 0x0100014c, 0x0100015c, 0x01000174, 0x01000164, 0x01000164,
              0x0040015c, 0x01000160, 0x01000178, 0x02c00148, 0x02c00150, 0x06c00154, 0x06c00154, 0x00000000},
     .macro = {0x000000e8, 0x000000e8, 0x000000e8, 0x000000e4, 0x000000d0, 0x000000d0, 0x000000d0, 0x00000000,
               0x000000ed, 0x000000e9, 0x000000e8, 0x000000e4, 0x000000d0, 0x00000090, 0x00000040,
               0x00000000}},
};

const struct wmi_tile_tables *wmi_tile_tables(uint32_t chip)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const uint16_t *own = all[i].chips; *own; own++)
            if (*own == chip)
                return &all[i];
    return NULL;
}

const char *wmi_tile_tables_name(const struct wmi_tile_tables *tables)
{
    return tables->name;
}

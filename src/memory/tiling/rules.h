/* SPDX-License-Identifier: MIT */
/* How the levels of a mipmapped surface are placed on each generation. */
#ifndef WMI_TILING_RULES_H
#define WMI_TILING_RULES_H

#include "memory/tiling/tiling.h"

struct wmi_tiling_rules {
    uint8_t linear;    /* number of linear images */
    uint8_t equations; /* generation of the equations; 0: tables of tile modes */
    bool indexed;      /* tables of tile modes */
    enum {
        WMI_CHAIN_UNKNOWN,
        WMI_CHAIN_BESIDE,         /* levels share a pitch and lie beside and below one another */
        WMI_CHAIN_SMALLEST_FIRST, /* each level has its pitch; the tail and the smallest level are first */
    } chain;
    uint16_t pitch_bytes; /* linear images: alignment of a row */
    uint16_t level_bytes; /* that of rows when the size of a level is computed, if it differs */
    bool small_z_tail;    /* Z modes with elements of 1 or 2 bytes have a smaller tail */
};

const struct wmi_tiling_rules *wmi_tiling_rules(const struct wmi_tiling *tiling);

#endif

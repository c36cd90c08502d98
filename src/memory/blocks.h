/* SPDX-License-Identifier: MIT */
/* Block-compressed formats: BC1 to BC7, blocks of 4x4 texels. */
#ifndef WMI_BLOCKS_H
#define WMI_BLOCKS_H

#include "memory/format.h"

enum { WMI_BLOCK_SIDE = 4 };

/* The components of a texel of a block, as wmi_format_load() gives them; x and y are below 4. */
void wmi_block_load(const struct wmi_format *format, const unsigned char *block, unsigned x, unsigned y,
                    bool half, uint32_t value[4]);

#endif

/* SPDX-License-Identifier: MIT */
/* Copies between a packed array of elements and a surface. */
#ifndef WMI_TILING_COPY_H
#define WMI_TILING_COPY_H

#include "memory/tiling/tiling.h"

/* One level: `depth` slices of `height` rows of `width` elements, without gaps. tile: from `packed` to
 * `bytes` (the start of the surface), else back. False: no memory. */
bool wmi_surface_copy(const struct wmi_surface *surface, unsigned level, uint32_t width, uint32_t height,
                      uint32_t depth, unsigned char *packed, unsigned char *bytes, bool tile);

#endif

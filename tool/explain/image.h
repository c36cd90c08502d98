/* SPDX-License-Identifier: MIT */
/* Pictures of surfaces. */
#ifndef WAVEMEM_TOOL_EXPLAIN_IMAGE_H
#define WAVEMEM_TOOL_EXPLAIN_IMAGE_H

#include "wavemem/wavemem.h"

/* Draws the block that holds `place`, each element coloured by its address in the block. Returns an enum
 * tool_exit. */
int explain_draw(const char *path, const struct wm_surface *surface, const struct wm_surface_place *place);

#endif

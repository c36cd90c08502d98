/* SPDX-License-Identifier: MIT */
/* The drawing of a tessellation buffer. */
#ifndef WAVEMEM_TOOL_TESS_H
#define WAVEMEM_TOOL_TESS_H

#include "wavemem/wavemem.h"

/* Draws the layout as SVG to the file `path`. Returns an enum tool_exit, after a message if it fails. */
int tess_draw(const char *path, const struct wm_tess_layout *layout);

#endif

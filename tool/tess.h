/* SPDX-License-Identifier: MIT */
/* The picture of a tessellation buffer. */
#ifndef WAVEMEM_TOOL_TESS_H
#define WAVEMEM_TOOL_TESS_H

#include "wavemem/wavemem.h"

/* Draws the layout as SVG into the file `path`; an enum tool_exit, with a message if it fails. */
int tess_draw(const char *path, const struct wm_tess_layout *layout);

#endif

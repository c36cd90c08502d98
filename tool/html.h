/* SPDX-License-Identifier: MIT */
/* The profile as one HTML file that needs nothing else. */
#ifndef WAVEMEM_TOOL_HTML_H
#define WAVEMEM_TOOL_HTML_H

#include "wavemem/wavemem.h"

#include <jansson.h>

/* Writes the rows and the sums of `report` (what --json writes); TOOL_WRONG after a message. */
int tool_write_html(const struct wm_profile_row *const *rows, size_t count, const json_t *report,
                    const char *path);

#endif

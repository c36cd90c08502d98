/* SPDX-License-Identifier: MIT */
/* The profile as a self-contained HTML file. */
#ifndef WAVEMEM_TOOL_HTML_H
#define WAVEMEM_TOOL_HTML_H

#include "tool/report/report.h"

/* Writes the rows, their sources, and the sums in `json` (the output of --json). TOOL_WRONG: failed, with a
 * message. */
int tool_write_html(const struct tool_report *report, const json_t *json, const char *path);

#endif

/* SPDX-License-Identifier: MIT */
/* The JSON documents of `run`, `prof`, `replay` and `diff`: how they begin, and where they go. */
#ifndef WAVEMEM_TOOL_REPORT_DOCUMENT_H
#define WAVEMEM_TOOL_REPORT_DOCUMENT_H

#include <jansson.h>
#include <stdint.h>

/* Grows when what a report has already changes its meaning; new keys alone do not change it. */
enum { TOOL_REPORT_SCHEMA = 1 };

/* A new report with what every report begins with. */
json_t *tool_report(const char *verb);
/* Writes it to stdout, or to `path` when it is not NULL; returns `code`, or TOOL_WRONG after a message. */
int tool_write_report(const json_t *report, const char *path, int code);

/* Says on stderr, and in the report unless it is NULL, that the analysis of `what` is incomplete, and why.
 * Returns TOOL_INCOMPLETE. */
int tool_incomplete(json_t *report, const char *what, const char *why);

/* A name from a file as a string. JSON holds UTF-8 only: other bytes become \xNN. */
json_t *tool_json_text(const char *text);
/* Grid or workgroup as [x, y, z]. */
json_t *tool_json_extent(const uint32_t extent[3]);

#endif

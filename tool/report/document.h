/* SPDX-License-Identifier: MIT */
/* The JSON documents of `run`, `prof`, `replay` and `diff`: creation and output. */
#ifndef WAVEMEM_TOOL_REPORT_DOCUMENT_H
#define WAVEMEM_TOOL_REPORT_DOCUMENT_H

#include <jansson.h>
#include <stdint.h>

/* Incremented if the meaning of existing keys changes, not for new keys. */
enum { TOOL_REPORT_SCHEMA = 1 };

/* Creates a report with the common first keys. */
json_t *tool_report(const char *verb);
/* Writes the report to `path`; NULL: to stdout. Returns `code`, or TOOL_WRONG after a message. */
int tool_write_report(const json_t *report, const char *path, int code);

/* Reports on stderr, and in `report` unless NULL, that the analysis of `what` is incomplete, and why. Returns
 * TOOL_INCOMPLETE. */
int tool_incomplete(json_t *report, const char *what, const char *why);

/* A name from a file as a string. JSON is UTF-8 only: other bytes become \xNN. */
json_t *tool_json_text(const char *text);
/* Grid or workgroup as [x, y, z]. */
json_t *tool_json_extent(const uint32_t extent[3]);

#endif

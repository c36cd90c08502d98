/* SPDX-License-Identifier: MIT */
/* The lines of a kernel's tables: source lines with the sums of their instructions, or single instructions.
 */
#ifndef WAVEMEM_TOOL_REPORT_LINES_H
#define WAVEMEM_TOOL_REPORT_LINES_H

#include "tool/report/figures.h"

struct tool_line {
    const struct wm_profile_row *row; /* the most costly of its instructions */
    size_t rows;
    struct tool_sums sums;
};

/* Whether both rows belong to one source line of one symbol; false if it is unknown. */
bool tool_same_line(const struct wm_profile_row *a, const struct wm_profile_row *b);

/* What is a line of a table. Rows without a line of the source are lines of their own. */
enum tool_line_kind {
    TOOL_BY_INSTRUCTION,
    TOOL_BY_SOURCE, /* a line of the source */
    TOOL_BY_ACCESS, /* its loads from memory, its stores to LDS, ...: a mean over both would hide the worse */
};

/* "global load", "LDS store" */
enum { TOOL_ACCESS = 32 };
const char *tool_access_text(const struct wm_profile_row *row, char text[TOOL_ACCESS]);

/* Collects the rows of one kernel. sort: a figure, "offset" or "source"; NULL: the largest share of the
 * bounding part first, then the most wasted lines; lines without cache lines come last, ordered by conflicts.
 * Returns the number of lines; the caller frees *lines. */
size_t tool_lines(const struct wm_profile_row *const *rows, size_t count, enum tool_line_kind kind,
                  const char *sort, struct tool_line **lines);

#endif

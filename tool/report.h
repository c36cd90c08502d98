/* SPDX-License-Identifier: MIT */
/* The report of `prof`: sums, order of rows, text, JSON. */
#ifndef WAVEMEM_TOOL_REPORT_H
#define WAVEMEM_TOOL_REPORT_H

#include "wavemem/wavemem.h"

#include <jansson.h>

/* Sums over rows; lines and ideal only of rows that have them. */
struct tool_totals {
    uint64_t executions, lanes, bytes_asked, distinct_bytes, lines, ideal_lines;
    uint64_t fast, address_clocks, tag_lookups, read_requests, write_requests, atomic_requests, collapsed;
    uint64_t lds_passes, lds_conflicts, lds_serial;
    bool has_lines, has_vector, has_lds;
};

/* Adds the row to the sums. */
void tool_totals_add(struct tool_totals *totals, const struct wm_profile_row *row);

/* Guest address of the kernel: two of one name from two files are two. */
uint64_t tool_row_start(const struct wm_profile_row *row);
const char *tool_row_kernel(const struct wm_profile_row *row);

/* For qsort() of pointers to rows: kernels in the order of their code; in each the rows that waste most lines
 * first, those without lines last by their conflicts. */
int tool_worst_first(const void *left, const void *right);

/* The lanes of a mask as "0 2 4-7"; `text` holds any. */
const char *tool_lane_list(uint64_t lanes, char text[256]);

/* Prints the rows, which are in the order of tool_worst_first(), to stdout. */
void tool_report_text(const struct wm_profile_row *const *rows, size_t count);

/* Adds rows, sums by source line and totals to `report`. */
void tool_report_json(json_t *report, const struct wm_profile_row *const *rows, size_t count);

#endif

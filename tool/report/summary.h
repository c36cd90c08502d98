/* SPDX-License-Identifier: MIT */
/* What stands above the rows of a kernel, and what its pages and tables share. */
#ifndef WAVEMEM_TOOL_REPORT_SUMMARY_H
#define WAVEMEM_TOOL_REPORT_SUMMARY_H

#include "tool/report/report.h"

enum { TOOL_SHORT = 32, TOOL_SENTENCES = 400 };

/* The kernel that the row lies in; NULL: nothing more is known of it. */
const struct wm_profile_kernel *tool_kernel_of(const struct tool_report *report,
                                               const struct wm_profile_row *row);
/* "12.3 us" */
void tool_time_text(double seconds, char text[TOOL_SHORT]);
/* "512 B", "10.5 KiB" */
void tool_bytes_text(uint64_t bytes, char text[TOOL_SHORT]);
/* "4 KiB read, 512 B written, 512 B left in the caches": of memory. */
void tool_memory_text(const struct wm_profile_kernel *kernel, char text[4 * TOOL_SHORT]);
/* "180 B, 6144 fetches of 32 B": of code, and what the instruction cache holds if that is less. */
void tool_fetches_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES]);
/* Of how many workgroups the figures are, and how far they may be off; false: of all. */
bool tool_sample_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES]);
/* What each enum wm_profile_cut is called in JSON, and what it means. */
extern const struct tool_cut {
    unsigned cut;
    const char *key, *meaning;
    bool loses; /* accesses, so that the profile is incomplete */
} tool_cuts[];
extern const size_t tool_cut_count;
/* That caches did not see all that they should, and why; false: they did. */
bool tool_cut_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES]);
bool tool_loses_accesses(const struct wm_profile_kernel *kernel);
/* Reads, writes and atomics together. */
struct wm_cache_use tool_cache_use(const struct wm_profile_cache *cache);

/* Prints it, indented; nothing for NULL and where no product is known. */
void tool_summary_text(const struct wm_profile_kernel *kernel);
/* Prints the names and summaries of the kernels that have no rows; `before`: something stands above them. */
void tool_summaries_without_rows(const struct tool_report *report, bool before);

#endif

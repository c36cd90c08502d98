/* SPDX-License-Identifier: MIT */
/* The summary above the rows of a kernel, and texts that all reports share. */
#ifndef WAVEMEM_TOOL_REPORT_SUMMARY_H
#define WAVEMEM_TOOL_REPORT_SUMMARY_H

#include "tool/report/report.h"

enum { TOOL_SHORT = 32, TOOL_SENTENCES = 400 };

/* "12.3 us" */
void tool_time_text(double seconds, char text[TOOL_SHORT]);
/* "512 B", "10.5 KiB" */
void tool_bytes_text(uint64_t bytes, char text[TOOL_SHORT]);
/* Memory traffic: "4 KiB read, 512 B written, 512 B left in the caches". */
void tool_memory_text(const struct wm_profile_kernel *kernel, char text[4 * TOOL_SHORT]);
/* "21 us (x/÷ 1.3), bound by latency, at least 17.3 us"; false: no prediction. */
bool tool_predicted_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES]);
/* Code: "180 B, 6144 fetches of 32 B", and the size of the instruction cache if it is smaller. */
void tool_fetches_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES]);
/* "10 of 10 waves per SIMD, limited by waves (...)" */
void tool_occupancy_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES]);
/* The number of sampled workgroups and the error; false: all were observed. */
bool tool_sample_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES]);
/* The JSON name and the meaning of each enum wm_profile_cut. */
extern const struct tool_cut {
    unsigned cut;
    const char *key, *meaning;
    bool loses; /* accesses are lost: the profile is incomplete */
} tool_cuts[];
extern const size_t tool_cut_count;
/* Why the cache model did not see all accesses as it should; false: it did. */
bool tool_cut_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES]);
bool tool_loses_accesses(const struct wm_profile_kernel *kernel);
/* Reads, writes and atomics together. */
struct wm_cache_use tool_cache_use(const struct wm_profile_cache *cache);

/* Sorts the kernel's bounds, the longest first; returns how many. */
size_t tool_bounds(const struct wm_profile_kernel *kernel, const struct wm_bound *bounds[WM_PROFILE_BOUNDS]);

/* Prints the summary; nothing if `kernel` is NULL or has no product. */
void tool_summary_text(const struct wm_profile_kernel *kernel);

#endif

/* SPDX-License-Identifier: MIT */
/* Lane addresses of a wave relative to its first lane. Many instructions have the same few patterns, so memos
 * share them, which keeps the data to compare in the host's caches. */
#ifndef WMI_PROFILE_PATTERN_H
#define WMI_PROFILE_PATTERN_H

#include <stdalign.h>
#include <stdint.h>

enum { WMI_PATTERNS = 256 };

struct wmi_access_pattern {
    alignas(
        64) int32_t relative[64]; /* lane addresses relative to the first active lane; 0 for inactive lanes */
    uint64_t lanes;
    uint32_t users;
};

/* The most recently used patterns, by hash. */
struct wmi_access_patterns {
    struct wmi_access_pattern *of[WMI_PATTERNS];
};

/* Returns a reference to the pattern, for wmi_pattern_release(); NULL: out of memory. */
struct wmi_access_pattern *wmi_patterns_take(struct wmi_access_patterns *patterns, uint64_t lanes,
                                             const int32_t relative[64]);
void wmi_pattern_release(struct wmi_access_pattern *pattern); /* NULL is allowed */
void wmi_patterns_clear(struct wmi_access_patterns *patterns);

#endif

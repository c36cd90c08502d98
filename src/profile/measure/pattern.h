/* SPDX-License-Identifier: MIT */
/* How the lanes of a wave lie to the first of them. Many instructions ask in the same few ways, so memos
 * share their patterns: what is compared again and again then stays in the host's caches. */
#ifndef WMI_PROFILE_PATTERN_H
#define WMI_PROFILE_PATTERN_H

#include <stdalign.h>
#include <stdint.h>

enum { WMI_PATTERNS = 256 };

struct wmi_pattern {
    alignas(64) int32_t relative[64]; /* addresses of the lanes, from the first one's; of others 0 */
    uint64_t lanes;
    int32_t lowest, highest; /* of `relative` */
    uint32_t users;
};

/* Those that were used last, by a hash. */
struct wmi_patterns {
    struct wmi_pattern *of[WMI_PATTERNS];
};

/* The pattern, for wmi_pattern_release(); NULL: no memory. */
struct wmi_pattern *wmi_patterns_take(struct wmi_patterns *patterns, uint64_t lanes,
                                      const int32_t relative[64]);
void wmi_pattern_release(struct wmi_pattern *pattern); /* NULL is nothing */
void wmi_patterns_clear(struct wmi_patterns *patterns);

#endif

/* SPDX-License-Identifier: MIT */
/* Patterns of lane addresses, shared by memos. */
#include "profile/measure/pattern.h"

#include <stdlib.h>
#include <string.h>

static unsigned hash(uint64_t lanes, const int32_t relative[64])
{
    enum { SUMS = 4 }; /* independent sums, to hide the latency of multiplications */
    uint64_t sum[SUMS] = {lanes, 1, 2, 3}, all = 0;
    for (unsigned lane = 0; lane < 64; lane += 2 * SUMS)
        for (unsigned i = 0; i < SUMS; i++) {
            uint64_t word;
            memcpy(&word, relative + lane + 2 * i, sizeof word);
            sum[i] = (sum[i] ^ word) * 0x9e3779b97f4a7c15ULL;
            sum[i] ^= sum[i] >> 32;
        }
    for (unsigned i = 0; i < SUMS; i++)
        all = (all ^ sum[i]) * 0x9e3779b97f4a7c15ULL;
    return (unsigned)((all >> 32) % WMI_PATTERNS);
}

struct wmi_access_pattern *wmi_patterns_take(struct wmi_access_patterns *patterns, uint64_t lanes,
                                             const int32_t relative[64])
{
    struct wmi_access_pattern **place = &patterns->of[hash(lanes, relative)], *pattern = *place;
    if (!pattern || pattern->lanes != lanes ||
        memcmp(pattern->relative, relative, sizeof pattern->relative)) {
        wmi_pattern_release(pattern);
        *place = pattern = aligned_alloc(alignof(struct wmi_access_pattern), sizeof *pattern);
        if (!pattern)
            return NULL;
        memcpy(pattern->relative, relative, sizeof pattern->relative);
        pattern->lanes = lanes;
        pattern->users = 1;
    }
    pattern->users++;
    return pattern;
}

void wmi_pattern_release(struct wmi_access_pattern *pattern)
{
    if (pattern && !--pattern->users)
        free(pattern);
}

void wmi_patterns_clear(struct wmi_access_patterns *patterns)
{
    for (unsigned i = 0; i < WMI_PATTERNS; i++)
        wmi_pattern_release(patterns->of[i]);
    *patterns = (struct wmi_access_patterns){0};
}

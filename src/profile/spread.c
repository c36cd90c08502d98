/* SPDX-License-Identifier: MIT */
/* How misses are spread over the sets and channels of a cache. */
#include "profile/spread.h"

#include <stdlib.h>

static int descending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a < b) - (a > b);
}

/* The fewest of the parts that have at least half of all. */
static uint32_t fewest(const uint64_t *parts, uint32_t count, uint64_t all)
{
    uint64_t *sorted = malloc(count * sizeof *sorted), sum = 0;
    uint32_t few = 0;
    for (uint32_t i = 0; sorted && i < count; i++)
        sorted[i] = parts[i];
    if (sorted)
        qsort(sorted, count, sizeof *sorted, descending);
    while (sorted && few < count && 2 * sum < all)
        sum += sorted[few++];
    free(sorted);
    return few;
}

static uint32_t largest(const uint64_t *parts, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < count; i++)
        if (parts[i] > parts[most])
            most = i;
    return most;
}

void wmi_spread(struct wm_profile_cache *row, const struct wm_cache *cache, const uint64_t *missed,
                uint32_t sets)
{
    row->sets = sets;
    for (uint32_t set = 0; set < sets; set++)
        row->set_misses += missed[set];
    if (!sets)
        return;
    row->hot_sets = fewest(missed, sets, row->set_misses);
    row->hot_set = largest(missed, sets);
    row->hot_set_misses = missed[row->hot_set];
    const uint64_t bytes = (uint64_t)sets * cache->line;
    if (!cache->channels || bytes % ((uint64_t)WMI_CHANNEL_BYTES * cache->channels))
        return;
    uint64_t *channels = calloc(cache->channels, sizeof *channels);
    if (!channels)
        return;
    for (uint32_t set = 0; set < sets; set++)
        channels[(uint64_t)set * cache->line / WMI_CHANNEL_BYTES % cache->channels] += missed[set];
    row->channels = cache->channels;
    row->hot_channels = fewest(channels, cache->channels, row->set_misses);
    row->hot_channel = largest(channels, cache->channels);
    row->hot_channel_misses = channels[row->hot_channel];
    free(channels);
}

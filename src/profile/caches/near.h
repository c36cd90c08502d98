/* SPDX-License-Identifier: MIT */
/* The caches before L2. For caches_lanes.c only. */
#ifndef WMI_PROFILE_CACHES_NEAR_H
#define WMI_PROFILE_CACHES_NEAR_H

#include "profile/caches/requests.h"

/* Loads: removes requests that hit; misses allocate their lines. Returns the number of misses. Inlined for a
 * constant number of ways. */
static INLINE unsigned read_by(const struct wmi_caches *caches, const struct wmi_cache *cache, size_t start,
                               struct requests *requests, uint32_t ways, bool power)
{
    uint32_t *const tags = cache->tags + start;
    const uint32_t shift = cache->line_shift, mask = (uint32_t)cache->set_mask;
    const unsigned count = requests->count;
    unsigned left = 0;
    if (power && are_lines(cache, ways, requests)) {
        const uint64_t address = requests->address[0];
        const struct row row = row_of(cache, address, count);
        if (!has_of_row(tags, &row, ways)) {
            bring_row(tags, &row, ways);
            for (uint32_t i = 0; i < row.sets; i++)
                cache->missed[(row.first + i) & mask] += lines_in_set(&row, i);
            return count;
        }
        requests->row = false;
        for (unsigned i = 0; i < count; i++) {
            requests->address[left] = address + ((uint64_t)i << shift);
            const bool missed = wmi_sets_use(tags + set_in_row(&row, ways, i), ways, row.tag + i) == ways;
            cache->missed[(row.first + i) & mask] += missed;
            left += missed;
        }
        return left;
    }
    spread(requests);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t address = requests->address[i];
        const uint32_t line = (uint32_t)(address >> shift);
        const size_t set =
            power ? (size_t)(line & mask) * wmi_cache_room(ways) : set_of(caches, cache, false, 0, address);
        requests->address[left] = address;
        const bool missed = wmi_sets_use(tags + set, ways, line + 1) == ways;
        cache->missed[set / wmi_cache_room(ways)] += missed;
        left += missed;
    }
    return left;
}

/* Separate functions, to reduce register pressure. */
#define READ(name, ways, power)                                                                              \
    static NOINLINE unsigned name(const struct wmi_caches *caches, const struct wmi_cache *cache,            \
                                  size_t start, struct requests *requests)                                   \
    {                                                                                                        \
        return read_by(caches, cache, start, requests, ways, power);                                         \
    }
READ(read_64, 64, true)
READ(read_16, 16, true)
READ(read_4, 4, true)
READ(read_power, cache->ways, true)
READ(read_other, cache->ways, false)
#undef READ

static inline unsigned read_through(const struct wmi_caches *caches, const struct wmi_cache *cache,
                                    size_t start, struct requests *requests)
{
    return !cache->set_mask    ? read_other(caches, cache, start, requests)
           : cache->ways == 64 ? read_64(caches, cache, start, requests)
           : cache->ways == 16 ? read_16(caches, cache, start, requests)
           : cache->ways == 4  ? read_4(caches, cache, start, requests)
                               : read_power(caches, cache, start, requests);
}

/* The same, but hits evict the line, and misses do not allocate. */
static unsigned take_out(const struct wmi_caches *caches, const struct wmi_cache *cache, size_t start,
                         struct requests *requests)
{
    unsigned left = 0;
    spread(requests);
    for (unsigned i = 0; i < requests->count; i++) {
        const uint64_t address = requests->address[i];
        uint32_t *set = cache->tags + set_of(caches, cache, cache->set_mask, start, address);
        requests->address[left] = address;
        left += !wmi_sets_drop(set, cache->ways, tag_of(cache, address));
    }
    return left;
}

/* Whether a scan of all tags of the instance at `start` shows that it contains none of the lines. Returns
 * false if the scan would take longer than looking up each request. */
static bool has_none(const struct wmi_cache *cache, size_t start, const struct requests *requests)
{
    uint32_t lowest = UINT32_MAX, highest = 0;
    if (cache->sets > requests->count)
        return false;
    for (unsigned i = 0; i < requests->count; i++) {
        const uint32_t tag = tag_of(cache, requests->address[i]);
        lowest = tag < lowest ? tag : lowest;
        highest = tag > highest ? tag : highest;
    }
    const u32v low = wmi_splat_u32(lowest), tags = wmi_splat_u32(highest - lowest + 1);
    uint32_t found = 0;
    for (size_t at = start, end = start + (size_t)cache->sets * cache->room; at < end; at += WMI_VECTOR_LANES)
        found |= wmi_less_bits(*(const u32v *)(cache->tags + at) - low, tags);
    return !found;
}

/* Stores of whole blocks of half a line: both halves from one instruction make a line, which stays. */
static void write_halves(const struct wmi_caches *caches, const struct wmi_cache *cache, size_t start,
                         struct requests *requests)
{
    const uint64_t half = requests->bytes;
    const bool is_row = requests->row;
    spread(requests);
    for (unsigned i = 0; i < requests->count; i++) {
        const uint64_t address = requests->address[i];
        uint32_t *set = cache->tags + set_of(caches, cache, cache->set_mask, start, address);
        const bool whole =
            !(address & half) && i + 1 < requests->count && requests->address[i + 1] == address + half;
        if (whole)
            wmi_sets_use(set, cache->ways, tag_of(cache, address));
        else
            wmi_sets_drop(set, cache->ways, tag_of(cache, address));
        i += whole;
    }
    requests->row = is_row;
}

/* Stores and atomics pass through. fills: they write whole lines, which are allocated; else lines that they
 * hit are evicted. */
static void write_through(const struct wmi_caches *caches, const struct wmi_cache *cache, size_t start,
                          struct requests *requests, bool fills)
{
    const bool is_row = requests->row;
    if (is_row && !fills && are_lines(cache, cache->ways, requests)) {
        const struct row row = row_of(cache, requests->address[0], requests->count);
        if (!has_of_row(cache->tags + start, &row, cache->ways))
            return;
    }
    if (is_row && fills) {
        const uint64_t first = requests->address[0];
        read_through(caches, cache, start, requests);
        requests->address[0] = first;
        requests->row = true;
        return;
    }
    spread(requests);
    const bool drops = !fills && !has_none(cache, start, requests);
    for (unsigned i = 0; (fills || drops) && i < requests->count; i++) {
        uint32_t *set = cache->tags + set_of(caches, cache, cache->set_mask, start, requests->address[i]);
        const uint32_t tag = tag_of(cache, requests->address[i]);
        if (fills)
            wmi_sets_use(set, cache->ways, tag);
        else
            wmi_sets_drop(set, cache->ways, tag);
    }
    requests->row = is_row;
}

/* Accesses a cache before L2; requests that must go on remain. */
static void reach_near(struct wmi_caches *caches, enum wm_cache_level level, uint32_t instance,
                       enum wmi_cache_how how, struct requests *requests)
{
    const struct wmi_cache *cache = &caches->cache[level];
    const size_t start = start_of(cache, instance);
    struct wm_cache_use *use = &caches->uses[requests->slot].use[level];
    use->requests += requests->count;
    if (requests->kind == WMI_ACCESS_LOAD && how != WMI_CACHE_PAST) {
        const unsigned left = how == WMI_CACHE_LEAVE ? take_out(caches, cache, start, requests)
                                                     : read_through(caches, cache, start, requests);
        use->hits += requests->count - left;
        requests->count = left;
        return;
    }
    const bool full = requests->full && level == WM_CACHE_VECTOR && requests->kind == WMI_ACCESS_STORE;
    if (full && requests->bytes << 1 == 1u << cache->line_shift)
        write_halves(caches, cache, start, requests);
    else
        write_through(caches, cache, start, requests, full && requests->bytes >= 1u << cache->line_shift);
}

#endif

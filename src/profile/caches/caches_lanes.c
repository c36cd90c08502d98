/* SPDX-License-Identifier: MIT */
/* Processes the log of a round in the cache model. Rules: docs/model.md. */
#include "profile/caches/far.h"
#include "profile/caches/near.h"
#include "profile/measure/fetch.h"

#include <string.h>

enum {
    ENTRY = sizeof(struct wmi_log_entry) / sizeof(uint64_t),
    AHEAD = 12, /* waves whose logs are prefetched */
};

/* ---- the log ---- */

/* The value to add to an address with this upper half to make it short. If there are too many regions, the
 * first one is used. */
static NOINLINE uint64_t distance_of(struct wmi_caches *caches, uint64_t high)
{
    uint32_t index = 0;
    while (index < caches->regions && caches->region[index] != high)
        index++;
    if (index == WMI_CACHE_REGIONS) {
        caches->beyond = true;
        index = 0;
    } else if (index == caches->regions) {
        caches->region[caches->regions++] = (uint32_t)high;
    }
    caches->high = high;
    return caches->distance = (index - high) << 32;
}

/* Makes addresses with different upper halves short. */
static NOINLINE void shorten(struct wmi_caches *caches, struct requests *requests)
{
    for (unsigned i = 0; i < requests->count; i++)
        requests->address[i] += distance_of(caches, requests->address[i] >> 32);
}

typedef uint64_t __attribute__((vector_size(VECTOR * 8), may_alias, aligned(8))) loose_u64v;
typedef int32_t __attribute__((vector_size(VECTOR * 4), may_alias, aligned(4))) loose_i32half;

/* Writes the addresses of the blocks after the first one of an entry with a list. Returns whether all have
 * the same upper half as `low`, the short address of the first one. */
static inline bool read_list(const struct wmi_log_entry *entry, const uint64_t *words, uint64_t low,
                             unsigned shift, uint64_t *address)
{
    typedef int32_t __attribute__((may_alias)) difference;
    const difference *const list = (const difference *)(words + ENTRY) - 1; /* from block 1 on */
    const unsigned count = entry->count;
    u64v differs = {0};
    uint64_t elsewhere = 0;
    unsigned i = 1;
    address[0] = low;
    for (; i + VECTOR <= count; i += VECTOR) {
        const loose_i32half differences = *(const loose_i32half *)(list + i);
        const u64v at = ((u64v) __builtin_convertvector(differences, i64v) << shift) + low;
        *(loose_u64v *)(address + i) = at;
        differs |= at ^ low;
    }
    for (; i < count; i++) {
        address[i] = low + ((uint64_t)(int64_t)list[i] << shift);
        elsewhere |= address[i] ^ low;
    }
    return !(elsewhere >> 32) && !wmi_any((u32v)(differs >> 32));
}

/* Reads the addresses of an entry with a list, or of one that crosses a 4 GiB boundary. */
static NOINLINE void read_far(struct wmi_caches *caches, const uint64_t *words,
                              const struct wmi_log_entry *entry, uint64_t stride, unsigned shift,
                              struct requests *requests)
{
    const uint64_t first = entry->block << shift, high = first >> 32;
    const uint64_t distance = high == caches->high ? caches->distance : distance_of(caches, high);
    uint64_t *const address = requests->address;
    if (entry->list && read_list(entry, words, first + distance, shift, address))
        return;
    for (unsigned i = 0; i < requests->count; i++)
        address[i] = entry->list ? address[i] - distance : first + (i * stride << shift);
    shorten(caches, requests);
}

/* Reads the entry at *words and advances to the next one. waves: the entry is the first of `waves` entries
 * that are merged into one row. */
static inline const struct wmi_cache_route *read_entry(struct wmi_caches *caches, const uint64_t **words,
                                                       size_t waves, struct wmi_log_entry *entry,
                                                       struct requests *requests)
{
    memcpy(entry, *words, sizeof *entry);
    const struct wmi_cache_route *route = &caches->routes[entry->slot];
    const unsigned shift = route->shift, count = entry->count * (unsigned)waves;
    const uint64_t stride = waves > 1 ? 1 : (uint64_t)entry->stride;
    const uint64_t low = entry->block << shift, last = low + ((count - 1) * stride << shift),
                   high = low >> 32;
    requests->count = count;
    requests->bytes = 1u << shift;
    requests->slot = entry->slot;
    requests->kind = (enum wmi_access_kind)route->kind;
    requests->full = entry->full;
    requests->streams = route->streams;
    requests->skips_last = route->skips_last;
    requests->row = false;
    if (entry->list || high != last >> 32) {
        read_far(caches, *words, entry, stride, shift, requests);
        *words += ENTRY + (entry->list ? count / 2 : 0);
        return route;
    }
    *words += ENTRY;
    requests->address[0] = low + (high == caches->high ? caches->distance : distance_of(caches, high));
    requests->row = stride == 1;
    if (!requests->row && count > 1)
        write_steps(requests, requests->address[0], stride << shift);
    return route;
}

/* Counts the misses `left` of a code fetch. A miss of the line `first` is a full miss; misses of later lines
 * are late, because they were prefetched just before use. The line `ahead`, prefetched after the end, does
 * not count. `first` or `ahead` is odd, and so matches nothing, if this part of an access does not have it.
 */
static void note_fetch(struct wmi_caches *caches, const struct requests *left, uint64_t first, uint64_t ahead)
{
    struct wmi_slot_use *use = &caches->uses[left->slot];
    for (unsigned i = 0; i < left->count; i++) {
        use->fetch_missed += left->address[i] == first;
        use->fetch_late += left->address[i] != first && left->address[i] != ahead;
    }
}

/* Invalidates the wave's caches in `named` (a mask of 1 << enum wm_cache_level). */
static NOINLINE void invalidate(const struct wmi_caches *caches, unsigned named, const uint32_t *instance)
{
    for (unsigned level = 0; level < WM_CACHE_L2; level++) {
        const struct wmi_cache *cache = &caches->cache[level];
        if (!(named >> level & 1) || !cache->tags)
            continue;
        memset(cache->tags + start_of(cache, instance[level]), 0,
               (size_t)cache->sets * cache->room * sizeof *cache->tags);
        if (cache->last)
            memset(cache->last[instance[level]], 0, sizeof *cache->last);
    }
}

/* Waves of one place whose next accesses are processed together. */
struct together {
    size_t waves;
    bool row; /* they form a row; else they are equal loads, and all but the first hit */
};

/* Finds such waves, starting at the first of `left` cursors. */
static inline struct together find_together(const struct wmi_caches *caches,
                                            const struct wmi_cache_cursor *cursor, size_t left)
{
    const uint64_t *const words = cursor->at;
    struct wmi_log_entry entry;
    memcpy(&entry, words, sizeof entry);
    if (left < 2 || cursor[1].place != cursor->place || cursor[1].at[1] != words[1] || entry.list ||
        entry.continues)
        return (struct together){.waves = 1};
    const struct wmi_cache_route *route = &caches->routes[entry.slot];
    const uint64_t distance = cursor[1].at[0] - words[0];
    const bool row = distance == entry.count && (entry.count == 1 || entry.stride == 1) &&
                     !((entry.block | entry.count) & (route->pieces - 1u));
    const bool same = !distance && route->repeats && entry.count <= caches->cache[route->first].ways;
    if (route->is_code || !(row || same))
        return (struct together){.waves = 1};
    const size_t most = row && WMI_LOG_BLOCKS / entry.count < left ? WMI_LOG_BLOCKS / entry.count : left;
    struct together together = {.waves = 1, .row = row};
    for (const struct wmi_cache_cursor *other = cursor + 1;
         together.waves < most && other->place == cursor->place && other->at[1] == words[1] &&
         other->at[0] == other[-1].at[0] + distance;
         other++)
        together.waves++;
    return together;
}

/* Whether the entry equals the previous one of the cache, so that all its requests hit; stores the entry.
 * row: it is the first of a row. */
static inline bool is_last(const struct wmi_cache *cache, uint32_t instance,
                           const struct wmi_log_entry *entry, bool row)
{
    uint64_t words[ENTRY] = {0}, *last = cache->last[instance];
    const bool fits = entry->count <= cache->ways ||
                      (entry->stride == 1 && entry->count <= (uint64_t)cache->sets * cache->ways);
    if (fits && !row && !entry->list && !entry->continues)
        memcpy(words, entry, sizeof words);
    const bool same = words[1] && last[0] == words[0] && last[1] == words[1];
    memcpy(last, words, sizeof words);
    return same;
}

/* Processes the next access of the first of `left` waves, with the preceding code fetches, and those of
 * following waves that can be processed together. Returns the number of waves. */
static inline size_t step(struct wmi_caches *caches, struct wmi_cache_cursor *cursor, size_t left)
{
    const struct together together = find_together(caches, cursor, left);
    const size_t others = together.waves - 1;
    struct wmi_log_entry entry = {0};
    const struct wmi_cache_route *route;
    do {
        const bool within = entry.continues;
        struct requests requests;
        route = read_entry(caches, &cursor->at, together.row ? together.waves : 1, &entry, &requests);
        if (route->is_control) {
            invalidate(caches, route->invalidates, cursor->place->instance);
            break;
        }
        const uint32_t *instance = cursor->place->instance;
        const struct wmi_cache *first = &caches->cache[route->first];
        struct wm_cache_use *use = &caches->uses[entry.slot].use[route->first];
        if (first->last && is_last(first, instance[route->first], &entry, together.row) && route->repeats &&
            !within) {
            use->requests += together.waves * entry.count;
            use->hits += together.waves * entry.count;
            continue;
        }
        if (route->is_code)
            spread(&requests);
        const uint64_t low = requests.address[0] | within,
                       ahead = route->is_code ? requests.address[requests.count - 1] | entry.continues : 0;
        if (others && !together.row) {
            use->requests += others * entry.count;
            use->hits += others * entry.count;
        }
        if (route->near)
            reach_near(caches, route->first, instance[route->first], route->near, &requests);
        if (route->is_code)
            note_fetch(caches, &requests, low, ahead);
        if (requests.count && route->gl1)
            reach_near(caches, WM_CACHE_GL1, instance[WM_CACHE_GL1], route->gl1, &requests);
        if (requests.count)
            reach_far(caches, instance[WM_CACHE_L2], &requests);
    } while (entry.continues || (route->goes_on && cursor->at < cursor->end));
    for (size_t i = 1; i <= others; i++)
        cursor[i].at += ENTRY;
    return together.waves;
}

/* Prefetches the rest of the next entry, whose start is in the host's caches by now. */
static inline void prefetch_list(const uint64_t *words)
{
    enum { LINE = 64 / sizeof *words };
    struct wmi_log_entry entry;
    memcpy(&entry, words, sizeof entry);
    for (size_t at = LINE, end = ENTRY + entry.count / 2; entry.list && at < end; at += LINE)
        __builtin_prefetch(words + at);
}

wmi_caches_walk WMI_BUILD_NAME(wmi_caches_walk);
size_t WMI_BUILD_NAME(wmi_caches_walk)(struct wmi_caches *caches, size_t carried, size_t count,
                                       uint64_t turns)
{
    struct wmi_cache_cursor *cursors = caches->cursors;
    size_t left = carried, next = carried;
    for (uint64_t turn = 0; (left || next < count) && (turn < turns || carried); turn++) {
        size_t kept = 0, kept_carried = 0, prefetched = 0;
        for (; next < count && cursors[next].start <= turn; next++)
            cursors[left++] = cursors[next];
        for (size_t i = 0, done; i < left; i += done) {
            for (; prefetched < i + AHEAD && prefetched < left; prefetched++)
                __builtin_prefetch(cursors[prefetched].at);
            if (i + AHEAD / 2 < left)
                prefetch_list(cursors[i + AHEAD / 2].at);
            done = step(caches, &cursors[i], left - i);
            for (size_t wave = i; wave < i + done; wave++)
                if (cursors[wave].at < cursors[wave].end) {
                    if (kept < wave)
                        cursors[kept] = cursors[wave];
                    kept++;
                    kept_carried += wave < carried;
                }
        }
        left = kept;
        carried = kept_carried;
    }
    drain_last(caches, 0);
    return left;
}

wmi_caches_flush WMI_BUILD_NAME(wmi_caches_flush);
uint64_t WMI_BUILD_NAME(wmi_caches_flush)(struct wmi_caches *caches, size_t words)
{
    const struct wmi_cache *l2 = &caches->cache[WM_CACHE_L2];
    uint64_t sectors = 0;
    for (size_t i = 0; i < words; i++) {
        const uint32_t dirty = l2->tags[i] ? l2->states[i] & WMI_LINE_DIRTY : 0;
        if (dirty)
            write_back(caches, l2->tags[i], l2->states[i]);
        sectors += dirty == WMI_LINE_DIRTY ? 2 : dirty != 0;
        l2->tags[i] = l2->states[i] = 0;
    }
    drain_last(caches, 0);
    return sectors;
}

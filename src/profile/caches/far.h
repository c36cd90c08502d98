/* SPDX-License-Identifier: MIT */
/* L2, last-level cache and memory. For caches_lanes.c only. */
#ifndef WMI_PROFILE_CACHES_FAR_H
#define WMI_PROFILE_CACHES_FAR_H

#include "profile/caches/requests.h"

/* ---- after L2 ---- */

static void use_last(struct wmi_caches *caches, const struct wmi_last_request request)
{
    const struct wmi_cache *last = &caches->cache[WM_CACHE_LAST];
    struct wmi_slot_use *use = &caches->uses[request.slot];
    const uint32_t tag = tag_of(last, request.address);
    const size_t set = set_of(caches, last, last->set_mask, 0, request.address);
    if (request.skips && wmi_sets_find(last->tags + set, last->ways, tag) == last->ways) {
        use->use[WM_CACHE_LAST].requests++;
        use->memory_read += WMI_CACHE_SECTOR;
        return;
    }
    const uint32_t way = wmi_sets_use(last->tags + set, last->ways, tag);
    const bool hit = way < last->ways;
    const uint32_t old = last->states[set + (hit ? way : last->ways - 1)];
    const uint32_t there = hit ? old : 0;
    use->use[WM_CACHE_LAST].requests++;
    use->use[WM_CACHE_LAST].hits += hit;
    wmi_sets_follow(last->states + set, last->ways, way,
                    request.writes ? request.slot << WMI_LINE_SLOT_SHIFT | (there & WMI_LINE_DIRTY) |
                                         WMI_LINE_DIRTY_0 | WMI_LINE_VALID_0
                                   : there | WMI_LINE_VALID_0);
    if (hit)
        return;
    if (old & WMI_LINE_DIRTY)
        caches->uses[old >> WMI_LINE_SLOT_SHIFT].memory_written += WMI_CACHE_SECTOR;
    if (!request.writes)
        use->memory_read += WMI_CACHE_SECTOR;
}

/* Carries out requests to the last-level cache until `count` are left. */
static void drain_last(struct wmi_caches *caches, unsigned count)
{
    for (; caches->waiting_count > count; caches->waiting_count--)
        use_last(caches, caches->waiting[caches->first_waiting++ % WMI_CACHE_WAITING]);
}

/* Transfers a sector between L2 and the next level. skips: misses do not allocate in the last-level cache. */
static void reach_last(struct wmi_caches *caches, uint64_t address, uint32_t slot, bool writes, bool skips)
{
    const struct wmi_cache *last = &caches->cache[WM_CACHE_LAST];
    struct wmi_slot_use *use = &caches->uses[slot];
    if (!last->tags) {
        *(writes ? &use->memory_written : &use->memory_read) += WMI_CACHE_SECTOR;
        return;
    }
    const size_t set = set_of(caches, last, last->set_mask, 0, address);
    __builtin_prefetch(last->tags + set, 1);
    __builtin_prefetch(last->states + set, 1);
    drain_last(caches, WMI_CACHE_WAITING - 1);
    caches->waiting[(caches->first_waiting + caches->waiting_count++) % WMI_CACHE_WAITING] =
        (struct wmi_last_request){address, slot, writes, skips};
}

/* Writes back the dirty sectors of a line evicted from L2. */
static void write_back(struct wmi_caches *caches, uint32_t tag, uint32_t state)
{
    const uint64_t start = (uint64_t)(tag - 1) << caches->cache[WM_CACHE_L2].line_shift;
    for (unsigned sector = 0; sector < 2; sector++)
        if (state & (uint32_t)WMI_LINE_DIRTY_0 << sector)
            reach_last(caches, start + sector * WMI_CACHE_SECTOR, state >> WMI_LINE_SLOT_SHIFT, true, false);
}

/* ---- L2 ---- */

/* Results of an entry's requests to L2. */
struct far {
    uint32_t requests, hits, read; /* read: missed sectors */
};

/* How a line is looked up in L2. */
enum seek {
    SEEK,
    ABSENT, /* known to miss */
    STREAM, /* does not change the LRU order: see struct wmi_vector_rules */
};

/* Parameters of an entry's requests to L2. Passed by value, so that stores to lines cannot alias it. */
struct ask {
    uint32_t *tags, *states; /* of the instance */
    uint64_t *missed;        /* by set, of all instances */
    uint32_t ways, shift, slot;
    bool loads, stores, brings, has_last, skips_last;
};

/* Accesses one line of L2, which has a valid and a dirty bit per sector. set: index of the set in tags and
 * states. Inlined for a constant number of ways. */
static INLINE void ask_line(struct wmi_caches *caches, const struct ask ask, size_t set, uint32_t tag,
                            uint32_t wanted, enum seek seek, struct far *far)
{
    const uint32_t ways = ask.ways;
    uint32_t *tags = ask.tags + set, *states = ask.states + set;
    const uint32_t way = seek == ABSENT ? ways : wmi_sets_find(tags, ways, tag);
    const bool found = way < ways;
    if (seek == SEEK && ask.loads && found && !(wanted & ~states[way])) {
        const uint32_t state = states[way];
        wmi_sets_follow(tags, ways, way, tag);
        wmi_sets_follow(states, ways, way, state);
        far->requests++;
        far->hits++;
        return;
    }
    /* The way to evict: the last one, if it is empty; for STREAM the first empty one, if any. */
    const uint32_t room = found || seek != STREAM ? ways - 1 : wmi_sets_room(tags, ways);
    const bool chooses = !found && seek != STREAM && tags[room];
    const uint32_t gone =
        chooses ? wmi_sets_victim(states, ways, WMI_LINE_DIRTY, ways / WMI_DIRTY_WAYS) : room;
    const uint32_t gone_tag = tags[gone];
    const uint32_t place = found ? way : gone, old = states[place], there = found ? old : 0;
    const uint32_t missing = ask.stores ? 0 : wanted & ~there;
    uint32_t now = there | (ask.brings ? wanted : 0);
    if (!ask.loads)
        now = (now & (WMI_LINE_VALID | WMI_LINE_DIRTY)) | ask.slot << WMI_LINE_SLOT_SHIFT |
              wanted * WMI_LINE_DIRTY_0;
    if (seek == STREAM) {
        tags[place] = tag;
        states[place] = now;
    } else {
        wmi_sets_follow(tags, ways, place, tag);
        wmi_sets_follow(states, ways, place, now);
    }
    ask.missed[set / wmi_cache_room(ways)] += !found;
    far->requests++;
    far->hits += ask.stores ? found : !missing;
    far->read += (missing & 1) + (missing >> 1);
    if (!found && old & WMI_LINE_DIRTY)
        write_back(caches, gone_tag, old);
    for (unsigned sector = 0; ask.has_last && sector < 2; sector++)
        if (missing & (uint32_t)WMI_LINE_VALID_0 << sector)
            reach_last(caches, ((uint64_t)(tag - 1) << ask.shift) + sector * WMI_CACHE_SECTOR, ask.slot,
                       false, ask.skips_last);
}

static INLINE struct far ask_each(struct wmi_caches *caches, const struct ask ask, struct requests *requests,
                                  bool power, enum seek seek)
{
    spread(requests);
    const unsigned count = requests->count, shift = ask.shift;
    const bool narrow = shift == WMI_CACHE_SECTOR_SHIFT, pairs = ask.loads && requests->bytes < 1u << shift;
    const bool two = requests->bytes > WMI_CACHE_SECTOR && !narrow;
    const struct wmi_cache *l2 = &caches->cache[WM_CACHE_L2];
    struct far far = {0};
    for (unsigned i = 0; i < count; i++) {
        const uint64_t address = requests->address[i];
        uint32_t wanted = two ? WMI_LINE_VALID : WMI_LINE_VALID_0;
        if (!narrow) {
            wanted <<= address >> WMI_CACHE_SECTOR_SHIFT & 1;
            /* Loads merge adjacent blocks of a line into one request. */
            if (pairs && i + 1 < count && requests->address[i + 1] == address + WMI_CACHE_SECTOR &&
                address >> shift == requests->address[i + 1] >> shift) {
                wanted = WMI_LINE_VALID;
                i++;
            }
        }
        const uint32_t line = (uint32_t)(address >> shift);
        const size_t set =
            power ? wmi_cache_hash(line, (uint32_t)l2->set_mask, l2->fold) * (size_t)wmi_cache_room(ask.ways)
                  : set_of(caches, l2, false, 0, address);
        ask_line(caches, ask, set, line + 1, wanted, seek, &far);
    }
    return far;
}

/* Whether the requests are a row of several whole lines of L2, each in a different set. */
static inline bool are_far_lines(const struct wmi_cache *l2, const struct requests *requests)
{
    const uint64_t bytes = (uint64_t)requests->count * requests->bytes, line = 1ULL << l2->line_shift;
    return requests->row && bytes > line && bytes >> l2->line_shift <= l2->sets && requests->bytes <= line &&
           (requests->bytes == line || requests->kind != WMI_ACCESS_ATOMIC) &&
           !((requests->address[0] | bytes) & (line - 1));
}

/* The same as ask_each(), for such a row. */
static INLINE struct far ask_row(struct wmi_caches *caches, const struct ask ask, const struct row row,
                                 unsigned count)
{
    const uint32_t wanted = ask.shift == WMI_CACHE_SECTOR_SHIFT ? WMI_LINE_VALID_0 : WMI_LINE_VALID;
    const uint32_t fold = caches->cache[WM_CACHE_L2].fold;
    struct far far = {0};
    for (uint32_t i = 0; i < row.count; i++) {
        const size_t set = wmi_cache_hash(row.tag - 1 + i, row.mask, fold) * (size_t)wmi_cache_room(ask.ways);
        if (__builtin_expect(wmi_sets_find(ask.tags + set, ask.ways, row.tag + i) == ask.ways, 1))
            ask_line(caches, ask, set, row.tag + i, wanted, ABSENT, &far);
        else
            ask_line(caches, ask, set, row.tag + i, wanted, SEEK, &far);
    }
    if (ask.stores) { /* the second store to a line hits */
        far.requests += count - row.count;
        far.hits += count - row.count;
    }
    return far;
}

static INLINE struct far ask_any(struct wmi_caches *caches, const struct ask ask, struct requests *requests)
{
    const struct wmi_cache *l2 = &caches->cache[WM_CACHE_L2];
    if (!are_far_lines(l2, requests))
        return ask_each(caches, ask, requests, true, SEEK);
    const struct row row =
        row_of(l2, requests->address[0], (uint32_t)(requests->count * requests->bytes >> ask.shift));
    return ask_row(caches, ask, row, requests->count);
}

/* What a request moves: its block, but less of one that is written in part, which is at least the 64 bytes
 * that a channel takes in a clock. */
static INLINE uint64_t bytes_of(const struct requests *requests)
{
    const bool partly = requests->kind != WMI_ACCESS_LOAD && !requests->full;
    return partly ? WMI_CACHE_SECTOR : requests->bytes;
}

static INLINE void count_far(struct wmi_caches *caches, const struct ask ask, const struct requests *requests,
                             const struct far far)
{
    struct wmi_slot_use *use = &caches->uses[requests->slot];
    if (!ask.has_last) /* else counted by reach_last() */
        use->memory_read += (uint64_t)far.read * WMI_CACHE_SECTOR;
    use->use[WM_CACHE_L2].requests += far.requests;
    use->use[WM_CACHE_L2].hits += far.hits;
    use->use[WM_CACHE_L2].bytes += requests->count * bytes_of(requests);
}

/* Separate functions, to reduce register pressure. */
typedef void ask_far(struct wmi_caches *caches, const struct ask *how, struct requests *requests);

static NOINLINE void ask_power(struct wmi_caches *caches, const struct ask *how, struct requests *requests)
{
    const struct ask ask = *how;
    count_far(caches, ask, requests, ask_any(caches, ask, requests));
}

/* Specialized for most products, by line size, and by loads or writes. */
#define ASK_16(name, line_shift, loads_only)                                                                 \
    static NOINLINE void name(struct wmi_caches *caches, const struct ask *how, struct requests *requests)   \
    {                                                                                                        \
        struct ask ask = *how;                                                                               \
        ask.ways = 16;                                                                                       \
        ask.shift = line_shift;                                                                              \
        ask.has_last = false;                                                                                \
        ask.loads = loads_only;                                                                              \
        ask.stores &= !loads_only;                                                                           \
        ask.brings |= loads_only;                                                                            \
        count_far(caches, ask, requests, ask_any(caches, ask, requests));                                    \
    }
ASK_16(load_16_narrow, 6, true)
ASK_16(load_16_wide, 7, true)
ASK_16(write_16_narrow, 6, false)
ASK_16(write_16_wide, 7, false)
#undef ASK_16

static NOINLINE void ask_other(struct wmi_caches *caches, const struct ask *how, struct requests *requests)
{
    const struct ask ask = *how;
    const bool power = caches->cache[WM_CACHE_L2].set_mask;
    count_far(caches, ask, requests,
              requests->streams ? ask_each(caches, ask, requests, power, STREAM)
                                : ask_each(caches, ask, requests, false, SEEK));
}

/* Counts atomics by line. */
static void count_atomics(struct wmi_caches *caches, const struct requests *requests)
{
    const struct wmi_cache *l2 = &caches->cache[WM_CACHE_L2];
    struct wmi_atomic_lines *lines = &caches->atomics;
    for (unsigned i = 0; i < requests->count; i++) {
        const uint64_t address =
            requests->row ? requests->address[0] + (uint64_t)i * requests->bytes : requests->address[i];
        const uint32_t tag = tag_of(l2, address);
        uint32_t slot = tag * 0x9e3779b9u >> 20;
        while (lines->tag[slot] && lines->tag[slot] != tag)
            slot = (slot + 1) % WMI_ATOMIC_LINES;
        if (!lines->tag[slot] && lines->used == WMI_ATOMIC_LINES / 2)
            continue;
        lines->used += !lines->tag[slot];
        lines->tag[slot] = tag;
        const uint64_t now = ++lines->requests[slot];
        lines->most = now > lines->most ? now : lines->most;
    }
}

static void reach_far(struct wmi_caches *caches, uint32_t xcd, struct requests *requests)
{
    const struct wmi_cache *l2 = &caches->cache[WM_CACHE_L2];
    if (requests->kind == WMI_ACCESS_ATOMIC)
        count_atomics(caches, requests);
    const size_t start = start_of(l2, xcd);
    const bool has_last = caches->cache[WM_CACHE_LAST].tags;
    const struct ask ask = {.tags = l2->tags + start,
                            .states = l2->states + start,
                            .missed = l2->missed,
                            .ways = l2->ways,
                            .shift = l2->line_shift,
                            .slot = requests->slot,
                            .loads = requests->kind == WMI_ACCESS_LOAD,
                            .stores = requests->kind == WMI_ACCESS_STORE,
                            .brings = requests->kind != WMI_ACCESS_STORE || requests->full,
                            .has_last = has_last,
                            .skips_last = requests->skips_last};
    static ask_far *const most[2][2] = {{write_16_narrow, load_16_narrow}, {write_16_wide, load_16_wide}};
    const bool is_common = l2->ways == 16 && !has_last && (ask.shift == 6 || ask.shift == 7);
    ask_far *const far = requests->streams || !l2->set_mask ? ask_other
                         : is_common                        ? most[ask.shift == 7][ask.loads]
                                                            : ask_power;
    far(caches, &ask, requests);
}

#endif

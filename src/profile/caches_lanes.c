/* SPDX-License-Identifier: MIT */
/* The path from a compute unit to memory, which the log of a round drives: docs/model.md has the rules. */
#include "base/lane_set.h"
#include "memory/access.h"
#include "profile/fetch.h"
#include "profile/sets.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>

/* The requests of one entry of the log that a cache does not answer go on to the next one. */
struct requests {
    alignas(64) uint64_t address[WMI_LOG_BLOCKS + 1]; /* short ones; of a row there is the first one */
    unsigned count;
    bool row; /* each block lies behind the one before it */
    uint32_t bytes, slot;
    enum wmi_access_kind kind;
    bool full;    /* stores that write all of the bytes */
    bool streams; /* see struct wmi_vector_rules */
    bool skips_last;
};

enum {
    ENTRY = sizeof(struct wmi_log_entry) / sizeof(uint64_t),
    AHEAD = 12, /* waves, of which the log is asked for ahead */
    VECTOR = WMI_VECTOR_LANES / 2,
};

static_assert((WMI_LOG_BLOCKS + 1) % VECTOR == 0, "addresses are written as whole vectors");

#define INLINE inline __attribute__((always_inline))

/* ---- rows ---- */

/* Writes `count` addresses that begin at `address`. */
static inline void write_steps(struct requests *requests, uint64_t address, uint64_t step)
{
    u64v lanes; /* a loop over the few that there are takes longer */
    for (unsigned i = 0; i < VECTOR; i++)
        lanes[i] = i;
    lanes = lanes * step + address;
    for (unsigned i = 0; i < requests->count; i += VECTOR, lanes += VECTOR * step)
        *(u64v *)(requests->address + i) = lanes;
}

/* Makes each request of a row one of its own. */
static inline void spread(struct requests *requests)
{
    if (requests->row && requests->count > 1)
        write_steps(requests, requests->address[0], requests->bytes);
    requests->row = false;
}

/* ---- one cache ---- */

static inline uint32_t tag_of(const struct wmi_cache *cache, uint64_t address)
{
    return (uint32_t)(address >> cache->line_shift) + 1;
}

/* Where the set of the line begins in tags and states, of an instance that begins at `start`. power: there is
 * a power of two of sets. */
static INLINE size_t set_of(const struct wmi_caches *caches, const struct wmi_cache *cache, bool power,
                            size_t start, uint64_t address)
{
    uint64_t set = address >> cache->line_shift & cache->set_mask;
    if (!power) /* the whole address counts */
        set = (((uint64_t)caches->region[address >> 32] << 32 | (uint32_t)address) >> cache->line_shift) %
              cache->sets;
    return start + set * cache->room;
}

static inline size_t start_of(const struct wmi_cache *cache, uint32_t instance)
{
    return (size_t)instance * cache->sets * cache->room;
}

/* A row's lines in a cache with a power of two of sets. */
struct row {
    uint32_t tag, count;
    uint32_t first, mask; /* set of the first line; of sets */
    uint32_t sets;        /* that it reaches */
};

/* Whether the requests are a row of two of the cache's lines or more, that fit into it as one. */
static INLINE bool are_lines(const struct wmi_cache *cache, uint32_t ways, const struct requests *requests)
{
    const uint32_t most = ways < WMI_VECTOR_LANES ? ways : WMI_VECTOR_LANES; /* of a set */
    return requests->row && requests->count > 1 && requests->bytes == 1u << cache->line_shift &&
           requests->count <= (uint64_t)cache->sets * most;
}

static INLINE struct row row_of(const struct wmi_cache *cache, uint64_t address, uint32_t count)
{
    const uint32_t sets = cache->sets;
    return (struct row){.tag = tag_of(cache, address),
                        .count = count,
                        .first = (uint32_t)(address >> cache->line_shift & cache->set_mask),
                        .mask = (uint32_t)cache->set_mask,
                        .sets = count < sets ? count : sets};
}

/* As in struct wmi_cache. */
static INLINE size_t room_of(uint32_t ways)
{
    return (ways + WMI_CACHE_WAYS - 1) / WMI_CACHE_WAYS * WMI_CACHE_WAYS;
}

/* Where the row's i-th set begins, in an instance with so many ways. */
static INLINE size_t set_in_row(const struct row *row, uint32_t ways, uint32_t i)
{
    return ((row->first + i) & row->mask) * room_of(ways);
}

/* Whether the instance with these tags has a line of the row. */
static INLINE bool has_of_row(const uint32_t *tags, const struct row *row, uint32_t ways)
{
    const u32v tag = wmi_splat_u32(row->tag), count = wmi_splat_u32(row->count);
    for (uint32_t i = 0; i < row->sets; i++) {
        const uint32_t *set = tags + set_in_row(row, ways, i);
        uint32_t found = 0;
        for (uint32_t first = 0; first < ways; first += WMI_VECTOR_LANES)
            found |= wmi_less_bits(*(const u32v *)(set + first) - tag, count);
        if (found)
            return true;
    }
    return false;
}

/* Brings in a row of which nothing is there. */
static INLINE void bring_row(uint32_t *tags, const struct row *row, uint32_t ways)
{
    const uint32_t sets = row->mask + 1;
    for (uint32_t i = 0; i < row->sets; i++) {
        const uint32_t lines = (row->count - i - 1) / sets + 1;
        wmi_sets_bring(tags + set_in_row(row, ways, i), ways, row->tag + i + (lines - 1) * sets, sets, lines);
    }
}

/* ---- behind L2 ---- */

/* A sector, to or from behind L2. skips: what is not there is not brought in. */
static void reach_last(struct wmi_caches *caches, uint64_t address, uint32_t slot, bool writes, bool skips)
{
    const struct wmi_cache *last = &caches->cache[WM_CACHE_LAST];
    struct wmi_slot_use *use = &caches->uses[slot];
    if (!last->tags) {
        *(writes ? &use->memory_written : &use->memory_read) += WMI_CACHE_SECTOR;
        return;
    }
    const size_t set = set_of(caches, last, last->set_mask, 0, address);
    if (skips && wmi_sets_find(last->tags + set, last->ways, tag_of(last, address)) == last->ways) {
        use->use[WM_CACHE_LAST].requests++;
        use->memory_read += WMI_CACHE_SECTOR;
        return;
    }
    const uint32_t way = wmi_sets_use(last->tags + set, last->ways, tag_of(last, address));
    const bool hit = way < last->ways;
    const uint32_t old = last->states[set + (hit ? way : last->ways - 1)];
    const uint32_t there = hit ? old : 0;
    use->use[WM_CACHE_LAST].requests++;
    use->use[WM_CACHE_LAST].hits += hit;
    wmi_sets_follow(last->states + set, last->ways, way,
                    writes ? slot << WMI_LINE_SLOT_SHIFT | (there & WMI_LINE_DIRTY) | WMI_LINE_DIRTY_0 |
                                 WMI_LINE_VALID_0
                           : there | WMI_LINE_VALID_0);
    if (hit)
        return;
    if (old & WMI_LINE_DIRTY)
        caches->uses[old >> WMI_LINE_SLOT_SHIFT].memory_written += WMI_CACHE_SECTOR;
    if (!writes)
        use->memory_read += WMI_CACHE_SECTOR;
}

/* The line that was `state` and had the tag leaves L2. */
static void write_back(struct wmi_caches *caches, uint32_t tag, uint32_t state)
{
    const uint64_t start = (uint64_t)(tag - 1) << caches->cache[WM_CACHE_L2].line_shift;
    for (unsigned sector = 0; sector < 2; sector++)
        if (state & (uint32_t)WMI_LINE_DIRTY_0 << sector)
            reach_last(caches, start + sector * WMI_CACHE_SECTOR, state >> WMI_LINE_SLOT_SHIFT, true, false);
}

/* ---- L2 ---- */

/* What becomes of the requests of an entry in L2. */
struct far {
    uint32_t asked, hits, read; /* read: sectors, where memory is next */
};

/* How a line of L2 is found. */
enum seek {
    SEEK,
    ABSENT, /* it is known not to be there */
    STREAM, /* and the order of lines stays as it is: see struct wmi_vector_rules */
};

/* How L2 is asked by an entry. A value of its own: writing lines cannot change it. */
struct ask {
    uint32_t *tags, *states; /* of the instance */
    uint32_t ways, shift, slot;
    bool loads, stores, brings, has_last, skips_last;
};

/* L2 keeps which sectors of a line are there, and which of them only it knows. set: where that of the line
 * begins. Made for one number of ways. */
static INLINE void ask_line(struct wmi_caches *caches, const struct ask ask, size_t set, uint32_t tag,
                            uint32_t wanted, enum seek seek, struct far *far)
{
    const uint32_t ways = ask.ways;
    uint32_t *tags = ask.tags + set, *states = ask.states + set;
    /* What makes room: the last one; where lines stay as they are, an empty place if there is one. */
    const uint32_t room = seek == STREAM ? wmi_sets_room(tags, ways) : ways - 1, room_tag = tags[room];
    const uint32_t way = seek == ABSENT ? ways : wmi_sets_find(tags, ways, tag);
    const bool found = way < ways;
    const uint32_t place = found ? way : room, old = states[place], there = found ? old : 0;
    const uint32_t missing = ask.stores ? 0 : wanted & ~there;
    uint32_t now = there | (ask.brings ? wanted : 0);
    if (!ask.loads)
        now = (now & (WMI_LINE_VALID | WMI_LINE_DIRTY)) | ask.slot << WMI_LINE_SLOT_SHIFT |
              wanted * WMI_LINE_DIRTY_0;
    if (seek == STREAM) {
        tags[place] = tag;
        states[place] = now;
    } else {
        wmi_sets_follow(tags, ways, way, tag);
        wmi_sets_follow(states, ways, way, now);
    }
    far->asked++;
    far->hits += ask.stores ? found : !missing;
    far->read += (missing & 1) + (missing >> 1);
    if (!found && old & WMI_LINE_DIRTY)
        write_back(caches, room_tag, old);
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
    const uint32_t mask = (uint32_t)l2->set_mask;
    struct far far = {0};
    for (unsigned i = 0; i < count; i++) {
        const uint64_t address = requests->address[i];
        uint32_t wanted = two ? WMI_LINE_VALID : WMI_LINE_VALID_0;
        if (!narrow) {
            wanted <<= address >> WMI_CACHE_SECTOR_SHIFT & 1;
            /* Loads ask once for neighbouring blocks of a line. */
            if (pairs && i + 1 < count && requests->address[i + 1] == address + WMI_CACHE_SECTOR &&
                address >> shift == requests->address[i + 1] >> shift) {
                wanted = WMI_LINE_VALID;
                i++;
            }
        }
        const uint32_t line = (uint32_t)(address >> shift);
        const size_t set = power ? (line & mask) * room_of(ask.ways) : set_of(caches, l2, false, 0, address);
        ask_line(caches, ask, set, line + 1, wanted, seek, &far);
    }
    return far;
}

/* Whether they are a row of whole lines of L2, each in a set of its own. */
static inline bool are_far_lines(const struct wmi_cache *l2, const struct requests *requests)
{
    const uint64_t bytes = (uint64_t)requests->count * requests->bytes, line = 1ULL << l2->line_shift;
    return requests->row && bytes > line && bytes >> l2->line_shift <= l2->sets && requests->bytes <= line &&
           (requests->bytes == line || requests->kind != WMI_ACCESS_ATOMIC) &&
           !((requests->address[0] | bytes) & (line - 1));
}

/* The same as ask_each() of such. */
static INLINE struct far ask_row(struct wmi_caches *caches, const struct ask ask, const struct row row,
                                 unsigned count, enum seek seek)
{
    const uint32_t wanted = ask.shift == WMI_CACHE_SECTOR_SHIFT ? WMI_LINE_VALID_0 : WMI_LINE_VALID;
    struct far far = {0};
    for (uint32_t i = 0; i < row.count; i++)
        ask_line(caches, ask, set_in_row(&row, ask.ways, i), row.tag + i, wanted, seek, &far);
    if (ask.stores) { /* the second one for a line finds it */
        far.asked += count - row.count;
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
    return has_of_row(ask.tags, &row, ask.ways) ? ask_row(caches, ask, row, requests->count, SEEK)
                                                : ask_row(caches, ask, row, requests->count, ABSENT);
}

static INLINE void count_far(struct wmi_caches *caches, const struct ask ask, const struct requests *requests,
                             const struct far far)
{
    struct wmi_slot_use *use = &caches->uses[requests->slot];
    if (!ask.has_last) /* else it is counted there */
        use->memory_read += (uint64_t)far.read * WMI_CACHE_SECTOR;
    use->use[WM_CACHE_L2].requests += far.asked;
    use->use[WM_CACHE_L2].hits += far.hits;
    use->use[WM_CACHE_L2].bytes += (uint64_t)requests->count * requests->bytes;
}

/* Functions of their own, as above. */
typedef void ask_far(struct wmi_caches *caches, struct ask ask, struct requests *requests);

static __attribute__((noinline)) void ask_power(struct wmi_caches *caches, struct ask ask,
                                                struct requests *requests)
{
    count_far(caches, ask, requests, ask_any(caches, ask, requests));
}

/* Of most products, by what is asked and by the lines. */
#define ASK_16(name, line_shift, loads_only)                                                                 \
    static __attribute__((noinline)) void name(struct wmi_caches *caches, struct ask ask,                    \
                                               struct requests *requests)                                    \
    {                                                                                                        \
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

static __attribute__((noinline)) void ask_other(struct wmi_caches *caches, struct ask ask,
                                                struct requests *requests)
{
    const bool power = caches->cache[WM_CACHE_L2].set_mask;
    count_far(caches, ask, requests,
              requests->streams ? ask_each(caches, ask, requests, power, STREAM)
                                : ask_each(caches, ask, requests, false, SEEK));
}

static void reach_far(struct wmi_caches *caches, uint32_t xcd, struct requests *requests)
{
    const struct wmi_cache *l2 = &caches->cache[WM_CACHE_L2];
    const size_t start = start_of(l2, xcd);
    const bool has_last = caches->cache[WM_CACHE_LAST].tags;
    const struct ask ask = {.tags = l2->tags + start,
                            .states = l2->states + start,
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
    far(caches, ask, requests);
}

/* ---- before L2 ---- */

/* Loads that the cache answers go no further; the others bring their lines in. How many go on. Made for one
 * number of ways. */
static INLINE unsigned read_by(const struct wmi_caches *caches, const struct wmi_cache *cache, size_t start,
                               struct requests *requests, uint32_t ways, bool power)
{
    uint32_t *const tags = cache->tags + start;
    const uint32_t shift = cache->line_shift, mask = (uint32_t)cache->set_mask;
    const unsigned count = requests->count;
    unsigned left = 0;
    if (power && are_lines(cache, ways, requests)) {
        const struct row row = row_of(cache, requests->address[0], count);
        if (!has_of_row(tags, &row, ways)) {
            bring_row(tags, &row, ways);
            return count;
        }
    }
    spread(requests);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t address = requests->address[i];
        const uint32_t line = (uint32_t)(address >> shift);
        uint32_t *set =
            tags + (power ? (line & mask) * room_of(ways) : set_of(caches, cache, false, 0, address));
        requests->address[left] = address;
        left += wmi_sets_use(set, ways, line + 1) == ways;
    }
    return left;
}

/* Functions of their own: together in one, their variables do not fit into the host's registers. */
#define READ(name, ways, power)                                                                              \
    static __attribute__((noinline)) unsigned name(const struct wmi_caches *caches,                          \
                                                   const struct wmi_cache *cache, size_t start,              \
                                                   struct requests *requests)                                \
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

/* The same, but that lines which are there leave, and none is brought in. */
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

/* Whether none of the lines can be in the instance at `start`, as far as a look at all of it tells, if that
 * takes less than one for each request. */
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

/* Stores and atomics go on. fills: they bring in the lines, which they write whole; else lines of which they
 * write a part leave. */
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

/* A cache on the way to L2. */
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
    write_through(caches, cache, start, requests,
                  requests->full && level == WM_CACHE_VECTOR && requests->kind == WMI_ACCESS_STORE &&
                      requests->bytes >= 1u << cache->line_shift);
}

/* ---- the log ---- */

/* What makes an address with this upper half a short one, by addition; of the first region's, when there are
 * too many. */
static __attribute__((noinline)) uint64_t distance_of(struct wmi_caches *caches, uint64_t high)
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

/* Makes the addresses short, each for itself. */
static __attribute__((noinline)) void shorten(struct wmi_caches *caches, struct requests *requests)
{
    for (unsigned i = 0; i < requests->count; i++)
        requests->address[i] += distance_of(caches, requests->address[i] >> 32);
}

/* The addresses of an entry with a list, or with steps that leave the first block's 4 GiB. */
static __attribute__((noinline)) void read_far(struct wmi_caches *caches, const uint64_t *words,
                                               const struct wmi_log_entry *entry, uint64_t stride,
                                               unsigned shift, struct requests *requests)
{
    typedef int32_t __attribute__((may_alias)) difference;
    const difference *const list = (const difference *)(words + ENTRY) - 1; /* of all but the first */
    const uint64_t block = entry->block, high = block << shift >> 32;
    const unsigned count = requests->count;
    uint64_t *const address = requests->address;
    uint64_t elsewhere = 0;
    address[0] = block << shift;
    for (unsigned i = 1; entry->list && i < count; i++)
        address[i] = (block + (uint64_t)(int64_t)list[i]) << shift;
    for (unsigned i = 1; !entry->list && i < count; i++)
        address[i] = (block + i * stride) << shift;
    for (unsigned i = 0; i < count; i++)
        elsewhere |= address[i] >> 32 ^ high;
    if (elsewhere) {
        shorten(caches, requests);
        return;
    }
    const uint64_t distance = high == caches->high ? caches->distance : distance_of(caches, high);
    for (unsigned i = 0; i < count; i++)
        address[i] += distance;
}

/* Reads the entry at *words and goes on behind it. waves: the entries of so many waves make one row, of which
 * it is the first. */
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

/* What is left of a fetch of code that begins at `first`, the end of which is the line that is asked for
 * ahead: the first line was missed, those behind it were asked for just before they were wanted. Addresses of
 * parts of an access that have no such line are odd. */
static void note_fetch(struct wmi_caches *caches, const struct requests *left, uint64_t first, uint64_t ahead)
{
    struct wmi_slot_use *use = &caches->uses[left->slot];
    for (unsigned i = 0; i < left->count; i++) {
        use->fetch_missed += left->address[i] == first;
        use->fetch_late += left->address[i] != first && left->address[i] != ahead;
    }
}

/* Those of the wave's caches that are named (1 << enum wm_cache_level) have no lines any more. */
static __attribute__((noinline)) void invalidate(const struct wmi_caches *caches, unsigned named,
                                                 const uint32_t *instance)
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

/* Waves of one place whose next accesses are dealt with as one. */
struct together {
    size_t waves;
    bool row; /* they make a row; else all are the same loads, of which the caches answer all but the first */
};

/* Looks for them at the first of `left` cursors. */
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

/* Whether the entry asks a cache for what it was asked for last, so that all of it is there; remembers it.
 * row: it is the first one of a row. */
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

/* The next access of the first of `left` waves, and of those behind it that are dealt with together, with the
 * code that it fetches for it. How many waves these are. */
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

wmi_caches_walk WMI_BUILD_NAME(wmi_caches_walk);
void WMI_BUILD_NAME(wmi_caches_walk)(struct wmi_caches *caches, size_t left)
{
    struct wmi_cache_cursor *cursors = caches->cursors;
    while (left) {
        size_t kept = 0, asked = 0;
        for (size_t i = 0, done; i < left; i += done) {
            for (; asked < i + AHEAD && asked < left; asked++)
                __builtin_prefetch(cursors[asked].at);
            done = step(caches, &cursors[i], left - i);
            for (size_t wave = i; wave < i + done; wave++)
                if (cursors[wave].at < cursors[wave].end) {
                    if (kept < wave)
                        cursors[kept] = cursors[wave];
                    kept++;
                }
        }
        left = kept;
    }
}

/* Writes back what only L2 knows, and forgets all of it. */
wmi_caches_walk WMI_BUILD_NAME(wmi_caches_flush);
void WMI_BUILD_NAME(wmi_caches_flush)(struct wmi_caches *caches, size_t words)
{
    const struct wmi_cache *l2 = &caches->cache[WM_CACHE_L2];
    for (size_t i = 0; i < words; i++) {
        if (l2->tags[i] && l2->states[i] & WMI_LINE_DIRTY)
            write_back(caches, l2->tags[i], l2->states[i]);
        l2->tags[i] = l2->states[i] = 0;
    }
}

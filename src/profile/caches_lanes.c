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

/* The row's lines in a cache with a power of two of sets, of an instance that begins at `start`. */
struct row {
    size_t start;
    uint32_t tag, count, first; /* first: set of the first line, of the tag */
    uint32_t sets;              /* that it reaches */
};

static INLINE struct row row_of(const struct wmi_cache *cache, size_t start, uint64_t address, uint32_t count)
{
    const uint32_t sets = cache->sets;
    return (struct row){.start = start,
                        .tag = tag_of(cache, address),
                        .count = count,
                        .first = (uint32_t)(address >> cache->line_shift & cache->set_mask),
                        .sets = count < sets ? count : sets};
}

/* Where the row's i-th set begins, in a cache with so many ways. */
static INLINE size_t set_in_row(const struct wmi_cache *cache, const struct row *row, uint32_t ways,
                                uint32_t i)
{
    const size_t room = (ways + WMI_CACHE_WAYS - 1) / WMI_CACHE_WAYS * WMI_CACHE_WAYS; /* cache->room */
    return row->start + ((row->first + i) & cache->set_mask) * room;
}

/* Whether the cache has a line of the row. */
static INLINE bool has_of_row(const struct wmi_cache *cache, const struct row *row, uint32_t ways)
{
    const u32v tag = wmi_splat_u32(row->tag), count = wmi_splat_u32(row->count);
    for (uint32_t i = 0; i < row->sets; i++) {
        const uint32_t *set = cache->tags + set_in_row(cache, row, ways, i);
        uint32_t found = 0;
        for (uint32_t first = 0; first < ways; first += WMI_VECTOR_LANES)
            found |= wmi_less_bits(*(const u32v *)(set + first) - tag, count);
        if (found)
            return true;
    }
    return false;
}

/* Brings in a row of which nothing is there. */
static INLINE void bring_row(const struct wmi_cache *cache, const struct row *row, uint32_t ways)
{
    for (uint32_t i = 0; i < row->sets; i++) {
        const uint32_t lines = (row->count - i - 1) / cache->sets + 1;
        wmi_sets_bring(cache->tags + set_in_row(cache, row, ways, i), ways,
                       row->tag + i + (lines - 1) * cache->sets, cache->sets, lines);
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
    uint64_t asked, hits, read; /* read: sectors, where memory is next */
};

/* How a line of L2 is found. */
enum seek {
    SEEK,
    ABSENT, /* it is known not to be there */
    STREAM, /* and the order of lines stays as it is: see struct wmi_vector_rules */
};

/* L2 keeps which sectors of a line are there, and which of them only it knows. set: where that of the line
 * begins. Made for one number of ways. */
static INLINE void ask_line(struct wmi_caches *caches, const struct wmi_cache *l2,
                            const struct requests *requests, size_t set, uint32_t tag, uint32_t wanted,
                            uint32_t ways, enum seek seek, bool has_last, struct far *far)
{
    const bool loads = requests->kind == WMI_ACCESS_LOAD, stores = requests->kind == WMI_ACCESS_STORE;
    uint32_t *tags = l2->tags + set, *states = l2->states + set;
    /* What makes room: the last one; where lines stay as they are, an empty place if there is one. */
    const uint32_t room = seek == STREAM ? wmi_sets_room(tags, ways) : ways - 1, room_tag = tags[room];
    const uint32_t way = seek == ABSENT ? ways : wmi_sets_find(tags, ways, tag);
    const bool found = way < ways;
    const uint32_t place = found ? way : room, old = states[place], there = found ? old : 0;
    const uint32_t missing = stores ? 0 : wanted & ~there;
    uint32_t now = there | (!stores || requests->full ? wanted : 0);
    if (!loads)
        now = (now & (WMI_LINE_VALID | WMI_LINE_DIRTY)) | requests->slot << WMI_LINE_SLOT_SHIFT |
              wanted * WMI_LINE_DIRTY_0;
    if (seek == STREAM) {
        tags[place] = tag;
        states[place] = now;
    } else {
        wmi_sets_follow(tags, ways, way, tag);
        wmi_sets_follow(states, ways, way, now);
    }
    far->asked++;
    far->hits += stores ? found : !missing;
    far->read += (missing & 1) + (missing >> 1);
    if (!found && old & WMI_LINE_DIRTY)
        write_back(caches, room_tag, old);
    for (unsigned sector = 0; has_last && sector < 2; sector++)
        if (missing & (uint32_t)WMI_LINE_VALID_0 << sector)
            reach_last(caches, ((uint64_t)(tag - 1) << l2->line_shift) + sector * WMI_CACHE_SECTOR,
                       requests->slot, false, requests->skips_last);
}

static INLINE struct far ask_each(struct wmi_caches *caches, const struct wmi_cache *l2, size_t start,
                                  struct requests *requests, uint32_t ways, bool power, enum seek seek,
                                  bool has_last)
{
    spread(requests);
    const unsigned count = requests->count, shift = l2->line_shift;
    const bool narrow = shift == WMI_CACHE_SECTOR_SHIFT;
    const bool pairs = requests->kind == WMI_ACCESS_LOAD && requests->bytes < 1u << shift;
    const bool two = requests->bytes > WMI_CACHE_SECTOR && !narrow;
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
        ask_line(caches, l2, requests, set_of(caches, l2, power, start, address), tag_of(l2, address), wanted,
                 ways, seek, has_last, &far);
    }
    return far;
}

/* The same of a row of whole lines. */
static INLINE struct far ask_row(struct wmi_caches *caches, const struct wmi_cache *l2, const struct row *row,
                                 const struct requests *requests, uint32_t ways, enum seek seek,
                                 bool has_last)
{
    const uint32_t wanted = l2->line_shift == WMI_CACHE_SECTOR_SHIFT ? WMI_LINE_VALID_0 : WMI_LINE_VALID;
    struct far far = {0};
    for (uint32_t i = 0; i < row->count; i++)
        ask_line(caches, l2, requests, set_in_row(l2, row, ways, i), row->tag + i, wanted, ways, seek,
                 has_last, &far);
    if (requests->kind == WMI_ACCESS_STORE) { /* the second one for a line finds it */
        far.asked += requests->count - row->count;
        far.hits += requests->count - row->count;
    }
    return far;
}

/* Whether they are a row of whole lines of L2, each in a set of its own. */
static inline bool are_lines(const struct wmi_cache *l2, const struct requests *requests)
{
    const uint64_t bytes = (uint64_t)requests->count * requests->bytes, line = 1ULL << l2->line_shift;
    return requests->row && bytes > line && bytes >> l2->line_shift <= l2->sets && requests->bytes <= line &&
           (requests->bytes == line || requests->kind != WMI_ACCESS_ATOMIC) &&
           !((requests->address[0] | bytes) & (line - 1));
}

static INLINE struct far ask(struct wmi_caches *caches, const struct wmi_cache *l2, size_t start,
                             struct requests *requests, uint32_t ways, bool has_last)
{
    if (!are_lines(l2, requests))
        return ask_each(caches, l2, start, requests, ways, true, SEEK, has_last);
    const struct row row = row_of(l2, start, requests->address[0],
                                  (uint32_t)(requests->count * requests->bytes >> l2->line_shift));
    return has_of_row(l2, &row, ways) ? ask_row(caches, l2, &row, requests, ways, SEEK, has_last)
                                      : ask_row(caches, l2, &row, requests, ways, ABSENT, has_last);
}

static void reach_far(struct wmi_caches *caches, uint32_t xcd, struct requests *requests)
{
    const struct wmi_cache l2 = caches->cache[WM_CACHE_L2];
    const size_t start = start_of(&l2, xcd);
    const bool has_last = caches->cache[WM_CACHE_LAST].tags;
    struct far far;
    if (requests->streams)
        far = ask_each(caches, &l2, start, requests, l2.ways, l2.set_mask, STREAM, has_last);
    else if (!l2.set_mask)
        far = ask_each(caches, &l2, start, requests, l2.ways, false, SEEK, has_last);
    else if (l2.ways != 16)
        far = ask(caches, &l2, start, requests, l2.ways, has_last);
    else
        far = has_last ? ask(caches, &l2, start, requests, 16, true)
                       : ask(caches, &l2, start, requests, 16, false);
    if (has_last)
        far.read = 0; /* has been counted there */
    struct wmi_slot_use *use = &caches->uses[requests->slot];
    use->memory_read += far.read * WMI_CACHE_SECTOR;
    use->use[WM_CACHE_L2].requests += far.asked;
    use->use[WM_CACHE_L2].hits += far.hits;
    use->use[WM_CACHE_L2].bytes += (uint64_t)requests->count * requests->bytes;
}

/* ---- before L2 ---- */

/* Loads that the cache answers go no further; the others bring their lines in. How many go on. Made for one
 * number of ways. */
static INLINE unsigned read_by(const struct wmi_caches *caches, const struct wmi_cache *cache, size_t start,
                               struct requests *requests, uint32_t ways, bool power)
{
    const unsigned count = requests->count;
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t address = requests->address[i];
        uint32_t *set = cache->tags + set_of(caches, cache, power, start, address);
        requests->address[left] = address;
        left += wmi_sets_use(set, ways, tag_of(cache, address)) == ways;
    }
    return left;
}

static INLINE unsigned read_through(const struct wmi_caches *caches, const struct wmi_cache *cache,
                                    size_t start, struct requests *requests)
{
    spread(requests);
    if (!cache->set_mask)
        return read_by(caches, cache, start, requests, cache->ways, false);
    return cache->ways == 64   ? read_by(caches, cache, start, requests, 64, true)
           : cache->ways == 16 ? read_by(caches, cache, start, requests, 16, true)
           : cache->ways == 4  ? read_by(caches, cache, start, requests, 4, true)
                               : read_by(caches, cache, start, requests, cache->ways, true);
}

/* True: the requests are a row of which the cache has no line. brings: now it has all of them. */
static INLINE bool pass_row_by(const struct wmi_cache *cache, size_t start, const struct requests *requests,
                               uint32_t ways, bool brings)
{
    const struct row row = row_of(cache, start, requests->address[0], requests->count);
    if (has_of_row(cache, &row, ways))
        return false;
    if (brings)
        bring_row(cache, &row, ways);
    return true;
}

static INLINE bool pass_row(const struct wmi_cache *cache, size_t start, const struct requests *requests,
                            bool brings)
{
    const uint32_t most = cache->ways < WMI_VECTOR_LANES ? cache->ways : WMI_VECTOR_LANES; /* of a set */
    if (!requests->row || requests->count < 2 || !cache->set_mask ||
        requests->bytes != 1u << cache->line_shift || requests->count > (uint64_t)cache->sets * most)
        return false;
    return cache->ways == 64   ? pass_row_by(cache, start, requests, 64, brings)
           : cache->ways == 16 ? pass_row_by(cache, start, requests, 16, brings)
                               : pass_row_by(cache, start, requests, cache->ways, brings);
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

/* How loads use a cache on the way to L2. */
enum use {
    USE,   /* a line that is not there is brought in */
    LEAVE, /* one that is there leaves, none is brought in */
    PAST,  /* one that is there leaves, and L2 is asked all the same */
};

/* A cache on the way to L2. Stores and atomics go on; lines that a store fills stay in the vector cache,
 * those of which it writes a part leave it. */
static void reach_near(struct wmi_caches *caches, enum wm_cache_level level, uint32_t instance, enum use how,
                       struct requests *requests)
{
    const struct wmi_cache copy = caches->cache[level], *cache = &copy; /* that no store can change */
    const size_t start = start_of(cache, instance);
    const bool loads = requests->kind == WMI_ACCESS_LOAD;
    const bool fills =
        level == WM_CACHE_VECTOR && requests->full && requests->bytes >= 1u << cache->line_shift;
    struct wm_cache_use *use = &caches->uses[requests->slot].use[level];
    use->requests += requests->count;
    if (pass_row(cache, start, requests, loads ? how == USE : fills))
        return;
    if (loads && how != PAST) {
        const unsigned left = how == LEAVE ? take_out(caches, cache, start, requests)
                                           : read_through(caches, cache, start, requests);
        use->hits += requests->count - left;
        requests->count = left;
        return;
    }
    const bool row = requests->row;
    spread(requests);
    requests->row = row; /* all go on */
    for (unsigned i = 0; i < requests->count; i++) {
        uint32_t *set = cache->tags + set_of(caches, cache, cache->set_mask, start, requests->address[i]);
        const uint32_t tag = tag_of(cache, requests->address[i]);
        if (loads || !fills)
            wmi_sets_drop(set, cache->ways, tag);
        else
            wmi_sets_use(set, cache->ways, tag);
    }
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

/* Reads the blocks of an entry whose words begin at `words`. */
static void read_list(struct wmi_caches *caches, const uint64_t *words, unsigned shift,
                      struct requests *requests)
{
    struct wmi_log_entry entry;
    wmi_log_read(&words, &entry, requests->address);
    const uint64_t high = requests->address[0] << shift >> 32;
    const uint64_t distance = high == caches->high ? caches->distance : distance_of(caches, high);
    uint64_t elsewhere = 0;
    for (unsigned i = 0; i < requests->count; i++)
        elsewhere |= requests->address[i] << shift >> 32 ^ high;
    for (unsigned i = 0; i < requests->count; i++)
        requests->address[i] = (requests->address[i] << shift) + (elsewhere ? 0 : distance);
    if (elsewhere)
        shorten(caches, requests);
}

/* Reads the entry at *words and goes on behind it. waves: the entries of so many waves make one row, of which
 * it is the first. */
static inline void read_entry(struct wmi_caches *caches, const uint64_t **words, size_t waves,
                              struct wmi_log_entry *entry, struct requests *requests)
{
    memcpy(entry, *words, sizeof *entry);
    const unsigned shift = caches->instructions[entry->slot].shift, count = entry->count * (unsigned)waves;
    const uint64_t low = entry->block << shift, step = (uint64_t)entry->stride << shift;
    const uint64_t last = waves > 1 ? low + ((uint64_t)(count - 1) << shift) : low + (count - 1) * step;
    const uint64_t high = low >> 32;
    requests->count = count;
    requests->row = false;
    if (entry->list || high != last >> 32) {
        read_list(caches, *words, shift, requests);
        *words += ENTRY + (entry->list ? count / 2 : 0);
        return;
    }
    *words += ENTRY;
    requests->address[0] = low + (high == caches->high ? caches->distance : distance_of(caches, high));
    requests->row = waves > 1 || entry->stride == 1;
    if (!requests->row && count > 1)
        write_steps(requests, requests->address[0], step);
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
        if (named >> level & 1 && cache->tags)
            memset(cache->tags + start_of(cache, instance[level]), 0,
                   (size_t)cache->sets * cache->room * sizeof *cache->tags);
    }
}

static enum wm_cache_level first_level(const struct wmi_log_instruction *instruction)
{
    return instruction->path == WMI_PATH_SMEM     ? WM_CACHE_SCALAR
           : instruction->path == WMI_PATH_IFETCH ? WM_CACHE_INSTRUCTION
                                                  : WM_CACHE_VECTOR;
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
    const struct wmi_log_instruction *instruction = &caches->instructions[entry.slot];
    const enum wm_cache_level level = first_level(instruction);
    const struct wmi_cache *first = &caches->cache[level], *l2 = &caches->cache[WM_CACHE_L2];
    /* L2 may ask once for two blocks, but only of one wave. */
    const unsigned blocks =
        l2->line_shift > instruction->shift ? 1u << (l2->line_shift - instruction->shift) : 1;
    const uint64_t distance = cursor[1].at[0] - words[0];
    const bool row = distance == entry.count && (entry.count == 1 || entry.stride == 1) &&
                     !((entry.block | entry.count) & (blocks - 1));
    const bool same = !distance && instruction->kind == WMI_ACCESS_LOAD && first->tags &&
                      entry.count <= first->ways &&
                      !(instruction->policy & (caches->rules.leaves | caches->rules.bypass));
    if (level == WM_CACHE_INSTRUCTION || !(row || same))
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

/* The next access of the first of `left` waves, and of those behind it that are dealt with together, with the
 * code that it fetches for it. How many waves these are. */
static inline size_t step(struct wmi_caches *caches, struct wmi_cache_cursor *cursor, size_t left)
{
    const struct together together = find_together(caches, cursor, left);
    const size_t others = together.waves - 1;
    struct wmi_log_entry entry = {0};
    bool fetches;
    do {
        const bool within = entry.continues;
        struct requests requests;
        read_entry(caches, &cursor->at, together.row ? together.waves : 1, &entry, &requests);
        const struct wmi_log_instruction *instruction = &caches->instructions[entry.slot];
        if (instruction->path == WMI_PATH_CONTROL) {
            invalidate(caches, instruction->policy, cursor->place->instance);
            break;
        }
        const enum wm_cache_level first = first_level(instruction);
        const uint32_t *instance = cursor->place->instance;
        requests.bytes = 1u << instruction->shift;
        requests.slot = entry.slot;
        requests.kind = (enum wmi_access_kind)instruction->kind;
        requests.full = entry.full;
        const bool vector = first == WM_CACHE_VECTOR, code = first == WM_CACHE_INSTRUCTION;
        fetches = code && instruction->policy != WMI_FETCH_TURNS;
        if (code)
            spread(&requests);
        const uint64_t low = requests.address[0] | within,
                       ahead = code ? requests.address[requests.count - 1] | entry.continues : 0;
        const unsigned policy = code ? 0 : instruction->policy;
        const enum use leaves = vector && policy & caches->rules.leaves ? LEAVE : USE;
        requests.streams = policy & caches->rules.streams;
        requests.skips_last = policy & caches->rules.skips_last;
        if (others && !together.row) {
            struct wm_cache_use *use = &caches->uses[entry.slot].use[first];
            use->requests += others * entry.count;
            use->hits += others * entry.count;
        }
        if (caches->cache[first].tags)
            reach_near(caches, first, instance[first],
                       vector && policy & caches->rules.bypass ? PAST : leaves, &requests);
        if (code)
            note_fetch(caches, &requests, low, ahead);
        if (requests.count && caches->cache[WM_CACHE_GL1].tags)
            reach_near(caches, WM_CACHE_GL1, instance[WM_CACHE_GL1],
                       policy & caches->rules.bypass_gl1 ? PAST : leaves, &requests);
        if (requests.count)
            reach_far(caches, instance[WM_CACHE_L2], &requests);
    } while (entry.continues || (fetches && cursor->at < cursor->end));
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
                if (cursors[wave].at < cursors[wave].end)
                    cursors[kept++] = cursors[wave];
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

/* SPDX-License-Identifier: MIT */
/* The caches of a product, driven by the log: docs/model.md says what is assumed, and what is not known. */
#include "profile/caches.h"

#include "memory/access.h"

#include <stdlib.h>
#include <string.h>

/* An entry of a cache: a line's number + 1, who wrote it last, and what of its sectors of 64 bytes is there
 * to be read or waits to be written back. 0: empty. */
enum {
    SECTOR = 64,
    SECTOR_SHIFT = 6,
    VALID_0 = 1,
    VALID = 3,
    DIRTY_0 = 4,
    DIRTY = 12,
    SLOT_SHIFT = 4,
    SLOT_MASK = (1 << 17) - 1,
    LINE_SHIFT = 21,
    INDEXED_WAYS = 32, /* from here on a hash finds lines, and a list keeps their order */
    NOTHING = UINT16_MAX,
};

/* The lines of one instance of a cache with many ways, by their number in it. Each set has a list of its
 * ways, most recently used first; each bucket of the hash a chain. */
struct index {
    uint16_t *before, *after, *first, *last; /* of a line; of a set */
    uint16_t *bucket, *chain;                /* of a hash; of a line */
};

/* Without an index the ways of a set stand most recently used first. */
struct cache {
    uint64_t *entries;
    uint16_t *indexed; /* all that the indices of all instances are made of, or NULL */
    uint32_t sets, ways, line_shift, instances;
    uint32_t buckets;  /* of an instance, a power of two */
    size_t index_size; /* of an instance's index, in numbers of 16 bits */
    uint64_t set_mask; /* of a power of two of sets, else 0 */
};

/* A compute unit, and which of the shared caches is its own. */
struct place {
    uint32_t instance[WM_CACHE_LEVELS];
};

struct cursor {
    const uint64_t *at, *end;
    const struct place *place;
};

struct wmi_caches {
    struct cache cache[WM_CACHE_LEVELS];
    struct wmi_vector_rules rules;
    uint32_t xcds, cus, groups_per_cu; /* cus: of an XCD */
    struct place *places;              /* of XCD x and the n-th workgroup there: [x * cus + n % cus] */
    struct wmi_slot_use *uses;
    uint32_t slots;
    struct wmi_caches_sums sums;
    struct cursor *cursors;
    size_t cursor_capacity;
    const struct wmi_log_instruction *instructions;
};

/* ---- one cache ---- */

static unsigned log2_of(uint32_t power)
{
    return (unsigned)__builtin_ctz(power);
}

static uint32_t set_index(const struct cache *cache, uint64_t line)
{
    return (uint32_t)(cache->set_mask ? line & cache->set_mask : line % cache->sets);
}

static uint64_t *set_of(const struct cache *cache, uint32_t instance, uint64_t line)
{
    return cache->entries + ((size_t)instance * cache->sets + set_index(cache, line)) * cache->ways;
}

/* ---- one with an index ---- */

static struct index index_of(const struct cache *cache, uint32_t instance)
{
    const uint32_t lines = cache->sets * cache->ways;
    uint16_t *at = cache->indexed + instance * cache->index_size;
    return (struct index){.bucket = at,
                          .chain = at + cache->buckets,
                          .before = at + cache->buckets + lines,
                          .after = at + cache->buckets + 2 * lines,
                          .first = at + cache->buckets + 3 * lines,
                          .last = at + cache->buckets + 3 * lines + cache->sets};
}

static uint32_t bucket_of(const struct cache *cache, uint64_t line)
{
    return (uint32_t)(line * 0x9e3779b97f4a7c15ULL >> 40) & (cache->buckets - 1);
}

static void clear_indices(const struct cache *cache)
{
    for (uint32_t instance = 0; instance < cache->instances; instance++) {
        const struct index index = index_of(cache, instance);
        memset(index.bucket, 0xff, cache->buckets * sizeof *index.bucket);
        for (uint32_t set = 0; set < cache->sets; set++) {
            const uint32_t low = set * cache->ways, high = low + cache->ways - 1;
            for (uint32_t line = low; line <= high; line++) {
                index.before[line] = (uint16_t)(line == low ? NOTHING : line - 1);
                index.after[line] = (uint16_t)(line == high ? NOTHING : line + 1);
            }
            index.first[set] = (uint16_t)low;
            index.last[set] = (uint16_t)high;
        }
    }
}

static void take_out(const struct index *index, uint32_t set, uint16_t at)
{
    const uint16_t before = index->before[at], after = index->after[at];
    *(before == NOTHING ? &index->first[set] : &index->after[before]) = after;
    *(after == NOTHING ? &index->last[set] : &index->before[after]) = before;
}

static void put_first(const struct index *index, uint32_t set, uint16_t at)
{
    if (index->first[set] == at)
        return;
    take_out(index, set, at);
    index->before[at] = NOTHING;
    index->after[at] = index->first[set];
    index->before[index->first[set]] = at;
    index->first[set] = at;
}

static void put_last(const struct index *index, uint32_t set, uint16_t at)
{
    if (index->last[set] == at)
        return;
    take_out(index, set, at);
    index->after[at] = NOTHING;
    index->before[at] = index->last[set];
    index->after[index->last[set]] = at;
    index->last[set] = at;
}

/* The link of the chain that leads to the line, or ends the chain. */
static uint16_t *link_to(const struct cache *cache, const struct index *index, const uint64_t *entries,
                         uint64_t line)
{
    uint16_t *link = &index->bucket[bucket_of(cache, line)];
    while (*link != NOTHING && entries[*link] >> LINE_SHIFT != line + 1)
        link = &index->chain[*link];
    return link;
}

static uint64_t *find_indexed(const struct cache *cache, uint32_t instance, uint64_t line)
{
    const struct index index = index_of(cache, instance);
    uint64_t *entries = cache->entries + (size_t)instance * cache->sets * cache->ways;
    const uint16_t at = *link_to(cache, &index, entries, line);
    if (at == NOTHING)
        return NULL;
    put_first(&index, set_index(cache, line), at);
    return entries + at;
}

static void forget(const struct cache *cache, const struct index *index, uint64_t *entries, uint16_t at)
{
    if (entries[at]) {
        uint16_t *link = link_to(cache, index, entries, (entries[at] >> LINE_SHIFT) - 1);
        *link = index->chain[at];
    }
    entries[at] = 0;
}

/* Puts the line, which is not there, in place of the one that was not used for longest. */
static uint16_t replace_last(const struct cache *cache, const struct index *index, uint64_t *entries,
                             uint64_t line)
{
    const uint32_t set = set_index(cache, line), bucket = bucket_of(cache, line);
    const uint16_t at = index->last[set];
    forget(cache, index, entries, at);
    index->chain[at] = index->bucket[bucket];
    index->bucket[bucket] = at;
    put_first(index, set, at);
    entries[at] = (line + 1) << LINE_SHIFT;
    return at;
}

static uint64_t *insert_indexed(const struct cache *cache, uint32_t instance, uint64_t line,
                                uint64_t *evicted)
{
    const struct index index = index_of(cache, instance);
    uint64_t *entries = cache->entries + (size_t)instance * cache->sets * cache->ways;
    *evicted = entries[index.last[set_index(cache, line)]];
    return entries + replace_last(cache, &index, entries, line);
}

/* find(), and insert() if the line is not there, of a cache that only holds what was read. Whether it was. */
static bool touch_indexed(const struct cache *cache, uint32_t instance, uint64_t line)
{
    const struct index index = index_of(cache, instance);
    uint64_t *entries = cache->entries + (size_t)instance * cache->sets * cache->ways;
    const uint16_t at = *link_to(cache, &index, entries, line);
    if (at != NOTHING)
        put_first(&index, set_index(cache, line), at);
    else
        entries[replace_last(cache, &index, entries, line)] |= VALID_0;
    return at != NOTHING;
}

/* ---- any ---- */

/* The line's entry, now the most recently used of its set, or NULL. */
static uint64_t *find(const struct cache *cache, uint32_t instance, uint64_t line)
{
    if (cache->indexed)
        return find_indexed(cache, instance, line);
    uint64_t *set = set_of(cache, instance, line);
    uint32_t way = 0;
    while (way < cache->ways && set[way] >> LINE_SHIFT != line + 1)
        way++;
    if (way == cache->ways)
        return NULL;
    const uint64_t entry = set[way];
    for (; way; way--)
        set[way] = set[way - 1];
    set[0] = entry;
    return set;
}

/* Puts the line, which is not there, in front, with no sector. *evicted: what made room. */
static uint64_t *insert(const struct cache *cache, uint32_t instance, uint64_t line, uint64_t *evicted)
{
    if (cache->indexed)
        return insert_indexed(cache, instance, line, evicted);
    uint64_t *set = set_of(cache, instance, line);
    *evicted = set[cache->ways - 1];
    for (uint32_t way = cache->ways - 1; way; way--)
        set[way] = set[way - 1];
    set[0] = (line + 1) << LINE_SHIFT;
    return set;
}

/* Forgets the line: the next one takes its room. */
static void drop(const struct cache *cache, uint32_t instance, uint64_t line)
{
    uint64_t *entry = find(cache, instance, line);
    if (!entry)
        return;
    if (cache->indexed) {
        const struct index index = index_of(cache, instance);
        uint64_t *entries = cache->entries + (size_t)instance * cache->sets * cache->ways;
        forget(cache, &index, entries, (uint16_t)(entry - entries));
        put_last(&index, set_index(cache, line), (uint16_t)(entry - entries));
        return;
    }
    for (uint32_t way = 0; way + 1 < cache->ways; way++)
        entry[way] = entry[way + 1];
    entry[cache->ways - 1] = 0;
}

static bool exists(const struct wmi_caches *caches, enum wm_cache_level level)
{
    return caches->cache[level].entries;
}

/* ---- the path from a compute unit to memory ---- */

/* One request: `bytes` at `address`, within a line of L2. */
struct request {
    uint64_t address;
    uint32_t bytes, slot;
    enum wmi_access_kind kind;
    bool full; /* a store that writes all of the bytes */
};

static void count(struct wmi_caches *caches, uint32_t slot, enum wm_cache_level level, bool hit)
{
    struct wm_cache_use *use = &caches->uses[slot].use[level];
    use->requests++;
    use->hits += hit;
}

/* A sector, to or from behind L2. */
static void reach_last(struct wmi_caches *caches, uint64_t address, uint32_t slot, bool writes)
{
    const struct cache *last = &caches->cache[WM_CACHE_LAST];
    const uint64_t line = address >> SECTOR_SHIFT;
    if (!exists(caches, WM_CACHE_LAST)) {
        *(writes ? &caches->uses[slot].memory_written : &caches->uses[slot].memory_read) += SECTOR;
        return;
    }
    uint64_t *entry = find(last, 0, line);
    count(caches, slot, WM_CACHE_LAST, entry != NULL);
    if (!entry) {
        uint64_t evicted;
        entry = insert(last, 0, line, &evicted);
        if (evicted & DIRTY)
            caches->uses[evicted >> SLOT_SHIFT & SLOT_MASK].memory_written += SECTOR;
        if (!writes)
            caches->uses[slot].memory_read += SECTOR;
    }
    *entry |= VALID_0;
    if (writes)
        *entry = (*entry & ~((uint64_t)SLOT_MASK << SLOT_SHIFT)) | (uint64_t)slot << SLOT_SHIFT | DIRTY_0;
}

/* L2 keeps which sectors of a line are there, and which of them only it knows. */
static void reach_l2(struct wmi_caches *caches, uint32_t xcd, const struct request *request)
{
    const struct cache *l2 = &caches->cache[WM_CACHE_L2];
    const uint64_t line = request->address >> l2->line_shift;
    const uint64_t start = line << l2->line_shift;
    const unsigned first = (unsigned)((request->address - start) >> SECTOR_SHIFT);
    const unsigned sectors = request->bytes > SECTOR && l2->line_shift > SECTOR_SHIFT ? 2 : 1;
    const uint64_t wanted = (uint64_t)(sectors == 2 ? VALID : VALID_0) << first;
    uint64_t *entry = find(l2, xcd, line), evicted = 0;
    const uint64_t there = entry ? *entry : 0;
    const bool stores = request->kind == WMI_ACCESS_STORE;
    caches->uses[request->slot].use[WM_CACHE_L2].bytes += request->bytes;
    count(caches, request->slot, WM_CACHE_L2, stores ? there != 0 : (there & wanted) == wanted);
    if (!entry)
        entry = insert(l2, xcd, line, &evicted);
    for (unsigned sector = 0; evicted & DIRTY && sector < 2; sector++)
        if (evicted & (uint64_t)DIRTY_0 << sector)
            reach_last(caches, (((evicted >> LINE_SHIFT) - 1) << l2->line_shift) + sector * SECTOR,
                       evicted >> SLOT_SHIFT & SLOT_MASK, true);
    for (unsigned sector = 0; !stores && sector < 2; sector++)
        if (wanted & ~there & (uint64_t)VALID_0 << sector)
            reach_last(caches, start + sector * SECTOR, request->slot, false);
    uint64_t now = *entry;
    if (!stores || request->full)
        now |= wanted;
    if (request->kind != WMI_ACCESS_LOAD)
        now = (now & ~((uint64_t)SLOT_MASK << SLOT_SHIFT)) | (uint64_t)request->slot << SLOT_SHIFT |
              wanted * DIRTY_0;
    *entry = now;
}

/* A cache that holds what was read, on the way to L2. Whether it had it. */
static bool read_through(struct wmi_caches *caches, enum wm_cache_level level, uint32_t instance,
                         const struct request *request)
{
    const struct cache *cache = &caches->cache[level];
    const uint64_t line = request->address >> cache->line_shift;
    uint64_t evicted;
    const bool hit =
        cache->indexed ? touch_indexed(cache, instance, line) : find(cache, instance, line) != NULL;
    count(caches, request->slot, level, hit);
    if (!hit && !cache->indexed)
        *insert(cache, instance, line, &evicted) |= VALID_0;
    return hit;
}

/* Stores and atomics go on to L2. Lines that a store fills stay in the vector cache, those of which it writes
 * a part leave it. */
static void write_through(struct wmi_caches *caches, enum wm_cache_level level, uint32_t instance,
                          const struct request *request)
{
    const struct cache *cache = &caches->cache[level];
    const uint64_t line = request->address >> cache->line_shift;
    uint64_t evicted;
    count(caches, request->slot, level, false);
    if (level != WM_CACHE_VECTOR || !request->full || request->bytes < 1u << cache->line_shift)
        drop(cache, instance, line);
    else if (!find(cache, instance, line))
        *insert(cache, instance, line, &evicted) |= VALID_0;
}

/* Whether the request ends before L2. */
static bool reach_near(struct wmi_caches *caches, const struct place *place, const struct request *request,
                       enum wm_cache_level first, unsigned policy)
{
    const bool loads = request->kind == WMI_ACCESS_LOAD;
    const enum wm_cache_level levels[] = {first, WM_CACHE_GL1};
    const bool bypass[] = {first == WM_CACHE_VECTOR && policy & caches->rules.bypass,
                           (policy & WMI_POLICY_DLC) != 0};
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t instance = place->instance[levels[i]];
        if (!exists(caches, levels[i]))
            continue;
        if (!loads) {
            write_through(caches, levels[i], instance, request);
        } else if (bypass[i]) {
            drop(&caches->cache[levels[i]], instance,
                 request->address >> caches->cache[levels[i]].line_shift);
            count(caches, request->slot, levels[i], false);
        } else if (read_through(caches, levels[i], instance, request)) {
            return true;
        }
    }
    return false;
}

/* ---- rounds ---- */

/* The next access of the wave. Where L2 will look is asked for ahead: the host's caches do not hold it. */
static void step(struct wmi_caches *caches, struct cursor *cursor)
{
    const struct cache *l2 = &caches->cache[WM_CACHE_L2];
    const uint32_t xcd = cursor->place->instance[WM_CACHE_L2];
    struct wmi_log_entry entry;
    do {
        uint64_t blocks[WMI_LOG_BLOCKS];
        const unsigned many = wmi_log_read(&cursor->at, &entry, blocks);
        const struct wmi_log_instruction *instruction = &caches->instructions[entry.slot];
        const enum wm_cache_level first = instruction->path == WMI_PATH_SMEM     ? WM_CACHE_SCALAR
                                          : instruction->path == WMI_PATH_IFETCH ? WM_CACHE_INSTRUCTION
                                                                                 : WM_CACHE_VECTOR;
        struct request request = {.bytes = 1u << instruction->shift,
                                  .slot = entry.slot,
                                  .kind = (enum wmi_access_kind)instruction->kind,
                                  .full = entry.full};
        unsigned far = 0;
        for (unsigned i = 0; i < many; i++) {
            request.address = blocks[i] << instruction->shift;
            if (reach_near(caches, cursor->place, &request, first, instruction->policy))
                continue;
            const uint64_t *set = set_of(l2, xcd, request.address >> l2->line_shift);
            __builtin_prefetch(set);
            __builtin_prefetch(set + 8);
            blocks[far++] = request.address;
        }
        for (unsigned i = 0; i < far; i++) {
            request.address = blocks[i];
            request.bytes = 1u << instruction->shift;
            /* Loads ask once for neighbouring blocks of a line. */
            if (request.kind == WMI_ACCESS_LOAD && i + 1 < far &&
                blocks[i + 1] == blocks[i] + request.bytes &&
                blocks[i] >> l2->line_shift == blocks[i + 1] >> l2->line_shift) {
                request.bytes *= 2;
                i++;
            }
            reach_l2(caches, xcd, &request);
        }
    } while (entry.continues);
}

static bool make_room(struct wmi_caches *caches, size_t cursors, uint32_t slots)
{
    if (cursors > caches->cursor_capacity) {
        free(caches->cursors);
        caches->cursors = malloc(cursors * sizeof *caches->cursors);
        caches->cursor_capacity = caches->cursors ? cursors : 0;
    }
    if (slots > caches->slots) {
        struct wmi_slot_use *uses = realloc(caches->uses, slots * sizeof *uses);
        if (!uses)
            return false;
        memset(uses + caches->slots, 0, (slots - caches->slots) * sizeof *uses);
        caches->uses = uses;
        caches->slots = slots;
    }
    return caches->cursors || !cursors;
}

enum { AHEAD = 4 /* waves, of which the log is asked for ahead */ };

static const struct place *place_of(const struct wmi_caches *caches, uint64_t group)
{
    return &caches->places[group % caches->xcds * caches->cus + group / caches->xcds % caches->cus];
}

bool wmi_caches_round(struct wmi_caches *caches, struct wmi_log_group *const *groups, size_t group_count,
                      const struct wmi_log_instruction *instructions, uint32_t slots)
{
    size_t left = 0;
    for (size_t i = 0; i < group_count; i++)
        left += groups[i]->waves;
    if (!make_room(caches, left, slots))
        return false;
    caches->instructions = instructions;
    left = 0;
    for (size_t i = 0; i < group_count; i++)
        for (uint32_t wave = 0; wave < groups[i]->waves; wave++) {
            const struct wmi_log_wave *log = &groups[i]->wave[wave];
            if (log->size)
                caches->cursors[left++] = (struct cursor){.at = log->words,
                                                          .end = log->words + log->size,
                                                          .place = place_of(caches, groups[i]->number)};
        }
    while (left) {
        size_t kept = 0;
        for (size_t i = 0; i < left; i++) {
            if (i + AHEAD < left)
                __builtin_prefetch(caches->cursors[i + AHEAD].at);
            step(caches, &caches->cursors[i]);
            if (caches->cursors[i].at < caches->cursors[i].end)
                caches->cursors[kept++] = caches->cursors[i];
        }
        left = kept;
    }
    return true;
}

/* ---- a product ---- */

uint32_t wmi_caches_instances(const struct wm_gpu *gpu, enum wm_cache_level level)
{
    const uint32_t sharing = gpu->cache[level].sharing, cus = gpu->compute_units / gpu->xcds;
    if (!gpu->cache[level].bytes)
        return 0;
    if (level == WM_CACHE_LAST)
        return 1;
    return gpu->xcds * (sharing ? (cus + sharing - 1) / sharing : 1);
}

/* Workgroups go round the shader engines, and in each of them from compute unit to compute unit. */
static void place_units(struct wmi_caches *caches, const struct wm_gpu *gpu)
{
    const uint32_t engines = gpu->engines, most = (caches->cus + engines - 1) / engines;
    for (uint32_t xcd = 0; xcd < caches->xcds; xcd++) {
        struct place *place = &caches->places[xcd * caches->cus];
        for (uint32_t in_engine = 0; in_engine < most; in_engine++) {
            uint32_t first = 0; /* compute unit of the engine */
            for (uint32_t engine = 0; engine < engines; engine++) {
                const uint32_t units = caches->cus / engines + (engine < caches->cus % engines);
                for (unsigned level = 0; in_engine < units && level < WM_CACHE_LEVELS; level++) {
                    const uint32_t sharing = gpu->cache[level].sharing;
                    const uint32_t each = wmi_caches_instances(gpu, level) / caches->xcds;
                    place->instance[level] = level == WM_CACHE_LAST
                                                 ? 0
                                                 : xcd * each + (sharing ? (first + in_engine) / sharing : 0);
                }
                place += in_engine < units;
                first += units;
            }
        }
    }
}

struct wmi_caches *wmi_caches_create(const struct wm_gpu *gpu, const struct wmi_vector_rules *rules)
{
    struct wmi_caches *caches = calloc(1, sizeof *caches);
    if (!caches)
        return NULL;
    caches->rules = *rules;
    caches->xcds = gpu->xcds;
    caches->cus = gpu->compute_units / gpu->xcds;
    caches->groups_per_cu = 1;
    caches->places = calloc(gpu->compute_units, sizeof *caches->places);
    bool good = caches->places;
    for (unsigned level = 0; good && level < WM_CACHE_LEVELS; level++) {
        const struct wm_cache *from = &gpu->cache[level];
        struct cache *cache = &caches->cache[level];
        if (!from->bytes)
            continue;
        const uint64_t sets = from->bytes / from->line / from->ways;
        *cache = (struct cache){.sets = (uint32_t)sets,
                                .ways = from->ways,
                                .line_shift = log2_of(from->line),
                                .instances = wmi_caches_instances(gpu, level),
                                .set_mask = sets & (sets - 1) ? 0 : sets - 1};
        cache->entries = calloc(cache->instances * sets * from->ways, sizeof *cache->entries);
        good = cache->entries;
        if (!good || from->ways < INDEXED_WAYS || sets * from->ways > UINT16_MAX / 2)
            continue;
        for (cache->buckets = 1; cache->buckets < 2 * sets * from->ways;)
            cache->buckets *= 2;
        cache->index_size = 3 * (size_t)(sets * from->ways) + 2 * sets + cache->buckets;
        cache->indexed = malloc(cache->instances * cache->index_size * sizeof *cache->indexed);
        good = cache->indexed;
        if (good)
            clear_indices(cache);
    }
    if (good) {
        place_units(caches, gpu);
        return caches;
    }
    wmi_caches_destroy(caches);
    return NULL;
}

void wmi_caches_destroy(struct wmi_caches *caches)
{
    for (unsigned level = 0; caches && level < WM_CACHE_LEVELS; level++) {
        free(caches->cache[level].entries);
        free(caches->cache[level].indexed);
    }
    if (caches) {
        free(caches->places);
        free(caches->uses);
        free(caches->cursors);
    }
    free(caches);
}

void wmi_caches_begin(struct wmi_caches *caches, uint32_t groups_per_cu)
{
    caches->groups_per_cu = groups_per_cu ? groups_per_cu : 1;
    for (unsigned level = 0; level < WM_CACHE_L2; level++) {
        const struct cache *cache = &caches->cache[level];
        if (exists(caches, level))
            memset(cache->entries, 0,
                   (size_t)cache->instances * cache->sets * cache->ways * sizeof *cache->entries);
        if (cache->indexed)
            clear_indices(cache);
    }
}

uint64_t wmi_caches_round_groups(const struct wmi_caches *caches)
{
    return (uint64_t)caches->xcds * caches->cus * caches->groups_per_cu;
}

/* Bytes of requests follow from their number: they are as large as the instruction's blocks, and behind L2 as
 * sectors. Only those to L2 differ. */
const struct wmi_slot_use *wmi_caches_uses(struct wmi_caches *caches, uint32_t *slots)
{
    for (uint32_t slot = 0; slot < caches->slots; slot++)
        for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
            struct wm_cache_use *use = &caches->uses[slot].use[level];
            if (level != WM_CACHE_L2)
                use->bytes = use->requests *
                             (level == WM_CACHE_LAST ? SECTOR : 1u << caches->instructions[slot].shift);
        }
    *slots = caches->slots;
    return caches->uses;
}

const struct wmi_caches_sums *wmi_caches_sums(struct wmi_caches *caches)
{
    uint32_t slots;
    const struct wmi_slot_use *uses = wmi_caches_uses(caches, &slots);
    caches->sums = (struct wmi_caches_sums){0};
    for (uint32_t slot = 0; slot < slots; slot++) {
        const unsigned kind = caches->instructions[slot].kind;
        for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
            caches->sums.use[level][kind].requests += uses[slot].use[level].requests;
            caches->sums.use[level][kind].hits += uses[slot].use[level].hits;
            caches->sums.use[level][kind].bytes += uses[slot].use[level].bytes;
        }
        caches->sums.memory_read += uses[slot].memory_read;
        caches->sums.memory_written += uses[slot].memory_written;
    }
    return &caches->sums;
}

uint64_t wmi_caches_dirty(const struct wmi_caches *caches)
{
    uint64_t sectors = 0;
    for (unsigned level = WM_CACHE_L2; level < WM_CACHE_LEVELS; level++) {
        const struct cache *cache = &caches->cache[level];
        const size_t entries =
            exists(caches, level) ? (size_t)cache->instances * cache->sets * cache->ways : 0;
        for (size_t i = 0; i < entries; i++)
            sectors += (unsigned)__builtin_popcountll(cache->entries[i] & DIRTY);
    }
    return sectors * SECTOR;
}

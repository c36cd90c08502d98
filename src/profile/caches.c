/* SPDX-License-Identifier: MIT */
/* The caches of a product, driven by the log: docs/model.md says what is assumed, and what is not known. */
#include "profile/caches.h"

#include "memory/access.h"

#include <stdlib.h>
#include <string.h>

/* An entry of a cache: a line's number, who wrote it last, and what of its sectors of 64 bytes is there to be
 * read or waits to be written back. 0: empty. Most recently used first in each set. */
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
};

struct cache {
    uint64_t *entries;
    uint32_t sets, ways, line_shift, instances;
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

static uint64_t *set_of(const struct cache *cache, uint32_t instance, uint64_t line)
{
    const uint64_t set = cache->set_mask ? line & cache->set_mask : line % cache->sets;
    return cache->entries + ((uint64_t)instance * cache->sets + set) * cache->ways;
}

static bool is_line(uint64_t entry, uint64_t line)
{
    return entry >> LINE_SHIFT == line && entry & (VALID | DIRTY);
}

/* The line's entry, moved to the front of its set, or NULL. */
static uint64_t *find(const struct cache *cache, uint32_t instance, uint64_t line)
{
    uint64_t *set = set_of(cache, instance, line);
    if (is_line(set[0], line))
        return set;
    for (uint32_t way = 1; way < cache->ways; way++)
        if (is_line(set[way], line)) {
            const uint64_t entry = set[way];
            memmove(set + 1, set, way * sizeof *set);
            set[0] = entry;
            return set;
        }
    return NULL;
}

/* Puts the line, which is not there, in front, with no sector. *evicted: what made room. */
static uint64_t *insert(const struct cache *cache, uint32_t instance, uint64_t line, uint64_t *evicted)
{
    uint64_t *set = set_of(cache, instance, line);
    *evicted = set[cache->ways - 1];
    memmove(set + 1, set, (cache->ways - 1) * sizeof *set);
    set[0] = line << LINE_SHIFT;
    return set;
}

/* Forgets the line: the next one takes its room. */
static void drop(const struct cache *cache, uint32_t instance, uint64_t line)
{
    uint64_t *set = find(cache, instance, line);
    if (!set)
        return;
    memmove(set, set + 1, (cache->ways - 1) * sizeof *set);
    set[cache->ways - 1] = 0;
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

static void count(struct wmi_caches *caches, const struct request *request, enum wm_cache_level level,
                  bool hit)
{
    struct wm_cache_use *uses[] = {&caches->uses[request->slot].use[level],
                                   &caches->sums.use[level][request->kind]};
    for (unsigned i = 0; i < 2; i++) {
        uses[i]->requests++;
        uses[i]->hits += hit;
        uses[i]->bytes += request->bytes;
    }
}

static void read_memory(struct wmi_caches *caches, uint32_t slot, uint64_t bytes)
{
    caches->uses[slot].memory_read += bytes;
    caches->sums.memory_read += bytes;
}

static void write_memory(struct wmi_caches *caches, uint32_t slot, uint64_t bytes)
{
    caches->uses[slot].memory_written += bytes;
    caches->sums.memory_written += bytes;
}

/* A sector, to or from behind L2. */
static void reach_last(struct wmi_caches *caches, uint64_t address, uint32_t slot, bool writes)
{
    const struct cache *last = &caches->cache[WM_CACHE_LAST];
    const uint64_t line = address >> SECTOR_SHIFT;
    if (!exists(caches, WM_CACHE_LAST)) {
        (writes ? write_memory : read_memory)(caches, slot, SECTOR);
        return;
    }
    uint64_t *entry = find(last, 0, line);
    count(caches,
          &(struct request){.address = address,
                            .bytes = SECTOR,
                            .slot = slot,
                            .kind = writes ? WMI_ACCESS_STORE : WMI_ACCESS_LOAD},
          WM_CACHE_LAST, entry != NULL);
    if (!entry) {
        uint64_t evicted;
        entry = insert(last, 0, line, &evicted);
        if (evicted & DIRTY)
            write_memory(caches, evicted >> SLOT_SHIFT & SLOT_MASK, SECTOR);
        if (!writes)
            read_memory(caches, slot, SECTOR);
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
    count(caches, request, WM_CACHE_L2, stores ? there != 0 : (there & wanted) == wanted);
    if (!entry)
        entry = insert(l2, xcd, line, &evicted);
    for (unsigned sector = 0; sector < 2; sector++) {
        if (evicted & (uint64_t)DIRTY_0 << sector)
            reach_last(caches, (evicted >> LINE_SHIFT << l2->line_shift) + sector * SECTOR,
                       evicted >> SLOT_SHIFT & SLOT_MASK, true);
        if (!stores && wanted & ~there & (uint64_t)VALID_0 << sector)
            reach_last(caches, start + sector * SECTOR, request->slot, false);
    }
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
    const bool hit = find(cache, instance, line);
    count(caches, request, level, hit);
    if (!hit)
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
    count(caches, request, level, false);
    if (level != WM_CACHE_VECTOR || !request->full || request->bytes < 1u << cache->line_shift)
        drop(cache, instance, line);
    else if (!find(cache, instance, line))
        *insert(cache, instance, line, &evicted) |= VALID_0;
}

static void reach(struct wmi_caches *caches, const struct place *place, const struct request *request,
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
            count(caches, request, levels[i], false);
        } else if (read_through(caches, levels[i], instance, request)) {
            return;
        }
    }
    reach_l2(caches, place->instance[WM_CACHE_L2], request);
}

/* ---- rounds ---- */

/* The next access of the wave. */
static void step(struct wmi_caches *caches, struct cursor *cursor)
{
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
        for (unsigned i = 0; i < many; i++) {
            request.address = blocks[i] << instruction->shift;
            reach(caches, cursor->place, &request, first, instruction->policy);
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
    for (unsigned level = 0; caches && level < WM_CACHE_LEVELS; level++)
        free(caches->cache[level].entries);
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
    }
}

uint64_t wmi_caches_round_groups(const struct wmi_caches *caches)
{
    return (uint64_t)caches->xcds * caches->cus * caches->groups_per_cu;
}

const struct wmi_slot_use *wmi_caches_uses(const struct wmi_caches *caches, uint32_t *slots)
{
    *slots = caches->slots;
    return caches->uses;
}

const struct wmi_caches_sums *wmi_caches_sums(const struct wmi_caches *caches)
{
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

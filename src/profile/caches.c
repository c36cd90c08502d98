/* SPDX-License-Identifier: MIT */
/* The caches of a product, driven by the log: docs/model.md says what is assumed, and what is not known. What
 * the log of a round does to them is in caches_lanes.c. */
#include "profile/caches_inside.h"
#include "sem/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- rounds ---- */

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

static const struct wmi_cache_place *place_of(const struct wmi_caches *caches, uint64_t group)
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
                caches->cursors[left++] =
                    (struct wmi_cache_cursor){.at = log->words,
                                              .end = log->words + log->size,
                                              .place = place_of(caches, groups[i]->number)};
        }
    caches->failed = false;
    caches->walk(caches, left);
    return !caches->failed;
}

/* ---- a product ---- */

/* Compute units of an engine of an XCD. */
static uint32_t units_of(const struct wm_gpu *gpu, uint32_t engine)
{
    const uint32_t cus = gpu->compute_units / gpu->xcds;
    return cus / gpu->engines + (engine < cus % gpu->engines);
}

/* Instances in the first `engines` of an XCD: compute units of one engine share them. */
static uint32_t instances_before(const struct wm_gpu *gpu, enum wm_cache_level level, uint32_t engines)
{
    const uint32_t sharing = gpu->cache[level].sharing;
    uint32_t instances = 0;
    for (uint32_t engine = 0; sharing && engine < engines; engine++)
        instances += (units_of(gpu, engine) + sharing - 1) / sharing;
    return instances;
}

uint32_t wmi_caches_instances(const struct wm_gpu *gpu, enum wm_cache_level level)
{
    if (!gpu->cache[level].bytes)
        return 0;
    if (level == WM_CACHE_LAST)
        return 1;
    return gpu->xcds * (gpu->cache[level].sharing ? instances_before(gpu, level, gpu->engines) : 1);
}

static uint32_t instance_of(const struct wm_gpu *gpu, enum wm_cache_level level, uint32_t xcd,
                            uint32_t engine, uint32_t unit)
{
    const uint32_t sharing = gpu->cache[level].sharing;
    if (level == WM_CACHE_LAST)
        return 0;
    return xcd * (wmi_caches_instances(gpu, level) / gpu->xcds) + instances_before(gpu, level, engine) +
           (sharing ? unit / sharing : 0);
}

/* Workgroups go round the shader engines, and in each of them from compute unit to compute unit. */
static void place_units(struct wmi_caches *caches, const struct wm_gpu *gpu)
{
    const uint32_t engines = gpu->engines, most = (caches->cus + engines - 1) / engines;
    for (uint32_t xcd = 0; xcd < caches->xcds; xcd++) {
        struct wmi_cache_place *place = &caches->places[xcd * caches->cus];
        for (uint32_t unit = 0; unit < most; unit++)
            for (uint32_t engine = 0; engine < engines; engine++) {
                if (unit >= units_of(gpu, engine))
                    continue;
                for (unsigned level = 0; level < WM_CACHE_LEVELS; level++)
                    place->instance[level] = instance_of(gpu, level, xcd, engine, unit);
                place++;
            }
    }
}

static size_t words_of(const struct wmi_cache *cache)
{
    return (size_t)cache->instances * cache->sets * cache->room;
}

/* Vectors are aligned to their size. False: no memory. */
static bool make_lines(struct wmi_cache *cache, bool has_states)
{
    const size_t words = words_of(cache), align = WMI_CACHE_WAYS;
    cache->memory = calloc((has_states + 1) * words + align, sizeof *cache->memory);
    if (!cache->memory)
        return false;
    cache->tags = cache->memory + align - (uintptr_t)cache->memory / sizeof *cache->memory % align;
    cache->states = has_states ? cache->tags + words : NULL;
    return true;
}

/* The fastest ones for this CPU. */
static void choose_walks(struct wmi_caches *caches, enum wmi_cpu_level level)
{
#define DECLARE(name, level, lanes, suffix) extern wmi_caches_walk name##suffix;
    WMI_LANE_BUILDS(DECLARE, wmi_caches_walk)
    WMI_LANE_BUILDS(DECLARE, wmi_caches_flush)
#define ENTRY(name, level, lanes, suffix) [level][lanes / 64] = name##suffix,
    static wmi_caches_walk *const walks[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(ENTRY, wmi_caches_walk)};
    static wmi_caches_walk *const flushes[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(ENTRY, wmi_caches_flush)};
    caches->walk = walks[level][1];
    caches->flush = flushes[level][1];
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
    choose_walks(caches, wmi_cpu_level());
    caches->high = UINT64_MAX; /* no address's */
    caches->places = calloc(gpu->compute_units, sizeof *caches->places);
    bool good = caches->places;
    for (unsigned level = 0; good && level < WM_CACHE_LEVELS; level++) {
        const struct wm_cache *from = &gpu->cache[level];
        struct wmi_cache *cache = &caches->cache[level];
        if (!from->bytes)
            continue;
        const uint64_t sets = from->bytes / from->line / from->ways;
        *cache =
            (struct wmi_cache){.sets = (uint32_t)sets,
                               .ways = from->ways,
                               .room = (from->ways + WMI_CACHE_WAYS - 1) / WMI_CACHE_WAYS * WMI_CACHE_WAYS,
                               .line_shift = (uint32_t)__builtin_ctz(from->line),
                               .instances = wmi_caches_instances(gpu, level),
                               .set_mask = sets & (sets - 1) ? 0 : sets - 1};
        good = make_lines(cache, level >= WM_CACHE_L2);
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
        free(caches->cache[level].memory);
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
        const struct wmi_cache *cache = &caches->cache[level];
        if (cache->tags && level != WM_CACHE_INSTRUCTION)
            memset(cache->tags, 0, words_of(cache) * sizeof *cache->tags);
    }
}

/* Several L2 are kept coherent by writing back what a kernel wrote and by forgetting the rest. */
void wmi_caches_end(struct wmi_caches *caches)
{
    const struct wmi_cache *l2 = &caches->cache[WM_CACHE_L2];
    if (caches->xcds > 1 && l2->tags)
        caches->flush(caches, words_of(l2));
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
                use->bytes =
                    use->requests *
                    (level == WM_CACHE_LAST ? WMI_CACHE_SECTOR : 1u << caches->instructions[slot].shift);
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
        const struct wmi_cache *cache = &caches->cache[level];
        const size_t words = cache->tags ? words_of(cache) : 0;
        for (size_t i = 0; i < words; i++)
            sectors +=
                (cache->states[i] / WMI_LINE_DIRTY_0 & 1) + (cache->states[i] / (2 * WMI_LINE_DIRTY_0) & 1);
    }
    return sectors * WMI_CACHE_SECTOR;
}

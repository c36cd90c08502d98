/* SPDX-License-Identifier: MIT */
/* The caches of a product, driven by the log. docs/model.md lists assumptions and unknowns; caches_lanes.c
 * processes the log of a round. */
#include "profile/caches/caches.h"

#include "memory/access.h"
#include "profile/caches/inside.h"
#include "profile/measure/fetch.h"
#include "sem/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- rounds ---- */

static bool make_room(struct wmi_caches *caches, size_t cursors, uint32_t slots)
{
    if (cursors > caches->cursor_capacity) {
        struct wmi_cache_cursor *more = realloc(caches->cursors, cursors * sizeof *more);
        if (!more)
            return false;
        caches->cursors = more;
        caches->cursor_capacity = cursors;
    }
    if (slots > caches->slots) {
        struct wmi_slot_use *uses = realloc(caches->uses, slots * sizeof *uses);
        if (uses)
            caches->uses = uses;
        struct wmi_cache_route *routes = realloc(caches->routes, slots * sizeof *routes);
        if (routes)
            caches->routes = routes;
        if (!uses || !routes)
            return false;
        memset(uses + caches->slots, 0, (slots - caches->slots) * sizeof *uses);
        memset(routes + caches->slots, 0, (slots - caches->slots) * sizeof *routes);
        caches->slots = slots;
    }
    return true;
}

static enum wmi_cache_how how(const struct wmi_cache *cache, bool past, bool leaves)
{
    return !cache->tags ? WMI_CACHE_NONE : past ? WMI_CACHE_PAST : leaves ? WMI_CACHE_LEAVE : WMI_CACHE_USE;
}

static struct wmi_cache_route route_of(const struct wmi_caches *caches,
                                       const struct wmi_log_instruction *instruction)
{
    const struct wmi_vector_rules *rules = &caches->rules;
    const bool code = instruction->path == WMI_PATH_IFETCH, scalar = instruction->path == WMI_PATH_SMEM;
    const bool vector = !code && !scalar, loads = instruction->kind == WMI_ACCESS_LOAD;
    const unsigned policy = code ? 0 : instruction->policy, shift = instruction->shift;
    const bool leaves = vector && policy & rules->leaves;
    const enum wm_cache_level first = code     ? WM_CACHE_INSTRUCTION
                                      : scalar ? WM_CACHE_SCALAR
                                               : WM_CACHE_VECTOR;
    const enum wmi_cache_how near = how(&caches->cache[first], vector && policy & rules->bypass, leaves);
    const unsigned far_shift = caches->cache[WM_CACHE_L2].line_shift;
    if (instruction->path == WMI_PATH_CONTROL)
        return (struct wmi_cache_route){
            .shift = (uint8_t)shift, .pieces = 1, .is_control = true, .invalidates = instruction->policy};
    return (struct wmi_cache_route){
        .shift = (uint8_t)shift,
        .kind = instruction->kind,
        .first = (uint8_t)first,
        .near = (uint8_t)near,
        .gl1 = (uint8_t)how(&caches->cache[WM_CACHE_GL1], policy & rules->bypass_gl1, leaves),
        .streams = policy & rules->streams,
        .skips_last = policy & rules->skips_last,
        .is_code = code,
        .goes_on = code && instruction->policy != WMI_FETCH_ROUND_ROBIN,
        .repeats = loads && near == WMI_CACHE_USE,
        .pieces = (uint8_t)(far_shift > shift ? 1u << (far_shift - shift) : 1),
    };
}

/* The compute units that a workgroup runs on. */
static const struct wmi_cache_place *home_of(const struct wmi_caches *caches, uint64_t group)
{
    const uint64_t xcd = group % caches->gpu.xcds, nth = group / caches->gpu.xcds;
    return &caches->places[(xcd * caches->homes + nth % caches->homes) * caches->residence.units];
}

/* The workgroup's waves alternate between the compute units of its home; this is the first one. Workgroups of
 * a round with the same home continue where the previous one ended. */
static uint32_t first_turn(const struct wmi_caches *caches, const struct wmi_log_group *group)
{
    const uint64_t before = group->number / caches->gpu.xcds / caches->homes % caches->residence.groups;
    return (uint32_t)(before * group->waves % caches->residence.units);
}

/* ---- when waves begin ---- */

enum {
    BATCHES = 16,          /* of workgroups that begin in one turn; more make hardly any difference */
    DISPATCH_CLOCKS = 2,   /* of an XCD, for each workgroup: measured on MI210 (cost/gpu.c) */
    CLOCKS_OF_A_TURN = 250 /* assumed: of a wave that loads from L2, as MI100 and MI210 (time/clocks.c) */
};

/* The turns that a wave takes. */
static uint64_t turns_of(const struct wmi_caches *caches, const struct wmi_cache_cursor *cursor)
{
    const uint64_t *at = cursor->at;
    uint64_t blocks[WMI_LOG_BLOCKS], turns = 0;
    while (at < cursor->end) {
        struct wmi_log_entry entry;
        wmi_log_read(&at, &entry, blocks);
        turns += !entry.continues && !caches->routes[entry.slot].goes_on;
    }
    return turns;
}

/* The turns that a wave of the round, whose cursors are those from `begin` to `end`, takes on average, from a
 * few of them. */
static uint64_t usual_turns(const struct wmi_caches *caches, size_t begin, size_t end)
{
    enum { FEW = 16 };
    uint64_t turns = 0;
    const size_t count = end - begin, few = count < FEW ? count : FEW;
    for (size_t i = 0; i < few; i++)
        turns += turns_of(caches, &caches->cursors[begin + i * count / few]);
    return few ? (turns + few - 1) / few : 0;
}

unsigned wmi_caches_round(struct wmi_caches *caches, struct wmi_log_group *const *groups, size_t group_count,
                          const struct wmi_log_instruction *instructions, uint32_t slots)
{
    const size_t carried = caches->carried;
    const bool replaces = caches->residence.workgroups > wmi_caches_round_groups(caches);
    size_t count = carried;
    for (size_t i = 0; i < group_count; i++)
        count += groups[i]->waves;
    if (!make_room(caches, count, slots))
        return WM_CUT_NO_MEMORY;
    for (uint32_t slot = 0; slot < slots; slot++) {
        const struct wmi_log_instruction instruction = wmi_log_instruction_at(&instructions[slot]);
        caches->routes[slot] = route_of(caches, &instruction);
    }
    count = carried;
    for (size_t i = 0; i < group_count; i++) {
        const struct wmi_cache_place *home = home_of(caches, groups[i]->number);
        const uint32_t turn = first_turn(caches, groups[i]);
        for (uint32_t wave = 0; wave < groups[i]->waves; wave++) {
            const struct wmi_log_wave *log = &groups[i]->wave[wave];
            if (log->size)
                caches->cursors[count++] =
                    (struct wmi_cache_cursor){.at = log->words,
                                              .end = log->words + log->size,
                                              .place = &home[(turn + wave) % caches->residence.units],
                                              .start = (uint32_t)(i * BATCHES / group_count)};
        }
    }
    const uint64_t turns = usual_turns(caches, carried, count);
    const uint64_t dispatch = group_count / caches->gpu.xcds * DISPATCH_CLOCKS / CLOCKS_OF_A_TURN;
    const uint64_t spread = dispatch < turns ? dispatch : turns;
    for (size_t i = carried; i < count; i++)
        caches->cursors[i].start = (uint32_t)(caches->cursors[i].start * spread / BATCHES);
    caches->beyond = false;
    caches->carried = caches->walk(caches, carried, count, replaces ? turns : UINT64_MAX);
    return caches->beyond ? WM_CUT_REGIONS : 0;
}

unsigned wmi_caches_rest(struct wmi_caches *caches)
{
    caches->beyond = false;
    caches->carried = caches->walk(caches, caches->carried, caches->carried, UINT64_MAX);
    return caches->beyond ? WM_CUT_REGIONS : 0;
}

/* ---- a product ---- */

/* Number of compute units in an engine of an XCD. */
static uint32_t units_of(const struct wm_gpu *gpu, uint32_t engine)
{
    const uint32_t cus = gpu->compute_units / gpu->xcds;
    return cus / gpu->engines + (engine < cus % gpu->engines);
}

/* Number of compute units that an engine was built with. */
static uint32_t built_of(const struct wm_gpu *gpu, uint32_t engine)
{
    const uint32_t enabled = units_of(gpu, engine);
    return gpu->engine_units > enabled ? gpu->engine_units : enabled;
}

/* Which of those that share a cache a compute unit belongs to. Assumed: the disabled ones are the last before
 * the last group. */
static uint32_t group_of(const struct wm_gpu *gpu, uint32_t sharing, uint32_t engine, uint32_t unit)
{
    const uint32_t built = built_of(gpu, engine), disabled = built - units_of(gpu, engine);
    const uint32_t last = (built - 1) / sharing * sharing; /* begins the last group */
    return (unit + disabled >= last ? unit + disabled : unit) / sharing;
}

/* Number of cache instances in the first `engines` engines of an XCD; they are shared within an engine. */
static uint32_t instances_before(const struct wm_gpu *gpu, enum wm_cache_level level, uint32_t engines)
{
    const uint32_t sharing = gpu->cache[level].sharing;
    uint32_t instances = 0;
    for (uint32_t engine = 0; sharing && engine < engines; engine++)
        instances += (built_of(gpu, engine) + sharing - 1) / sharing;
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
           (sharing ? group_of(gpu, sharing, engine, unit) : 0);
}

/* Number of groups of `units` compute units in an XCD, including incomplete ones of an engine. */
static uint32_t homes_of(const struct wm_gpu *gpu, uint32_t units)
{
    uint32_t homes = 0;
    for (uint32_t engine = 0; engine < gpu->engines; engine++)
        homes += (units_of(gpu, engine) + units - 1) / units;
    return homes;
}

/* Sets the places of `units` compute units from `first` on. In an incomplete group, which no product has, the
 * first one stands for the missing ones. */
static void place_home(struct wmi_cache_place *places, const struct wm_gpu *gpu, uint32_t xcd,
                       uint32_t engine, uint32_t first, uint32_t units)
{
    for (uint32_t i = 0; i < units; i++) {
        const uint32_t unit = first + i < units_of(gpu, engine) ? first + i : first;
        for (unsigned level = 0; level < WM_CACHE_LEVELS; level++)
            places[i].instance[level] = instance_of(gpu, level, xcd, engine, unit);
    }
}

/* Sets the dispatch order: workgroups rotate through the shader engines, and within an engine through its
 * compute units or WGPs (`units`: compute units per workgroup). False: out of memory. */
static bool place_units(struct wmi_caches *caches, uint32_t units)
{
    const struct wm_gpu *gpu = &caches->gpu;
    const uint32_t homes = homes_of(gpu, units), most = units_of(gpu, 0);
    struct wmi_cache_place *places = calloc((size_t)gpu->xcds * homes * units, sizeof *places),
                           *place = places;
    if (!places)
        return false;
    for (uint32_t xcd = 0; xcd < gpu->xcds; xcd++)
        for (uint32_t unit = 0; unit < most; unit += units)
            for (uint32_t engine = 0; engine < gpu->engines; engine++)
                if (unit < units_of(gpu, engine)) {
                    place_home(place, gpu, xcd, engine, unit, units);
                    place += units;
                }
    free(caches->places);
    caches->places = places;
    caches->homes = homes;
    caches->residence.units = units;
    return true;
}

static size_t words_of(const struct wmi_cache *cache)
{
    return (size_t)cache->instances * cache->sets * cache->room;
}

/* Allocates tags and states, aligned for vectors. False: out of memory. */
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

/* Selects the fastest functions for this CPU. */
static void choose_walks(struct wmi_caches *caches, enum wmi_cpu_level level)
{
    WMI_TABLE_OF_BUILDS(walks, wmi_caches_walk);
    WMI_TABLE_OF_BUILDS(flushes, wmi_caches_flush);
    caches->walk = walks[level][1];
    caches->flush = flushes[level][1];
}

struct wmi_caches *wmi_caches_create(const struct wm_gpu *gpu, const struct wmi_vector_rules *rules)
{
    struct wmi_caches *caches = calloc(1, sizeof *caches);
    if (!caches)
        return NULL;
    caches->rules = *rules;
    caches->gpu = *gpu;
    caches->residence.groups = 1;
    choose_walks(caches, wmi_cpu_level());
    caches->high = UINT64_MAX; /* matches no address */
    bool good = place_units(caches, 1);
    for (unsigned level = 0; good && level < WM_CACHE_LEVELS; level++) {
        const struct wm_cache *from = &gpu->cache[level];
        struct wmi_cache *cache = &caches->cache[level];
        if (!from->bytes)
            continue;
        const uint64_t sets = from->bytes / from->line / from->ways;
        *cache = (struct wmi_cache){.sets = (uint32_t)sets,
                                    .ways = from->ways,
                                    .room = wmi_cache_room(from->ways),
                                    .line_shift = (uint32_t)__builtin_ctz(from->line),
                                    .instances = wmi_caches_instances(gpu, level),
                                    .set_mask = sets & (sets - 1) ? 0 : sets - 1,
                                    .fold = level == WM_CACHE_L2 && gpu->xcds > 1 ? 0x9e3779b1u : 0};
        good = make_lines(cache, level >= WM_CACHE_L2) &&
               (cache->missed = calloc(cache->sets, sizeof *cache->missed)) != NULL;
        if (good && (level == WM_CACHE_SCALAR || level == WM_CACHE_INSTRUCTION))
            good = (cache->last = calloc(cache->instances, sizeof *cache->last)) != NULL;
    }
    if (good)
        return caches;
    wmi_caches_destroy(caches);
    return NULL;
}

void wmi_caches_destroy(struct wmi_caches *caches)
{
    for (unsigned level = 0; caches && level < WM_CACHE_LEVELS; level++) {
        free(caches->cache[level].memory);
        free(caches->cache[level].missed);
        free(caches->cache[level].last);
    }
    if (caches) {
        free(caches->places);
        free(caches->uses);
        free(caches->routes);
        free(caches->cursors);
    }
    free(caches);
}

bool wmi_caches_begin(struct wmi_caches *caches, struct wmi_residence residence)
{
    const uint32_t units = residence.units ? residence.units : 1;
    if (units != caches->residence.units && !place_units(caches, units))
        return false;
    caches->residence.groups = residence.groups ? residence.groups : 1;
    caches->residence.workgroups = residence.workgroups;
    if (caches->atomics.used)
        caches->atomics = (struct wmi_atomic_lines){0};
    for (unsigned level = 0; level < WM_CACHE_L2; level++) {
        const struct wmi_cache *cache = &caches->cache[level];
        if (!cache->tags || level == WM_CACHE_INSTRUCTION)
            continue;
        memset(cache->tags, 0, words_of(cache) * sizeof *cache->tags);
        if (cache->last)
            memset(cache->last, 0, cache->instances * sizeof *cache->last);
    }
    return true;
}

uint64_t wmi_caches_hottest_atomics(const struct wmi_caches *caches)
{
    return caches->atomics.most;
}

void wmi_caches_keep_l2(struct wmi_caches *caches)
{
    caches->keeps_l2 = caches->gpu.xcds == 1; /* several L2s are coherent only if all are written back */
}

void wmi_caches_end(struct wmi_caches *caches)
{
    const struct wmi_cache *l2 = &caches->cache[WM_CACHE_L2];
    if (!caches->keeps_l2 && l2->tags)
        caches->flushed += caches->flush(caches, words_of(l2)) * WMI_CACHE_SECTOR;
}

uint64_t wmi_caches_round_groups(const struct wmi_caches *caches)
{
    return (uint64_t)caches->gpu.xcds * caches->homes * caches->residence.groups;
}

/* Bytes are derived from the number of requests: before L2 a request is one block of the instruction, after
 * L2 one sector. Requests to L2 vary in size and are counted directly. */
const struct wmi_slot_use *wmi_caches_uses(struct wmi_caches *caches, uint32_t *slots)
{
    for (uint32_t slot = 0; slot < caches->slots; slot++)
        for (unsigned level = 0; level < WM_CACHE_LEVELS; level++) {
            struct wm_cache_use *use = &caches->uses[slot].use[level];
            if (level != WM_CACHE_L2)
                use->bytes = use->requests *
                             (level == WM_CACHE_LAST ? WMI_CACHE_SECTOR : 1u << caches->routes[slot].shift);
        }
    *slots = caches->slots;
    return caches->uses;
}

const struct wmi_caches_sums *wmi_caches_sums(struct wmi_caches *caches)
{
    uint32_t slots;
    const struct wmi_slot_use *uses = wmi_caches_uses(caches, &slots);
    caches->sums = (struct wmi_caches_sums){.flushed = caches->flushed};
    for (uint32_t slot = 0; slot < slots; slot++) {
        const unsigned kind = caches->routes[slot].kind;
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

const uint64_t *wmi_caches_missed(const struct wmi_caches *caches, enum wm_cache_level level, uint32_t *sets)
{
    *sets = caches->cache[level].missed ? caches->cache[level].sets : 0;
    return caches->cache[level].missed;
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

/* SPDX-License-Identifier: MIT */
/* The instructions of a profile; the start and end of a profile and its dispatches. */
#include "profile/inside.h"
#include "profile/kernels.h"
#include "profile/report.h"
#include "profile/slots.h"
#include "profile/time/timeline.h"

#include "profile/measure/shard.h"

#include <stdlib.h>
#include <string.h>

/* ---- instructions ---- */

static bool grow(struct wm_profile *profile)
{
    const size_t capacity = profile->capacity ? 2 * profile->capacity : 64;
    uint32_t *index = calloc(2 * capacity, sizeof *index);
    struct wmi_profiled *instructions =
        index ? realloc(profile->instructions, capacity * sizeof *instructions) : NULL;
    if (!instructions) {
        free(index);
        return false;
    }
    free(profile->index);
    profile->index = index;
    profile->instructions = instructions;
    profile->capacity = capacity;
    for (size_t slot = 0; slot < profile->count; slot++)
        *wmi_profile_index(profile, instructions[slot].row.pc, instructions[slot].id) = (uint32_t)slot + 1;
    return true;
}

/* Replaces a string by a copy; NULL and a failed copy become NULL. */
static void own(struct wm_profile *profile, const char **string)
{
    if (*string && !(*string = strdup(*string)))
        profile->missed = true;
}

static void add_code(struct wm_profile *profile, const struct wm_profile_row *row)
{
    struct wm_profile_code code;
    if (!profile->source.code || wmi_origins_has_code(&profile->origins, row->pc - row->offset) ||
        !profile->source.code(profile->source.user, row->pc, &code))
        return;
    code.target = profile->source.target_name;
    code.wave_lanes = profile->source.wave_lanes;
    profile->missed |= !wmi_origins_add_code(&profile->origins, &code);
}

static uint32_t add_instruction(void *self, uint64_t pc, unsigned id)
{
    struct wm_profile *profile = self;
    uint32_t slot = WMI_NO_SLOT;
    /* end_thread() of another worker may run concurrently. */
    pthread_mutex_lock(&profile->lock);
    if (profile->count < profile->capacity || grow(profile)) {
        uint32_t *entry = wmi_profile_index(profile, pc, id);
        if (*entry == 0) {
            struct wmi_profiled *instruction = &profile->instructions[profile->count++];
            *entry = (uint32_t)profile->count;
            *instruction = (struct wmi_profiled){.row = {.pc = pc}, .id = id};
            if (profile->source.describe)
                profile->source.describe(profile->source.user, id, &instruction->row);
            instruction->row.pc = pc;
            own(profile, &instruction->row.kernel);
            own(profile, &instruction->row.text);
            own(profile, &instruction->row.file);
            add_code(profile, &instruction->row);
        }
        slot = *entry - 1;
    } else {
        profile->missed = true;
    }
    pthread_mutex_unlock(&profile->lock);
    return slot;
}

/* ---- the profile ---- */

static unsigned cuts_of(const struct wm_profile *profile)
{
    return profile->kernel < profile->kernel_count ? profile->kernels[profile->kernel].cuts : 0;
}

bool wmi_profile_missed(const struct wm_profile *profile)
{
    return profile->missed || profile->fetches.missed || profile->sample.failed ||
           cuts_of(profile) & WM_CUT_NO_MEMORY;
}

/* Called after wmi_profile_end(). WM_CUT_ROUND, fewer workgroups modelled at once, loses nothing. */
static const char *incomplete(void *self)
{
    const struct wm_profile *profile = self;
    if (wmi_profile_missed(profile))
        return "no memory for all of it";
    if (cuts_of(profile) & WM_CUT_WORKGROUP)
        return "the log of a workgroup took more than 1 GiB";
    return cuts_of(profile) & WM_CUT_REGIONS ? "more than 62 regions of 4 GiB were accessed" : NULL;
}

struct wm_profile *wmi_profile_create(void)
{
    struct wm_profile *profile = calloc(1, sizeof *profile);
    if (!profile)
        return NULL;
    pthread_mutex_init(&profile->lock, NULL);
    profile->observer = wmi_shard_observer;
    profile->observer.self = profile;
    profile->observer.instruction = add_instruction;
    profile->observer.incomplete = incomplete;
    return profile;
}

void wmi_profile_destroy(struct wm_profile *profile)
{
    if (!profile)
        return;
    for (size_t slot = 0; slot < profile->count; slot++) {
        free((char *)profile->instructions[slot].row.kernel);
        free((char *)profile->instructions[slot].row.text);
        free((char *)profile->instructions[slot].row.file);
    }
    pthread_mutex_destroy(&profile->lock);
    wmi_shards_destroy(profile->shards);
    wmi_rounds_destroy(profile->rounds);
    wmi_kernels_destroy(profile);
    wmi_origins_free(&profile->origins);
    wmi_sample_free(&profile->sample);
    wmi_fetches_destroy(&profile->fetches);
    wmi_paths_destroy(profile->paths);
    wmi_timelines_destroy(profile->timelines);
    free(profile->log_instructions);
    free(profile->instructions);
    free(profile->index);
    wmi_report_forget(profile);
    free(profile);
}

static void add_dispatch(struct wm_profile *profile)
{
    const struct wmi_profile_dispatch *dispatch = &profile->source.dispatch;
    struct wm_profile_dispatch kept = {.kernel = dispatch->kernel, .target = profile->source.target_name};
    memcpy(kept.grid, dispatch->grid, sizeof kept.grid);
    memcpy(kept.workgroup, dispatch->workgroup, sizeof kept.workgroup);
    profile->missed |= !wmi_origins_add_dispatch(&profile->origins, &kept);
}

static uint32_t add_block(void *self, uint64_t from, uint64_t to, bool falls, const uint32_t *work)
{
    struct wm_profile *profile = self;
    const uint32_t number = wmi_fetches_add(&profile->fetches, from, to, falls, work);
    wmi_paths_block(profile->paths, from, to, number);
    return number;
}

static void take_instruction(void *self, uint64_t pc, const struct wmi_instruction *insn, uint64_t branch,
                             bool ends)
{
    struct wm_profile *profile = self;
    wmi_paths_take(profile->paths, pc, insn, branch, ends);
    if (profile->timelines)
        wmi_timelines_take(profile->timelines, profile, pc, insn);
}

/* The kernel's code has a slot like an instruction, but no row. Not used for replay: traces contain it. */
static void begin_fetches(struct wm_profile *profile)
{
    const struct wmi_cost_rules *rules = profile->source.rules;
    const struct wm_cache *cache = profile->rounds ? &profile->gpu.cache[WM_CACHE_INSTRUCTION] : NULL;
    profile->observer.block = NULL;
    profile->observer.takes = NULL;
    if (!rules || !profile->source.describe)
        return;
    const struct wmi_target *target = wmi_target_find(profile->source.target_name);
    if (!profile->paths)
        profile->paths = wmi_paths_create();
    profile->missed |= !profile->paths;
    if (!profile->paths)
        return;
    wmi_paths_begin(profile->paths, target, profile->source.wave_lanes);
    if (target)
        profile->observer.takes = take_instruction;
    const uint32_t slot = add_instruction(profile, profile->source.dispatch.pc, WMI_FETCH_ID);
    wmi_fetches_begin(&profile->fetches, &rules->fetch, cache, slot);
    profile->observer.block = add_block;
    if (cache && cache->bytes && slot < WMI_LOG_SLOTS)
        profile->log_instructions[slot] = (struct wmi_log_instruction){
            .path = WMI_PATH_IFETCH, .shift = (uint8_t)__builtin_ctz(cache->line)};
}

static void plan_sample(struct wm_profile *profile)
{
    const struct wmi_profile_dispatch *dispatch = &profile->source.dispatch;
    struct wmi_sampling *sampling = &profile->sampling;
    *sampling = (struct wmi_sampling){.one_in = profile->one_in, .round = 1, .groups = 1};
    for (unsigned i = 0; i < 3; i++)
        if (dispatch->workgroup[i])
            sampling->groups *=
                ((uint64_t)dispatch->grid[i] + dispatch->workgroup[i] - 1) / dispatch->workgroup[i];
    if (profile->rounds)
        sampling->round = wmi_caches_round_groups(wmi_rounds_caches(profile->rounds));
}

const struct wmi_observer *wmi_profile_begin(struct wm_profile *profile,
                                             const struct wmi_profile_source *source)
{
    wmi_report_forget(profile);
    profile->source = source ? *source : (struct wmi_profile_source){0};
    if (profile->has_gpu && profile->source.rules && (!profile->began || profile->no_model)) {
        if (!profile->log_instructions)
            profile->log_instructions = calloc(WMI_LOG_SLOTS, sizeof *profile->log_instructions);
        if (profile->log_instructions)
            profile->rounds =
                wmi_rounds_create(&profile->gpu, &profile->source.rules->vector, profile->log_instructions);
        profile->no_model = !profile->rounds;
        if (profile->rounds && profile->keeps_l2)
            wmi_caches_keep_l2(wmi_rounds_caches(profile->rounds));
    }
    profile->began = true;
    memset(profile->work, 0, sizeof profile->work);
    profile->missed = profile->no_model;
    profile->observer.summary = wmi_repeat_summary_build(wmi_cpu_level(), profile->source.wave_lanes);
    add_dispatch(profile);
    wmi_sample_free(&profile->sample);
    profile->sample = (struct wmi_sample){0};
    begin_fetches(profile);
    wmi_kernels_begin(profile);
    plan_sample(profile);
    if (profile->timelines)
        profile->missed |= !wmi_timelines_begin(profile->timelines, profile);
    return &profile->observer;
}

static int by_pc(const void *left, const void *right, void *user)
{
    const struct wmi_profiled *instructions = user;
    const uint64_t a = instructions[*(const uint32_t *)left].row.pc,
                   b = instructions[*(const uint32_t *)right].row.pc;
    return (a > b) - (a < b);
}

/* The instructions with lanes, by address; the caller frees them. */
static uint32_t *list_with_lanes(const struct wm_profile *profile, size_t *count)
{
    uint32_t *slots = malloc((profile->count + 1) * sizeof *slots);
    *count = 0;
    for (uint32_t slot = 0; slots && slot < profile->count; slot++) {
        const struct wmi_counts *counts = &profile->instructions[slot].counts;
        if (counts->executions && counts->path != WMI_PATH_SMEM && counts->path != WMI_PATH_CONTROL)
            slots[(*count)++] = slot;
    }
    if (*count)
        qsort_r(slots, *count, sizeof *slots, by_pc, profile->instructions);
    return slots;
}

/* Adds the work of each block of code to its first instruction with lanes, which says how many the block has.
 */
static void share_code(struct wm_profile *profile)
{
    const struct wmi_fetches *fetches = &profile->fetches;
    size_t count;
    uint32_t *slots = list_with_lanes(profile, &count);
    profile->missed |= !slots;
    for (uint32_t number = 0; slots && number < fetches->count; number++) {
        const struct wmi_fetch_block *block = wmi_fetches_block(fetches, number);
        size_t low = 0, high = count;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (profile->instructions[slots[middle]].row.pc < block->from)
                low = middle + 1;
            else
                high = middle;
        }
        if (!block->done.times || low == count || profile->instructions[slots[low]].row.pc >= block->to)
            continue;
        struct wmi_executed *code = &profile->instructions[slots[low]].counts.code;
        code->fetches += block->done.times * (uint64_t)block->fetches;
        for (unsigned i = 0; i < WMI_WORK_COUNTS; i++)
            code->work[i] += block->done.times * block->work[i];
    }
    free(slots);
}

/* Adds what waves wait for to the memory instructions, and to the work of the dispatch. */
static void share_waits(struct wm_profile *profile)
{
    const struct wmi_fetches *fetches = &profile->fetches;
    profile->missed |= !wmi_paths_solve(profile->paths);
    for (uint32_t number = 0; number < fetches->count; number++) {
        const uint64_t times = wmi_fetches_block(fetches, number)->done.times;
        const struct wmi_path_cost *cost = times ? wmi_paths_cost(profile->paths, number) : NULL;
        for (uint32_t i = 0; cost && i < cost->wait_count; i++) {
            const struct wmi_path_wait *wait = &cost->waits[i];
            const uint32_t slot = wmi_profile_slot(profile, wait->at.pc, wait->at.id);
            if (slot == WMI_NO_SLOT)
                continue;
            struct wmi_counts *counts = &profile->instructions[slot].counts;
            counts->exposed += times * wait->exposed;
            for (uint32_t k = 0; k < wait->beside_count; k++)
                counts->beside_count =
                    wmi_path_add_place(counts->beside, counts->beside_count, wait->beside[k]);
        }
        profile->work[WMI_WORK_STALLS] += cost ? times * cost->stalls : 0;
        profile->work[WMI_WORK_BARRIERS] += cost ? times * cost->barriers : 0;
    }
}

void wmi_profile_end(struct wm_profile *profile)
{
    wmi_report_forget(profile);
    if (profile->rounds)
        wmi_rounds_end(profile->rounds);
    if (profile->observer.block && profile->fetches.slot < profile->count) {
        profile->instructions[profile->fetches.slot].counts.bytes = profile->fetches.code_bytes;
        share_code(profile);
        share_waits(profile);
    }
    wmi_kernels_end(profile);
}

void wmi_profile_set_gpu(struct wm_profile *profile, const struct wm_gpu *gpu)
{
    profile->gpu = *gpu;
    profile->has_gpu = true;
}

const struct wm_gpu *wmi_profile_gpu(const struct wm_profile *profile)
{
    return profile->has_gpu ? &profile->gpu : NULL;
}

void wmi_profile_set_sample(struct wm_profile *profile, unsigned one_in)
{
    profile->one_in = one_in;
}

bool wmi_profile_takes_sample(const struct wm_profile *profile)
{
    return profile->one_in > 1;
}

bool wmi_profile_set_timelines(struct wm_profile *profile)
{
    if (!profile->timelines)
        profile->timelines = wmi_timelines_create();
    return profile->timelines;
}

const struct wmi_observer *wmi_profile_timeline_observer(struct wm_profile *profile)
{
    return profile->timelines ? wmi_timelines_observer(profile->timelines) : NULL;
}

const struct wm_timeline *wmi_profile_timelines(const struct wm_profile *profile, size_t *count)
{
    *count = 0;
    return profile->timelines ? wmi_timelines(profile->timelines, count) : NULL;
}

void wmi_profile_keep_l2(struct wm_profile *profile)
{
    profile->keeps_l2 = true;
}

bool wmi_profile_began(const struct wm_profile *profile)
{
    return profile->began;
}

void wmi_profile_set_tracer(struct wm_profile *profile, struct wmi_tracer *tracer)
{
    profile->tracer = tracer;
}

struct wmi_tracer *wmi_profile_tracer(const struct wm_profile *profile)
{
    return profile->tracer;
}

bool *wmi_profile_busy(struct wm_profile *profile)
{
    return &profile->busy;
}

struct wmi_origins *wmi_profile_origins(struct wm_profile *profile)
{
    return &profile->origins;
}

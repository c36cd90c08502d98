/* SPDX-License-Identifier: MIT */
/* Sums up the measurements (measure.h) of each memory instruction's accesses, and logs the accesses for the
 * cache models.
 *
 * An execution with EXEC = 0 is counted, with no lanes and no lines. */
#include "profile/measure/shard.h"

#include "memory/space.h"
#include "profile/cost/requested.h"

#include <stdlib.h>
#include <string.h>

enum { MEMOS_KEPT = 1 << 14 /* maximum memos that are kept for the next dispatch: 16 MB */ };

wmi_repeat_summary *wmi_repeat_summary_build(enum wmi_cpu_level level, unsigned lanes)
{
    WMI_TABLE_OF_BUILDS(builds, wmi_repeat_summary);
    return builds[level][lanes != 32];
}

/* ---- counting ---- */

/* Resets the counts for the next dispatch. Memos stay. */
static void forget(struct wmi_shard_counts *of)
{
    const struct wmi_counts counts = of->counts;
    of->counts = (struct wmi_counts){.path = counts.path, .kind = counts.kind, .bytes = counts.bytes};
    of->first = of->quick_from = UINT64_MAX;
}

/* Returns the counts of the slot, for which it makes room. NULL: no memory. */
static struct wmi_shard_counts *counts_of(struct wmi_shard *shard, uint32_t slot)
{
    if (slot >= shard->size) {
        const size_t size = ((size_t)slot + 64) / 64 * 128;
        struct wmi_shard_counts *counts =
            aligned_alloc(alignof(struct wmi_shard_counts), size * sizeof *counts);
        if (!counts) {
            shard->missed = true;
            return NULL;
        }
        if (shard->size)
            memcpy(counts, shard->counts, shard->size * sizeof *counts);
        memset(counts + shard->size, 0, (size - shard->size) * sizeof *counts);
        for (size_t new = shard->size; new < size; new ++)
            forget(&counts[new]);
        free(shard->counts);
        shard->counts = counts;
        shard->size = size;
    }
    return &shard->counts[slot];
}

/* Picks which of two executions to report. Depends only on their contents, not on arrival order, so that
 * reports do not vary with the number of threads. */
static bool is_worse(const struct wmi_lds_cost *a, const struct wmi_lds_cost *b)
{
    if (a->depth != b->depth)
        return a->depth > b->depth;
    return a->bank != b->bank ? a->bank < b->bank : a->lanes < b->lanes;
}

/* Compares two waves by the order in which workgroups are dispatched: negative, 0 or positive, as in
 * qsort(). */
static int place_order(const uint32_t workgroup[3], uint32_t wave, const struct wm_profile_wave *other)
{
    for (unsigned i = 3; i-- > 0;)
        if (workgroup[i] != other->workgroup[i])
            return workgroup[i] < other->workgroup[i] ? -1 : 1;
    return (wave > other->wave) - (wave < other->wave);
}

/* Keeps this access as the example if its wave precedes the current example's in dispatch order. */
static void keep_wave(struct wm_profile_wave *kept, const struct wmi_access *access)
{
    if (kept->lanes && place_order(access->workgroup, access->wave, kept) >= 0)
        return;
    for (unsigned e = 0; e < access->elements; e++) {
        const struct wmi_element *element = &access->element[e];
        const uint64_t lanes =
            element->mask & ~(element->bad_range | element->bad_align | element->bad_aperture);
        if (!lanes || (element->space != WMI_SPACE_GLOBAL && element->space != WMI_SPACE_LDS))
            continue;
        kept->lanes = lanes;
        kept->in_lds = element->space == WMI_SPACE_LDS;
        kept->bytes = access->bytes;
        memcpy(kept->workgroup, access->workgroup, sizeof kept->workgroup);
        kept->wave = access->wave;
        for (unsigned lane = 0; lane < 64; lane++)
            kept->address[lane] = lanes >> lane & 1 ? element->address[lane] : 0;
        return;
    }
}

/* Adds a measurement `times` times. */
static inline void add_sums(struct wmi_counts *counts, const uint32_t sum[WMI_SUM_COUNT],
                            const struct wmi_lds_cost *lds, uint64_t times)
{
    for (unsigned i = 0; i < WMI_SUM_COUNT; i++)
        counts->sum[i] += sum[i] * times;
    const uint32_t lines = sum[WMI_SUM_LINES];
    counts->executions += times;
    counts->histogram[lines < WM_PROFILE_LINES ? lines : WM_PROFILE_LINES] += times;
    if (is_worse(lds, &counts->worst))
        counts->worst = *lds;
}

static void settle(struct wmi_counts *counts, struct wmi_memo *memo)
{
    if (memo->times) {
        add_sums(counts, memo->sum, &memo->lds, memo->times);
        counts->used |= memo->used;
    }
    memo->times = 0;
}

/* Several threads write the same description of an instruction. Storing it again would only cause
 * contention. */
static void describe(struct wmi_log_instruction *shared, struct wmi_log_instruction instruction)
{
    const union wmi_log_instruction_word now = {.instruction = instruction};
    uint32_t __attribute__((may_alias)) *word = (void *)shared;
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != now.word)
        __atomic_store_n(word, now.word, __ATOMIC_RELAXED);
}

/* Describes what all executions of an instruction have in common, so that the entries of the log need not
 * repeat it. shift: log2 of the block size. */
static void describe_slot(struct wm_profile *profile, uint32_t slot, const struct wmi_access *access,
                          unsigned shift)
{
    describe(&profile->log_instructions[slot],
             (struct wmi_log_instruction){.path = (uint8_t)access->path,
                                          .kind = (uint8_t)access->kind,
                                          .shift = (uint8_t)shift,
                                          .policy = (uint8_t)access->policy});
}

/* Lets later accesses take the fast path through memos, unless these are closed. */
static void set_quick(struct wmi_shard_counts *of)
{
    of->quick_from = of->memos.closed ? UINT64_MAX : of->first;
}

static void add_measure(struct wmi_counts *counts, const struct wmi_measure *measure)
{
    add_sums(counts, measure->sum, &measure->lds, 1);
    counts->used |= measure->used;
}

/* Measures an access that missed in the memos. place: the memo in which to keep the measurement, or NULL. */
static void measure_access(struct wmi_shard *shard, struct wmi_shard_counts *of,
                           const struct wmi_access *access, uint32_t slot, struct wmi_memo **place)
{
    const struct wmi_measure *measure = wmi_measure(shard->measurer, access);
    const struct wmi_log_wave *wave = shard->group ? &shard->group->wave[access->wave] : NULL;
    const size_t before = wave ? wave->size : 0;
    of->counts.path = access->path;
    of->counts.kind = access->kind;
    const uint32_t bytes = (uint32_t)access->elements * access->bytes;
    of->counts.bytes = bytes > of->counts.bytes ? bytes : of->counts.bytes;
    add_measure(&of->counts, measure);
    if (wave && slot < WMI_LOG_SLOTS && measure->requests.count) {
        describe_slot(shard->profile, slot, access, measure->shift);
        of->described = true;
        wmi_log_append(shard->group, access->wave, slot, measure->requests.block,
                       access->kind == WMI_ACCESS_STORE ? measure->full : NULL, measure->requests.count);
    }
    if (!place)
        return;
    if (!*place && (*place = wmi_memo_create()))
        shard->memos++;
    if (!*place)
        return;
    settle(&of->counts, *place);
    const size_t words = wave ? wave->size - before : 0;
    wmi_memo_keep(*place, &shard->patterns, access, measure, words ? wave->words + before : NULL, words);
}

/* Counts an invalidation of caches. Its entry in the log has a dummy block. */
static void count_control(struct wmi_shard *shard, struct wmi_counts *counts, const struct wmi_access *access,
                          uint32_t slot)
{
    static const uint64_t block = 0;
    counts->path = access->path;
    counts->executions++;
    counts->sum[WMI_SUM_INVALIDATIONS] += access->policy >> WM_CACHE_VECTOR & 1;
    if (!shard->group || slot >= WMI_LOG_SLOTS)
        return;
    describe_slot(shard->profile, slot, access, WMI_LOG_LEAST_SHIFT);
    wmi_log_append(shard->group, access->wave, slot, &block, NULL, 1);
}

bool wmi_shard_log(struct wmi_shard *shard, const struct wmi_memo *memo, uint32_t wave, uint64_t distance)
{
    wmi_log_repeat(shard->group, wave, memo->words, memo->word_count, distance);
    return true;
}

/* Logs an access that was measured from its summary. */
static void log_requested(struct wmi_shard *shard, const struct wmi_requested *requested, uint32_t slot,
                          uint32_t wave)
{
    const bool *full = requested->query.kind == WMI_ACCESS_STORE ? requested->full : NULL;
    const uint64_t first = requested->base >> requested->query.block_shift;
    if (!full || !memchr(full, !full[0], requested->count)) {
        wmi_log_append_near(shard->group, wave, slot, first, requested->block, full && full[0],
                            requested->count);
        return;
    }
    uint64_t block[64];
    for (uint32_t i = 0; i < requested->count; i++)
        block[i] = first + requested->block[i];
    wmi_log_append(shard->group, wave, slot, block, full, requested->count);
}

bool wmi_shard_measure(struct wmi_shard *shard, struct wmi_shard_counts *of,
                       const struct wmi_address_summary *summary, uint32_t slot)
{
    const unsigned first = (unsigned)__builtin_ctzll(summary->lanes);
    const uint64_t start = wmi_summary_address(summary, first);
    const bool logged = wmi_shape_space(summary->shape) == WMI_SPACE_GLOBAL && shard->group;
    if (!of->memos.closed || shard->first_wave + summary->wave < of->first || (logged && !of->described) ||
        wmi_shard_is_scratch(shard, start))
        return false;
    const struct wmi_requested *requested;
    const struct wmi_measure *measure =
        wmi_measure_summary(shard->measurer, (enum wmi_path)of->counts.path,
                            (enum wmi_access_kind)of->counts.kind, summary, &requested);
    if (!measure)
        return false;
    of->memos.closed--;
    set_quick(of);
    wmi_shard_count_depth(&of->counts, summary->depth);
    add_measure(&of->counts, measure);
    if (requested && shard->group && slot < WMI_LOG_SLOTS)
        log_requested(shard, requested, slot, summary->wave);
    return true;
}

static bool repeat_lane(void *local, uint32_t slot, uint32_t wave, uint32_t depth, uint64_t address,
                        const struct wmi_hit *hit)
{
    struct wmi_shard *shard = local;
    if (slot >= shard->size)
        return false;
    struct wmi_shard_counts *of = &shard->counts[slot];
    if (shard->first_wave + wave < of->quick_from)
        return !shard->first_wave; /* workgroups outside of the sample are ignored */
    struct wmi_memo *memo = wmi_memos_at(&of->memos, address);
    if (!memo || wmi_shard_is_scratch(shard, address) || !memo->shape ||
        !wmi_memo_within(memo, address, hit->low, hit->high))
        return false;
    wmi_shard_count_depth(&of->counts, depth);
    return wmi_shard_repeat(shard, of, memo, wave, address);
}

/* ---- scratch memory ---- */

/* A copy of an access with other addresses. */
struct moved {
    struct wmi_access access;
    uint64_t address[WMI_ACCESS_ELEMENTS][64];
};

static bool reaches_scratch(const struct wmi_shard *shard, const struct wmi_access *access)
{
    for (unsigned e = 0; shard->scratch_size && e < access->elements; e++)
        for (uint64_t left = access->element[e].mask; left; left &= left - 1)
            if (wmi_shard_is_scratch(shard, access->element[e].address[__builtin_ctzll(left)]))
                return true;
    return false;
}

/* Moves scratch addresses to where the first workgroup's scratch memory would be. Which scratch memory a
 * workgroup gets depends on the threads, and on the GPU the scratch of waves has no gaps. */
static const struct wmi_access *settle_scratch(const struct wmi_shard *shard, const struct wmi_access *access,
                                               struct moved *moved)
{
    const struct wmi_profile_source *source = &shard->profile->source;
    if (!reaches_scratch(shard, access))
        return access;
    const uint64_t distance = shard->scratch_start + access->wave * source->scratch_wave -
                              (shard->scratch + access->wave * source->scratch_stride);
    moved->access = *access;
    for (unsigned e = 0; e < access->elements; e++) {
        const uint64_t *from = access->element[e].address;
        uint64_t *to = moved->address[e];
        moved->access.element[e].address = to;
        for (unsigned lane = 0; lane < shard->lanes; lane++)
            to[lane] = from[lane] + (wmi_shard_is_scratch(shard, from[lane]) ? distance : 0);
    }
    return &moved->access;
}

/* Keeps this access as the example if its wave is the first so far. Of scalar accesses no example is kept. */
static void keep_example(struct wmi_shard_counts *of, const struct wmi_access *access, uint64_t wave)
{
    if (access->path == WMI_PATH_SMEM) {
        of->first = WMI_SHARD_WAVES;
    } else if (wave < of->first) {
        keep_wave(&of->counts.wave, access);
        if (of->counts.wave.lanes)
            of->first = wave;
    }
}

static void count_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct wmi_shard *shard = local;
    struct moved moved;
    struct wmi_memo **place;
    struct wmi_shard_counts *of = slot == WMI_NO_SLOT || !shard->first_wave ? NULL : counts_of(shard, slot);
    if (!of)
        return;
    if (access->path == WMI_PATH_CONTROL) {
        count_control(shard, &of->counts, access, slot);
        return;
    }
    access = settle_scratch(shard, access, &moved);
    wmi_shard_count_depth(&of->counts, access->depth);
    keep_example(of, access, shard->first_wave + access->wave);
    struct wmi_memo *memo = wmi_memos_find(&of->memos, access, shard->compare, &place);
    set_quick(of);
    if (memo)
        wmi_shard_repeat(shard, of, memo, access->wave, wmi_access_base(access));
    else
        measure_access(shard, of, access, slot, place);
}

/* ---- instruction fetch ---- */

static struct wmi_block_counter *block_counters(void *local)
{
    return wmi_fetcher_counters(((struct wmi_shard *)local)->fetcher);
}

static void enter_block(void *local, uint32_t wave, uint32_t block)
{
    struct wmi_shard *shard = local;
    wmi_fetcher_enter(shard->fetcher, shard->group, wave, block, shard->first_wave);
}

/* ---- workgroups ---- */

static void resume(void *local, void **kept, uint64_t number, uint32_t waves, uint64_t scratch)
{
    struct wmi_shard *shard = local;
    const struct wm_profile *profile = shard->profile;
    uint64_t place = number; /* index among the observed workgroups */
    wmi_fetcher_resume(shard->fetcher, shard->group, shard->first_wave);
    const bool skips =
        profile->rounds && profile->one_in > 1 && !wmi_sampling_takes(&profile->sampling, number, &place);
    if (!*kept && profile->rounds && !skips)
        shard->missed |= !(*kept = wmi_rounds_take(profile->rounds, &shard->stock, place, waves));
    shard->group = *kept;
    shard->scratch = scratch;
    shard->first_wave = skips ? 0 : (number + 1) * WMI_SHARD_WAVES;
}

static void end_group(void *local, void *kept, uint64_t instructions)
{
    struct wmi_shard *shard = local;
    struct wmi_log_group *group = kept;
    wmi_fetcher_resume(shard->fetcher, group, shard->first_wave);
    shard->group = NULL;
    if (shard->profile->one_in > 1) {
        pthread_mutex_lock(&shard->profile->lock);
        shard->profile->sample.groups++;
        if (group)
            wmi_sample_count(&shard->profile->sample, &shard->profile->sampling, group,
                             shard->profile->log_instructions);
        pthread_mutex_unlock(&shard->profile->lock);
    }
    if (!group)
        return;
    group->instructions = instructions;
    wmi_rounds_give(shard->profile->rounds, &shard->stock, group);
}

/* ---- threads ---- */

static void free_memos(struct wmi_shard *shard)
{
    for (size_t slot = 0; shard->memos && slot < shard->size; slot++)
        wmi_memos_free(&shard->counts[slot].memos);
    shard->memos = 0;
    wmi_patterns_clear(&shard->patterns);
}

static void destroy_shard(struct wmi_shard *shard)
{
    free_memos(shard);
    wmi_fetcher_destroy(shard->fetcher);
    free(shard->counts);
    free(shard->measurer);
    free(shard);
}

void wmi_shards_destroy(struct wmi_shard *shards)
{
    for (struct wmi_shard *next; shards; shards = next) {
        next = shards->next;
        destroy_shard(shards);
    }
}

static struct wmi_shard *create_shard(struct wm_profile *profile)
{
    const struct wmi_profile_source *source = &profile->source;
    struct wmi_shard *shard = calloc(1, sizeof *shard);
    if (!shard)
        return NULL;
    shard->profile = profile;
    shard->rules = source->rules;
    shard->lanes = source->wave_lanes;
    shard->measurer = wmi_measurer_create(source->rules, source->wave_lanes);
    shard->compare = wmi_memo_comparer(wmi_cpu_level(), source->wave_lanes == 32 ? 32 : 64);
    shard->fetcher = wmi_fetcher_create(&profile->fetches);
    if (shard->measurer && shard->fetcher)
        return shard;
    destroy_shard(shard);
    return NULL;
}

/* Reuses a shard of an earlier dispatch, whose memos are filled. NULL: there is none. */
static struct wmi_shard *take_shard(struct wm_profile *profile)
{
    for (struct wmi_shard **place = &profile->shards, *shard; (shard = *place); place = &shard->next) {
        if (shard->rules != profile->source.rules || shard->lanes != profile->source.wave_lanes)
            continue;
        *place = shard->next;
        return shard;
    }
    return NULL;
}

static void *begin_thread(void *self)
{
    struct wm_profile *profile = self;
    pthread_mutex_lock(&profile->lock);
    wmi_fetches_settle(&profile->fetches);
    if (profile->fetches.follows && profile->fetches.slot < WMI_LOG_SLOTS) {
        struct wmi_log_instruction *fetch = &profile->log_instructions[profile->fetches.slot];
        struct wmi_log_instruction now = wmi_log_instruction_at(fetch);
        now.policy = WMI_FETCH_ROUND_ROBIN;
        describe(fetch, now);
    }
    struct wmi_shard *shard = take_shard(profile);
    pthread_mutex_unlock(&profile->lock);
    if (!shard)
        shard = create_shard(profile);
    if (!shard)
        return NULL;
    shard->first_wave = WMI_SHARD_WAVES;
    shard->scratch_start = profile->source.dispatch.scratch;
    shard->scratch_size = profile->source.scratch_size;
    return shard;
}

void wmi_counts_add(struct wmi_counts *to, const struct wmi_counts *from)
{
    to->path = from->path;
    to->kind = from->kind;
    to->bytes = from->bytes > to->bytes ? from->bytes : to->bytes;
    to->used |= from->used;
    to->executions += from->executions;
    to->depth += from->depth;
    if (from->depth_most > to->depth_most)
        to->depth_most = from->depth_most;
    for (unsigned sum = 0; sum < WMI_SUM_COUNT; sum++)
        to->sum[sum] += from->sum[sum];
    if (is_worse(&from->worst, &to->worst))
        to->worst = from->worst;
    for (unsigned lines = 0; lines <= WM_PROFILE_LINES; lines++)
        to->histogram[lines] += from->histogram[lines];
    if (from->wave.lanes &&
        (!to->wave.lanes || place_order(from->wave.workgroup, from->wave.wave, &to->wave) < 0))
        to->wave = from->wave;
}

static void end_thread(void *self, void *local)
{
    struct wm_profile *profile = self;
    struct wmi_shard *shard = local;
    if (!shard)
        return;
    wmi_fetcher_resume(shard->fetcher, NULL, shard->first_wave);
    if (profile->rounds)
        wmi_rounds_leave(profile->rounds, &shard->stock);
    pthread_mutex_lock(&profile->lock);
    const uint64_t fetches = wmi_fetcher_end(shard->fetcher, profile->work);
    if (profile->fetches.slot < profile->count)
        profile->instructions[profile->fetches.slot].counts.sum[WMI_SUM_FETCHES] += fetches;
    const size_t slots = shard->size < profile->count ? shard->size : profile->count;
    for (size_t slot = 0; slot < slots; slot++) {
        struct wmi_shard_counts *of = &shard->counts[slot];
        for (unsigned i = 0; i < WMI_MEMOS; i++)
            if (of->memos.memo[i])
                settle(&of->counts, of->memos.memo[i]);
        if (!of->counts.executions)
            continue;
        wmi_counts_add(&profile->instructions[slot].counts, &of->counts);
        forget(of);
    }
    if (shard->memos > MEMOS_KEPT)
        free_memos(shard);
    profile->missed |= shard->missed;
    shard->missed = false;
    shard->group = NULL;
    shard->next = profile->shards;
    profile->shards = shard;
    pthread_mutex_unlock(&profile->lock);
}

const struct wmi_observer wmi_shard_observer = {
    .depths = true,
    .allows_compiled = true,
    .thread_begin = begin_thread,
    .thread_end = end_thread,
    .access = count_access,
    .summary_lane = repeat_lane,
    .block_counters = block_counters,
    .fetch = enter_block,
    .resume = resume,
    .end = end_group,
};

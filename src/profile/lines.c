/* SPDX-License-Identifier: MIT */
/* The profile's observer: sums up what each memory instruction's accesses are measured to be (measure.h), and
 * logs them for the caches.
 *
 * An execution with EXEC = 0 is counted, with no lanes and no lines. */
#include "profile/lines.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_WAVES = 64, /* of a workgroup */
    MEMOS = 64,      /* patterns of an instruction that are remembered, by where in 256 bytes they begin */
    PATIENCE = 64,   /* accesses in a row that were like none before: then memos are not worth their time, */
    TRY_AGAIN = 256, /* but so many accesses later they are tried again, and if in vain, twice as many */
    REST_MOST = 8192,
};

/* What one worker thread counts for a slot. */
struct shard_counts {
    uint64_t first;                /* wave that is kept, by number; UINT64_MAX: none yet */
    unsigned in_vain, rests;       /* accesses: measured in a row, until memos are tried again */
    unsigned pause;                /* what `rests` began with */
    struct wmi_memo *memos[MEMOS]; /* NULL: nothing measured yet */
    struct wmi_counts counts;
};

/* What one worker thread counts. */
struct shard {
    struct shard_counts *counts; /* by slot */
    size_t size;
    struct wm_profile *profile;
    struct wmi_measurer *measurer;
    struct wmi_fetcher *fetcher;
    struct wmi_memo_compares compare;
    struct wmi_log_group *group; /* the log of the workgroup that runs; NULL: none is kept */
    uint64_t number;             /* of that workgroup */
    bool skips;                  /* it is not in the sample */
    unsigned depth;              /* of the wait counter of the instruction that was shown last */
};

/* ---- counting ---- */

/* Counts of the slot, with room made for it; NULL without memory. */
static struct shard_counts *counts_of(struct shard *shard, uint32_t slot)
{
    if (slot >= shard->size) {
        const size_t size = ((size_t)slot + 64) / 64 * 128;
        struct shard_counts *counts = realloc(shard->counts, size * sizeof *counts);
        if (!counts)
            return NULL;
        memset(counts + shard->size, 0, (size - shard->size) * sizeof *counts);
        for (size_t new = shard->size; new < size; new ++)
            counts[new].first = UINT64_MAX;
        shard->counts = counts;
        shard->size = size;
    }
    return &shard->counts[slot];
}

/* Of two executions the one to show, by what they are and not by which came first: threads change that. */
static bool is_worse(const struct wmi_lds_cost *a, const struct wmi_lds_cost *b)
{
    if (a->depth != b->depth)
        return a->depth > b->depth;
    return a->bank != b->bank ? a->bank < b->bank : a->lanes < b->lanes;
}

/* Before 0, at 0 or behind it, in the order in which workgroups are dispatched. */
static int place_order(const uint32_t workgroup[3], uint32_t wave, const struct wm_profile_wave *other)
{
    for (unsigned i = 3; i-- > 0;)
        if (workgroup[i] != other->workgroup[i])
            return workgroup[i] < other->workgroup[i] ? -1 : 1;
    return (wave > other->wave) - (wave < other->wave);
}

/* Keeps the access if it is the first of an earlier wave than the one that is kept. */
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

/* Adds what was measured, `times`. */
static void add_sums(struct wmi_counts *counts, const uint32_t sum[WMI_SUM_COUNT],
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
    if (memo->times)
        add_sums(counts, memo->sum, &memo->lds, memo->times);
    memo->times = 0;
}

/* The log keeps what is the same for all executions apart. */
static void describe_slot(struct wm_profile *profile, uint32_t slot, const struct wmi_access *access,
                          const struct wmi_measure *measure)
{
    union {
        struct wmi_log_instruction instruction;
        uint32_t word;
    } now = {.instruction = {.path = (uint8_t)access->path,
                             .kind = (uint8_t)access->kind,
                             .shift = (uint8_t)measure->shift,
                             .policy = (uint8_t)access->policy}};
    _Static_assert(sizeof now == sizeof(uint32_t), "one word");
    uint32_t *word = (uint32_t *)&profile->log_instructions[slot];
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != now.word) /* other threads write the same */
        __atomic_store_n(word, now.word, __ATOMIC_RELAXED);
}

/* An access that is not like one before it. place: of the memo to make of it, or NULL. */
static void measure_access(struct shard *shard, struct shard_counts *of, const struct wmi_access *access,
                           uint32_t slot, struct wmi_memo **place)
{
    const struct wmi_measure *measure = wmi_measure(shard->measurer, access);
    struct wmi_log_group *group = slot < WMI_LOG_SLOTS ? shard->group : NULL;
    const uint64_t *words = NULL;
    size_t word_count = 0;
    of->counts.path = access->path;
    of->counts.kind = access->kind;
    of->counts.bytes = (uint32_t)access->elements * access->bytes;
    add_sums(&of->counts, measure->sum, &measure->lds, 1);
    if (group && measure->requests.count) {
        const struct wmi_log_wave *wave = &group->wave[access->wave];
        const size_t before = wave->size;
        describe_slot(shard->profile, slot, access, measure);
        wmi_log_append(group, access->wave, slot, measure->requests.block,
                       access->kind == WMI_ACCESS_STORE ? measure->full : NULL, measure->requests.count);
        words = wave->words + before;
        word_count = wave->size - before;
    }
    if (!place)
        return;
    if (!*place)
        *place = calloc(1, sizeof **place);
    if (!*place)
        return;
    settle(&of->counts, *place);
    wmi_memo_keep(*place, access, measure, words, word_count);
}

static void count_depth(const struct shard *shard, struct wmi_counts *counts)
{
    counts->depth += shard->depth;
    if (shard->depth > counts->depth_most)
        counts->depth_most = shard->depth;
}

/* Numbers waves in the order in which they are dispatched. */
static uint64_t wave_number(const struct shard *shard, uint32_t wave)
{
    return shard->number * MOST_WAVES + wave;
}

/* One more access that is like the one of the memo. */
static void count_repeated(struct shard *shard, struct shard_counts *of, struct wmi_memo *memo, uint32_t wave,
                           uint64_t base)
{
    const uint64_t distance = (uint64_t)((int64_t)(base - memo->base) >> memo->shift);
    of->in_vain = of->pause = 0;
    memo->times++;
    if (!shard->group || !memo->word_count ||
        (memo->word_count == 2 && wmi_log_repeat_short(shard->group, wave, memo->words, distance)))
        return;
    wmi_log_repeat(shard->group, wave, memo->words, memo->word_count, distance);
}

static bool count_outline(void *local, const struct wmi_outline *outline, uint32_t slot)
{
    struct shard *shard = local;
    struct shard_counts *of = slot < shard->size ? &shard->counts[slot] : NULL;
    if (!of || of->rests || shard->skips || wave_number(shard, outline->wave) < of->first)
        return false;
    const unsigned first = (unsigned)__builtin_ctzll(outline->lanes);
    const uint64_t low = outline->low ? outline->low[first] : 0;
    const uint64_t base = outline->base + (low | (outline->high ? (uint64_t)outline->high[first] << 32 : 0));
    struct wmi_memo *memo = of->memos[base / 4 % MEMOS];
    if (!memo || !wmi_memo_holds_outline(memo, outline, base, shard->compare.rows))
        return false;
    count_depth(shard, &of->counts);
    count_repeated(shard, of, memo, outline->wave, base);
    return true;
}

static void count_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct shard *shard = local;
    struct shard_counts *of = slot == WMI_NO_SLOT || shard->skips ? NULL : counts_of(shard, slot);
    if (!of)
        return;
    count_depth(shard, &of->counts);
    if (access->path == WMI_PATH_SMEM) { /* of which no wave is kept */
        of->first = 0;
    } else if (wave_number(shard, access->wave) < of->first) {
        keep_wave(&of->counts.wave, access);
        if (of->counts.wave.lanes)
            of->first = wave_number(shard, access->wave);
    }
    if (of->rests) {
        of->rests--;
        measure_access(shard, of, access, slot, NULL);
        return;
    }
    if (!access->elements || !access->element[0].mask) {
        measure_access(shard, of, access, slot, NULL);
        return;
    }
    const uint64_t base = access->element[0].address[__builtin_ctzll(access->element[0].mask)];
    struct wmi_memo **place = &of->memos[base / 4 % MEMOS], *memo = *place;
    if (memo && wmi_memo_holds(memo, access, base, shard->compare.addresses)) {
        count_repeated(shard, of, memo, access->wave, base);
        return;
    }
    if (++of->in_vain == PATIENCE) {
        of->in_vain = 0;
        of->pause = of->pause ? 2 * of->pause : TRY_AGAIN;
        of->pause = of->pause < REST_MOST ? of->pause : REST_MOST;
        of->rests = of->pause;
    }
    measure_access(shard, of, access, slot, place);
}

/* ---- waits ---- */

static uint32_t add_decoded(void *self, uint64_t pc, const struct wmi_instruction *insn)
{
    struct wm_profile *profile = self;
    (void)pc;
    return profile->source.target ? wmi_depths_add(&profile->depths, profile->source.target, insn)
                                  : WMI_NOT_SHOWN;
}

/* A memory instruction is shown just before its access. */
static void pass_instruction(void *local, void **wave, uint32_t number, const uint32_t *scalars)
{
    struct shard *shard = local;
    (void)scalars;
    shard->depth = wmi_depths_pass(&shard->profile->depths, wave, number);
}

/* ---- instruction fetch ---- */

static uint32_t add_block(void *self, uint64_t from, uint64_t to, bool falls)
{
    struct wm_profile *profile = self;
    return wmi_fetches_add(&profile->fetches, from, to, falls);
}

static uint64_t *block_counters(void *local)
{
    return wmi_fetcher_counters(((struct shard *)local)->fetcher);
}

static void enter_block(void *local, uint32_t wave, uint32_t block)
{
    struct shard *shard = local;
    wmi_fetcher_enter(shard->fetcher, shard->group, wave, block);
}

/* ---- workgroups ---- */

static void turn_to(void *local, void **kept, uint64_t number, uint32_t waves)
{
    struct shard *shard = local;
    const struct wm_profile *profile = shard->profile;
    uint64_t place = number; /* among those that are observed */
    wmi_fetcher_turn(shard->fetcher, shard->group, !shard->skips);
    if (profile->rounds && profile->one_in > 1) {
        shard->skips = !wmi_sampling_takes(&profile->sampling, number, &place);
    }
    if (!*kept && profile->rounds && !shard->skips)
        *kept = wmi_rounds_take(profile->rounds, place, waves);
    shard->group = *kept;
    shard->number = number;
}

static void end_group(void *local, void *kept, uint64_t instructions)
{
    struct shard *shard = local;
    struct wmi_log_group *group = kept;
    wmi_fetcher_turn(shard->fetcher, group, !shard->skips);
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
    wmi_rounds_give(shard->profile->rounds, group);
}

/* ---- threads ---- */

static void *begin_thread(void *self)
{
    struct wm_profile *profile = self;
    struct shard *shard = calloc(1, sizeof *shard);
    if (!shard)
        return NULL;
    shard->profile = profile;
    shard->measurer = wmi_measurer_create(profile->source.rules, profile->source.wave_lanes);
    shard->compare = wmi_memo_comparers(wmi_cpu_level(), profile->source.wave_lanes == 32 ? 32 : 64);
    pthread_mutex_lock(&profile->lock);
    wmi_fetches_settle(&profile->fetches);
    if (profile->fetches.follows && profile->fetches.slot < WMI_LOG_SLOTS)
        profile->log_instructions[profile->fetches.slot].policy = WMI_FETCH_TURNS;
    pthread_mutex_unlock(&profile->lock);
    shard->fetcher = wmi_fetcher_create(&profile->fetches);
    if (shard->measurer && shard->fetcher)
        return shard;
    wmi_fetcher_destroy(shard->fetcher);
    free(shard->measurer);
    free(shard);
    return NULL;
}

static void add_counts(struct wmi_counts *to, const struct wmi_counts *from)
{
    to->path = from->path;
    to->kind = from->kind;
    to->bytes = from->bytes;
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
    struct shard *shard = local;
    if (!shard)
        return;
    wmi_fetcher_turn(shard->fetcher, NULL, !shard->skips);
    const uint64_t fetches = wmi_fetcher_destroy(shard->fetcher);
    pthread_mutex_lock(&profile->lock);
    if (profile->fetches.slot < profile->count)
        profile->instructions[profile->fetches.slot].counts.sum[WMI_SUM_FETCHES] += fetches;
    for (size_t slot = 0; slot < shard->size; slot++) {
        struct shard_counts *of = &shard->counts[slot];
        for (unsigned i = 0; i < MEMOS; i++)
            if (of->memos[i])
                settle(&of->counts, of->memos[i]);
        if (of->counts.executions && slot < profile->count)
            add_counts(&profile->instructions[slot].counts, &of->counts);
        for (unsigned i = 0; i < MEMOS; i++)
            free(of->memos[i]);
    }
    pthread_mutex_unlock(&profile->lock);
    free(shard->counts);
    free(shard->measurer);
    free(shard);
}

/* ---- instructions ---- */

/* Where the instruction is in the index, or should be put. The index is never full. */
static uint32_t *find_index(const struct wm_profile *profile, uint64_t pc, unsigned id)
{
    size_t at = (pc + id) * 0x9e3779b97f4a7c15ULL >> 32;
    for (;; at++) {
        uint32_t *entry = &profile->index[at % (2 * profile->capacity)];
        if (*entry == 0)
            return entry;
        const struct wmi_profiled *instruction = &profile->instructions[*entry - 1];
        if (instruction->row.pc == pc && instruction->id == id)
            return entry;
    }
}

uint32_t wmi_profile_slot(const struct wm_profile *profile, uint64_t pc, unsigned id)
{
    const uint32_t *entry = profile->capacity ? find_index(profile, pc, id) : NULL;
    return entry && *entry ? *entry - 1 : WMI_NO_SLOT;
}

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
        *find_index(profile, instructions[slot].row.pc, instructions[slot].id) = (uint32_t)slot + 1;
    return true;
}

/* Replaces a string by a copy of its own; NULL and a failed copy become NULL. */
static void own(const char **string)
{
    if (*string)
        *string = strdup(*string);
}

static void add_code(struct wm_profile *profile, const struct wm_profile_row *row)
{
    struct wm_profile_code code;
    if (!profile->source.code || wmi_origins_has_code(&profile->origins, row->pc - row->offset) ||
        !profile->source.code(profile->source.user, row->pc, &code))
        return;
    code.target = profile->source.target_name;
    code.wave_lanes = profile->source.wave_lanes;
    wmi_origins_add_code(&profile->origins, &code);
}

static uint32_t add_instruction(void *self, uint64_t pc, unsigned id)
{
    struct wm_profile *profile = self;
    uint32_t slot = WMI_NO_SLOT;
    /* end_thread() of a worker that is done may run at the same time. */
    pthread_mutex_lock(&profile->lock);
    if (profile->count < profile->capacity || grow(profile)) {
        uint32_t *entry = find_index(profile, pc, id);
        if (*entry == 0) {
            struct wmi_profiled *instruction = &profile->instructions[profile->count++];
            *entry = (uint32_t)profile->count;
            *instruction = (struct wmi_profiled){.row = {.pc = pc}, .id = id};
            if (profile->source.describe)
                profile->source.describe(profile->source.user, id, &instruction->row);
            instruction->row.pc = pc;
            own(&instruction->row.kernel);
            own(&instruction->row.text);
            own(&instruction->row.file);
            add_code(profile, &instruction->row);
        }
        slot = *entry - 1;
    }
    pthread_mutex_unlock(&profile->lock);
    return slot;
}

/* ---- the profile ---- */

struct wm_profile *wmi_profile_create(void)
{
    struct wm_profile *profile = calloc(1, sizeof *profile);
    if (!profile)
        return NULL;
    pthread_mutex_init(&profile->lock, NULL);
    profile->observer = (struct wmi_observer){
        .self = profile,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .access = count_access,
        .outline = count_outline,
        .instruction = add_instruction,
        .decoded = add_decoded,
        .execute = pass_instruction,
        .block_counters = block_counters,
        .fetch = enter_block,
        .turn = turn_to,
        .end = end_group,
    };
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
    wmi_rounds_destroy(profile->rounds);
    wmi_kernels_destroy(profile);
    wmi_depths_destroy(&profile->depths);
    wmi_origins_free(&profile->origins);
    wmi_sample_free(&profile->sample);
    wmi_fetches_destroy(&profile->fetches);
    free(profile->log_instructions);
    free(profile->instructions);
    free(profile->index);
    free(profile->rows);
    free(profile->advice);
    free(profile);
}

static void add_dispatch(struct wm_profile *profile)
{
    const struct wmi_profile_dispatch *dispatch = &profile->source.dispatch;
    struct wm_profile_dispatch kept = {.kernel = dispatch->kernel, .target = profile->source.target_name};
    memcpy(kept.grid, dispatch->grid, sizeof kept.grid);
    memcpy(kept.workgroup, dispatch->workgroup, sizeof kept.workgroup);
    wmi_origins_add_dispatch(&profile->origins, &kept);
}

/* The code of the kernel is a slot like an instruction, without a row. A trace brings it itself. */
static void begin_fetches(struct wm_profile *profile)
{
    const struct wmi_cost_rules *rules = profile->source.rules;
    const struct wm_cache *cache = profile->rounds ? &profile->gpu.cache[WM_CACHE_INSTRUCTION] : NULL;
    profile->observer.block = NULL;
    if (!rules || !profile->source.describe)
        return;
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
    wmi_depths_destroy(&profile->depths); /* numbers are those of one dispatch */
    profile->source = source ? *source : (struct wmi_profile_source){0};
    if (!profile->began && profile->has_gpu && profile->source.rules) {
        profile->log_instructions = calloc(WMI_LOG_SLOTS, sizeof *profile->log_instructions);
        if (profile->log_instructions)
            profile->rounds =
                wmi_rounds_create(&profile->gpu, &profile->source.rules->vector, profile->log_instructions);
    }
    profile->began = true;
    add_dispatch(profile);
    wmi_sample_free(&profile->sample);
    profile->sample = (struct wmi_sample){0};
    begin_fetches(profile);
    wmi_kernels_begin(profile);
    plan_sample(profile);
    return &profile->observer;
}

void wmi_profile_end(struct wm_profile *profile)
{
    if (profile->rounds)
        wmi_rounds_end(profile->rounds);
    if (profile->observer.block && profile->fetches.slot < profile->count)
        profile->instructions[profile->fetches.slot].counts.bytes = profile->fetches.code_bytes;
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

struct wmi_origins *wmi_profile_origins(struct wm_profile *profile)
{
    return &profile->origins;
}

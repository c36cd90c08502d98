/* SPDX-License-Identifier: MIT */
/* Counts the 64-byte lines that each memory instruction touches against those that its data need, and what
 * the instruction costs (cost.h).
 *
 * Per execution: lines = distinct lines that hold a byte asked of global memory by a lane; ideal = distinct
 * such bytes / 64, rounded up, at least 1 if any lane asks. Lanes that a check refused touch nothing. An
 * execution with EXEC = 0 is counted, with no lanes and no lines. Source of the 64 bytes: the line and
 * request size of the vector L1 from gfx6 to gfx90a (CDNA3 ISA; rocprofiler-compute's TCP counters). */
#include "profile/cost.h"
#include "profile/profile.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,
    /* More than an access can touch: WMI_ACCESS_ELEMENTS places of 64 lanes of at most 255 bytes, 5 lines. */
    LINE_SLOTS = 8192,
    NO_SLOT = UINT32_MAX,
};

static_assert(LINE_SLOTS > WMI_ACCESS_ELEMENTS * 64 * 5, "an access fits into the line set");

enum sum {
    SUM_EXECUTIONS,
    SUM_LANES,
    SUM_BYTES_ASKED,
    SUM_DISTINCT_BYTES,
    SUM_LINES,
    SUM_IDEAL_LINES,
    SUM_FAST,
    SUM_ADDRESS_CLOCKS,
    SUM_TAG_LOOKUPS,
    SUM_READ_REQUESTS,
    SUM_WRITE_REQUESTS,
    SUM_ATOMIC_REQUESTS,
    SUM_COLLAPSED,
    SUM_LDS_PASSES,
    SUM_LDS_CONFLICTS,
    SUM_LDS_SERIAL,
    SUM_COUNT
};

/* What one instruction did. */
struct counts {
    uint8_t path, kind;
    uint32_t bytes; /* per lane */
    uint64_t sum[SUM_COUNT];
    struct wmi_lds_cost worst; /* the execution with the deepest conflict: depth, bank, lanes */
    uint64_t histogram[WM_PROFILE_LINES + 1];
    struct wm_profile_wave wave;
};

/* A set of lines with the bytes of each that are asked for. An entry counts if its stamp is the set's. */
struct line_set {
    struct {
        uint64_t key, bytes;
    } entry[LINE_SLOTS];
    uint32_t stamp[LINE_SLOTS], now;
};

/* What one worker thread counts. */
struct shard {
    struct counts *counts; /* by slot */
    size_t size;
    const struct wmi_cost_rules *rules;
    unsigned wave_lanes;
    struct line_set set;
};

struct instruction {
    struct wm_profile_row row; /* what the source said of it; no counts */
    unsigned id;
    struct counts counts;
};

struct wm_profile {
    struct wmi_observer observer;
    struct wmi_profile_source source;
    struct instruction *instructions; /* by slot */
    size_t count, capacity;
    uint32_t *index; /* hash of pc -> slot + 1, open addressing; twice the capacity */
    struct wm_profile_row *rows;
    struct wm_gpu gpu;
    bool has_gpu, began;
    pthread_mutex_t lock; /* for adding shards */
};

/* ---- counting ---- */

/* Distinct bytes and lines of one address space in one access. */
struct touched {
    uint64_t bytes, lines;
};

/* Adds bytes low to last, which lie within one line. */
static void add_part(struct line_set *set, struct touched *touched, uint64_t space, uint64_t low,
                     uint64_t last)
{
    /* Lines are below 2^58, so the space fits above them. */
    const uint64_t key = low / LINE | space << 60;
    const uint64_t mask = ~0ULL >> (LINE - 1 - (last - low)) << low % LINE;
    size_t slot = key * 0x9e3779b97f4a7c15ULL >> 51;
    while (set->stamp[slot] == set->now && set->entry[slot].key != key)
        slot = (slot + 1) % LINE_SLOTS;
    if (set->stamp[slot] != set->now) {
        set->stamp[slot] = set->now;
        set->entry[slot].key = key;
        set->entry[slot].bytes = 0;
        touched->lines++;
    }
    touched->bytes += (uint64_t)__builtin_popcountll(mask & ~set->entry[slot].bytes);
    set->entry[slot].bytes |= mask;
}

/* Adds bytes low to last; a range that wraps is nowhere. */
static void add_range(struct line_set *set, struct touched *touched, uint64_t space, uint64_t low,
                      uint64_t last)
{
    for (; low / LINE < last / LINE; low = low / LINE * LINE + LINE)
        add_part(set, touched, space, low, low | (LINE - 1));
    if (low <= last)
        add_part(set, touched, space, low, last);
}

/* Neighbouring lanes mostly ask for neighbouring or the same bytes: these are put together first. */
static void add_element(struct line_set *set, struct touched *touched, const struct wmi_element *element,
                        unsigned bytes)
{
    uint64_t left = element->mask & ~(element->bad_range | element->bad_align | element->bad_aperture);
    if (!left)
        return;
    uint64_t low = element->address[__builtin_ctzll(left)], last = low + bytes - 1;
    while (left &= left - 1) {
        const uint64_t at = element->address[__builtin_ctzll(left)];
        if (at == last + 1) {
            last += bytes;
        } else if (at < low || at + bytes - 1 > last) {
            add_range(set, touched, element->space, low, last);
            low = at;
            last = at + bytes - 1;
        }
    }
    add_range(set, touched, element->space, low, last);
}

/* Counts of the slot, with room made for it; NULL without memory. */
static struct counts *counts_of(struct shard *shard, uint32_t slot)
{
    if (slot >= shard->size) {
        const size_t size = ((size_t)slot + 64) / 64 * 128;
        struct counts *counts = realloc(shard->counts, size * sizeof *counts);
        if (!counts)
            return NULL;
        memset(counts + shard->size, 0, (size - shard->size) * sizeof *counts);
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

static void count_cost(const struct shard *shard, const struct wmi_access *access, struct counts *counts)
{
    uint64_t *sum = counts->sum;
    if (access->path != WMI_PATH_DS) {
        const struct wmi_vector_cost cost = wmi_coalesce(access, &shard->rules->vector, shard->wave_lanes);
        sum[SUM_FAST] += cost.fast;
        sum[SUM_ADDRESS_CLOCKS] += cost.clocks;
        sum[SUM_TAG_LOOKUPS] += cost.lookups;
        sum[SUM_READ_REQUESTS] += cost.reads;
        sum[SUM_WRITE_REQUESTS] += cost.writes;
        sum[SUM_ATOMIC_REQUESTS] += cost.atomics;
        sum[SUM_COLLAPSED] += cost.collapsed;
    }
    if (access->path == WMI_PATH_DS || access->path == WMI_PATH_FLAT) {
        const struct wmi_lds_cost cost = wmi_lds_passes(access, &shard->rules->lds, shard->wave_lanes);
        sum[SUM_LDS_PASSES] += cost.passes;
        sum[SUM_LDS_CONFLICTS] += cost.conflicts;
        sum[SUM_LDS_SERIAL] += cost.serial;
        if (is_worse(&cost, &counts->worst))
            counts->worst = cost;
    }
}

static void count_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct shard *shard = local;
    struct counts *counts = slot == NO_SLOT ? NULL : counts_of(shard, slot);
    if (!counts)
        return;
    struct touched touched[WMI_SPACE_COUNT] = {0};
    if (++shard->set.now == 0) {
        memset(shard->set.stamp, 0, sizeof shard->set.stamp);
        shard->set.now = 1;
    }
    for (unsigned i = 0; i < access->elements; i++)
        add_element(&shard->set, &touched[access->element[i].space], &access->element[i], access->bytes);
    const uint64_t lanes = (uint64_t)__builtin_popcountll(access->lanes);
    counts->path = access->path;
    counts->kind = access->kind;
    counts->bytes = (uint32_t)access->elements * access->bytes;
    counts->sum[SUM_EXECUTIONS]++;
    counts->sum[SUM_LANES] += lanes;
    counts->sum[SUM_BYTES_ASKED] += lanes * counts->bytes;
    for (unsigned space = 0; space <= WMI_SPACE_GDS; space++)
        counts->sum[SUM_DISTINCT_BYTES] += touched[space].bytes;
    const uint64_t lines = touched[WMI_SPACE_GLOBAL].lines;
    counts->histogram[lines < WM_PROFILE_LINES ? lines : WM_PROFILE_LINES]++;
    if (access->path != WMI_PATH_SMEM)
        keep_wave(&counts->wave, access);
    counts->sum[SUM_LINES] += lines;
    counts->sum[SUM_IDEAL_LINES] += (touched[WMI_SPACE_GLOBAL].bytes + LINE - 1) / LINE;
    if (shard->rules && access->path != WMI_PATH_SMEM && access->path != WMI_PATH_GDS)
        count_cost(shard, access, counts);
}

/* ---- threads ---- */

static void *begin_thread(void *self)
{
    const struct wm_profile *profile = self;
    struct shard *shard = calloc(1, sizeof *shard);
    if (shard) {
        shard->rules = profile->source.rules;
        shard->wave_lanes = profile->source.wave_lanes;
    }
    return shard;
}

static void end_thread(void *self, void *local)
{
    struct wm_profile *profile = self;
    struct shard *shard = local;
    if (!shard)
        return;
    pthread_mutex_lock(&profile->lock);
    for (size_t slot = 0; slot < shard->size && slot < profile->count; slot++) {
        const struct counts *from = &shard->counts[slot];
        struct counts *to = &profile->instructions[slot].counts;
        if (from->sum[SUM_EXECUTIONS] == 0)
            continue;
        to->path = from->path;
        to->kind = from->kind;
        to->bytes = from->bytes;
        for (unsigned sum = 0; sum < SUM_COUNT; sum++)
            to->sum[sum] += from->sum[sum];
        if (is_worse(&from->worst, &to->worst))
            to->worst = from->worst;
        for (unsigned lines = 0; lines <= WM_PROFILE_LINES; lines++)
            to->histogram[lines] += from->histogram[lines];
        if (from->wave.lanes &&
            (!to->wave.lanes || place_order(from->wave.workgroup, from->wave.wave, &to->wave) < 0))
            to->wave = from->wave;
    }
    pthread_mutex_unlock(&profile->lock);
    free(shard->counts);
    free(shard);
}

/* ---- instructions ---- */

/* Where the instruction is in the index, or should be put. The index is never full. */
static uint32_t *find_index(struct wm_profile *profile, uint64_t pc, unsigned id)
{
    size_t at = (pc + id) * 0x9e3779b97f4a7c15ULL >> 32;
    for (;; at++) {
        uint32_t *entry = &profile->index[at % (2 * profile->capacity)];
        if (*entry == 0)
            return entry;
        const struct instruction *instruction = &profile->instructions[*entry - 1];
        if (instruction->row.pc == pc && instruction->id == id)
            return entry;
    }
}

static bool grow(struct wm_profile *profile)
{
    const size_t capacity = profile->capacity ? 2 * profile->capacity : 64;
    uint32_t *index = calloc(2 * capacity, sizeof *index);
    struct instruction *instructions =
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

static uint32_t add_instruction(void *self, uint64_t pc, unsigned id)
{
    struct wm_profile *profile = self;
    uint32_t slot = NO_SLOT;
    /* end_thread() of a worker that is done may run at the same time. */
    pthread_mutex_lock(&profile->lock);
    if (profile->count < profile->capacity || grow(profile)) {
        uint32_t *entry = find_index(profile, pc, id);
        if (*entry == 0) {
            struct instruction *instruction = &profile->instructions[profile->count++];
            *entry = (uint32_t)profile->count;
            *instruction = (struct instruction){.row = {.pc = pc}, .id = id};
            if (profile->source.describe)
                profile->source.describe(profile->source.user, id, &instruction->row);
            instruction->row.pc = pc;
            own(&instruction->row.kernel);
            own(&instruction->row.text);
            own(&instruction->row.file);
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
        .instruction = add_instruction,
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
    free(profile->instructions);
    free(profile->index);
    free(profile->rows);
    free(profile);
}

const struct wmi_observer *wmi_profile_begin(struct wm_profile *profile,
                                             const struct wmi_profile_source *source)
{
    profile->began = true;
    profile->source = source ? *source : (struct wmi_profile_source){0};
    return &profile->observer;
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

bool wmi_profile_began(const struct wm_profile *profile)
{
    return profile->began;
}

const struct wm_profile_kernel *wmi_profile_kernels(struct wm_profile *profile, size_t *count)
{
    (void)profile;
    *count = 0;
    return NULL;
}

static int by_address(const void *left, const void *right)
{
    const struct wm_profile_row *a = left, *b = right;
    return (a->pc > b->pc) - (a->pc < b->pc);
}

const struct wm_profile_row *wmi_profile_rows(struct wm_profile *profile, size_t *count)
{
    static const char *const paths[WMI_PATH_COUNT] = {
        [WMI_PATH_SMEM] = "SMEM",       [WMI_PATH_BUFFER] = "BUFFER", [WMI_PATH_TBUFFER] = "TBUFFER",
        [WMI_PATH_IMAGE] = "IMAGE",     [WMI_PATH_FLAT] = "FLAT",     [WMI_PATH_GLOBAL] = "GLOBAL",
        [WMI_PATH_SCRATCH] = "SCRATCH", [WMI_PATH_DS] = "DS",         [WMI_PATH_GDS] = "GDS",
        [WMI_PATH_LDS_DMA] = "LDS_DMA", [WMI_PATH_IFETCH] = "IFETCH",
    };
    static const char *const operations[] = {
        [WMI_ACCESS_LOAD] = "load",
        [WMI_ACCESS_STORE] = "store",
        [WMI_ACCESS_ATOMIC] = "atomic",
    };
    *count = 0;
    free(profile->rows);
    profile->rows = profile->count ? calloc(profile->count, sizeof *profile->rows) : NULL;
    if (!profile->rows)
        return NULL;
    for (size_t slot = 0; slot < profile->count; slot++) {
        const struct counts *counts = &profile->instructions[slot].counts;
        if (counts->sum[SUM_EXECUTIONS] == 0)
            continue;
        struct wm_profile_row *row = &profile->rows[(*count)++];
        *row = profile->instructions[slot].row;
        row->kernel = row->kernel ? row->kernel : "";
        row->text = row->text ? row->text : "";
        row->path = paths[counts->path];
        row->operation = operations[counts->kind];
        row->bytes = counts->bytes;
        row->executions = counts->sum[SUM_EXECUTIONS];
        row->lanes = counts->sum[SUM_LANES];
        row->bytes_asked = counts->sum[SUM_BYTES_ASKED];
        row->distinct_bytes = counts->sum[SUM_DISTINCT_BYTES];
        row->lines = counts->sum[SUM_LINES];
        row->line_bytes = LINE;
        row->ideal_lines = counts->sum[SUM_IDEAL_LINES];
        row->has_lines = counts->path != WMI_PATH_DS && counts->path != WMI_PATH_GDS;
        row->has_vector = row->has_lines && counts->path != WMI_PATH_SMEM && profile->source.rules;
        row->has_tcp_counters = row->has_vector && profile->source.rules->vector.tcp_counters;
        row->fast = counts->sum[SUM_FAST];
        row->address_clocks = counts->sum[SUM_ADDRESS_CLOCKS];
        row->tag_lookups = counts->sum[SUM_TAG_LOOKUPS];
        row->read_requests = counts->sum[SUM_READ_REQUESTS];
        row->write_requests = counts->sum[SUM_WRITE_REQUESTS];
        row->atomic_requests = counts->sum[SUM_ATOMIC_REQUESTS];
        row->collapsed = counts->sum[SUM_COLLAPSED];
        row->lds_passes = counts->sum[SUM_LDS_PASSES];
        row->has_lds = row->lds_passes > 0;
        row->lds_conflicts = counts->sum[SUM_LDS_CONFLICTS];
        row->lds_serial = counts->sum[SUM_LDS_SERIAL];
        row->lds_depth = counts->worst.depth;
        row->lds_bank = counts->worst.bank;
        row->lds_lanes = counts->worst.lanes;
        row->lines_histogram = counts->histogram;
        row->wave = counts->wave.lanes ? &counts->wave : NULL;
    }
    qsort(profile->rows, *count, sizeof *profile->rows, by_address);
    return profile->rows;
}

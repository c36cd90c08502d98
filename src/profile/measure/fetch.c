/* SPDX-License-Identifier: MIT */
/* Counts instruction fetches and logs the lines of code. */
#include "profile/measure/fetch.h"

#include "observe/observer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINES = 2048, /* maximum lines per access of the log */
    ROUND_ROBIN_LINES =
        8,       /* if the code does not fit, maximum lines that a wave fetches before the next wave does */
    WAVES = 64,  /* maximum per workgroup */
    RECENT = 16, /* if the code does not fit, blocks per wave that are remembered, see was_near() */
    NEAR = 8,    /* re-entering a block within 1/8 of the cache's lines is not logged */
};

/* ---- blocks ---- */

struct wmi_fetch_block *wmi_fetches_block(const struct wmi_fetches *fetches, uint32_t number)
{
    return &fetches->chunk[number / WMI_FETCH_CHUNK][number % WMI_FETCH_CHUNK];
}

void wmi_fetches_begin(struct wmi_fetches *fetches, const struct wmi_fetch_rules *rules,
                       const struct wm_cache *cache, uint32_t slot)
{
    wmi_fetches_destroy(fetches);
    fetches->rules = *rules;
    fetches->slot = slot;
    if (!cache || !cache->bytes)
        return;
    fetches->sets = (uint32_t)(cache->bytes / cache->line / cache->ways);
    fetches->ways = cache->ways;
    fetches->line_shift = (unsigned)__builtin_ctz(cache->line);
}

void wmi_fetches_destroy(struct wmi_fetches *fetches)
{
    for (uint32_t i = 0; i < WMI_FETCH_CHUNKS; i++)
        free(fetches->chunk[i]);
    *fetches = (struct wmi_fetches){0};
}

/* Number of aligned pieces of 1 << shift bytes that overlap [from, to). */
static uint64_t pieces(uint64_t from, uint64_t to, unsigned shift)
{
    return to > from ? ((to - 1) >> shift) - (from >> shift) + 1 : 0;
}

uint32_t wmi_fetches_add(struct wmi_fetches *fetches, uint64_t from, uint64_t to, bool falls,
                         const uint32_t work[WMI_WORK_COUNTS])
{
    const unsigned shift = fetches->rules.shift;
    const bool within =
        from & ((1ULL << shift) - 1); /* its first piece was fetched with the previous block */
    const int64_t count = (int64_t)pieces(from, to, shift) - (falls && within);
    const uint32_t number = fetches->count;
    if (number / WMI_FETCH_CHUNK == WMI_FETCH_CHUNKS || (from == to && !count))
        return WMI_NOT_SHOWN;
    struct wmi_fetch_block **chunk = &fetches->chunk[number / WMI_FETCH_CHUNK];
    if (!*chunk && !(*chunk = calloc(WMI_FETCH_CHUNK, sizeof **chunk))) {
        fetches->missed = true;
        return WMI_NOT_SHOWN;
    }
    struct wmi_fetch_block *block = &(*chunk)[number % WMI_FETCH_CHUNK];
    *block = (struct wmi_fetch_block){.from = from, .to = to, .fetches = count};
    memcpy(block->work, work, sizeof block->work);
    fetches->count++;
    return number;
}

/* The code range of a block, without the members that other threads change. */
struct span {
    uint64_t from, to;
};

static struct span span_of(const struct wmi_fetches *fetches, uint32_t number)
{
    const struct wmi_fetch_block *block = wmi_fetches_block(fetches, number);
    return (struct span){block->from, block->to};
}

static int by_start(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Sets `follows` if more lines of the code map to a set of the instruction cache than it has ways. */
void wmi_fetches_settle(struct wmi_fetches *fetches)
{
    if (fetches->settled)
        return;
    fetches->settled = true;
    struct span *sorted = malloc((fetches->count + 1) * sizeof *sorted);
    uint32_t *lines = calloc(fetches->sets + 1, sizeof *lines);
    fetches->missed |= !sorted || !lines;
    for (uint32_t i = 0; sorted && i < fetches->count; i++)
        sorted[i] = span_of(fetches, i);
    if (sorted && lines && fetches->count) {
        uint64_t reached = 0, line = 0; /* end of the code counted so far; next line to count */
        qsort(sorted, fetches->count, sizeof *sorted, by_start);
        for (uint32_t i = 0; i < fetches->count; i++) {
            const struct span *block = &sorted[i];
            if (block->to <= reached)
                continue;
            fetches->code_bytes += (uint32_t)(block->to - (block->from > reached ? block->from : reached));
            reached = block->to;
            if (!fetches->sets)
                continue;
            if (line < block->from >> fetches->line_shift)
                line = block->from >> fetches->line_shift;
            for (; line << fetches->line_shift < block->to; line++)
                fetches->follows |= ++lines[line % fetches->sets] > fetches->ways;
        }
    }
    free(sorted);
    free(lines);
}

/* ---- a thread ---- */

/* Blocks that a wave recently entered, and how many lines it had requested before. */
struct recent {
    uint32_t block[RECENT]; /* number + 1 */
    uint64_t at[RECENT], lines;
};

/* A run of consecutive lines. */
struct run {
    uint64_t first, lines;
};

struct wmi_fetcher {
    const struct wmi_fetches *all;
    struct wmi_block_counter *counters; /* by block, since the workgroup was started or resumed */
    struct wmi_block_counter *executed; /* before that, of the sampled workgroups */
    uint32_t *touched;                  /* blocks whose counter is not 0 */
    size_t touched_count, touched_capacity;
    uint32_t *known; /* the touched blocks from which `runs` was computed */
    struct run *runs;
    size_t known_count, run_count;
    struct recent recent[WAVES];
};

#define COUNTER_BYTES (2 * WMI_BLOCKS * sizeof(struct wmi_block_counter))

struct wmi_fetcher *wmi_fetcher_create(const struct wmi_fetches *fetches)
{
    struct wmi_fetcher *fetcher = calloc(1, sizeof *fetcher);
    if (!fetcher)
        return NULL;
    fetcher->all = fetches;
    /* Not calloc(), which may clear all pages; only few are ever touched. */
    fetcher->counters = mmap(NULL, COUNTER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fetcher->counters == MAP_FAILED) {
        free(fetcher);
        return NULL;
    }
    fetcher->executed = fetcher->counters + WMI_BLOCKS;
    return fetcher;
}

void wmi_fetcher_destroy(struct wmi_fetcher *fetcher)
{
    if (!fetcher)
        return;
    munmap(fetcher->counters, COUNTER_BYTES);
    free(fetcher->touched);
    free(fetcher->known);
    free(fetcher->runs);
    free(fetcher);
}

static void add_counter(struct wmi_block_counter *to, const struct wmi_block_counter *counter)
{
    to->times += counter->times;
    to->lanes += counter->lanes;
}

uint64_t wmi_fetcher_end(struct wmi_fetcher *fetcher, uint64_t work[WMI_WORK_COUNTS])
{
    uint64_t fetches = 0;
    for (uint32_t number = 0; number < fetcher->all->count; number++) {
        struct wmi_fetch_block *block = wmi_fetches_block(fetcher->all, number);
        const struct wmi_block_counter done = fetcher->executed[number];
        const uint64_t times = done.times;
        fetcher->executed[number] = (struct wmi_block_counter){0};
        add_counter(&block->done, &done);
        fetches += times * (uint64_t)block->fetches;
        work[WMI_WORK_LANES] += done.lanes * wmi_work_vector(block->work);
        for (unsigned i = 0; times && i < WMI_WORK_COUNTS; i++)
            work[i] += times * block->work[i];
    }
    fetcher->known_count = fetcher->run_count = 0; /* block numbers are valid for one dispatch */
    return fetches;
}

struct wmi_block_counter *wmi_fetcher_counters(struct wmi_fetcher *fetcher)
{
    return fetcher->counters;
}

/* Logs the lines and the one after them, which the cache prefetches. */
static void log_lines(const struct wmi_fetches *all, struct wmi_log_group *group, uint32_t wave,
                      uint64_t line, uint64_t left)
{
    const size_t most = all->follows ? ROUND_ROBIN_LINES : LINES;
    while (left) {
        uint64_t lines[LINES + 1];
        size_t count = 0;
        for (; left && count < most; left--)
            lines[count++] = line++;
        if (!left)
            lines[count++] = line;
        wmi_log_append(group, wave, all->slot, lines, NULL, count);
    }
}

/* Whether the wave was in the block recently; if not, records that it entered it. */
static bool was_near(struct wmi_fetcher *fetcher, uint32_t wave, uint32_t number)
{
    const struct wmi_fetches *all = fetcher->all;
    const struct wmi_fetch_block *block = wmi_fetches_block(all, number);
    struct recent *recent = &fetcher->recent[wave % WAVES];
    const unsigned at = number % RECENT;
    const bool near =
        recent->block[at] == number + 1 && recent->lines - recent->at[at] < all->sets * all->ways / NEAR;
    if (near)
        return true;
    recent->block[at] = number + 1;
    recent->at[at] = recent->lines;
    recent->lines += pieces(block->from, block->to, all->line_shift);
    return false;
}

static bool note(struct wmi_fetcher *fetcher, uint32_t block)
{
    if (fetcher->touched_count == fetcher->touched_capacity) {
        const size_t capacity = fetcher->touched_capacity ? 2 * fetcher->touched_capacity : 64;
        uint32_t *touched = realloc(fetcher->touched, capacity * sizeof *touched);
        if (!touched)
            return false;
        fetcher->touched = touched;
        fetcher->touched_capacity = capacity;
    }
    fetcher->touched[fetcher->touched_count++] = block;
    return true;
}

void wmi_fetcher_enter(struct wmi_fetcher *fetcher, struct wmi_log_group *group, uint32_t wave,
                       uint32_t block, bool counts)
{
    const struct wmi_fetches *all = fetcher->all;
    const bool noted = !all->follows && note(fetcher, block);
    if (!noted) { /* reset, so that the next execution is reported as well */
        if (counts)
            add_counter(&fetcher->executed[block], &fetcher->counters[block]);
        fetcher->counters[block] = (struct wmi_block_counter){0};
    }
    if (!noted && !all->follows && group)
        group->cuts |= WM_CUT_NO_MEMORY;
    if (all->follows && group && all->sets && all->slot < WMI_LOG_SLOTS && !was_near(fetcher, wave, block)) {
        const struct wmi_fetch_block *at = wmi_fetches_block(all, block);
        log_lines(all, group, wave, at->from >> all->line_shift, pieces(at->from, at->to, all->line_shift));
    }
}

/* Computes the runs of lines of the touched blocks; usually they equal those of the previous workgroup, which
 * are then kept. False: no memory. */
static bool find_runs(struct wmi_fetcher *fetcher)
{
    const size_t count = fetcher->touched_count;
    if (count == fetcher->known_count &&
        memcmp(fetcher->touched, fetcher->known, count * sizeof *fetcher->known) == 0)
        return true;
    struct span *sorted = malloc(count * sizeof *sorted);
    free(fetcher->known);
    free(fetcher->runs);
    fetcher->known = malloc(count * sizeof *fetcher->known);
    fetcher->runs = malloc(count * sizeof *fetcher->runs);
    fetcher->known_count = fetcher->run_count = 0;
    if (sorted && fetcher->known && fetcher->runs) {
        memcpy(fetcher->known, fetcher->touched, count * sizeof *fetcher->known);
        fetcher->known_count = count;
        for (size_t i = 0; i < count; i++)
            sorted[i] = span_of(fetcher->all, fetcher->touched[i]);
        qsort(sorted, count, sizeof *sorted, by_start);
        for (size_t i = 0; i < count; i++) {
            const unsigned shift = fetcher->all->line_shift;
            const uint64_t first = sorted[i].from >> shift,
                           lines = pieces(sorted[i].from, sorted[i].to, shift);
            struct run *last = fetcher->run_count ? &fetcher->runs[fetcher->run_count - 1] : NULL;
            if (last && first <= last->first + last->lines)
                last->lines =
                    first + lines > last->first + last->lines ? first + lines - last->first : last->lines;
            else if (lines)
                fetcher->runs[fetcher->run_count++] = (struct run){first, lines};
        }
    }
    free(sorted);
    return fetcher->known_count == count;
}

/* Logs the lines for wave 0. A fetch without a following access is modelled after the wave's last access. */
static void log_touched(struct wmi_fetcher *fetcher, struct wmi_log_group *group)
{
    if (!find_runs(fetcher))
        group->cuts |= WM_CUT_NO_MEMORY;
    for (size_t i = 0; i < fetcher->run_count; i++)
        log_lines(fetcher->all, group, 0, fetcher->runs[i].first, fetcher->runs[i].lines);
}

void wmi_fetcher_resume(struct wmi_fetcher *fetcher, struct wmi_log_group *group, bool counts)
{
    const struct wmi_fetches *all = fetcher->all;
    if (group && !all->follows && fetcher->touched_count && all->sets && all->slot < WMI_LOG_SLOTS)
        log_touched(fetcher, group);
    for (size_t i = 0; i < fetcher->touched_count; i++) {
        const uint32_t block = fetcher->touched[i];
        if (counts)
            add_counter(&fetcher->executed[block], &fetcher->counters[block]);
        fetcher->counters[block] = (struct wmi_block_counter){0};
    }
    fetcher->touched_count = 0;
    if (all->follows)
        memset(fetcher->recent, 0, sizeof fetcher->recent);
}

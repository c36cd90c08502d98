/* SPDX-License-Identifier: MIT */
/* Counts what a check has seen, by counting executions of blocks: one step per block, so that it costs next
 * to nothing. */
#include "check/coverage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A block of the dispatch, or of a kernel's earlier ones. */
struct block {
    uint64_t from, to, times;
    uint32_t code; /* instructions */
    uint32_t accesses[WM_COVER_COUNT];
};

struct kernel {
    struct block *blocks; /* different ones, sorted by address */
    size_t count;
    uint64_t entry;
};

struct wmi_coverage {
    struct wmi_observer observer;
    struct wmi_check_dispatch dispatch;
    pthread_mutex_t lock; /* protects what follows while the dispatch runs: a thread may end and add its
                             counts while another one reaches new code */
    struct block *blocks; /* of the dispatch, by the number of the block */
    size_t count;
    bool lost;              /* no memory */
    struct kernel *kernels; /* parallel to `rows` */
    struct wm_coverage *rows;
    size_t row_count;
    struct wm_check_block *shown; /* of the last wmi_coverage_blocks() */
};

/* ---- blocks ---- */

/* What an instruction accesses; WM_COVER_COUNT: nothing. */
static unsigned accesses_of(const struct wmi_instruction *insn)
{
    static const uint8_t of_class[] = {
        [WMI_CLASS_SMEM] = WM_COVER_SCALAR + 1,     [WMI_CLASS_BUFFER] = WM_COVER_GLOBAL + 1,
        [WMI_CLASS_TBUFFER] = WM_COVER_GLOBAL + 1,  [WMI_CLASS_IMAGE] = WM_COVER_GLOBAL + 1,
        [WMI_CLASS_FLAT] = WM_COVER_FLAT + 1,       [WMI_CLASS_GLOBAL] = WM_COVER_GLOBAL + 1,
        [WMI_CLASS_SCRATCH] = WM_COVER_SCRATCH + 1, [WMI_CLASS_DS] = WM_COVER_LDS + 1,
    };
    const struct wmi_row *row = &wmi_rows[insn->id];
    const unsigned space = row->class < sizeof of_class ? of_class[row->class] : 0;
    if (!space || row->memory == WMI_MEMORY_NONE || row->memory == WMI_MEMORY_CONTROL)
        return WM_COVER_COUNT;
    return space == WM_COVER_LDS + 1 && insn->field[WMI_FIELD_gds] ? WM_COVER_GDS : space - 1;
}

/* Counts the instructions of the block. */
static void read_code(const struct wmi_check_dispatch *dispatch, struct block *block)
{
    const struct wmi_allocation *code = dispatch->space ? wmi_space_find(dispatch->space, block->from) : NULL;
    struct wmi_instruction insn;
    for (uint64_t pc = block->from; code && pc < block->to;) {
        const unsigned length =
            wmi_decode(dispatch->target, (const uint32_t *)(code->host + (pc - code->low)),
                       (size_t)(code->high - pc) / 4, &insn);
        if (!length)
            return;
        const unsigned accesses = accesses_of(&insn);
        if (accesses < WM_COVER_COUNT)
            block->accesses[accesses]++;
        block->code++;
        pc += 4 * length;
    }
}

static bool grow(struct block **blocks, size_t count)
{
    if (count & (count - 1))
        return true;
    struct block *larger = realloc(*blocks, (count ? 2 * count : 1) * sizeof **blocks);
    if (larger)
        *blocks = larger;
    return larger;
}

static uint32_t add_block(void *self, uint64_t from, uint64_t to, bool falls, const uint32_t *work)
{
    struct wmi_coverage *coverage = self;
    struct block block = {.from = from, .to = to};
    uint32_t number = WMI_NOT_SHOWN;
    (void)falls, (void)work;
    if (from >= to)
        return number;
    read_code(&coverage->dispatch, &block);
    pthread_mutex_lock(&coverage->lock);
    if (coverage->count < WMI_BLOCKS && grow(&coverage->blocks, coverage->count)) {
        number = (uint32_t)coverage->count++;
        coverage->blocks[number] = block;
    } else {
        coverage->lost = true;
    }
    pthread_mutex_unlock(&coverage->lock);
    return number;
}

/* ---- threads ---- */

#define COUNTER_BYTES (WMI_BLOCKS * sizeof(struct wmi_block_counter))

static void *begin_thread(void *self)
{
    (void)self;
    /* Not calloc(), which may clear all pages; only few are ever touched. */
    void *counters = mmap(NULL, COUNTER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return counters == MAP_FAILED ? NULL : counters;
}

static void end_thread(void *self, void *local)
{
    struct wmi_coverage *coverage = self;
    const struct wmi_block_counter *counters = local;
    pthread_mutex_lock(&coverage->lock);
    for (size_t i = 0; i < coverage->count; i++)
        coverage->blocks[i].times += counters[i].times;
    pthread_mutex_unlock(&coverage->lock);
    munmap(local, COUNTER_BYTES);
}

static struct wmi_block_counter *counters_of(void *local)
{
    return local;
}

static void ignore_fetch(void *local, uint32_t wave, uint32_t block)
{
    (void)local, (void)wave, (void)block;
}

/* ---- kernels ---- */

static int by_place(const void *left, const void *right)
{
    const struct block *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Adds the blocks of the dispatch to those of the kernel. Blocks that were lowered more than once, and those
 * of earlier dispatches, are the same block. */
static bool merge(struct wmi_coverage *coverage, struct kernel *kernel)
{
    const size_t count = kernel->count + coverage->count;
    struct block *all = realloc(kernel->blocks, (count + 1) * sizeof *all);
    if (!all)
        return false;
    if (coverage->count)
        memcpy(&all[kernel->count], coverage->blocks, coverage->count * sizeof *all);
    qsort(all, count, sizeof *all, by_place);
    kernel->blocks = all;
    kernel->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct block *last = kernel->count ? &all[kernel->count - 1] : NULL;
        if (last && last->from == all[i].from && last->to == all[i].to)
            last->times += all[i].times;
        else
            all[kernel->count++] = all[i];
    }
    return true;
}

/* The kernel of the dispatch, new if need be; NULL: no memory. */
static struct wm_coverage *row_of(struct wmi_coverage *coverage)
{
    const struct wmi_check_dispatch *dispatch = &coverage->dispatch;
    const size_t count = coverage->row_count;
    for (size_t i = 0; i < count; i++)
        if (coverage->kernels[i].entry == dispatch->entry &&
            !strcmp(coverage->rows[i].kernel, dispatch->kernel))
            return &coverage->rows[i];
    struct wm_coverage *rows = realloc(coverage->rows, (count + 1) * sizeof *rows);
    if (rows)
        coverage->rows = rows;
    struct kernel *kernels = realloc(coverage->kernels, (count + 1) * sizeof *kernels);
    if (kernels)
        coverage->kernels = kernels;
    char *name = rows && kernels ? strdup(dispatch->kernel) : NULL;
    if (!name)
        return NULL;
    rows[count] = (struct wm_coverage){.kernel = name, .counts_accesses = true};
    kernels[count] = (struct kernel){.entry = dispatch->entry};
    coverage->row_count++;
    return &rows[count];
}

static void sum_up(const struct kernel *kernel, struct wm_coverage *row)
{
    row->code = row->executed_code = 0;
    memset(row->accesses, 0, sizeof row->accesses);
    for (size_t i = 0; i < kernel->count; i++) {
        const struct block *block = &kernel->blocks[i];
        row->code += block->code;
        row->executed_code += block->times ? block->code : 0;
        for (unsigned a = 0; a < WM_COVER_COUNT; a++)
            row->accesses[a] += block->times * block->accesses[a];
    }
}

/* ---- the dispatch ---- */

struct wmi_coverage *wmi_coverage_create(void)
{
    struct wmi_coverage *coverage = calloc(1, sizeof *coverage);
    if (coverage)
        pthread_mutex_init(&coverage->lock, NULL);
    return coverage;
}

void wmi_coverage_destroy(struct wmi_coverage *coverage)
{
    if (!coverage)
        return;
    for (size_t i = 0; i < coverage->row_count; i++) {
        free((char *)coverage->rows[i].kernel);
        free(coverage->kernels[i].blocks);
    }
    free(coverage->kernels);
    free(coverage->rows);
    free(coverage->shown);
    free(coverage->blocks);
    pthread_mutex_destroy(&coverage->lock);
    free(coverage);
}

const struct wmi_observer *wmi_coverage_begin(struct wmi_coverage *coverage,
                                              const struct wmi_check_dispatch *dispatch)
{
    coverage->dispatch = *dispatch;
    if (!dispatch->lowered) {
        free(coverage->blocks);
        coverage->blocks = NULL;
        coverage->count = 0;
        coverage->lost = false;
    }
    for (size_t i = 0; i < coverage->count; i++)
        coverage->blocks[i].times = 0;
    coverage->observer = (struct wmi_observer){
        .self = coverage,
        .thread_begin = begin_thread,
        .thread_end = end_thread,
        .block = add_block,
        .block_counters = counters_of,
        .fetch = ignore_fetch,
    };
    return &coverage->observer;
}

struct code {
    struct block *blocks;
    size_t count;
    bool lost;
};

bool wmi_coverage_exchange(void *self, void **kept)
{
    struct wmi_coverage *coverage = self;
    struct code *code = *kept ? *kept : calloc(1, sizeof *code);
    if (!code)
        return false;
    WMI_EXCHANGE(code->blocks, coverage->blocks);
    WMI_EXCHANGE(code->count, coverage->count);
    WMI_EXCHANGE(code->lost, coverage->lost);
    *kept = code;
    return true;
}

void wmi_coverage_forget(void *kept)
{
    struct code *code = kept;
    if (code)
        free(code->blocks);
    free(code);
}

bool wmi_coverage_end(struct wmi_coverage *coverage, const struct wmi_check_ran *ran)
{
    struct wm_coverage *row = row_of(coverage);
    if (!row)
        return false;
    row->launches++;
    row->workgroups += ran->workgroups;
    row->waves += ran->waves;
    row->instructions += ran->instructions;
    row->counts_accesses &= !coverage->dispatch.profiled;
    struct kernel *kernel = &coverage->kernels[row - coverage->rows];
    const bool ok = merge(coverage, kernel);
    sum_up(kernel, row);
    return ok && !coverage->lost;
}

const struct wm_coverage *wmi_coverage_rows(const struct wmi_coverage *coverage, size_t *count)
{
    *count = coverage->row_count;
    return coverage->rows;
}

const struct wm_check_block *wmi_coverage_blocks(struct wmi_coverage *coverage, size_t row, size_t *count)
{
    const struct kernel *kernel = row < coverage->row_count ? &coverage->kernels[row] : NULL;
    if (!kernel || !kernel->count)
        return NULL;
    struct wm_check_block *shown = realloc(coverage->shown, kernel->count * sizeof *shown);
    if (!shown)
        return NULL;
    coverage->shown = shown;
    for (size_t i = 0; i < kernel->count; i++) {
        const struct block *block = &kernel->blocks[i];
        shown[i] = (struct wm_check_block){block->from, block->to, block->code, block->times > 0};
    }
    *count = kernel->count;
    return shown;
}

/* SPDX-License-Identifier: MIT */
/* The profile under the names of AMD's hardware counters, summed over their instances.
 *
 * Names and meaning: rocprofiler-sdk's counter definitions; of RDNA's SQC_DCACHE_*, SQC_ICACHE_*, TCP_REQ*,
 * GL1C_* and GL2C_REQ also Mesa (ac_spm.c); AMD, "MI300 and MI200 series performance counters and metrics",
 * and rocprofiler-compute's documentation. SQ_INSTS_FLAT includes GLOBAL, as the published vcopy on MI100
 * shows. SQ_INSTS_VMEM includes atomics; whether SQ_INSTS_VMEM_RD or _WR does is not documented, so they
 * count in neither. SQ_INSTS_LDS counts a FLAT load or store only if it accessed LDS, and each FLAT atomic
 * (published counts of a load and an atomic that went to memory, 0 and 1, and of a store that went to LDS,
 * 1); if some executions access LDS and others do not, all count (approximate). Requests of L2 to memory or a
 * last-level cache have 64 bytes each (unverified on RDNA); before gfx9 they are counted by 32 bytes; on
 * CDNA3 (TCC_EA0_*) reads of a whole line count once, and in TCC_BUBBLE. Those of the scalar and instruction
 * cache (SQC_TC_*) have 64 bytes. Requests to L2 and memory include those for code. Not written, because no
 * relation to these figures is published: TCP_UTCL1_REQUEST, SQC_DCACHE_MISSES_DUPLICATE. */
#include "tool/report/counters.h"

#include "tool/output.h"
#include "tool/report/csv.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The quantity of a row or kernel that a counter counts. */
enum unit {
    EXECUTIONS,
    LDS_EXECUTIONS, /* those that access LDS */
    FAST,
    ACCESSES,
    LOOKUPS,
    LDS_PASSES,
    LDS_CONFLICTS,
    L0_REQUESTS, /* of caches, by name */
    L0_MISSES,
    GL1_REQUESTS,
    GL1_MISSES,
    L2_REQUESTS,
    L2_HITS,
    L2_MISSES,
    L2_BYTES_64,
    SCALAR_REQUESTS,
    SCALAR_HITS,
    SCALAR_MISSES,
    MEMORY_READS, /* of 64 bytes; on CDNA3 of 128 if both halves of a line are read */
    READ_PAIRS,   /* those of 128 bytes */
    MEMORY_WRITES,
    OF_KERNELS,                    /* from here on figures of kernels, not of rows: */
    FLUSHED_BYTES_64 = OF_KERNELS, /* written back by L2 at the end of dispatches */
    FETCHES,                       /* instruction fetches */
    FETCH_HITS,
    FETCH_MISSES,
    FETCH_LATE,
    FETCH_L2_BYTES_64,
    WAVES,
    INSTRUCTIONS,
    VECTOR, /* of struct wm_profile_executed */
    MATRIX,
    MATRIX_CLOCKS,
    SCALAR,
    BRANCHES,
    MESSAGES,
    SCALAR_MEMORY,
    GDS,
    EXPORTS_AND_GDS,
};

/* The generations that have a counter: gfx6 to gfx8; gfx900 to gfx906; gfx908; gfx90a; gfx942 and gfx950;
 * gfx10 and gfx11; gfx12. */
enum {
    GCN = 1,
    GFX9 = 2,
    MI100 = 4,
    CDNA2 = 8,
    CDNA3 = 16,
    RDNA = 32,
    RDNA4 = 64,
    CDNA = MI100 | CDNA2 | CDNA3,
    TCP = GCN | GFX9 | CDNA, /* those whose vector cache has counters such as TCP_TOTAL_ACCESSES */
    TCC_EA = GFX9 | MI100 | CDNA2,
    RDNAS = RDNA | RDNA4,
    ANY = TCP | RDNAS,
};

/* Generations by the beginning of a target's name; the first row that fits. */
static const struct {
    const char *target;
    unsigned generation;
} generations[] = {
    {"gfx12", RDNA4},  {"gfx11", RDNA},   {"gfx10", RDNA},   {"gfx94", CDNA3}, {"gfx95", CDNA3},
    {"gfx9-4", CDNA3}, {"gfx90a", CDNA2}, {"gfx908", MI100}, {"gfx9", GFX9},   {"gfx", GCN},
};

struct counter {
    const char *name;
    enum unit unit;
    const char *paths;     /* list of words that must contain the row's path; NULL: any */
    const char *operation; /* that the row must have, "return" and "no return" of atomics; NULL: any */
    unsigned generations;
    unsigned times; /* the value is multiplied by it; 0: 1 */
};

#define VECTOR_PATHS "BUFFER TBUFFER IMAGE FLAT GLOBAL SCRATCH LDS_DMA"
#define BUFFER       "BUFFER TBUFFER"
#define TEXTURE      "BUFFER TBUFFER IMAGE"
#define FLAT         "FLAT GLOBAL SCRATCH"

static const struct counter counters[] = {
    {"SQ_WAVES", WAVES, NULL, NULL, ANY},
    {"SQ_INSTS", INSTRUCTIONS, NULL, NULL, CDNA},
    {"SQ_INSTS_VALU", VECTOR, NULL, NULL, ANY},
    {"SQ_INSTS_MFMA", MATRIX, NULL, NULL, CDNA2 | CDNA3},
    {"SQ_VALU_MFMA_BUSY_CYCLES", MATRIX_CLOCKS, NULL, NULL, CDNA2 | CDNA3},
    {"SQ_INSTS_SALU", SCALAR, NULL, NULL, ANY},
    {"SQ_INSTS_SMEM", SCALAR_MEMORY, NULL, NULL, ANY},
    {"SQ_INSTS_BRANCH", BRANCHES, NULL, NULL, CDNA},
    {"SQ_INSTS_SENDMSG", MESSAGES, NULL, NULL, CDNA},
    {"SQ_INSTS_EXP_GDS", EXPORTS_AND_GDS, NULL, NULL, CDNA},
    {"SQ_INSTS_GDS", GDS, NULL, NULL, ANY},
    {"SQ_INSTS_LDS", LDS_EXECUTIONS, "DS FLAT", NULL, ANY},
    {"SQ_INSTS_VMEM", EXECUTIONS, VECTOR_PATHS, NULL, TCP},
    {"SQ_INSTS_VMEM_RD", EXECUTIONS, VECTOR_PATHS, "load", TCP},
    {"SQ_INSTS_VMEM_WR", EXECUTIONS, VECTOR_PATHS, "store", TCP},
    {"SQ_INSTS_FLAT", EXECUTIONS, FLAT, NULL, ANY},
    {"SQ_INSTS_TEX_LOAD", EXECUTIONS, TEXTURE, "load", RDNAS},
    {"SQ_INSTS_TEX_STORE", EXECUTIONS, TEXTURE, "store", RDNAS},
    {"SQ_LDS_IDX_ACTIVE", LDS_PASSES, NULL, NULL, TCP},
    {"SQ_LDS_BANK_CONFLICT", LDS_CONFLICTS, NULL, NULL, TCP},
    {"SQC_LDS_IDX_ACTIVE", LDS_PASSES, NULL, NULL, RDNAS},
    {"SQC_LDS_BANK_CONFLICT", LDS_CONFLICTS, NULL, NULL, RDNAS},
    {"SQC_DCACHE_REQ", SCALAR_REQUESTS, NULL, NULL, TCP},
    {"SQC_DCACHE_HITS", SCALAR_HITS, NULL, NULL, ANY},
    {"SQC_DCACHE_MISSES", SCALAR_MISSES, NULL, NULL, ANY},
    {"SQC_DCACHE_ATOMIC", EXECUTIONS, "SMEM", "atomic", CDNA},
    {"SQC_DCACHE_REQ_READ_1", EXECUTIONS, "SMEM 4", "load", CDNA},
    {"SQC_DCACHE_REQ_READ_2", EXECUTIONS, "SMEM 8", "load", CDNA},
    {"SQC_DCACHE_REQ_READ_4", EXECUTIONS, "SMEM 16", "load", CDNA},
    {"SQC_DCACHE_REQ_READ_8", EXECUTIONS, "SMEM 32", "load", CDNA},
    {"SQC_DCACHE_REQ_READ_16", EXECUTIONS, "SMEM 64", "load", CDNA},
    {"SQC_TC_DATA_READ_REQ", L2_BYTES_64, "SMEM", "load", CDNA},
    {"SQC_TC_DATA_WRITE_REQ", L2_BYTES_64, "SMEM", "store", CDNA},
    {"SQC_TC_DATA_ATOMIC_REQ", L2_BYTES_64, "SMEM", "atomic", CDNA},
    {"SQ_IFETCH", FETCHES, NULL, NULL, TCP},
    {"SQC_ICACHE_REQ", FETCHES, NULL, NULL, TCP},
    {"SQC_ICACHE_HITS", FETCH_HITS, NULL, NULL, ANY},
    {"SQC_ICACHE_MISSES", FETCH_MISSES, NULL, NULL, ANY},
    {"SQC_ICACHE_MISSES_DUPLICATE", FETCH_LATE, NULL, NULL, ANY},
    {"SQC_TC_INST_REQ", FETCH_L2_BYTES_64, NULL, NULL, TCP},
    {"TA_TOTAL_WAVEFRONTS", EXECUTIONS, VECTOR_PATHS, NULL, TCP},
    {"TA_BUFFER_WAVEFRONTS", EXECUTIONS, BUFFER, NULL, TCP},
    {"TA_BUFFER_READ_WAVEFRONTS", EXECUTIONS, BUFFER, "load", TCP},
    {"TA_BUFFER_WRITE_WAVEFRONTS", EXECUTIONS, BUFFER, "store", TCP},
    {"TA_BUFFER_ATOMIC_WAVEFRONTS", EXECUTIONS, BUFFER, "atomic", TCP},
    {"TA_FLAT_WAVEFRONTS", EXECUTIONS, FLAT, NULL, TCP},
    {"TA_FLAT_READ_WAVEFRONTS", EXECUTIONS, FLAT, "load", TCP},
    {"TA_FLAT_WRITE_WAVEFRONTS", EXECUTIONS, FLAT, "store", TCP},
    {"TA_FLAT_ATOMIC_WAVEFRONTS", EXECUTIONS, FLAT, "atomic", TCP},
    {"TD_LOAD_WAVEFRONT", EXECUTIONS, VECTOR_PATHS, NULL, TCP}, /* counts stores and atomics, too */
    {"TD_STORE_WAVEFRONT", EXECUTIONS, VECTOR_PATHS, "store", TCP},
    {"TD_ATOMIC_WAVEFRONT", EXECUTIONS, VECTOR_PATHS, "atomic", TCP},
    {"TD_COALESCABLE_WAVEFRONT", FAST, VECTOR_PATHS, NULL, TCP},
    {"TCP_TOTAL_ACCESSES", ACCESSES, VECTOR_PATHS, NULL, TCP},
    {"TCP_TOTAL_READ", ACCESSES, VECTOR_PATHS, "load", CDNA},
    {"TCP_TOTAL_WRITE", ACCESSES, VECTOR_PATHS, "store", CDNA},
    {"TCP_TOTAL_ATOMIC_WITH_RET", ACCESSES, VECTOR_PATHS, "return", CDNA},
    {"TCP_TOTAL_ATOMIC_WITHOUT_RET", ACCESSES, VECTOR_PATHS, "no return", CDNA},
    {"TCP_TOTAL_CACHE_ACCESSES", LOOKUPS, VECTOR_PATHS, NULL, TCP},
    {"TCP_TCC_READ_REQ", L0_MISSES, VECTOR_PATHS, "load", TCP},
    {"TCP_TCC_WRITE_REQ", L0_MISSES, VECTOR_PATHS, "store", TCP},
    {"TCP_TCC_ATOMIC_WITH_RET_REQ", L0_MISSES, VECTOR_PATHS, "return", CDNA},
    {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ", L0_MISSES, VECTOR_PATHS, "no return", CDNA},
    {"TCP_REQ", L0_REQUESTS, VECTOR_PATHS, NULL, RDNAS},
    {"TCP_REQ_MISS", L0_MISSES, VECTOR_PATHS, NULL, RDNAS},
    {"GL1C_REQ", GL1_REQUESTS, NULL, NULL, RDNA},
    {"GL1C_REQ_MISS", GL1_MISSES, NULL, NULL, RDNA},
    {"GL2C_REQ", L2_REQUESTS, NULL, NULL, RDNAS},
    {"GL2C_HIT", L2_HITS, NULL, NULL, RDNAS},
    {"GL2C_MISS", L2_MISSES, NULL, NULL, RDNAS},
    {"GL2C_MC_RDREQ", MEMORY_READS, NULL, NULL, RDNA},
    {"GL2C_MC_WRREQ", MEMORY_WRITES, NULL, NULL, RDNA},
    {"GL2C_EA_RDREQ", MEMORY_READS, NULL, NULL, RDNA4},
    {"GL2C_EA_WRREQ_64B", MEMORY_WRITES, NULL, NULL, RDNAS},
    {"TCC_REQ", L2_REQUESTS, NULL, NULL, TCP},
    {"TCC_READ", L2_REQUESTS, NULL, "load", TCP},
    {"TCC_WRITE", L2_REQUESTS, NULL, "store", TCP},
    {"TCC_ATOMIC", L2_REQUESTS, NULL, "atomic", TCP},
    {"TCC_HIT", L2_HITS, NULL, NULL, TCP},
    {"TCC_MISS", L2_MISSES, NULL, NULL, TCP},
    {"TCC_ALL_TC_OP_WB_WRITEBACK", FLUSHED_BYTES_64, NULL, NULL, MI100}, /* lines; larger ones later */
    {"TCC_BUBBLE", READ_PAIRS, NULL, NULL, CDNA3},
    {"TCC_MC_RDREQ", MEMORY_READS, NULL, NULL, GCN, .times = 2},
    {"TCC_MC_WRREQ", MEMORY_WRITES, NULL, NULL, GCN, .times = 2},
    {"TCC_EA_RDREQ", MEMORY_READS, NULL, NULL, TCC_EA},
    {"TCC_EA_WRREQ", MEMORY_WRITES, NULL, NULL, TCC_EA},
    {"TCC_EA0_RDREQ", MEMORY_READS, NULL, NULL, CDNA3},
    {"TCC_EA0_WRREQ", MEMORY_WRITES, NULL, NULL, CDNA3},
};

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Whether L2 reads both halves of a line with one request (gfx942). */
static bool reads_pairs(const struct wm_profile_row *row)
{
    return row->has_tcp_counters && row->line_bytes == 128;
}

/* Units of 64 bytes that L2 read from or wrote to the last-level cache or memory. */
static uint64_t behind_l2(const struct wm_profile_row *row, bool reads)
{
    const uint64_t last = row->cache[WM_CACHE_LAST].requests;
    const char *operation = reads ? "load" : "store";
    if (last && strcmp(row->operation, "atomic") != 0)
        return strcmp(row->operation, operation) == 0 ? last : 0;
    return (reads ? row->memory_read : row->memory_written) / 64;
}

/* The value of counters of caches that data and code share. */
static uint64_t in_shared(const struct counter *counter, const struct wm_cache_use use[WM_CACHE_LEVELS])
{
    const struct wm_cache_use *gl1 = &use[WM_CACHE_GL1], *l2 = &use[WM_CACHE_L2];
    switch (counter->unit) {
    case GL1_REQUESTS:
        return gl1->requests;
    case GL1_MISSES:
        return gl1->requests - gl1->hits;
    case L2_REQUESTS:
        return l2->requests;
    case L2_HITS:
        return l2->hits;
    case L2_MISSES:
        return l2->requests - l2->hits;
    case L2_BYTES_64:
        return l2->bytes / 64;
    default:
        return 0;
    }
}

/* Whether the counter counts rows like this one; paths may end with the bytes of a lane. */
static bool counts_row(const struct counter *counter, const struct wm_profile_row *row)
{
    const char *number = counter->paths ? strpbrk(counter->paths, "0123456789") : NULL;
    const bool atomic = strcmp(row->operation, "atomic") == 0;
    if ((counter->paths && !has_word(counter->paths, row->path)) ||
        (number && (uint32_t)atoi(number) != row->bytes))
        return false;
    if (!counter->operation || strcmp(counter->operation, row->operation) == 0)
        return true;
    return atomic && strcmp(counter->operation, row->returns ? "return" : "no return") == 0;
}

static uint64_t value_of(const struct counter *counter, const struct wm_profile_row *row)
{
    if (!counts_row(counter, row))
        return 0;
    const struct wm_cache_use *vector = &row->cache[WM_CACHE_VECTOR], *scalar = &row->cache[WM_CACHE_SCALAR];
    switch (counter->unit) {
    case EXECUTIONS:
        return row->executions;
    case LDS_EXECUTIONS:
        return row->has_lds || strcmp(row->path, "DS") == 0 || strcmp(row->operation, "atomic") == 0
                   ? row->executions
                   : 0;
    case FAST:
        return row->fast;
    case ACCESSES:
        return row->accesses;
    case LOOKUPS:
        return row->tag_lookups;
    case LDS_PASSES:
        return row->lds_passes;
    case LDS_CONFLICTS:
        return row->lds_conflicts;
    case L0_REQUESTS:
        return vector->requests;
    case L0_MISSES:
        return vector->requests - vector->hits;
    case SCALAR_REQUESTS:
        return scalar->requests;
    case SCALAR_HITS:
        return scalar->hits;
    case SCALAR_MISSES:
        return scalar->requests - scalar->hits;
    case MEMORY_READS:
        return behind_l2(row, true) - (reads_pairs(row) ? behind_l2(row, true) / 2 : 0);
    case READ_PAIRS:
        return reads_pairs(row) ? behind_l2(row, true) / 2 : 0;
    case MEMORY_WRITES:
        return behind_l2(row, false);
    default:
        return in_shared(counter, row->cache);
    }
}

/* The figure of the kernel, or the contribution of its instruction fetches. */
static uint64_t of_kernel(const struct counter *counter, const struct wm_profile_kernel *kernel,
                          unsigned generation)
{
    const struct wm_profile_executed *executed = &kernel->executed;
    const uint64_t last = kernel->fetch_use[WM_CACHE_LAST].requests;
    const uint64_t sectors = last ? last : kernel->fetch_memory_read / 64;
    if (counter->paths || (counter->operation && strcmp(counter->operation, "load") != 0))
        return 0;
    switch (counter->unit) {
    case FLUSHED_BYTES_64:
        return kernel->l2_flushed / 64;
    case FETCHES:
        return kernel->fetches;
    case FETCH_HITS:
        return kernel->fetch_use[WM_CACHE_INSTRUCTION].hits;
    case FETCH_MISSES:
        return kernel->fetch_missed;
    case FETCH_LATE:
        return kernel->fetch_late;
    case FETCH_L2_BYTES_64:
        return kernel->fetch_use[WM_CACHE_L2].bytes / 64;
    case WAVES:
        return kernel->waves;
    case INSTRUCTIONS:
        return kernel->instructions;
    case VECTOR:
        return executed->vector;
    case MATRIX:
        return executed->matrix;
    case MATRIX_CLOCKS:
        return executed->matrix_clocks;
    case SCALAR:
        return executed->scalar;
    case BRANCHES:
        return executed->branches;
    case MESSAGES:
        return executed->messages;
    case SCALAR_MEMORY:
        return executed->scalar_memory;
    case GDS:
        return executed->gds;
    case EXPORTS_AND_GDS:
        return executed->exports + executed->gds;
    case MEMORY_READS:
        return sectors - (generation == CDNA3 ? sectors / 2 : 0);
    case READ_PAIRS:
        return sectors / 2;
    default:
        return in_shared(counter, kernel->fetch_use);
    }
}

/* The kernel's name in its rows: raw code has no symbol. */
static const char *name_of(const struct tool_report *report, const struct wm_profile_kernel *kernel)
{
    for (size_t i = 0; i < report->count; i++)
        if (tool_row_start(report->rows[i]) == kernel->pc)
            return report->rows[i]->kernel;
    return kernel->kernel;
}

/* Of the modelled product; 0: unknown, there is none. */
static unsigned generation_of(const struct tool_report *report)
{
    const struct wm_gpu *gpu = report->kernel_count ? report->kernels[0].gpu : NULL;
    for (size_t i = 0; gpu && i < sizeof generations / sizeof *generations; i++)
        if (strncmp(gpu->targets, generations[i].target, strlen(generations[i].target)) == 0)
            return generations[i].generation;
    return 0;
}

/* kernel: NULL for all. */
static void write_kernel(FILE *file, const struct tool_report *report, const char *kernel)
{
    const struct wm_profile_row **rows = report->rows;
    const unsigned generation = generation_of(report);
    for (size_t c = 0; c < sizeof counters / sizeof counters[0]; c++) {
        uint64_t sum = 0;
        if (!(counters[c].generations & generation))
            continue;
        for (size_t i = 0; counters[c].unit < OF_KERNELS && i < report->count; i++)
            if (!kernel || strcmp(rows[i]->kernel, kernel) == 0)
                sum += value_of(&counters[c], rows[i]);
        for (size_t i = 0; i < report->kernel_count; i++)
            if (!kernel || strcmp(name_of(report, &report->kernels[i]), kernel) == 0)
                sum += of_kernel(&counters[c], &report->kernels[i], generation);
        tool_csv_text(file, kernel ? kernel : "*");
        fprintf(file, ",%s,%" PRIu64 "\n", counters[c].name,
                sum * (counters[c].times ? counters[c].times : 1));
    }
}

int tool_write_counters(const struct tool_report *report, const char *path)
{
    const struct wm_profile_row **rows = report->rows;
    struct tool_file output;
    if (!tool_begin_file(&output, "--counters", path))
        return TOOL_WRONG;
    FILE *file = output.whole.stream;
    fputs("kernel,name,value\n", file);
    for (size_t i = 0; i < report->count; i++) {
        bool seen = false;
        for (size_t before = 0; before < i && !seen; before++)
            seen = strcmp(rows[before]->kernel, rows[i]->kernel) == 0;
        if (!seen)
            write_kernel(file, report, rows[i]->kernel);
    }
    for (size_t i = 0; i < report->kernel_count; i++) { /* kernels that only fetch instructions */
        const char *name = name_of(report, &report->kernels[i]);
        bool seen = false;
        for (size_t k = 0; k < report->count && !seen; k++)
            seen = strcmp(rows[k]->kernel, name) == 0;
        for (size_t before = 0; before < i && !seen; before++)
            seen = strcmp(name_of(report, &report->kernels[before]), name) == 0;
        if (!seen)
            write_kernel(file, report, name);
    }
    write_kernel(file, report, NULL);
    return tool_end_file(&output);
}

/* SPDX-License-Identifier: MIT */
/* The profile under the names of AMD's hardware counters, summed over their instances.
 *
 * Meaning of the counters: AMD, "MI300 and MI200 series performance counters and metrics", and
 * rocprofiler-compute's documentation; of RDNA's (TCP_REQ, GL1C_*, GL2C_*) GPUPerfAPI's and rocprofiler's
 * lists. SQ_INSTS_FLAT includes GLOBAL, as the published vcopy on MI100 shows. SQ_INSTS_VMEM includes
 * atomics; whether SQ_INSTS_VMEM_RD or _WR does is not documented, so they count in neither. Requests of L2
 * to memory or a last-level cache have 64 bytes each; on CDNA3 (TCC_EA0_*) reads of a whole line count once,
 * and in TCC_BUBBLE. Those of the instruction cache (SQC_TC_INST_REQ) have 64 bytes. Requests to L2 and
 * memory include those for code. */
#include "tool/report/counters.h"

#include "tool/output.h"
#include "tool/report/csv.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The quantity of a row that a counter counts. */
enum unit {
    EXECUTIONS,
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
    SCALAR_REQUESTS,
    SCALAR_HITS,
    SCALAR_MISSES,
    MEMORY_READS, /* of 64 bytes; on CDNA3 of 128 if both halves of a line are read */
    READ_PAIRS,   /* those of 128 bytes */
    MEMORY_WRITES,
    FETCHES, /* instruction fetches: of kernels, not of rows */
    FETCH_HITS,
    FETCH_MISSES,
    FETCH_LATE,
    FETCH_L2_BYTES_64,
};

/* The generations that have a counter. */
enum family { ANY, TCP, RDNA, CDNA3 /* TCP, and reads of 128 bytes */ };

struct counter {
    const char *name; /* @: TCC_, on RDNA GL2C_ */
    enum unit unit;
    const char *paths;     /* list of words that must contain the row's path; NULL: any */
    const char *operation; /* that the row must have; NULL: any */
    enum family family;
};

#define VECTOR "BUFFER TBUFFER IMAGE FLAT GLOBAL SCRATCH LDS_DMA"
#define BUFFER "BUFFER TBUFFER"
#define FLAT   "FLAT GLOBAL SCRATCH"

static const struct counter counters[] = {
    {"SQ_INSTS_SMEM", EXECUTIONS, "SMEM", NULL, ANY},
    {"SQ_INSTS_LDS", EXECUTIONS, "DS", NULL, ANY},
    {"SQ_INSTS_VMEM", EXECUTIONS, VECTOR, NULL, ANY},
    {"SQ_INSTS_VMEM_RD", EXECUTIONS, VECTOR, "load", ANY},
    {"SQ_INSTS_VMEM_WR", EXECUTIONS, VECTOR, "store", ANY},
    {"SQ_INSTS_FLAT", EXECUTIONS, FLAT, NULL, ANY},
    {"SQ_LDS_IDX_ACTIVE", LDS_PASSES, NULL, NULL, ANY},
    {"SQ_LDS_BANK_CONFLICT", LDS_CONFLICTS, NULL, NULL, ANY},
    {"SQC_DCACHE_REQ", SCALAR_REQUESTS, NULL, NULL, ANY},
    {"SQC_DCACHE_HITS", SCALAR_HITS, NULL, NULL, ANY},
    {"SQC_DCACHE_MISSES", SCALAR_MISSES, NULL, NULL, ANY},
    {"SQ_IFETCH", FETCHES, NULL, NULL, ANY},
    {"SQC_ICACHE_REQ", FETCHES, NULL, NULL, ANY},
    {"SQC_ICACHE_HITS", FETCH_HITS, NULL, NULL, ANY},
    {"SQC_ICACHE_MISSES", FETCH_MISSES, NULL, NULL, ANY},
    {"SQC_ICACHE_MISSES_DUPLICATE", FETCH_LATE, NULL, NULL, ANY},
    {"SQC_TC_INST_REQ", FETCH_L2_BYTES_64, NULL, NULL, TCP},
    {"TA_TOTAL_WAVEFRONTS", EXECUTIONS, VECTOR, NULL, TCP},
    {"TA_BUFFER_WAVEFRONTS", EXECUTIONS, BUFFER, NULL, TCP},
    {"TA_BUFFER_READ_WAVEFRONTS", EXECUTIONS, BUFFER, "load", TCP},
    {"TA_BUFFER_WRITE_WAVEFRONTS", EXECUTIONS, BUFFER, "store", TCP},
    {"TA_BUFFER_ATOMIC_WAVEFRONTS", EXECUTIONS, BUFFER, "atomic", TCP},
    {"TA_FLAT_WAVEFRONTS", EXECUTIONS, FLAT, NULL, TCP},
    {"TA_FLAT_READ_WAVEFRONTS", EXECUTIONS, FLAT, "load", TCP},
    {"TA_FLAT_WRITE_WAVEFRONTS", EXECUTIONS, FLAT, "store", TCP},
    {"TA_FLAT_ATOMIC_WAVEFRONTS", EXECUTIONS, FLAT, "atomic", TCP},
    {"TD_LOAD_WAVEFRONT", EXECUTIONS, VECTOR, NULL, TCP}, /* counts stores and atomics, too */
    {"TD_STORE_WAVEFRONT", EXECUTIONS, VECTOR, "store", TCP},
    {"TD_ATOMIC_WAVEFRONT", EXECUTIONS, VECTOR, "atomic", TCP},
    {"TD_COALESCABLE_WAVEFRONT", FAST, VECTOR, NULL, TCP},
    {"TCP_TOTAL_ACCESSES", ACCESSES, VECTOR, NULL, TCP},
    {"TCP_TOTAL_CACHE_ACCESSES", LOOKUPS, VECTOR, NULL, TCP},
    {"TCP_TCC_READ_REQ", L0_MISSES, VECTOR, "load", TCP},
    {"TCP_TCC_WRITE_REQ", L0_MISSES, VECTOR, "store", TCP},
    {"TCP_REQ", L0_REQUESTS, VECTOR, NULL, RDNA},
    {"TCP_REQ_MISS", L0_MISSES, VECTOR, NULL, RDNA},
    {"GL1C_REQ", GL1_REQUESTS, NULL, NULL, RDNA},
    {"GL1C_REQ_MISS", GL1_MISSES, NULL, NULL, RDNA},
    {"@REQ", L2_REQUESTS, NULL, NULL, ANY},
    {"@READ", L2_REQUESTS, NULL, "load", ANY},
    {"@WRITE", L2_REQUESTS, NULL, "store", ANY},
    {"@ATOMIC", L2_REQUESTS, NULL, "atomic", ANY},
    {"@HIT", L2_HITS, NULL, NULL, ANY},
    {"@MISS", L2_MISSES, NULL, NULL, ANY},
    {"@BUBBLE", READ_PAIRS, NULL, NULL, CDNA3},
    {"@EA_RDREQ", MEMORY_READS, NULL, NULL, ANY},
    {"@EA_WRREQ", MEMORY_WRITES, NULL, NULL, ANY},
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
    default:
        return 0;
    }
}

static uint64_t value_of(const struct counter *counter, const struct wm_profile_row *row)
{
    if ((counter->paths && !has_word(counter->paths, row->path)) ||
        (counter->operation && strcmp(counter->operation, row->operation) != 0))
        return 0;
    const struct wm_cache_use *vector = &row->cache[WM_CACHE_VECTOR], *scalar = &row->cache[WM_CACHE_SCALAR];
    switch (counter->unit) {
    case EXECUTIONS:
        return row->executions;
    case FAST:
        return row->fast;
    case ACCESSES: /* 16 for a fast instruction, else 64: four per clock */
        return 4 * row->address_clocks;
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

/* The contribution of the kernel's instruction fetches. */
static uint64_t fetched(const struct counter *counter, const struct wm_profile_kernel *kernel,
                        enum family family)
{
    const uint64_t last = kernel->fetch_use[WM_CACHE_LAST].requests;
    const uint64_t sectors = last ? last : kernel->fetch_memory_read / 64;
    if (counter->paths || (counter->operation && strcmp(counter->operation, "load") != 0))
        return 0;
    switch (counter->unit) {
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
    case MEMORY_READS:
        return sectors - (family == CDNA3 ? sectors / 2 : 0);
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

/* Names of L2 counters depend on the generation. */
static void put_name(FILE *file, const char *name, enum family family)
{
    if (*name != '@')
        fprintf(file, ",%s", name);
    else if (family == CDNA3 && strncmp(name, "@EA_", 4) == 0)
        fprintf(file, ",TCC_EA0_%s", name + 4);
    else
        fprintf(file, ",%s%s", family == RDNA ? "GL2C_" : "TCC_", name + 1);
}

/* kernel: NULL for all. */
static void write_kernel(FILE *file, const struct tool_report *report, const char *kernel)
{
    const struct wm_profile_row **rows = report->rows;
    const size_t count = report->count;
    enum family family = TCP;
    for (size_t i = 0; i < count; i++)
        if (rows[i]->has_vector && !rows[i]->has_tcp_counters)
            family = RDNA;
    for (size_t i = 0; i < count; i++)
        if (reads_pairs(rows[i]))
            family = CDNA3;
    for (size_t c = 0; c < sizeof counters / sizeof counters[0]; c++) {
        uint64_t sum = 0;
        if (counters[c].family != ANY && counters[c].family != family &&
            !(counters[c].family == TCP && family == CDNA3))
            continue;
        for (size_t i = 0; i < count; i++)
            if (!kernel || strcmp(rows[i]->kernel, kernel) == 0)
                sum += value_of(&counters[c], rows[i]);
        for (size_t i = 0; i < report->kernel_count; i++)
            if (!kernel || strcmp(name_of(report, &report->kernels[i]), kernel) == 0)
                sum += fetched(&counters[c], &report->kernels[i], family);
        tool_csv_text(file, kernel ? kernel : "*");
        put_name(file, counters[c].name, family);
        fprintf(file, ",%" PRIu64 "\n", sum);
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

/* SPDX-License-Identifier: MIT */
/* The profile under the names of AMD's hardware counters, summed over their instances.
 *
 * Meaning of the counters: AMD, "MI300 and MI200 series performance counters and metrics", and
 * rocprofiler-compute's documentation. Atomics stand in the TA and TD counters only: whether SQ_INSTS_VMEM_RD
 * or _WR has them is not documented, and the requests' names tell returning ones from others, which the
 * profile does not. */
#include "counters.h"

#include "csv.h"
#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What of a row a counter counts. */
enum unit { EXECUTIONS, FAST, ACCESSES, LOOKUPS, READS, WRITES, LDS_PASSES, LDS_CONFLICTS };

struct counter {
    const char *name;
    enum unit unit;
    const char *paths;     /* words, of which a row's path must be one; NULL: any */
    const char *operation; /* that a row must have; NULL: any */
    bool tcp;              /* only where the generation has it */
};

#define VECTOR "BUFFER TBUFFER IMAGE FLAT GLOBAL SCRATCH LDS_DMA"
#define BUFFER "BUFFER TBUFFER"
#define FLAT   "FLAT GLOBAL SCRATCH"

static const struct counter counters[] = {
    {"SQ_INSTS_SMEM", EXECUTIONS, "SMEM", NULL, false},
    {"SQ_INSTS_LDS", EXECUTIONS, "DS", NULL, false},
    {"SQ_INSTS_VMEM_RD", EXECUTIONS, VECTOR, "load", false},
    {"SQ_INSTS_VMEM_WR", EXECUTIONS, VECTOR, "store", false},
    {"SQ_LDS_IDX_ACTIVE", LDS_PASSES, NULL, NULL, false},
    {"SQ_LDS_BANK_CONFLICT", LDS_CONFLICTS, NULL, NULL, false},
    {"TA_TOTAL_WAVEFRONTS", EXECUTIONS, VECTOR, NULL, true},
    {"TA_BUFFER_WAVEFRONTS", EXECUTIONS, BUFFER, NULL, true},
    {"TA_BUFFER_READ_WAVEFRONTS", EXECUTIONS, BUFFER, "load", true},
    {"TA_BUFFER_WRITE_WAVEFRONTS", EXECUTIONS, BUFFER, "store", true},
    {"TA_BUFFER_ATOMIC_WAVEFRONTS", EXECUTIONS, BUFFER, "atomic", true},
    {"TA_FLAT_WAVEFRONTS", EXECUTIONS, FLAT, NULL, true},
    {"TA_FLAT_READ_WAVEFRONTS", EXECUTIONS, FLAT, "load", true},
    {"TA_FLAT_WRITE_WAVEFRONTS", EXECUTIONS, FLAT, "store", true},
    {"TA_FLAT_ATOMIC_WAVEFRONTS", EXECUTIONS, FLAT, "atomic", true},
    {"TD_LOAD_WAVEFRONT", EXECUTIONS, VECTOR, NULL, true}, /* counts stores and atomics, too */
    {"TD_STORE_WAVEFRONT", EXECUTIONS, VECTOR, "store", true},
    {"TD_ATOMIC_WAVEFRONT", EXECUTIONS, VECTOR, "atomic", true},
    {"TD_COALESCABLE_WAVEFRONT", FAST, VECTOR, NULL, true},
    {"TCP_TOTAL_ACCESSES", ACCESSES, VECTOR, NULL, true},
    {"TCP_TOTAL_CACHE_ACCESSES", LOOKUPS, VECTOR, NULL, true},
    {"TCP_TCC_READ_REQ", READS, VECTOR, NULL, true},
    {"TCP_TCC_WRITE_REQ", WRITES, VECTOR, NULL, true},
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

static uint64_t value_of(const struct counter *counter, const struct wm_profile_row *row)
{
    if ((counter->paths && !has_word(counter->paths, row->path)) ||
        (counter->operation && strcmp(counter->operation, row->operation) != 0))
        return 0;
    switch (counter->unit) {
    case EXECUTIONS:
        return row->executions;
    case FAST:
        return row->fast;
    case ACCESSES: /* 16 of a fast instruction, 64 of another: four lanes' worth for each clock */
        return 4 * row->address_clocks;
    case LOOKUPS:
        return row->tag_lookups;
    case READS:
        return row->read_requests;
    case WRITES:
        return row->write_requests;
    case LDS_PASSES:
        return row->lds_passes;
    case LDS_CONFLICTS:
        return row->lds_conflicts;
    }
    return 0;
}

/* kernel: NULL for all. */
static void write_kernel(FILE *file, const struct wm_profile_row *const *rows, size_t count,
                         const char *kernel)
{
    bool tcp = true;
    for (size_t i = 0; i < count; i++)
        tcp &= rows[i]->has_tcp_counters || !rows[i]->has_vector;
    for (size_t c = 0; c < sizeof counters / sizeof counters[0]; c++) {
        uint64_t sum = 0;
        if (counters[c].tcp && !tcp)
            continue;
        for (size_t i = 0; i < count; i++)
            if (!kernel || strcmp(rows[i]->kernel, kernel) == 0)
                sum += value_of(&counters[c], rows[i]);
        tool_csv_text(file, kernel ? kernel : "*");
        fprintf(file, ",%s,%" PRIu64 "\n", counters[c].name, sum);
    }
}

int tool_write_counters(const struct wm_profile_row *const *rows, size_t count, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return tool_fail("--counters %s: cannot be written: %s", path, strerror(errno));
    fputs("kernel,name,value\n", file);
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t before = 0; before < i && !seen; before++)
            seen = strcmp(rows[before]->kernel, rows[i]->kernel) == 0;
        if (!seen)
            write_kernel(file, rows, count, rows[i]->kernel);
    }
    write_kernel(file, rows, count, NULL);
    const bool good = !ferror(file);
    if (fclose(file) != 0 || !good)
        return tool_fail("--counters %s: could not be written", path);
    return TOOL_CLEAN;
}

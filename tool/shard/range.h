/* SPDX-License-Identifier: MIT */
/* Which part of a job or of a list --shard selects, and what the shard of a job has gathered. */
#ifndef WAVEMEM_TOOL_RANGE_H
#define WAVEMEM_TOOL_RANGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct footprint;

/* Part `index` of `count`, from 0 on. */
struct tool_range {
    uint64_t index, count;
};

/* What of a dispatch the shard runs: `workgroups` of `all`. */
struct tool_shard_dispatch {
    uint64_t first, workgroups, all;
    uint64_t cluster;            /* workgroups that one shard must run */
    struct footprint *footprint; /* NULL: the dispatch has not begun */
};

struct tool_shard {
    const char *text, *part; /* --shard, --part; NULL: not given */
    struct tool_range range;
    char *path; /* of the part: `part` with the number of the shard */
    struct tool_shard_dispatch *dispatches;
    size_t count;
    uint64_t digest; /* of what the dispatches read: code, arguments, buffers */
    json_t *found;   /* `check`: what it found (report.h); else NULL */
    json_t *head;
    uint8_t *body;
    size_t body_size;
};

/* Parses "I/N", or "auto": the place of this process among those that Slurm, Open MPI or PMI started. False,
 * after a message: neither. */
bool tool_parse_range(const char *option, const char *text, struct tool_range *range);
/* Which of `all` things belong to the range: contiguous; the first all % count ranges have one more. */
void tool_range_of(const struct tool_range *range, uint64_t all, uint64_t *first, uint64_t *count);
/* The same of `all' workgroups, of which each `cluster' following ones belong together. */
void tool_workgroups_of(const struct tool_range *range, uint64_t all, uint64_t cluster, uint64_t *first,
                        uint64_t *count);
/* The path with %i replaced by the range's number, from 1 on. The caller frees it. */
char *tool_range_path(const char *path, const struct tool_range *range);

void tool_shard_free(struct tool_shard *shard);

#endif

/* SPDX-License-Identifier: MIT */
/* --shard and --part: a job of which some workgroups run, and the file with what they did. */
#ifndef WAVEMEM_TOOL_SHARD_H
#define WAVEMEM_TOOL_SHARD_H

#include "wavemem/wavemem.h"

#include <jansson.h>
#include <stdbool.h>

struct footprint;
struct tool_dispatch;
struct tool_job;

/* Part `index` of `count`, from 0 on. */
struct tool_range {
    uint64_t index, count;
};

struct tool_shard {
    const char *text, *part; /* --shard, --part; NULL: not given */
    struct tool_range range;
    char *path;               /* of the part: `part` with the number of the shard */
    uint64_t first, workgroups, all;
    /* of the dispatch: */
    uint64_t digest; /* of what it reads: code, arguments, buffers */
    struct footprint *footprint;
    json_t *head;
    uint8_t *body;
    size_t body_size;
};

/* Parses "I/N", or "auto": the place of this process among those that Slurm, Open MPI or PMI started. False,
 * after a message: neither. */
bool tool_parse_range(const char *option, const char *text, struct tool_range *range);
/* Which of `all` things belong to the range: contiguous; the first all % count ranges have one more. */
void tool_range_of(const struct tool_range *range, uint64_t all, uint64_t *first, uint64_t *count);
/* The path with %i replaced by the range's number, from 1 on. The caller frees it. */
char *tool_range_path(const char *path, const struct tool_range *range);

/* Checks the job's --shard and --part against its other options. TOOL_CLEAN or TOOL_WRONG. */
int tool_shard_check(struct tool_job *job);
/* Before the dispatch, whose memory is filled: makes it run the shard's workgroups only, and watches it. */
bool tool_shard_begin(struct tool_job *job, struct wm_machine *machine, struct wm_dispatch *dispatch,
                      struct wm_diag *diag);
/* After it, without a fault: keeps what goes into the part. */
bool tool_shard_end(struct tool_job *job, struct wm_machine *machine, const struct wm_result *result,
                    struct wm_diag *diag);
/* Writes the part, with the `size` bytes of a trace. */
int tool_shard_write(struct tool_job *job, const uint8_t *trace, size_t size);
void tool_shard_free(struct tool_shard *shard);

#endif

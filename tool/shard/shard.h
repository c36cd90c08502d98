/* SPDX-License-Identifier: MIT */
/* --shard and --part: runs some workgroups of a job, and writes a file with what they did. */
#ifndef WAVEMEM_TOOL_SHARD_H
#define WAVEMEM_TOOL_SHARD_H

#include "tool/arguments/job.h"

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

#endif

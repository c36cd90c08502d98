/* SPDX-License-Identifier: MIT */
/* --shard and --part: runs some workgroups of a job, and writes a file with what they did. */
#ifndef WAVEMEM_TOOL_SHARD_H
#define WAVEMEM_TOOL_SHARD_H

#include "tool/arguments/job.h"

/* Checks the job's --shard and --part against its other options. TOOL_CLEAN or TOOL_WRONG. */
int tool_shard_check(struct tool_job *job);
/* Before dispatch `index`, whose memory is filled: chooses the shard's workgroups, and sets *observer to what
 * watches them. */
bool tool_shard_begin(struct tool_job *job, size_t index, struct wm_machine *machine,
                      struct wm_dispatch *dispatch, const struct wm_observer **observer,
                      struct wm_diag *diag);
/* After the last dispatch: keeps what goes into the part. report: of the job. */
bool tool_shard_end(struct tool_job *job, struct wm_machine *machine, const json_t *report,
                    struct wm_diag *diag);
/* Writes the part, with the `size` bytes of a trace. */
int tool_shard_write(struct tool_job *job, const uint8_t *trace, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Runs a checked job on a machine; shared by `run` and `prof`. */
#ifndef WAVEMEM_TOOL_RUN_H
#define WAVEMEM_TOOL_RUN_H

#include "tool/arguments/job.h"

#include <jansson.h>

/* The job's options for --help, the same for both verbs. */
extern const char tool_job_help[], tool_job_codes[];

/* Executes all dispatches: fills buffers, prints faults (stderr), statistics and comparisons, writes outputs,
 * and with --json appends what happened to `report`. Returns an enum tool_exit; stops at the first fault or
 * error. */
int tool_job_run(struct tool_job *job, struct wm_profile *profile, json_t *report);

#endif

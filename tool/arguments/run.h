/* SPDX-License-Identifier: MIT */
/* Runs a checked job on a machine; shared by `run` and `prof`. */
#ifndef WAVEMEM_TOOL_RUN_H
#define WAVEMEM_TOOL_RUN_H

#include "tool/arguments/job.h"
#include "tool/arguments/registers.h"

#include <jansson.h>

/* The job's options for --help, the same for both verbs. */
extern const char tool_job_help[], tool_job_codes[];

/* What a dispatch needs while it runs. */
struct tool_prepared {
    struct wm_dispatch dispatch;
    uint8_t *arguments;
    struct tool_start start;
};

/* Creates a machine with the objects and declared buffers of the job. check: sees its memory; or NULL. */
bool tool_make_machine(struct tool_job *job, struct wm_check *check, struct wm_machine **machine,
                       struct wm_diag *diag);
/* Fills the memory and registers of dispatch `index`. Release *prepared in any case. */
bool tool_prepare(struct tool_job *job, size_t index, struct wm_machine *machine,
                  struct tool_prepared *prepared, struct wm_diag *diag);
void tool_release(struct tool_prepared *prepared);
/* Frees what --free names after the dispatch. */
bool tool_free_buffers(const struct tool_job *job, const struct tool_dispatch *d, struct wm_machine *machine,
                       struct wm_diag *diag);
/* After a dispatch that ended by itself: compares (--expect) and writes (--out) what it left, and frees what
 * --free names. `entry`: its entry of the report, or NULL. Returns an enum tool_exit. */
int tool_use_results(const struct tool_job *job, const struct tool_dispatch *d, struct wm_machine *machine,
                     json_t *entry);

/* Executes all dispatches: fills buffers, prints faults (stderr), statistics and comparisons, writes outputs,
 * and with --json appends what happened to `report`. Returns an enum tool_exit; stops at the first fault or
 * error. */
int tool_job_run(struct tool_job *job, struct wm_profile *profile, json_t *report);

#endif

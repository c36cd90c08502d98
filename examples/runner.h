/* SPDX-License-Identifier: MIT */
/* Executes a workload on wavemem, using only the public API. */
#ifndef WAVEMEM_EXAMPLES_RUNNER_H
#define WAVEMEM_EXAMPLES_RUNNER_H

#include <wavemem/wavemem.h>

#include "workloads.h"

struct runner {
    const struct workload_run *run;
    struct wm_object *object;
    struct wm_machine *machine;
    uint64_t address[WORKLOAD_BUFFERS];
    struct wm_profile *profile; /* observes dispatches; or NULL */
    struct wm_check *check;     /* checks them; or NULL */
    double seconds;             /* of all dispatches so far, like wave_instructions */
    uint64_t wave_instructions;
    char message[1100]; /* why the last call failed */
};

/* Loads the code object at `path` and allocates the buffers. Close it in either case. */
bool runner_open(struct runner *runner, const struct workload_run *run, const char *path);
void runner_close(struct runner *runner);
/* Allocates the buffers anew. */
bool runner_allocate(struct runner *runner);
/* Restores the initial contents of every buffer. */
bool runner_reset(struct runner *runner);
/* Runs all dispatches on `threads` host threads (0: one per CPU). */
bool runner_dispatch(struct runner *runner, unsigned threads);
/* Compares all outputs; sets `message` to the first difference. worst: see workload_compare(). */
bool runner_check(struct runner *runner, double *worst);

#endif

/* SPDX-License-Identifier: MIT */
/* Executes a workload with OpenCL, from source: PoCL is the native peer of the benchmark.
 *
 * Environment variables select PoCL's threads and work-group method (see run.py). */
#ifndef WAVEMEM_BENCH_POCL_H
#define WAVEMEM_BENCH_POCL_H

#include <stdbool.h>
#include <stddef.h>

#include "workloads.h"

struct pocl; /* a workload on the first OpenCL device of type CPU */

/* Builds the source at `path` and creates the buffers. NULL: failed, see `message`. */
struct pocl *pocl_open(const struct workload_run *run, const char *path, char *message, size_t size);
void pocl_close(struct pocl *pocl);
/* Restores the initial contents of every buffer. */
bool pocl_reset(struct pocl *pocl, char *message, size_t size);
/* Runs all dispatches and adds the kernels' time, from profiling events, to *seconds. */
bool pocl_dispatch(struct pocl *pocl, double *seconds, char *message, size_t size);
/* Compares all outputs. */
bool pocl_check(struct pocl *pocl, double *worst, char *message, size_t size);

#endif

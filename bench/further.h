/* SPDX-License-Identifier: MIT */
/* Kernels that were written without a look at how wavemem executes them, but that it has been tuned with
 * since, as workloads. Their sources are in further/. */
#ifndef WAVEMEM_BENCH_FURTHER_H
#define WAVEMEM_BENCH_FURTHER_H

#include "workloads.h"

enum { FURTHER_COUNT = 24 };

extern const struct workload further[FURTHER_COUNT];

#endif

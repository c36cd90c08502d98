/* SPDX-License-Identifier: MIT */
/* Kernels that wavemem was not tuned for, as workloads: written like a user's, without a look at how wavemem
 * executes them. Their sources are in unseen/. */
#ifndef WAVEMEM_BENCH_UNSEEN_H
#define WAVEMEM_BENCH_UNSEEN_H

#include "workloads.h"

enum { UNSEEN_COUNT = 10 };

extern const struct workload unseen[UNSEEN_COUNT];

#endif

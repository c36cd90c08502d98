/* SPDX-License-Identifier: MIT */
#ifndef WAVEMEM_BENCH_CLOCK_H
#define WAVEMEM_BENCH_CLOCK_H

#include <time.h>

static inline double bench_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double bench_seconds(void)
{
    return bench_clock(CLOCK_MONOTONIC);
}

/* Of this thread, which also executes dispatches with one thread. */
static inline double bench_cpu_seconds(void)
{
    return bench_clock(CLOCK_THREAD_CPUTIME_ID);
}

#endif

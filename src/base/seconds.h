/* SPDX-License-Identifier: MIT */
/* A clock for limits and statistics. */
#ifndef WMI_SECONDS_H
#define WMI_SECONDS_H

#include <time.h>

/* Monotonic clock in seconds. */
static inline double wmi_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif

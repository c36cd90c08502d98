/* SPDX-License-Identifier: MIT */
#include "check/races/race_log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void empty(struct wmi_race_log *log)
{
    memset(log->recent, 0, sizeof log->recent);
    for (size_t i = 0; i < log->chunks; i++)
        log->chunk[i].used = 0;
    log->last = log->regions = 0;
}

void wmi_race_log_begin(struct wmi_race_log *log)
{
    memset(log->region, 0, sizeof log->region);
    empty(log);
}

void wmi_race_log_free(struct wmi_race_log *log)
{
    for (size_t i = 0; i < log->chunks; i++)
        munmap(log->chunk[i].memory, WMI_RACE_LOG_CHUNK);
    free(log->chunk);
}

void wmi_race_log_end(struct wmi_race_log *log)
{
    for (size_t i = 0; i < WMI_RACE_REGIONS; i++)
        log->region[i] &= WMI_RACE_DIRECT;
    empty(log);
}

bool wmi_race_log_grow(struct wmi_race_log *log)
{
    /* In chunks: LEAST and SHARE times the memory from which loads are logged, up to MOST. */
    enum { LEAST = 16, SHARE = 4, MOST = 256 };
    const size_t wanted = (log->regions << WMI_RACE_REGION_BITS) * SHARE / WMI_RACE_LOG_CHUNK + LEAST,
                 most = wanted < MOST ? wanted : MOST;
    const size_t next = log->last + (log->chunks != 0);
    if (next >= most)
        return false;
    if (next == log->chunks) {
        struct wmi_race_log_chunk *more = realloc(log->chunk, (next + 1) * sizeof *more);
        if (more)
            log->chunk = more;
        void *memory = more ? wmi_race_chunk(WMI_RACE_LOG_CHUNK, next != 0) : NULL;
        if (!memory)
            return false;
        log->chunk[log->chunks++] = (struct wmi_race_log_chunk){memory, 0};
    }
    log->last = next;
    return true;
}

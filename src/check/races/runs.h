/* SPDX-License-Identifier: MIT */
/* Groups the lanes of a summary into runs of consecutive bytes; for *_lanes.c files. */
#ifndef WMI_CHECK_RUNS_H
#define WMI_CHECK_RUNS_H

#include "base/lanes.h"
#include "base/vector_bits.h"
#include "observe/observer.h"

/* The lanes' accesses at one place, and the runs that have not been taken yet. */
struct wmi_runs {
    const struct wmi_address_summary *summary;
    uint64_t base;          /* added to each lane's address */
    uint32_t bytes;         /* of each lane */
    uint64_t lanes, starts; /* active lanes; lanes that start a run */
};

static inline uint64_t wmi_runs_address(const struct wmi_runs *runs, unsigned lane)
{
    const struct wmi_address_summary *summary = runs->summary;
    return runs->base + (summary->low[lane] | (summary->high ? (uint64_t)summary->high[lane] << 32 : 0));
}

/* The lanes, except lane 0, whose bytes follow those of the next lower lane; *same: those that access the
 * same bytes. */
static inline uint64_t wmi_runs_steps(const struct wmi_runs *runs, uint64_t *same)
{
    const char *low = (const char *)runs->summary->low, *high = (const char *)runs->summary->high;
    const u32v step = wmi_splat_u32(runs->bytes);
    u32v before = wmi_splat_u32(0), before_high = wmi_splat_u32(0);
    uint64_t next = 0, equal = 0;
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const u32v now = wmi_load_u32(low + 4 * (size_t)lane), below = wmi_shift_lanes(before, now);
        uint64_t near = UINT64_MAX;
        if (high) {
            const u32v now_high = wmi_load_u32(high + 4 * (size_t)lane);
            near = wmi_equal_bits(now_high, wmi_shift_lanes(before_high, now_high));
            before_high = now_high;
        }
        next |= (wmi_equal_bits(now, below + step) & near) << lane;
        equal |= (wmi_equal_bits(now, below) & near) << lane;
        before = now;
    }
    *same = equal & ~UINT64_C(1);
    return next & ~UINT64_C(1);
}

/* Finds the runs of lanes with consecutive addresses. joins: lanes with equal addresses join a run, too. */
static inline struct wmi_runs wmi_runs_begin(const struct wmi_address_summary *summary, uint64_t base,
                                             uint32_t bytes, bool joins)
{
    struct wmi_runs runs = {.summary = summary, .base = base, .bytes = bytes, .lanes = summary->lanes};
    uint64_t same;
    const uint64_t next = wmi_runs_steps(&runs, &same);
    runs.starts = summary->lanes & ~((next | (joins ? same : 0)) & summary->lanes << 1);
    return runs;
}

/* Takes the next run, [*start, *end). Only while `starts` is not 0. */
static inline void wmi_runs_next(struct wmi_runs *runs, uint64_t *start, uint64_t *end)
{
    const unsigned first = (unsigned)__builtin_ctzll(runs->starts);
    runs->starts &= runs->starts - 1;
    const uint64_t below = runs->starts ? (runs->starts & -runs->starts) - 1 : WMI_ALL_LANES;
    const unsigned last = 63 - (unsigned)__builtin_clzll(runs->lanes & below);
    *start = wmi_runs_address(runs, first);
    *end = wmi_runs_address(runs, last) + runs->bytes;
}

#endif

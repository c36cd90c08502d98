/* SPDX-License-Identifier: MIT */
/* What the cache model is told about a dispatch, and what it counts. */
#ifndef WMI_PROFILE_CACHES_SUMS_H
#define WMI_PROFILE_CACHES_SUMS_H

#include "wavemem/wavemem.h"

enum { WMI_CACHE_KINDS = 3 /* enum wmi_access_kind */ };

/* Results for the accesses of one instruction. */
struct wmi_slot_use {
    struct wm_cache_use use[WM_CACHE_LEVELS];
    uint64_t memory_read, memory_written; /* bytes */
    uint64_t fetch_missed, fetch_late;    /* lines of code that missed; that were already being fetched */
};

struct wmi_caches_sums {
    struct wm_cache_use use[WM_CACHE_LEVELS][WMI_CACHE_KINDS];
    uint64_t memory_read, memory_written;
    uint64_t flushed; /* bytes that L2 wrote back when dispatches ended */
};

/* Residence of workgroups: each runs on `units` neighbouring compute units, which hold `groups` workgroups at
 * once. */
struct wmi_residence {
    uint32_t units;                  /* 1, on RDNA in WGP mode 2; 0: 1 */
    uint32_t groups;                 /* 0: 1 */
    uint64_t scratch, scratch_bytes; /* address of scratch memory in logs, and bytes of a workgroup's */
    uint64_t first;                  /* number of the first workgroup */
    uint64_t workgroups;             /* of the dispatch; 0: all of them are resident at once */
};

#endif

/* SPDX-License-Identifier: MIT */
/* The figures of one access: lines, costs, requests. They depend neither on the instruction nor on other
 * accesses. */
#ifndef WMI_PROFILE_MEASURE_H
#define WMI_PROFILE_MEASURE_H

#include "profile/cost/cost.h"

enum wmi_sum {
    WMI_SUM_LANES,
    WMI_SUM_BYTES_REQUESTED,
    WMI_SUM_DISTINCT_BYTES,
    WMI_SUM_LINES,
    WMI_SUM_IDEAL_LINES,
    WMI_SUM_FAST,
    WMI_SUM_QUADS,
    WMI_SUM_ADDRESS_CLOCKS,
    WMI_SUM_DATA_CLOCKS,
    WMI_SUM_TAG_LOOKUPS,
    WMI_SUM_TAG_CLOCKS,
    WMI_SUM_READ_REQUESTS,
    WMI_SUM_WRITE_REQUESTS,
    WMI_SUM_ATOMIC_REQUESTS,
    WMI_SUM_COLLAPSED,
    WMI_SUM_LDS_PASSES,
    WMI_SUM_LDS_CONFLICTS,
    WMI_SUM_LDS_SERIAL,
    WMI_SUM_FETCHES,        /* instruction fetches: fetch.h */
    WMI_SUM_INVALIDATIONS,  /* of the vector cache by instructions */
    WMI_SUM_PREDICTED_TAGS, /* as tag clocks, but store_clocks of a store */
    WMI_SUM_COUNT
};

struct wmi_measure {
    uint32_t sum[WMI_SUM_COUNT];
    struct wmi_lds_cost lds;
    struct wmi_requests requests; /* to the vector cache; SMEM: to the scalar cache */
    bool full[WMI_REQUESTS];      /* stores: all bytes of the block are written */
    unsigned shift;               /* log2 of a block's bytes */
    uint32_t used;                /* wmi_used_dwords() */
};

struct wmi_requested;       /* cost/requested.h */
struct wmi_address_summary; /* observe/observer.h */

/* Scratch memory for measurements; one per thread. */
struct wmi_measurer;

/* Creates a measurer. rules NULL: costs and requests stay 0. Returns NULL if out of memory. */
struct wmi_measurer *wmi_measurer_create(const struct wmi_cost_rules *rules, unsigned wave_lanes);

/* Measures an access. The result is valid until the next call. */
const struct wmi_measure *wmi_measure(struct wmi_measurer *measurer, const struct wmi_access *access);

/* Measures an access from its summary, for an instruction of this path and kind. The result has only the
 * number of requests; *requested has the requests themselves, or is NULL if there are none. Returns NULL if
 * the summary does not suffice. */
const struct wmi_measure *wmi_measure_summary(struct wmi_measurer *measurer, enum wmi_path path,
                                              enum wmi_access_kind kind,
                                              const struct wmi_address_summary *summary,
                                              const struct wmi_requested **requested);

/* Returns which dwords of aligned 128-byte blocks the lanes access in global memory: bit n is set for dword n
 * of any block. */
uint32_t wmi_used_dwords(const struct wmi_access *access);

/* The line size in bytes with which accesses on a path (enum wmi_path) are counted. */
unsigned wmi_line_bytes(const struct wmi_cost_rules *rules, unsigned path);

#endif

/* SPDX-License-Identifier: MIT */
/* What one access is, in figures: lines, costs, requests. Knows no instruction and no other access. */
#ifndef WMI_PROFILE_MEASURE_H
#define WMI_PROFILE_MEASURE_H

#include "profile/cost/cost.h"

enum wmi_sum {
    WMI_SUM_LANES,
    WMI_SUM_BYTES_ASKED,
    WMI_SUM_DISTINCT_BYTES,
    WMI_SUM_LINES,
    WMI_SUM_IDEAL_LINES,
    WMI_SUM_FAST,
    WMI_SUM_ADDRESS_CLOCKS,
    WMI_SUM_DATA_CLOCKS,
    WMI_SUM_TAG_LOOKUPS,
    WMI_SUM_READ_REQUESTS,
    WMI_SUM_WRITE_REQUESTS,
    WMI_SUM_ATOMIC_REQUESTS,
    WMI_SUM_COLLAPSED,
    WMI_SUM_LDS_PASSES,
    WMI_SUM_LDS_CONFLICTS,
    WMI_SUM_LDS_SERIAL,
    WMI_SUM_FETCHES,       /* of instructions: fetch.h */
    WMI_SUM_INVALIDATIONS, /* of the vector cache, by instructions */
    WMI_SUM_COUNT
};

struct wmi_measure {
    uint32_t sum[WMI_SUM_COUNT];
    struct wmi_lds_cost lds;
    struct wmi_requests requests; /* that go to the vector cache; of SMEM, to the scalar cache */
    bool full[WMI_REQUESTS];      /* stores: all bytes of the block are written */
    unsigned shift;               /* log2 of a block's bytes */
};

/* Room to measure in; one per thread. */
struct wmi_measurer;

/* rules NULL: costs and requests stay 0. NULL: no memory. */
struct wmi_measurer *wmi_measurer_create(const struct wmi_cost_rules *rules, unsigned wave_lanes);

/* The result is valid until the next call. */
const struct wmi_measure *wmi_measure(struct wmi_measurer *measurer, const struct wmi_access *access);

/* Bytes of the lines that are counted for accesses on a path (enum wmi_path). */
unsigned wmi_line_bytes(const struct wmi_cost_rules *rules, unsigned path);

#endif

/* SPDX-License-Identifier: MIT */
/* Bank conflicts of LDS accesses of at most one dword per lane: distinct dwords and the busiest bank. */
#ifndef WMI_PROFILE_BANKS_H
#define WMI_PROFILE_BANKS_H

#include "profile/cost/cost.h"
#include "profile/cost/same.h"
#include "sem/table.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WMI_BANK_LANES = 32, /* lanes that LDS serves together */
    WMI_BANKS_LEAST = 32,
    WMI_BANKS_MOST = 64,
};

struct wmi_busiest_bank {
    uint32_t depth; /* number of distinct dwords in it; 0: no access */
    uint32_t bank;  /* the lowest bank of that depth */
    uint32_t lanes; /* lanes that access it */
};

struct wmi_banks {
    uint32_t different;              /* distinct dwords */
    bool aligned;                    /* all lanes are dword-aligned */
    struct wmi_busiest_bank half[2]; /* of the first 32 lanes, and of the others */
};

/* Computes the banks of the dwords that the lanes in `lanes` (possibly none) access. banks: WMI_BANKS_LEAST
 * or WMI_BANKS_MOST. share: lanes with the same dword are served together. False: an address is too high or
 * not accepted; nothing was changed. */
typedef bool wmi_banks_find(struct wmi_same *scratch, struct wmi_lane_addresses addresses, uint64_t lanes,
                            unsigned banks, bool share, struct wmi_banks *found);

/* Returns the fastest finder for this CPU and waves of 32 or 64 lanes. */
wmi_banks_find *wmi_banks_finder(enum wmi_cpu_level level, unsigned wave_lanes);

/* A faster wmi_lds_passes(), with a finder and its scratch memory. */
struct wmi_lds_cost wmi_lds_passes_by(const struct wmi_access *access, const struct wmi_lds_rules *rules,
                                      unsigned wave_lanes, wmi_banks_find *find, struct wmi_same *scratch);

/* Whether the elements have at most one dword and each half of a wave is served together. */
bool wmi_lds_by_halves(const struct wmi_access *access, const struct wmi_lds_rules *rules);

/* wmi_lds_passes() of such an access with one aligned element, from the result of a finder. */
struct wmi_lds_cost wmi_lds_passes_of(const struct wmi_banks *banks, unsigned wave_lanes);

#endif

/* SPDX-License-Identifier: MIT */
/* What lanes want of LDS, a dword each at most: how many different ones, and which bank is the busiest. */
#ifndef WMI_PROFILE_BANKS_H
#define WMI_PROFILE_BANKS_H

#include "profile/cost/cost.h"
#include "profile/cost/same.h"
#include "sem/table.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WMI_BANK_LANES = 32, /* that LDS serves together */
    WMI_BANKS_LEAST = 32,
    WMI_BANKS_MOST = 64,
};

struct wmi_busiest_bank {
    uint32_t depth; /* different dwords that it has to give; 0: nobody wants any */
    uint32_t bank;  /* the lowest of those */
    uint32_t lanes; /* that want one of it */
};

struct wmi_banks {
    uint32_t different;              /* dwords */
    bool aligned;                    /* all lanes to dwords */
    struct wmi_busiest_bank half[2]; /* of the first 32 lanes, and of the others */
};

/* Of a wave the lanes in `lanes`, maybe none, want the dwords that their addresses are in. banks:
 * WMI_BANKS_LEAST or WMI_BANKS_MOST. share: lanes that want the same dword do so at once. False: an address
 * is too high; then nothing was done. */
typedef bool wmi_banks_find(struct wmi_same *room, const uint64_t *address, uint64_t lanes, unsigned banks,
                            bool share, struct wmi_banks *found);

/* The fastest one for this CPU and waves of 32 or 64 lanes. */
wmi_banks_find *wmi_banks_finder(enum wmi_cpu_level level, unsigned wave_lanes);

/* wmi_lds_passes(), quickly: with a finder and room for it. */
struct wmi_lds_cost wmi_lds_passes_by(const struct wmi_access *access, const struct wmi_lds_rules *rules,
                                      unsigned wave_lanes, wmi_banks_find *find, struct wmi_same *room);

/* Whether the access's places are of a dword at most, and each half of a wave is served together. */
bool wmi_lds_by_halves(const struct wmi_access *access, const struct wmi_lds_rules *rules);

/* wmi_lds_passes() of such an access of one place, aligned, of which that was found. */
struct wmi_lds_cost wmi_lds_passes_of(const struct wmi_banks *banks, unsigned wave_lanes);

#endif

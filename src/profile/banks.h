/* SPDX-License-Identifier: MIT */
/* The busiest bank of lanes that LDS serves together. */
#ifndef WMI_PROFILE_BANKS_H
#define WMI_PROFILE_BANKS_H

#include "profile/cost.h"
#include "sem/table.h"

#include <stdbool.h>
#include <stdint.h>

enum { WMI_BANK_LANES = 32 };

struct wmi_busiest_bank {
    uint32_t depth; /* different dwords that it has to give; 0: nobody wants any */
    uint32_t bank;  /* the lowest of those */
    uint32_t lanes; /* that want one of it */
};

/* Of 32 lanes those in `lanes` want the dwords at their addresses. banks: a power of two. share: lanes that
 * want the same dword do so at once. */
typedef struct wmi_busiest_bank wmi_banks_busiest(const uint64_t *address, uint32_t lanes, unsigned banks,
                                                  bool share);

/* The fastest one for this CPU. */
wmi_banks_busiest *wmi_banks_finder(enum wmi_cpu_level level);

/* wmi_lds_passes(), with a finder that was asked for before. */
struct wmi_lds_cost wmi_lds_passes_by(const struct wmi_access *access, const struct wmi_lds_rules *rules,
                                      unsigned wave_lanes, wmi_banks_busiest *find);

#endif

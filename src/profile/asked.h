/* SPDX-License-Identifier: MIT */
/* What an access of one place asks for, where its lanes are aligned to their bytes: most accesses that are
 * like none before are such, with lanes that lie anywhere. */
#ifndef WMI_PROFILE_ASKED_H
#define WMI_PROFILE_ASKED_H

#include "profile/cost.h"
#include "profile/same.h"
#include "sem/table.h"

#include <stdbool.h>
#include <stdint.h>

enum { WMI_ASKED_MOST = 16 /* bytes of a lane */ };

/* Of what: `bytes`, a power of two of at most WMI_ASKED_MOST, at the addresses of the lanes in `mask`, at
 * least one. Blocks and lines have 1 << shift bytes: 64 or 128. */
struct wmi_asking {
    const uint64_t *address;
    uint64_t mask;
    enum wmi_access_kind kind;
    uint8_t bytes;
    uint8_t block_shift, line_shift;
    bool pairs;
};

struct wmi_asked {
    uint32_t lanes;
    uint32_t different; /* of what they ask for */
    uint32_t lines;
    uint64_t
        looked_up; /* lanes that are the first in their line, of their four lanes, or of two if `pairs` */
};

/* Adds to `blocks` those of which something is asked, in the order of lanes; of atomics each as often as the
 * most lanes ask for one thing in it. full: of a store's blocks, whether all bytes are asked for; of nothing
 * else. False: a lane is not aligned, or the lanes are too far apart; then nothing was done. */
typedef bool wmi_asked_find(struct wmi_same *room, const struct wmi_asking *asking, struct wmi_asked *asked,
                            struct wmi_requests *blocks, bool *full);

/* The fastest one for this CPU and waves of 32 or 64 lanes. */
wmi_asked_find *wmi_asked_finder(enum wmi_cpu_level level, unsigned wave_lanes);

/* Whether a tag lookup of the access is for two lanes, not four, if it is not on the fast path. */
bool wmi_coalesce_pairs(const struct wmi_access *access, const struct wmi_vector_rules *rules);

/* wmi_coalesce(), but for `reads` and `writes`, which stay 0. asked: NULL, or: all that the access asks for,
 * in global memory; then `atomics` stays 0, too. requests: becomes empty, or those of an atomic unless they
 * were asked for. */
struct wmi_vector_cost wmi_coalesce_lanes(const struct wmi_access *access,
                                          const struct wmi_vector_rules *rules, unsigned wave_lanes,
                                          const struct wmi_asked *asked, struct wmi_requests *requests);

#endif

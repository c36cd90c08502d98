/* SPDX-License-Identifier: MIT */
/* What an access of one place asks for, where its lanes are aligned to their bytes: most accesses that are
 * like none before are such, with lanes that lie anywhere. */
#ifndef WMI_PROFILE_ASKED_H
#define WMI_PROFILE_ASKED_H

#include "profile/cost/cost.h"
#include "profile/cost/same.h"
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
    uint8_t lookup_lanes;                 /* of a tag lookup off the fast path: 2 or 4 */
    bool may_be_fast;                     /* if its addresses fit the pattern */
    const struct wmi_vector_rules *rules; /* NULL: costs are not asked for */
};

struct wmi_asked {
    uint32_t lanes;
    uint32_t different; /* of what they ask for */
    uint32_t lines;
    bool quads; /* the cost is not there: the lanes fit the pattern of quads, wmi_coalesce_lanes() knows */
    struct wmi_vector_cost cost; /* but for requests */
};

/* Adds to `blocks` those of which something is asked, in the order of lanes; of atomics each as often as the
 * most lanes ask for one thing in it. full: of a store's blocks, whether all bytes are asked for; of nothing
 * else. False: a lane is not aligned, or the lanes are too far apart; then nothing was done. */
typedef bool wmi_asked_find(struct wmi_same *room, const struct wmi_asking *asking, struct wmi_asked *asked,
                            struct wmi_requests *blocks, bool *full);

/* The fastest one for this CPU and waves of 32 or 64 lanes. */
wmi_asked_find *wmi_asked_finder(enum wmi_cpu_level level, unsigned wave_lanes);

/* What `asking` has to say of the access: see there. */
unsigned wmi_coalesce_step(const struct wmi_access *access, const struct wmi_vector_rules *rules);
bool wmi_coalesce_narrow(const struct wmi_access *access, const struct wmi_vector_rules *rules);

/* wmi_coalesce(), but for `reads` and `writes`, which stay 0. requests: becomes empty, or those of an atomic.
 */
struct wmi_vector_cost wmi_coalesce_lanes(const struct wmi_access *access,
                                          const struct wmi_vector_rules *rules, unsigned wave_lanes,
                                          struct wmi_requests *requests);

#endif

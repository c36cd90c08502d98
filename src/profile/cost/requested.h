/* SPDX-License-Identifier: MIT */
/* Measures an access with one element per lane, naturally aligned, at arbitrary addresses. Most accesses
 * whose pattern is not cached are of this kind. */
#ifndef WMI_PROFILE_REQUESTED_H
#define WMI_PROFILE_REQUESTED_H

#include "profile/cost/cost.h"
#include "profile/cost/same.h"
#include "sem/table.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

enum { WMI_REQUESTED_MOST = 16 /* maximum bytes per lane */ };

/* The access: `bytes` (a power of two, at most WMI_REQUESTED_MOST) at the addresses of the lanes in `mask`
 * (at least one). Blocks and lines have 1 << shift bytes, 64 or 128. */
struct wmi_request_query {
    struct wmi_lane_addresses at;
    uint64_t mask;
    enum wmi_access_kind kind;
    uint8_t bytes;
    uint8_t block_shift, line_shift;
    uint8_t lookup_lanes;                 /* lanes per tag lookup on the slow path: 2 or 4 */
    bool may_be_fast;                     /* the fast path applies if the addresses fit its pattern */
    bool banked;                          /* the banks of data are known */
    const struct wmi_vector_rules *rules; /* NULL: do not compute costs */
};

struct wmi_requested {
    uint32_t lanes;
    uint32_t different; /* distinct elements */
    uint32_t lines;
    uint32_t used; /* wmi_used_dwords() */
    bool quads;    /* some groups may fit the quad pattern: `cost` is not set, use wmi_coalesce_lanes() */
    struct wmi_vector_cost cost; /* without requests */
    /* The accessed blocks in lane order, counted from the address `base`; for atomics, each block as often as
     * the maximum number of lanes that access one element in it. full: of stores, whether the block is
     * written completely. */
    uint64_t base;
    uint32_t count;
    bool full[64];
    alignas(64) uint32_t block[64];
    /* The access, for comparison with the next one: instructions that use one index for several arrays differ
     * only in the address. offset: of each lane in the mask, from `base`. */
    struct wmi_request_query query;
    alignas(64) uint32_t offset[64];
};

/* Measures the access. *requested: zeros, or the result of an earlier call. False: a lane is misaligned or
 * not accepted, or the lanes are too far apart; nothing was changed. */
typedef bool wmi_requested_find(struct wmi_same *scratch, const struct wmi_request_query *query,
                                struct wmi_requested *requested);

/* Returns the fastest finder for this CPU and waves of 32 or 64 lanes. */
wmi_requested_find *wmi_requested_finder(enum wmi_cpu_level level, unsigned wave_lanes);

/* The values of `lookup_lanes`, `may_be_fast` and `banked` for the access. */
unsigned wmi_coalesce_step(const struct wmi_access *access, const struct wmi_vector_rules *rules);
bool wmi_coalesce_narrow(const struct wmi_access *access, const struct wmi_vector_rules *rules);
bool wmi_coalesce_banked(const struct wmi_access *access, const struct wmi_vector_rules *rules);

/* wmi_coalesce() without `reads` and `writes`, which stay 0. Sets *requests to those of an atomic, else to
 * none. */
struct wmi_vector_cost wmi_coalesce_lanes(const struct wmi_access *access,
                                          const struct wmi_vector_rules *rules, unsigned wave_lanes,
                                          struct wmi_requests *requests);

#endif

/* SPDX-License-Identifier: MIT */
/* The caches of a product, as a model that goes by the log. What it assumes stands in docs/model.md.
 *
 * A dispatch is modelled in rounds: the workgroups that are resident on the whole GPU at once. Within a round
 * all waves make their first memory access, by workgroup and wave, then all their second, and so on. */
#ifndef WMI_PROFILE_CACHES_H
#define WMI_PROFILE_CACHES_H

#include "profile/caches/log.h"
#include "profile/cost/cost.h"
#include "wavemem/wavemem.h"

enum { WMI_CACHE_KINDS = 3 /* enum wmi_access_kind */ };

/* What one instruction's accesses became. */
struct wmi_slot_use {
    struct wm_cache_use use[WM_CACHE_LEVELS];
    uint64_t memory_read, memory_written; /* bytes */
    uint64_t fetch_missed, fetch_late;    /* lines of code that were not there, and that came too late */
};

struct wmi_caches_sums {
    struct wm_cache_use use[WM_CACHE_LEVELS][WMI_CACHE_KINDS];
    uint64_t memory_read, memory_written;
};

/* Where workgroups run: each on so many neighbouring compute units, which hold so many of them at once. */
struct wmi_residence {
    uint32_t units;                  /* 1, on RDNA in WGP mode 2; 0: 1 */
    uint32_t groups;                 /* 0: 1 */
    uint64_t scratch, scratch_bytes; /* where logs say that scratch memory is, and bytes of a workgroup's */
};

struct wmi_caches;

/* NULL: no memory. */
struct wmi_caches *wmi_caches_create(const struct wm_gpu *gpu, const struct wmi_vector_rules *rules);
void wmi_caches_destroy(struct wmi_caches *caches); /* NULL is nothing */

/* A dispatch begins: the caches of compute units and shader arrays are empty, but for those of instructions,
 * which stay as they are like L2 and what is behind it. False: no memory, and the residence is the one
 * before.
 */
bool wmi_caches_begin(struct wmi_caches *caches, struct wmi_residence residence);

/* It is over: where there are several XCDs, L2 is written back and empty then. */
void wmi_caches_end(struct wmi_caches *caches);

/* Workgroups of a round: the numbers from n * this to (n + 1) * this. */
uint64_t wmi_caches_round_groups(const struct wmi_caches *caches);

/* The waves of `groups`, `count` of them by number, of one round. instructions: by slot, of which there are
 * `slots`. Returns what of enum wm_profile_cut happened. */
unsigned wmi_caches_round(struct wmi_caches *caches, struct wmi_log_group *const *groups, size_t count,
                          const struct wmi_log_instruction *instructions, uint32_t slots);

/* By slot; *slots of them. */
const struct wmi_slot_use *wmi_caches_uses(struct wmi_caches *caches, uint32_t *slots);
const struct wmi_caches_sums *wmi_caches_sums(struct wmi_caches *caches); /* since the creation */
uint64_t
wmi_caches_dirty(const struct wmi_caches *caches); /* bytes written that no cache has given to DRAM */
uint32_t wmi_caches_instances(const struct wm_gpu *gpu, enum wm_cache_level level);

#endif

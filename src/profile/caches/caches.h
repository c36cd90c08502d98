/* SPDX-License-Identifier: MIT */
/* A model of the caches of a product, driven by the log. docs/model.md states its rules and assumptions.
 *
 * A dispatch is modelled in rounds: the workgroups that are resident on the whole GPU at once. In each turn
 * all waves that have begun make one memory access, in order of workgroup and wave. Workgroups begin one
 * after another, as fast as they are dispatched. The next round begins when the waves of one have made as
 * many accesses as they usually make, and overlaps with the end of those that began late. */
#ifndef WMI_PROFILE_CACHES_H
#define WMI_PROFILE_CACHES_H

#include "profile/caches/log.h"
#include "profile/caches/sums.h"
#include "profile/cost/cost.h"

struct wmi_caches;

/* Returns NULL if out of memory. */
struct wmi_caches *wmi_caches_create(const struct wm_gpu *gpu, const struct wmi_vector_rules *rules);
void wmi_caches_destroy(struct wmi_caches *caches); /* NULL is allowed */

/* A single L2 keeps its contents from dispatch to dispatch. */
void wmi_caches_keep_l2(struct wmi_caches *caches);

/* Starts a dispatch: invalidates the caches of compute units and shader arrays. Instruction caches and the
 * last level keep their contents. False: out of memory; the residence is unchanged. */
bool wmi_caches_begin(struct wmi_caches *caches, struct wmi_residence residence);

/* Ends the dispatch: writes back and invalidates L2, unless it keeps its contents. */
void wmi_caches_end(struct wmi_caches *caches);

/* Number of workgroups per round. */
uint64_t wmi_caches_round_groups(const struct wmi_caches *caches);

/* Models one round: `count` workgroups in order. instructions: `slots` entries by slot. Returns a mask of
 * enum wm_profile_cut. If the dispatch has more workgroups than a round, the groups must stay as they are
 * until the next round or wmi_caches_rest(). */
unsigned wmi_caches_round(struct wmi_caches *caches, struct wmi_log_group *const *groups, size_t count,
                          const struct wmi_log_instruction *instructions, uint32_t slots);
/* Models what is left of the last round. */
unsigned wmi_caches_rest(struct wmi_caches *caches);

/* Results by slot; *slots: their number. */
const struct wmi_slot_use *wmi_caches_uses(struct wmi_caches *caches, uint32_t *slots);
const struct wmi_caches_sums *wmi_caches_sums(struct wmi_caches *caches); /* since the creation */
/* Misses by set, of all instances, since the creation: of cached loads, in L2 of all requests; *sets: their
 * number.
 */
const uint64_t *wmi_caches_missed(const struct wmi_caches *caches, enum wm_cache_level level, uint32_t *sets);
uint64_t
wmi_caches_dirty(const struct wmi_caches *caches); /* modified bytes that are not written to DRAM yet */
/* Of this dispatch: the atomic requests to the line of L2 that has most; a line is in one channel. */
uint64_t wmi_caches_hottest_atomics(const struct wmi_caches *caches);
uint32_t wmi_caches_instances(const struct wm_gpu *gpu, enum wm_cache_level level);

#endif

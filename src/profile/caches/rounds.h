/* SPDX-License-Identifier: MIT */
/* Takes the logs of workgroups as they end, in any order and from any thread, and models them round by round,
 * in the order of their numbers. So figures do not depend on threads, and memory only on what a round logs.
 */
#ifndef WMI_PROFILE_ROUNDS_H
#define WMI_PROFILE_ROUNDS_H

#include "profile/caches/caches.h"

/* A round ends early when its log takes more: 128 MiB. */
enum { WMI_ROUND_WORDS = 1 << 24 };

struct wmi_rounds;

/* Called for each workgroup, in order, before it is modelled; one call at a time. */
typedef void wmi_rounds_sink(void *user, const struct wmi_log_group *group);

/* instructions: by slot, as many as WMI_LOG_SLOTS; entries may be filled in until a log that has them is
 * given. NULL: no memory. */
struct wmi_rounds *wmi_rounds_create(const struct wm_gpu *gpu, const struct wmi_vector_rules *rules,
                                     const struct wmi_log_instruction *instructions);
void wmi_rounds_destroy(struct wmi_rounds *rounds); /* NULL is nothing */

void wmi_rounds_set_sink(struct wmi_rounds *rounds, wmi_rounds_sink *sink, void *user);

/* A dispatch begins; see wmi_caches_begin(). */
void wmi_rounds_begin(struct wmi_rounds *rounds, struct wmi_residence residence);

/* An empty log for a workgroup; NULL: no memory. Thread-safe, and so is giving it back with all that the
 * workgroup did; that may take as long as modelling some rounds. */
struct wmi_log_group *wmi_rounds_take(struct wmi_rounds *rounds, uint64_t number, uint32_t waves);
void wmi_rounds_give(struct wmi_rounds *rounds, struct wmi_log_group *group);

/* The dispatch is over: models what is left, also behind workgroups that never ended. */
void wmi_rounds_end(struct wmi_rounds *rounds);

struct wmi_rounds_facts {
    uint64_t most_groups; /* of a round of this dispatch */
    uint64_t workgroups, waves, instructions;
    unsigned cuts; /* enum wm_profile_cut */
};

struct wmi_rounds_facts wmi_rounds_facts(const struct wmi_rounds *rounds);
struct wmi_caches *wmi_rounds_caches(struct wmi_rounds *rounds);

#endif

/* SPDX-License-Identifier: MIT */
/* Accepts the logs of workgroups when they end, in any order and from any thread, and models them round by
 * round in the order of the workgroups. Figures do not depend on threads, and memory use depends only on the
 * logs of three rounds and the small stocks of the threads. */
#ifndef WMI_PROFILE_ROUNDS_H
#define WMI_PROFILE_ROUNDS_H

#include "profile/caches/caches.h"

/* Maximum log size of a round, 128 MiB; a round ends early if its log would exceed it. */
enum { WMI_ROUND_WORDS = 1 << 24 };

struct wmi_rounds;

/* Called for each workgroup, in order, before it is modelled; one call at a time. */
typedef void wmi_rounds_sink(void *user, const struct wmi_log_group *group);

/* instructions: WMI_LOG_SLOTS entries by slot; an entry must be set before a log that contains its slot is
 * given. Returns NULL if out of memory. */
struct wmi_rounds *wmi_rounds_create(const struct wm_gpu *gpu, const struct wmi_vector_rules *rules,
                                     const struct wmi_log_instruction *instructions);
void wmi_rounds_destroy(struct wmi_rounds *rounds); /* NULL is allowed */

void wmi_rounds_set_sink(struct wmi_rounds *rounds, wmi_rounds_sink *sink, void *user);

/* Starts a dispatch; see wmi_caches_begin(). beside: rounds may be modelled on a thread of their own, while
 * the caller goes on; instructions that logs contain then stay as they are. */
void wmi_rounds_begin(struct wmi_rounds *rounds, struct wmi_residence residence, bool beside);

/* A thread's own logs, so that it does not take the lock for each workgroup. Zeros: none. */
struct wmi_rounds_stock {
    struct wmi_log_group *unused, *complete; /* complete: the last one first */
    unsigned complete_count;
    size_t likely_words; /* a little more than a wave of the last complete log has */
};

/* wmi_rounds_take() returns an empty log for a workgroup, or NULL if out of memory; wmi_rounds_give() hands
 * back the complete log, and may take the time to model rounds. Both are thread-safe. stock: of the thread,
 * which calls wmi_rounds_leave() before the dispatch ends. */
struct wmi_log_group *wmi_rounds_take(struct wmi_rounds *rounds, struct wmi_rounds_stock *stock,
                                      uint64_t number, uint32_t waves);
void wmi_rounds_give(struct wmi_rounds *rounds, struct wmi_rounds_stock *stock, struct wmi_log_group *group);

/* Hands back all logs of the stock. */
void wmi_rounds_leave(struct wmi_rounds *rounds, struct wmi_rounds_stock *stock);

/* Ends the dispatch: models the remaining workgroups, also those after workgroups that never ended. */
void wmi_rounds_end(struct wmi_rounds *rounds);

struct wmi_rounds_facts {
    uint64_t most_groups; /* largest round of this dispatch */
    uint64_t workgroups, waves, instructions;
    unsigned cuts; /* enum wm_profile_cut */
};

struct wmi_rounds_facts wmi_rounds_facts(const struct wmi_rounds *rounds);
struct wmi_caches *wmi_rounds_caches(struct wmi_rounds *rounds);

#endif

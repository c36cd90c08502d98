/* SPDX-License-Identifier: MIT */
/* Instruction fetch: how often waves ask for code, and which lines of it the log names.
 *
 * Execution counts blocks of code (struct wmi_observer). A block that a branch leads to is asked for in all
 * the pieces that it touches, one that is run into only in those that begin in it. The lines go into the
 * log when a thread leaves a workgroup; where the code does not fit into the instruction cache, those of a
 * block each time that a wave comes to it, but for the blocks in which it has just been. */
#ifndef WMI_PROFILE_FETCH_H
#define WMI_PROFILE_FETCH_H

#include "observe/observer.h"
#include "profile/caches/log.h"
#include "profile/cost/cost.h"
#include "wavemem/wavemem.h"

/* What stands for the number of an instruction's row at the slot of a kernel's code, whose place is the
 * kernel's. It has no row of its own. */
enum { WMI_FETCH_ID = UINT16_MAX };

/* Stands as policy of a kernel's code in the log where it does not fit into the instruction cache: then waves
 * fetch by turns. Else a fetch goes with the access that follows it. */
enum { WMI_FETCH_TURNS = 1 };

enum { WMI_FETCH_CHUNK = 1024, WMI_FETCH_CHUNKS = WMI_BLOCKS / WMI_FETCH_CHUNK };

struct wmi_fetch_block {
    uint64_t from, to;
    int64_t fetches; /* of an execution; -1: one less than the block that follows counts */
};

/* The blocks of a dispatch by number. They stay where they are, for threads read them while others are added.
 */
struct wmi_fetches {
    struct wmi_fetch_rules rules;
    struct wmi_fetch_block *chunk[WMI_FETCH_CHUNKS];
    uint32_t count;
    uint32_t slot;       /* of the kernel's code in the log */
    uint32_t sets, ways; /* of the instruction cache; 0: there is none */
    unsigned line_shift;
    bool settled;        /* whether the code fits is known */
    bool follows;        /* it does not */
    uint32_t code_bytes; /* that branches can reach */
};

/* cache: the product's, or NULL: nothing is logged. */
void wmi_fetches_begin(struct wmi_fetches *fetches, const struct wmi_fetch_rules *rules,
                       const struct wm_cache *cache, uint32_t slot);
void wmi_fetches_destroy(struct wmi_fetches *fetches);
/* See struct wmi_observer, block. */
uint32_t wmi_fetches_add(struct wmi_fetches *fetches, uint64_t from, uint64_t to, bool falls);
/* All code that branches can reach is there: before the first wave runs. */
void wmi_fetches_settle(struct wmi_fetches *fetches);

/* What one thread counts. */
struct wmi_fetcher;

struct wmi_fetcher *wmi_fetcher_create(const struct wmi_fetches *fetches); /* NULL: no memory */
void wmi_fetcher_destroy(struct wmi_fetcher *fetcher);                     /* NULL is nothing */
/* The dispatch is over: returns how many fetches it has counted, and is ready for another one. */
uint64_t wmi_fetcher_end(struct wmi_fetcher *fetcher);
uint64_t *wmi_fetcher_counters(struct wmi_fetcher *fetcher);
/* A wave executes a block whose counter was 0. group: the log of its workgroup, or NULL. */
void wmi_fetcher_enter(struct wmi_fetcher *fetcher, struct wmi_log_group *group, uint32_t wave,
                       uint32_t block);
/* The thread leaves the workgroup with this log, or NULL. counts: what it did since the last time is to be
 * counted. */
void wmi_fetcher_turn(struct wmi_fetcher *fetcher, struct wmi_log_group *group, bool counts);

#endif

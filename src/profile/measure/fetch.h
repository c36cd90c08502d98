/* SPDX-License-Identifier: MIT */
/* Instruction fetch: counts fetches and logs the lines of code.
 *
 * Execution counts blocks of code (struct wmi_observer). A block reached by a branch fetches every piece (see
 * struct wmi_fetch_rules) that it overlaps; a block reached by falling through fetches only the pieces that
 * begin in it. Lines are logged when a thread leaves a workgroup. If the code does not fit into the
 * instruction cache, the lines of a block are logged each time a wave enters it, except for blocks that the
 * wave executed just before. */
#ifndef WMI_PROFILE_FETCH_H
#define WMI_PROFILE_FETCH_H

#include "isa/rules/work.h"
#include "observe/observer.h"
#include "profile/caches/log.h"
#include "profile/cost/cost.h"
#include "wavemem/wavemem.h"

/* The instruction id of the log slot of a kernel's code, whose pc is the kernel's entry. It has no row in the
 * report. */
enum { WMI_FETCH_ID = UINT16_MAX };

/* Policy of code in the log if the code does not fit into the instruction cache: waves then fetch
 * round-robin. Otherwise a fetch is modelled together with the access that follows it. */
enum { WMI_FETCH_ROUND_ROBIN = 1 };

enum { WMI_FETCH_CHUNK = 1024, WMI_FETCH_CHUNKS = WMI_BLOCKS / WMI_FETCH_CHUNK };

struct wmi_fetch_block {
    uint64_t from, to;
    int64_t fetches;                /* per execution; -1: reduces the count of the following block by one */
    uint32_t work[WMI_WORK_COUNTS]; /* per execution */
    struct wmi_block_counter done;  /* by threads that have ended */
};

/* The blocks of a dispatch by number. They are never moved, because threads read them while others are added.
 */
struct wmi_fetches {
    struct wmi_fetch_rules rules;
    struct wmi_fetch_block *chunk[WMI_FETCH_CHUNKS];
    uint32_t count;
    uint32_t slot;       /* of the kernel's code in the log */
    uint32_t sets, ways; /* of the instruction cache; 0: there is none */
    unsigned line_shift;
    bool settled;        /* `follows` has been determined */
    bool follows;        /* the code does not fit: fetches are logged per block */
    bool missed;         /* some blocks are missing for lack of memory */
    uint32_t code_bytes; /* size of the code that branches can reach */
};

/* Starts a dispatch. cache: the product's instruction cache; NULL: nothing is logged. */
void wmi_fetches_begin(struct wmi_fetches *fetches, const struct wmi_fetch_rules *rules,
                       const struct wm_cache *cache, uint32_t slot);
void wmi_fetches_destroy(struct wmi_fetches *fetches);
/* See struct wmi_observer, block. */
uint32_t wmi_fetches_add(struct wmi_fetches *fetches, uint64_t from, uint64_t to, bool falls,
                         const uint32_t work[WMI_WORK_COUNTS]);
/* Called before the first wave runs, when all code that branches can reach has been added. */
void wmi_fetches_settle(struct wmi_fetches *fetches);

struct wmi_fetch_block *wmi_fetches_block(const struct wmi_fetches *fetches, uint32_t number);

/* The counts of one thread. */
struct wmi_fetcher;

struct wmi_fetcher *wmi_fetcher_create(const struct wmi_fetches *fetches); /* NULL: out of memory */
void wmi_fetcher_destroy(struct wmi_fetcher *fetcher);                     /* NULL is allowed */
/* Ends the dispatch: returns the number of fetches, adds the executed work and the executions of blocks, and
 * resets the fetcher for the next one. One thread at a time. */
uint64_t wmi_fetcher_end(struct wmi_fetcher *fetcher, uint64_t work[WMI_WORK_COUNTS]);
struct wmi_block_counter *wmi_fetcher_counters(struct wmi_fetcher *fetcher);
/* Called when a wave executes a block whose counter was 0. group: the log of its workgroup, or NULL. counts:
 * whether the workgroup counts. */
void wmi_fetcher_enter(struct wmi_fetcher *fetcher, struct wmi_log_group *group, uint32_t wave,
                       uint32_t block, bool counts);
/* Called when the thread suspends the workgroup with this log, or NULL. counts: whether to add what was
 * executed since the last call. */
void wmi_fetcher_resume(struct wmi_fetcher *fetcher, struct wmi_log_group *group, bool counts);

#endif

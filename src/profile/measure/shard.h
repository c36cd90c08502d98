/* SPDX-License-Identifier: MIT */
/* The counts of one worker thread. */
#ifndef WMI_PROFILE_SHARD_H
#define WMI_PROFILE_SHARD_H

#include "profile/inside.h"
#include "profile/measure/memos.h"

#include <stdalign.h>

enum { WMI_SHARD_WAVES = 64 /* maximum per workgroup */ };

/* The counts of a slot. Waves are numbered in dispatch order, starting at WMI_SHARD_WAVES. */
struct wmi_shard_counts {
    alignas(64) uint64_t quick_from; /* from this wave on, a hit in the memos suffices */
    uint64_t first;                  /* number of the wave that is the example; UINT64_MAX: none yet */
    bool described;                  /* the cache model has the description of the instruction */
    struct wmi_memos memos;
    struct wmi_counts counts;
};

struct wmi_shard {
    struct wmi_shard_counts *counts; /* by slot */
    size_t size;
    uint64_t scratch_start, scratch_size; /* scratch memory of all workgroups */
    uint64_t scratch;                     /* address of the current workgroup's scratch memory */
    uint64_t first_wave;         /* number of the workgroup's first wave; 0: the workgroup is not sampled */
    bool missed;                 /* accesses were lost for lack of memory */
    struct wmi_log_group *group; /* log of the current workgroup; NULL: it is not logged */
    struct wmi_rounds_stock stock;
    struct wm_profile *profile;
    struct wmi_measurer *measurer;
    struct wmi_fetcher *fetcher;
    wmi_memo_compare *compare;
    const struct wmi_cost_rules *rules;  /* rules of the measurer */
    unsigned lanes;                      /* wave size of the measurer */
    size_t memos;                        /* number of memos */
    struct wmi_access_patterns patterns; /* patterns of the memos */
    struct wmi_shard *next;              /* in the list of unused shards */
};

/* The counting observer; the profile adds self, instruction(), block() and summary(). */
extern const struct wmi_observer wmi_shard_observer;

/* Adds counts of one instruction, except those of its fetches. */
void wmi_counts_add(struct wmi_counts *to, const struct wmi_counts *from);

/* Frees unused shards. */
void wmi_shards_destroy(struct wmi_shard *shards);

/* Counts and logs the access if it matches a cached pattern; else returns false. For waves of 32 or 64
 * lanes. */
typedef bool wmi_repeat_summary(void *local, const struct wmi_address_summary *summary, uint32_t slot);
wmi_repeat_summary *wmi_repeat_summary_build(enum wmi_cpu_level level, unsigned lanes);

static inline void wmi_shard_count_depth(struct wmi_counts *counts, uint32_t depth)
{
    counts->depth += depth;
    if (depth > counts->depth_most)
        counts->depth_most = depth;
}

/* Whether the address lies in scratch memory, so that it depends on the threads until count_access() has
 * moved it. */
static inline bool wmi_shard_is_scratch(const struct wmi_shard *shard, uint64_t address)
{
    return address - shard->scratch_start < shard->scratch_size;
}

/* Whether all bytes of the access lie in [from, to) if it starts at `base`. */
static inline bool wmi_memo_within(const struct wmi_memo *memo, uint64_t base, uint64_t from, uint64_t to)
{
    const uint64_t lowest = base + (uint64_t)(int64_t)memo->lowest,
                   behind = base + (uint64_t)(int64_t)memo->behind;
    return lowest >= from && behind <= to && behind >= lowest;
}

/* Counts and logs an access from its summary while the memos are closed. False: the whole access is
 * needed. */
bool wmi_shard_measure(struct wmi_shard *shard, struct wmi_shard_counts *of,
                       const struct wmi_address_summary *summary, uint32_t slot);

/* Logs a hit of the memo; slow path. */
bool wmi_shard_log(struct wmi_shard *shard, const struct wmi_memo *memo, uint32_t wave, uint64_t distance);

/* Counts and logs a hit of the memo by an access that starts at `base`. Returns true. */
static inline bool wmi_shard_repeat(struct wmi_shard *shard, struct wmi_shard_counts *of,
                                    struct wmi_memo *memo, uint32_t wave, uint64_t base)
{
    const uint64_t distance = (uint64_t)((int64_t)(base - memo->base) >> memo->shift);
    wmi_memos_hit(&of->memos);
    memo->times++;
    if (!shard->group || !memo->word_count ||
        (memo->word_count == 2 && wmi_log_repeat_short(shard->group, wave, memo->entry, distance)))
        return true;
    return wmi_shard_log(shard, memo, wave, distance);
}

#endif

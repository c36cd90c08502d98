/* SPDX-License-Identifier: MIT */
/* What one worker thread counts of the accesses that it sees. */
#ifndef WMI_PROFILE_SHARD_H
#define WMI_PROFILE_SHARD_H

#include "profile/lines.h"
#include "profile/measure/memo.h"

#include <stdalign.h>

enum {
    WMI_SHARD_WAVES = 64, /* of a workgroup, at most */
    WMI_SHARD_MEMOS =
        64, /* patterns of an instruction that are remembered, by where in 256 bytes they begin */
};

/* Of a slot. Waves have numbers in the order in which they are dispatched, from WMI_SHARD_WAVES on. */
struct wmi_shard_counts {
    alignas(64) uint64_t quick_from; /* the wave from which on accesses need only be like one before */
    uint64_t first;                  /* the wave that is kept; UINT64_MAX: none yet */
    struct wmi_memo *last;           /* of `memos`, that an access was like last; NULL: not known */
    uint32_t in_vain, pause;         /* accesses measured in a row; what `rests` began with */
    uint32_t rests;                  /* accesses until memos are tried again */
    struct wmi_counts counts;
    struct wmi_memo *memos[WMI_SHARD_MEMOS]; /* NULL: nothing measured yet */
};

struct wmi_shard {
    struct wmi_shard_counts *counts; /* by slot */
    size_t size;
    uint64_t scratch;            /* of the workgroup that runs, as struct wmi_observer says */
    uint64_t first_wave;         /* the number of the workgroup's first wave; 0: it is not in the sample */
    struct wmi_log_group *group; /* the log of the workgroup that runs; NULL: none is kept */
    struct wm_profile *profile;
    struct wmi_measurer *measurer;
    struct wmi_fetcher *fetcher;
    wmi_memo_compare *compare;
    const struct wmi_cost_rules *rules; /* that it measures by, */
    unsigned lanes;                     /* and of waves so large */
    size_t memos;                       /* how many there are */
    struct wmi_patterns patterns;       /* of the memos */
    struct wmi_shard *next;             /* of those that wait for another dispatch */
};

/* The observer that counts, but for what is the profile's: self, instruction(), block() and outline(). */
extern const struct wmi_observer wmi_shard_observer;

/* Frees shards that wait for another dispatch. */
void wmi_shards_destroy(struct wmi_shard *shards);

/* Whether the access is like one before it but for its place; then it is counted and in the log. For waves of
 * 32 or 64 lanes. */
typedef bool wmi_repeat_outline(void *local, const struct wmi_outline *outline, uint32_t slot);
wmi_repeat_outline *wmi_repeat_outliner(enum wmi_cpu_level level, unsigned lanes);

static inline void wmi_shard_count_depth(struct wmi_counts *counts, uint32_t depth)
{
    counts->depth += depth;
    if (depth > counts->depth_most)
        counts->depth_most = depth;
}

/* The memo that may be of an access whose first lane is at `base`, or NULL. */
static inline struct wmi_memo *wmi_shard_memo(struct wmi_shard_counts *of, uint64_t base)
{
    struct wmi_memo *memo = of->last;
    if (!memo || (memo->base ^ base) % WMI_MEMO_PHASE) {
        memo = of->memos[base / 4 % WMI_SHARD_MEMOS];
        of->last = memo;
    }
    return memo && !((memo->base ^ base) % WMI_MEMO_PHASE) ? memo : NULL;
}

/* Whether all that it asks for lies in [from, to) if it begins at `base`. */
static inline bool wmi_memo_within(const struct wmi_memo *memo, uint64_t base, uint64_t from, uint64_t to)
{
    const uint64_t lowest = base + (uint64_t)(int64_t)memo->lowest,
                   behind = base + (uint64_t)(int64_t)memo->behind;
    return lowest >= from && behind <= to && behind >= lowest;
}

/* Logs one more access like that of the memo, the long way. */
bool wmi_shard_log(struct wmi_shard *shard, const struct wmi_memo *memo, uint32_t wave, uint64_t distance);

/* One more access that is like the one of the memo, but begins at `base`. True. */
static inline bool wmi_shard_repeat(struct wmi_shard *shard, struct wmi_shard_counts *of,
                                    struct wmi_memo *memo, uint32_t wave, uint64_t base)
{
    const uint64_t distance = (uint64_t)((int64_t)(base - memo->base) >> memo->shift);
    of->in_vain = of->pause = 0;
    memo->times++;
    if (!shard->group || !memo->word_count ||
        (memo->word_count == 2 && wmi_log_repeat_short(shard->group, wave, memo->entry, distance)))
        return true;
    return wmi_shard_log(shard, memo, wave, distance);
}

#endif

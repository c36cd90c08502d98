/* SPDX-License-Identifier: MIT */
/* The measurements of one instruction's accesses: a cache of memos by base address. Where accesses do not
 * repeat, lookups cost more than they save. Therefore, after many misses in a row, the cache is closed for a
 * number of accesses, which doubles each time without a hit. */
#ifndef WMI_PROFILE_MEMOS_H
#define WMI_PROFILE_MEMOS_H

#include "profile/measure/memo.h"

enum { WMI_MEMOS = 64 /* memos per instruction, indexed by the base address modulo 256 bytes */ };

struct wmi_memos {
    struct wmi_memo *last;            /* that was last looked up; NULL: unknown */
    uint32_t misses;                  /* consecutive */
    uint32_t back_off;                /* accesses for which the cache was last closed */
    uint32_t closed;                  /* accesses left for which it is closed */
    struct wmi_memo *memo[WMI_MEMOS]; /* NULL: nothing measured yet */
};

static inline struct wmi_memo **wmi_memos_place(struct wmi_memos *memos, uint64_t base)
{
    return &memos->memo[base / 4 % WMI_MEMOS];
}

/* Returns the memo to compare with an access whose first lane is at `base`, or NULL. */
static inline struct wmi_memo *wmi_memos_at(struct wmi_memos *memos, uint64_t base)
{
    if (!memos->last || (memos->last->base ^ base) % WMI_MEMO_PHASE)
        memos->last = *wmi_memos_place(memos, base);
    return memos->last && !((memos->last->base ^ base) % WMI_MEMO_PHASE) ? memos->last : NULL;
}

static inline void wmi_memos_hit(struct wmi_memos *memos)
{
    memos->misses = memos->back_off = 0;
}

/* Finds the memo of an earlier access with the same pattern. NULL: there is none; *place is then the memo in
 * which to keep the measurement, or NULL: it is not kept. */
struct wmi_memo *wmi_memos_find(struct wmi_memos *memos, const struct wmi_access *access,
                                wmi_memo_compare *compare, struct wmi_memo ***place);
void wmi_memos_free(struct wmi_memos *memos);

#endif

/* SPDX-License-Identifier: MIT */
#include "profile/measure/memos.h"

enum {
    MISS_LIMIT = 64,      /* consecutive misses after which the cache is closed */
    FIRST_BACK_OFF = 256, /* accesses for which it is closed first */
    LONGEST_BACK_OFF = 8192,
};

static void miss(struct wmi_memos *memos)
{
    if (++memos->misses < MISS_LIMIT)
        return;
    const uint32_t longer = memos->back_off ? 2 * memos->back_off : FIRST_BACK_OFF;
    memos->misses = 0;
    memos->closed = memos->back_off = longer < LONGEST_BACK_OFF ? longer : LONGEST_BACK_OFF;
}

struct wmi_memo *wmi_memos_find(struct wmi_memos *memos, const struct wmi_access *access,
                                wmi_memo_compare *compare, struct wmi_memo ***place)
{
    *place = NULL;
    if (memos->closed) {
        memos->closed--;
        return NULL;
    }
    if (!access->elements || !access->element[0].mask)
        return NULL;
    const uint64_t base = wmi_access_base(access);
    *place = wmi_memos_place(memos, base);
    if (**place && wmi_memo_holds(**place, access, base, compare))
        return **place;
    miss(memos);
    return NULL;
}

void wmi_memos_free(struct wmi_memos *memos)
{
    for (unsigned i = 0; i < WMI_MEMOS; i++)
        wmi_memo_destroy(memos->memo[i]);
    *memos = (struct wmi_memos){0};
}

/* SPDX-License-Identifier: MIT */
/* Deals the workgroups of a dispatch to its workers. */
#ifndef WMI_DEAL_H
#define WMI_DEAL_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

/* The workgroups [next, end) that nobody has taken, of those that are one worker's before they are anybody's.
 */
struct wmi_share {
    alignas(64) uint64_t next; /* atomic, may be more than end */
    uint64_t end;
};

/* A worker begins with a run of neighbours of its own: what they touch lies together, so that workers do not
 * share pages and cache lines, and in the next dispatch a worker finds its data in its own core's cache. */
struct wmi_deal {
    struct wmi_share *shares;
    unsigned workers;
    uint64_t batch; /* workgroups that a worker takes at a time */
};

/* False: no memory. */
bool wmi_deal_create(struct wmi_deal *deal, uint64_t workgroups, unsigned workers);
void wmi_deal_destroy(struct wmi_deal *deal);

/* Takes workgroups [*from, *to) below `stop`, of the first share that has some, from share `first` on and
 * round. False: none are left. */
bool wmi_deal_take(struct wmi_deal *deal, unsigned first, uint64_t stop, uint64_t *from, uint64_t *to);

#endif

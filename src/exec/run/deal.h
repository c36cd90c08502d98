/* SPDX-License-Identifier: MIT */
/* Distributes the workgroups of a dispatch to its workers. */
#ifndef WMI_DEAL_H
#define WMI_DEAL_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

/* The workgroups [next, end) of a worker's share that have not been taken yet. */
struct wmi_share {
    alignas(64) uint64_t next; /* atomic, may exceed end */
    uint64_t end;
};

/* Each worker starts with a contiguous share of its own: neighbouring workgroups touch neighbouring memory,
 * so workers do not share pages and cache lines, and in the next dispatch a worker finds its data in its own
 * core's cache. */
struct wmi_deal {
    struct wmi_share *shares;
    unsigned workers;
    uint64_t batch; /* workgroups taken at a time */
    uint64_t seed;  /* value of WAVEMEM_DELAYS; 0: no delays */
};

/* Divides `workgroups` workgroups, from number `first` on, among the workers. False: no memory. With
 * WAVEMEM_DELAYS=SEED in the environment, a number above 0, workers take workgroups one at a time and delay
 * pseudo-random ones before they start, so that tests can force unusual schedules. */
bool wmi_deal_create(struct wmi_deal *deal, uint64_t first, uint64_t workgroups, unsigned workers);
void wmi_deal_destroy(struct wmi_deal *deal);

/* Takes workgroups [*from, *to) below `stop` from the first share that has some left, starting at share
 * `first` and wrapping around. False if none are left. */
bool wmi_deal_take(struct wmi_deal *deal, unsigned first, uint64_t stop, uint64_t *from, uint64_t *to);

#endif

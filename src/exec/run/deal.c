/* SPDX-License-Identifier: MIT */
/* Distributes the workgroups of a dispatch to its workers. */
#include "exec/run/deal.h"

#include "base/random.h"
#include "exec/run/environment.h"

#include <stdlib.h>
#include <time.h>

enum {
    MAX_BATCH = 16,          /* maximum workgroups taken at a time */
    BATCHES_PER_WORKER = 16, /* minimum batches per worker; limits the batch size of small dispatches */
    DELAYED = 4,             /* with WAVEMEM_DELAYS, one workgroup in so many is delayed */
    DELAY = 1000000,         /* maximum delay in nanoseconds */
};

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* First workgroup of a worker's share. The first workgroups % workers shares have one workgroup more than the
 * others. */
static uint64_t begin_of(uint64_t workgroups, unsigned workers, unsigned worker)
{
    return workgroups / workers * worker + less(worker, workgroups % workers);
}

static void delay(const struct wmi_deal *deal, uint64_t workgroup)
{
    const uint64_t bits = wmi_random_bits(deal->seed, workgroup);
    const struct timespec time = {.tv_nsec = (long)(bits / DELAYED % DELAY)};
    if (bits % DELAYED == 0)
        nanosleep(&time, NULL);
}

bool wmi_deal_create(struct wmi_deal *deal, uint64_t first, uint64_t workgroups, unsigned workers)
{
    const uint64_t batch = workgroups / ((uint64_t)BATCHES_PER_WORKER * workers);
    deal->shares = aligned_alloc(alignof(struct wmi_share), workers * sizeof *deal->shares);
    deal->workers = workers;
    deal->seed = wmi_delay_setting();
    deal->batch = batch && !deal->seed ? less(batch, MAX_BATCH) : 1;
    if (!deal->shares)
        return false;
    for (unsigned i = 0; i < workers; i++)
        deal->shares[i] = (struct wmi_share){first + begin_of(workgroups, workers, i),
                                             first + begin_of(workgroups, workers, i + 1)};
    return true;
}

void wmi_deal_destroy(struct wmi_deal *deal)
{
    free(deal->shares);
    deal->shares = NULL;
}

bool wmi_deal_take(struct wmi_deal *deal, unsigned first, uint64_t stop, uint64_t *from, uint64_t *to)
{
    for (unsigned i = 0; i < deal->workers; i++) {
        struct wmi_share *share = &deal->shares[(first + i) % deal->workers];
        const uint64_t end = less(share->end, stop);
        if (__atomic_load_n(&share->next, __ATOMIC_RELAXED) >= end)
            continue;
        *from = __atomic_fetch_add(&share->next, deal->batch, __ATOMIC_RELAXED);
        *to = less(*from + deal->batch, share->end);
        if (*from >= end)
            continue;
        if (deal->seed)
            delay(deal, *from);
        return true;
    }
    return false;
}

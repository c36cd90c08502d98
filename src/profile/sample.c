/* SPDX-License-Identifier: MIT */
/* A sample of the workgroups. Whole rounds are taken, so that workgroups which share caches stay together. */
#include "profile/sample.h"

#include <math.h>

bool wmi_sample_skips(unsigned one_in, uint64_t round, uint64_t number)
{
    return number / round % one_in != 0;
}

uint64_t wmi_sample_number(unsigned one_in, uint64_t round, uint64_t number)
{
    return number / round / one_in * round + number % round;
}

void wmi_sample_count(struct wmi_sample *sample, const struct wmi_log_group *group)
{
    uint64_t requests = 0;
    for (uint32_t wave = 0; wave < group->waves; wave++) {
        const uint64_t *at = group->wave[wave].words, *end = wmi_log_end(&group->wave[wave]);
        while (at < end) {
            struct wmi_log_entry entry;
            uint64_t blocks[WMI_LOG_BLOCKS];
            requests += wmi_log_read(&at, &entry, blocks);
        }
    }
    sample->taken++;
    sample->sum += (double)requests;
    sample->squares += (double)requests * (double)requests;
}

void wmi_sample_add(struct wmi_sample *to, const struct wmi_sample *from)
{
    to->groups += from->groups;
    to->taken += from->taken;
    to->sum += from->sum;
    to->squares += from->squares;
}

/* Of a total that is scaled up from a simple random sample without replacement: W. Cochran, Sampling
 * Techniques, 3rd edition, (2.20) and (2.26), with 1.96 standard errors to each side. */
double wmi_sample_error(const struct wmi_sample *sample)
{
    const double n = (double)sample->taken, all = (double)sample->groups;
    if (n >= all)
        return 0;
    if (n < 2 || sample->sum <= 0)
        return -1;
    const double mean = sample->sum / n, variance = (sample->squares - n * mean * mean) / (n - 1);
    return variance > 0 ? 1.96 * sqrt(variance / n * (1 - n / all)) / mean : 0;
}

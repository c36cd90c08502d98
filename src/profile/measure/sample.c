/* SPDX-License-Identifier: MIT */
/* Sampling of workgroups. Whole rounds are taken, so that workgroups that share caches stay together: the
 * last round, which may be incomplete, and one random round of each block of `one_in` rounds before it, so
 * that the sample does not interfere with patterns of the grid. Random numbers are hashes, so runs are
 * reproducible. */
#include "profile/measure/sample.h"

#include "base/random.h"
#include "memory/access.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t last_round(const struct wmi_sampling *sampling)
{
    return sampling->groups ? (sampling->groups - 1) / sampling->round : 0;
}

/* The sampled round in a block of `one_in` rounds. In block 0, it always exists. */
static uint64_t chosen_in(const struct wmi_sampling *sampling, uint64_t block)
{
    const uint64_t last = last_round(sampling);
    return wmi_random_bits(0, block) %
           (block == 0 && last < sampling->one_in && last ? last : sampling->one_in);
}

/* Number of sampled rounds before the last round. */
static uint64_t taken_before_last(const struct wmi_sampling *sampling)
{
    const uint64_t last = last_round(sampling), blocks = last / sampling->one_in,
                   rest = last % sampling->one_in;
    return blocks + (chosen_in(sampling, blocks) < rest);
}

bool wmi_sampling_takes(const struct wmi_sampling *sampling, uint64_t number, uint64_t *place)
{
    const uint64_t round = number / sampling->round, block = round / sampling->one_in;
    const bool last = round >= last_round(sampling);
    *place = (last ? taken_before_last(sampling) : block) * sampling->round + number % sampling->round;
    return last || round % sampling->one_in == chosen_in(sampling, block);
}

enum { MOST_ROUNDS = 1 << 20 };

/* Whether an entry counts as a request of the workgroup. Instruction fetches do not: one miss serves many
 * workgroups. */
static bool is_request(const struct wmi_log_instruction *shared)
{
    const struct wmi_log_instruction instruction = wmi_log_instruction_at(shared);
    return instruction.path != WMI_PATH_IFETCH && instruction.path != WMI_PATH_CONTROL;
}

static double requests_of(const struct wmi_log_group *group, const struct wmi_log_instruction *instructions)
{
    uint64_t requests = 0;
    for (uint32_t wave = 0; wave < group->waves; wave++) {
        const uint64_t *at = group->wave[wave].words, *end = wmi_log_end(&group->wave[wave]);
        while (at < end) {
            struct wmi_log_entry entry;
            uint64_t blocks[WMI_LOG_BLOCKS];
            const unsigned count = wmi_log_read(&at, &entry, blocks);
            requests += is_request(&instructions[entry.slot]) ? count : 0;
        }
    }
    return (double)requests;
}

void wmi_sample_count(struct wmi_sample *sample, const struct wmi_sampling *sampling,
                      const struct wmi_log_group *group, const struct wmi_log_instruction *instructions)
{
    const size_t at = group->number / sampling->round;
    sample->taken++;
    if (at >= sample->count) {
        struct wmi_sampled_round *rounds =
            at > MOST_ROUNDS ? NULL : realloc(sample->rounds, 2 * (at + 1) * sizeof *rounds);
        if (!rounds) {
            sample->failed = true;
            return;
        }
        memset(rounds + sample->count, 0, (2 * (at + 1) - sample->count) * sizeof *rounds);
        sample->rounds = rounds;
        sample->count = 2 * (at + 1);
    }
    sample->rounds[at].groups++;
    sample->rounds[at].requests += requests_of(group, instructions);
}

void wmi_sample_free(struct wmi_sample *sample)
{
    free(sample->rounds);
    sample->rounds = NULL;
    sample->count = 0;
}

/* Quantile of Student's t distribution, two-sided, 95 %, by degrees of freedom. */
static double student(size_t freedom)
{
    static const double quantile[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
    return freedom <= sizeof quantile / sizeof *quantile ? quantile[freedom - 1] : 1.96;
}

/* The last round is observed completely. The others are clusters of workgroups, sampled without replacement;
 * their total is estimated by the ratio of requests to workgroups: W. Cochran, Sampling Techniques, 3rd
 * edition, (6.9). This accounts for the correlation of workgroups in a round. The interval is rather too
 * wide, because the sample is stratified (one round per block) but treated as simple random. */
void wmi_sample_end(struct wmi_sample *sample, const struct wmi_sampling *sampling, struct wmi_sample_sum *to)
{
    const uint64_t last = sampling->one_in > 1 ? taken_before_last(sampling) : 0;
    const struct wmi_sampled_round none = {0}, known = last < sample->count ? sample->rounds[last] : none;
    const double all = (double)sample->groups - known.groups, taken = (double)sample->taken - known.groups;
    double requests = 0, squares = 0;
    size_t rounds = 0;
    for (size_t i = 0; i < sample->count; i++) {
        if (i == last)
            continue;
        rounds += sample->rounds[i].groups > 0;
        requests += sample->rounds[i].requests;
    }
    const double ratio = taken > 0 ? requests / taken : 0;
    for (size_t i = 0; i < sample->count; i++) {
        const double off = sample->rounds[i].requests - ratio * sample->rounds[i].groups;
        squares += i == last ? 0 : off * off;
    }
    to->groups += sample->groups;
    to->taken += sample->taken;
    to->seen += requests + known.requests;
    to->requests += ratio * all + known.requests;
    if (taken < all && (rounds < 2 || sample->failed)) {
        to->unknown = true;
    } else if (taken < all) {
        const double count = (double)rounds, mean = taken / count; /* mean: workgroups per round */
        const double variance = squares / (count - 1) / count / (mean * mean) * (1 - taken / all);
        to->variance += student(rounds - 1) * student(rounds - 1) * variance * all * all;
    }
    wmi_sample_free(sample);
}

double wmi_sample_scale(const struct wmi_sample_sum *sum)
{
    if (sum->taken == sum->groups || !sum->taken)
        return 1;
    return sum->seen > 0 ? sum->requests / sum->seen : (double)sum->groups / (double)sum->taken;
}

double wmi_sample_error(const struct wmi_sample_sum *sum)
{
    if (sum->taken == sum->groups)
        return 0;
    return sum->unknown || sum->requests <= 0 ? -1 : sqrt(sum->variance) / sum->requests;
}

/* SPDX-License-Identifier: MIT */
/* Sampling of workgroups: one in N rounds is observed; estimates totals and their error. */
#ifndef WMI_PROFILE_SAMPLE_H
#define WMI_PROFILE_SAMPLE_H

#include "profile/caches/log.h"

/* Which workgroups of a dispatch are observed. */
struct wmi_sampling {
    unsigned one_in;        /* one round in so many is observed; 0 and 1: all rounds */
    uint64_t round, groups; /* workgroups per round, at least 1; workgroups of the dispatch */
};

/* Workgroups and requests of one observed round. */
struct wmi_sampled_round {
    double groups, requests;
};

/* The sample of one dispatch. Initialize with zeros. */
struct wmi_sample {
    uint64_t groups, taken; /* workgroups that ended; those that were observed */
    struct wmi_sampled_round *rounds;
    size_t count;
    bool failed; /* out of memory: no estimate */
};

/* Sums over the dispatches of a kernel, which are sampled separately. Initialize with zeros. */
struct wmi_sample_sum {
    uint64_t groups, taken;
    double seen, requests; /* observed requests; estimate for all workgroups */
    double variance;       /* square of half the width of the confidence interval */
    bool unknown;          /* a dispatch has too few rounds for an estimate */
};

/* Whether workgroup `number` is observed; *place: its index among the observed ones. */
bool wmi_sampling_takes(const struct wmi_sampling *sampling, uint64_t number, uint64_t *place);

/* Adds an observed workgroup, whose number is its index among the observed ones. instructions: indexed by
 * slot. */
void wmi_sample_count(struct wmi_sample *sample, const struct wmi_sampling *sampling,
                      const struct wmi_log_group *group, const struct wmi_log_instruction *instructions);
/* Ends the dispatch: adds its estimate to *to and frees its rounds; the counts stay. */
void wmi_sample_end(struct wmi_sample *sample, const struct wmi_sampling *sampling,
                    struct wmi_sample_sum *to);
void wmi_sample_free(struct wmi_sample *sample);

/* See struct wm_profile_kernel, sample_scale and sample_error. */
double wmi_sample_scale(const struct wmi_sample_sum *sum);
double wmi_sample_error(const struct wmi_sample_sum *sum);

#endif

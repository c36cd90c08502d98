/* SPDX-License-Identifier: MIT */
/* A sample of the workgroups: one in so many rounds, and how far what it tells may be off. */
#ifndef WMI_PROFILE_SAMPLE_H
#define WMI_PROFILE_SAMPLE_H

#include "profile/caches/log.h"

/* Which workgroups of a dispatch are observed. */
struct wmi_sampling {
    unsigned one_in;        /* rounds of which one is; 0 and 1: all */
    uint64_t round, groups; /* workgroups of a round, at least 1, and of the dispatch */
};

/* What the workgroups of one round asked for. */
struct wmi_sampled_round {
    double groups, requests;
};

/* Of one dispatch. Starts at zero. */
struct wmi_sample {
    uint64_t groups, taken; /* workgroups that ended, and those of them that were observed */
    struct wmi_sampled_round *rounds;
    size_t count;
    bool failed; /* no memory: nothing can be told */
};

/* Over the dispatches of a kernel, of which each is sampled by itself. Starts at zero. */
struct wmi_sample_sum {
    uint64_t groups, taken;
    double seen, requests; /* of those that were observed, and of all, as estimated */
    double variance;       /* the square of half the interval's width */
    bool unknown;          /* a dispatch has too few rounds to tell */
};

/* Whether workgroup `number` is observed; *place: its number among those that are. */
bool wmi_sampling_takes(const struct wmi_sampling *sampling, uint64_t number, uint64_t *place);

/* A workgroup was observed, whose number is its place. instructions: by slot. */
void wmi_sample_count(struct wmi_sample *sample, const struct wmi_sampling *sampling,
                      const struct wmi_log_group *group, const struct wmi_log_instruction *instructions);
/* The dispatch is over: frees what is known of its rounds; the counts stay. */
void wmi_sample_end(struct wmi_sample *sample, const struct wmi_sampling *sampling,
                    struct wmi_sample_sum *to);
void wmi_sample_free(struct wmi_sample *sample);

/* See struct wm_profile_kernel, sample_scale and sample_error. */
double wmi_sample_scale(const struct wmi_sample_sum *sum);
double wmi_sample_error(const struct wmi_sample_sum *sum);

#endif

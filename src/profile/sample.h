/* SPDX-License-Identifier: MIT */
/* A sample of the workgroups: one in so many rounds, and how far what it tells may be off. */
#ifndef WMI_PROFILE_SAMPLE_H
#define WMI_PROFILE_SAMPLE_H

#include "profile/log.h"

/* Of one dispatch, or summed over several. */
struct wmi_sample {
    uint64_t groups, taken; /* workgroups that ended, and those of them that were observed */
    double sum, squares;    /* of the requests that each of these made */
};

/* Whether workgroup `number` is left out, where rounds have `round` workgroups; and if not, its number among
 * those that are not. */
bool wmi_sample_skips(unsigned one_in, uint64_t round, uint64_t number);
uint64_t wmi_sample_number(unsigned one_in, uint64_t round, uint64_t number);

/* A workgroup was observed. */
void wmi_sample_count(struct wmi_sample *sample, const struct wmi_log_group *group);
void wmi_sample_add(struct wmi_sample *to, const struct wmi_sample *from);

/* See struct wm_profile_kernel, sample_error. */
double wmi_sample_error(const struct wmi_sample *sample);

#endif

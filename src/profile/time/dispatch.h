/* SPDX-License-Identifier: MIT */
/* Predicts the time of each dispatch of a profile. */
#ifndef WMI_TIME_DISPATCH_H
#define WMI_TIME_DISPATCH_H

#include "profile/inside.h"

/* Remembers the counts before a dispatch; and predicts it when it has ended, and adds it
 * to `sum`. one: what the dispatch alone did, with the bounds in `row`. */
void wmi_times_begin(struct wm_profile *profile);
void wmi_times_end(struct wm_profile *profile, const struct wmi_kernel_profile *one,
                   const struct wm_profile_kernel *row, struct wmi_time_sum *sum);

#endif

/* SPDX-License-Identifier: MIT */
/* Timelines of dispatches: which instructions the waves of the first compute units execute, and when. */
#ifndef WMI_PROFILE_TIMELINE_H
#define WMI_PROFILE_TIMELINE_H

#include "observe/observer.h"
#include "profile/time/predict.h"

struct wm_profile;
struct wmi_timelines;

struct wmi_timelines *wmi_timelines_create(void); /* NULL: no memory */
void wmi_timelines_destroy(struct wmi_timelines *timelines);
/* Starts and ends a dispatch of the profile. False: there was no memory for something. */
bool wmi_timelines_begin(struct wmi_timelines *timelines, const struct wm_profile *profile);
bool wmi_timelines_end(struct wmi_timelines *timelines, const struct wm_profile *profile,
                       const struct wmi_time_work *work, const struct wmi_time *time);
/* An instruction of the code of the dispatch; under the program's lock. */
void wmi_timelines_take(struct wmi_timelines *timelines, const struct wm_profile *profile, uint64_t pc,
                        const struct wmi_instruction *insn);
/* The observer of the dispatch that has begun; NULL: nothing of it is recorded. */
const struct wmi_observer *wmi_timelines_observer(const struct wmi_timelines *timelines);
const struct wm_timeline *wmi_timelines(const struct wmi_timelines *timelines, size_t *count);

#endif

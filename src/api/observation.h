/* SPDX-License-Identifier: MIT */
/* All that watch a dispatch while it is executed: its profile, checks, fidelity report and observers. */
#ifndef WMI_API_OBSERVATION_H
#define WMI_API_OBSERVATION_H

#include "api/guards.h"
#include "api/observed.h"
#include "api/shuffle.h"
#include "api/task.h"
#include "check/check.h"

struct wmi_observation {
    struct wmi_observed observed;
    struct wmi_guards guards;
    struct wmi_watcher own[5 + WMI_CHECKERS]; /* wavemem's own observers */
    size_t owns;
    struct wmi_watchers watchers;
    struct wmi_shuffle shuffle;
    const char *missed; /* why the dispatch is not repeated in other orders, or NULL */
    bool complete;      /* all watch: the dispatch can be executed */
};

/* Fails if there is no memory; wmi_observation_end() is called also then. The caller holds the read lock of
 * the memory until that. */
enum wm_status wmi_observation_begin(struct wmi_observation *observation, struct wmi_task *task);
/* The dispatch has been executed: repeats it in other orders if its check asks for that, and lets all that
 * watched finish. */
void wmi_observation_end(struct wmi_observation *observation, struct wmi_task *task);

#endif

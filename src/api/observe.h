/* SPDX-License-Identifier: MIT */
/* Who watches a dispatch, and who watches a machine. */
#ifndef WMI_API_OBSERVE_H
#define WMI_API_OBSERVE_H

#include "observe/adapter.h"
#include "wavemem/wavemem.h"

#include <pthread.h>

struct wmi_watcher { /* of a dispatch */
    const struct wmi_observer *observer;
    const char *what; /* for texts: "profile" */
};

/* All that watch a dispatch. */
struct wmi_watchers {
    struct wmi_observers observers;
    const struct wmi_observer **one;
    const char **what;
    struct wmi_adapter *adapters;
};

/* Whether the observers of the request are what observe.h says. */
enum wm_status wmi_watchers_check(const struct wm_dispatch *request, struct wm_diag *diag);
/* Puts together `count` of wavemem's own and those of the request. */
enum wm_status wmi_watchers_create(struct wmi_watchers *watchers, const struct wmi_watcher *own, size_t count,
                                   const struct wm_dispatch *request, struct wm_diag *diag);
/* Shows the beginning or the end of the dispatch to those of the request. */
void wmi_watchers_show(const struct wm_dispatch *request, enum wm_event_kind kind,
                       const struct wm_extent *extent);
/* Adds to result->incomplete what is not complete, and why. */
void wmi_add_incomplete(struct wm_result *result, const char *what, const char *why);
/* Asks all of them. */
void wmi_watchers_ask(const struct wmi_watchers *watchers, struct wm_result *result);
void wmi_watchers_destroy(struct wmi_watchers *watchers);

/* The observers of a machine. */
struct wmi_machine_observers {
    pthread_mutex_t lock; /* events come one at a time */
    const struct wm_observer **one;
    size_t count; /* atomic */
};

bool wmi_machine_observers_init(struct wmi_machine_observers *observers);
void wmi_machine_observers_destroy(struct wmi_machine_observers *observers);

enum wm_status wmi_machine_observers_add(struct wmi_machine_observers *observers,
                                         const struct wm_observer *observer, struct wm_diag *diag);
enum wm_status wmi_machine_observers_remove(struct wmi_machine_observers *observers,
                                            const struct wm_observer *observer, struct wm_diag *diag);
void wmi_machine_observers_show(struct wmi_machine_observers *observers, enum wm_event_kind kind,
                                const struct wm_memory *memory);

#endif

/* SPDX-License-Identifier: MIT */
/* What has become of a machine's allocations: those that are live, and those that were freed. */
#ifndef WMI_HISTORY_H
#define WMI_HISTORY_H

#include "wavemem/wavemem.h"

#include <pthread.h>
#include <stddef.h>

struct wmi_past_name {
    struct wmi_past_name *next; /* of those that are no longer needed */
    char text[];
};

struct wmi_past_allocation {
    uint64_t low, high; /* guest addresses */
    struct wmi_past_name *name;
};

struct wmi_past_list { /* sorted by address, without overlaps */
    struct wmi_past_allocation *entry;
    size_t count, capacity;
};

struct wmi_history {
    pthread_mutex_t lock;
    struct wmi_past_list live, freed;
    bool in_use;                  /* findings of a dispatch may point to names */
    struct wmi_past_name *unused; /* to be freed when it is over */
    bool missed;                  /* there was no memory for an event */
};

void wmi_history_init(struct wmi_history *history);
void wmi_history_destroy(struct wmi_history *history);
/* WM_EVENT_ALLOCATE, _MAP, _FREE; others are ignored. wavemem's own allocations do not count. */
void wmi_history_see(struct wmi_history *history, const struct wm_event *event);
/* Names that wmi_history_freed() returns between these calls are valid until the second one. */
void wmi_history_begin_use(struct wmi_history *history);
void wmi_history_end_use(struct wmi_history *history);
/* Calls `visit` for each live allocation, by address. It must not call these functions. */
void wmi_history_visit(struct wmi_history *history,
                       void (*visit)(void *user, const struct wmi_past_allocation *allocation), void *user);
/* Finds the freed allocation that contains `address`. */
bool wmi_history_freed(struct wmi_history *history, uint64_t address, struct wmi_past_allocation *found);

#endif

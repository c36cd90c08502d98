/* SPDX-License-Identifier: MIT */
/* Writes the report of a guest fault. */
#ifndef WMI_REPORT_FAULT_H
#define WMI_REPORT_FAULT_H

#include "exec/run/dispatch.h"

/* The origin of the code, for the report. */
struct wmi_fault_place {
    const struct wmi_target *target;
    const struct wm_object *object;
    const char *object_name;
    uint64_t bias; /* guest address - object address */
};

/* Fills `out`, including its text, from the dispatch's fault. */
void wmi_report_fault(const struct wmi_dispatch *dispatch, const struct wmi_fault_place *place,
                      struct wm_fault *out);

/* Calls `visit`, unless NULL, for each stale read found in scalar caches, in order of address. */
void wmi_report_stales(struct wmi_dispatch *dispatch, const struct wmi_fault_place *place,
                       void (*visit)(void *user, const struct wm_stale *stale), void *user);

#endif

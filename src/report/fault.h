/* SPDX-License-Identifier: MIT */
/* Words a guest fault the way a person reads it. */
#ifndef WMI_REPORT_FAULT_H
#define WMI_REPORT_FAULT_H

#include "exec/dispatch.h"

/* What the report needs to know besides the fault: where the code came from. */
struct wmi_fault_place {
    const struct wmi_target *target;
    const struct wm_object *object;
    const char *object_name;
    uint64_t bias; /* guest address - object address */
};

/* Fills `out` from the dispatch's fault, its text included. */
void wmi_report_fault(const struct wmi_dispatch *dispatch, const struct wmi_fault_place *place,
                      struct wm_fault *out);

/* Tells `visit`, unless it is NULL, what the scalar caches found, by address. */
void wmi_report_stales(struct wmi_dispatch *dispatch, const struct wmi_fault_place *place,
                       void (*visit)(void *user, const struct wm_stale *stale), void *user);

#endif

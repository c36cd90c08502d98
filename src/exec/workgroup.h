/* SPDX-License-Identifier: MIT */
/* Runs the workgroups of a dispatch. */
#ifndef WMI_WORKGROUP_H
#define WMI_WORKGROUP_H

#include "exec/dispatch.h"

/* A wave signals its workgroup's barrier; the last expected signal completes it. Returns whether this is the
 * first signal. Source: RDNA 4 ISA, "Barriers". */
bool wmi_workgroup_signal(struct wmi_workgroup *group);

/* Runs all workgroups. False if out of host memory. The fault, if any, is in dispatch->fault. */
bool wmi_dispatch_run(struct wmi_dispatch *dispatch);

/* Monotonic clock in seconds. */
double wmi_seconds(void);

#endif

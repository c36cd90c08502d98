/* SPDX-License-Identifier: MIT */
/* Runs the workgroups of a dispatch. */
#ifndef WMI_WORKGROUP_H
#define WMI_WORKGROUP_H

#include "exec/dispatch.h"

/* A wave signals at its workgroup's barrier: the last one that is expected completes it. Whether it is the
 * first one. Source: RDNA 4 ISA, "Barriers". */
bool wmi_workgroup_signal(struct wmi_workgroup *group);

/* Runs all workgroups. False: no memory on the host. The fault, if any, is in dispatch->fault. */
bool wmi_dispatch_run(struct wmi_dispatch *dispatch);

/* Seconds of a clock that only goes forward. */
double wmi_seconds(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Runs the workgroups of a dispatch. */
#ifndef WMI_WORKGROUP_H
#define WMI_WORKGROUP_H

#include "base/seconds.h"
#include "exec/run/dispatch.h"

/* Runs all workgroups. False if out of host memory. The fault, if any, is in dispatch->fault. */
bool wmi_dispatch_run(struct wmi_dispatch *dispatch);

#endif

/* SPDX-License-Identifier: MIT */
/* Barriers of workgroups and clusters that waves signal and wait for apart. */
#ifndef WMI_BARRIERS_H
#define WMI_BARRIERS_H

#include "exec/run/wave.h"

/* Lets waiting waves go on if all that have not ended have signalled the workgroup's barrier. Called when a
 * wave signals or ends. Source: RDNA 4 ISA, "Barriers". */
void wmi_complete_barrier(struct wmi_workgroup *group);
/* Called when all waves of a workgroup that is in a cluster have ended. */
void wmi_leave_cluster(struct wmi_workgroup *group);

#endif

/* SPDX-License-Identifier: MIT */
/* Barriers of a workgroup that waves signal and wait for apart. */
#ifndef WMI_BARRIERS_H
#define WMI_BARRIERS_H

#include "exec/run/wave.h"

/* Lets waiting waves go on if all that have not ended have signalled the workgroup's barrier. Called when a
 * wave signals or ends. Source: RDNA 4 ISA, "Barriers". */
void wmi_complete_barrier(struct wmi_workgroup *group);

#endif

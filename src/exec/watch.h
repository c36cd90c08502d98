/* SPDX-License-Identifier: MIT */
/* Quick ways to show accesses to an observer. */
#ifndef WMI_WATCH_H
#define WMI_WATCH_H

#include "sem/table.h"

/* The step for wmi_vmem_watch() of a GLOBAL or FLAT access by VADDR or SADDR. */
wmi_body wmi_vmem_quick_watch(enum wmi_cpu_level level, unsigned lanes);

#endif

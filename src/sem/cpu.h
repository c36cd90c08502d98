/* SPDX-License-Identifier: MIT */
/* The variable of the environment that lowers the CPU level; wmi_cpu_level() (sem.h) obeys it. */
#ifndef WMI_CPU_H
#define WMI_CPU_H

#include <stdbool.h>

#define WMI_CPU_VARIABLE "WAVEMEM_CPU"

/* Whether the host supports a level of this name. wmi_cpu_level() takes others for the best one. */
bool wmi_has_cpu_level(const char *name);

#endif

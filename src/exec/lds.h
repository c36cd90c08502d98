/* SPDX-License-Identifier: MIT */
/* DS steps, compiled per CPU level and wave size. */
#ifndef WMI_LDS_H
#define WMI_LDS_H

#include "exec/wave.h"
#include "lower/memory_op.h"

/* The function for a CPU level and a wave size (32 or 64). */
wmi_body wmi_lds_body(enum wmi_cpu_level level, unsigned lanes, enum wmi_lds_step step);

#endif

/* SPDX-License-Identifier: MIT */
/* Maps a step to its function. */
#ifndef WMI_BIND_H
#define WMI_BIND_H

#include "lower/step.h"

/* The function for a CPU level and a wave size (32 or 64). Never NULL for a step that lowering emits. */
wmi_body wmi_bind(enum wmi_step_id id, enum wmi_cpu_level level, unsigned lanes);
/* The bound form of a step. */
struct wmi_op wmi_bind_step(const struct wmi_step *step, enum wmi_cpu_level level, unsigned lanes);

#endif

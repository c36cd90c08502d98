/* SPDX-License-Identifier: MIT */
/* Control flow that the executor starts itself. */
#ifndef WMI_FLOW_STEPS_H
#define WMI_FLOW_STEPS_H

#include "exec/run/wave.h"

/* Continues with wave->resume. */
const struct wmi_op *wmi_resume_wave(char *restrict frame, const struct wmi_op *op);

#endif

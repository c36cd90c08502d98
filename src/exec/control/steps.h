/* SPDX-License-Identifier: MIT */
/* Prototypes of the step functions in src/exec: one per STEP and LANE_STEP row of lower/steps.def. */
#ifndef WMI_STEPS_H
#define WMI_STEPS_H

#include "lower/step.h"
#include "sem/table.h"

#define WMI_STEP_PROTOTYPE(name, level, lanes, suffix)                                                       \
    const struct wmi_op *name##suffix(char *restrict frame, const struct wmi_op *op);
#define ROW(...)
#define STEP(name, ...)      WMI_STEP_PROTOTYPE(wmi_step_##name, , , )
#define LANE_STEP(name, ...) WMI_LANE_BUILDS(WMI_STEP_PROTOTYPE, wmi_step_##name)
#include "lower/steps.def"

#endif

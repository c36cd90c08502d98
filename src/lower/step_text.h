/* SPDX-License-Identifier: MIT */
/* Steps as text, for people who look at how an instruction is executed. */
#ifndef WMI_STEP_TEXT_H
#define WMI_STEP_TEXT_H

#include "lower/code.h"
#include "lower/step.h"

/* Writes the step's name, its operands by the names of what lies there and its numbers, NUL-terminated and
 * cut to `size`. v0, a0 and s0 are registers, t0 a temporary row, #1.0 constants, set0 a temporary lane set.
 */
void wmi_step_text(const struct wmi_code *code, const struct wmi_step *step, char *text, size_t size);

#endif

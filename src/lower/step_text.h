/* SPDX-License-Identifier: MIT */
/* Prints steps as text, for `dis --steps`. */
#ifndef WMI_STEP_TEXT_H
#define WMI_STEP_TEXT_H

#include "lower/code.h"
#include "lower/step.h"

/* Writes the step's name, its operands by name and its numbers, NUL-terminated and truncated to `size`. v0,
 * a0 and s0 are registers, t0 a temporary row, #0x3f800000 a constant, set0 a temporary lane set. */
void wmi_step_text(const struct wmi_code *code, const struct wmi_step *step, char *text, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Addresses that are computed in VGPRs as a sum of a uniform base and an offset of 32 bits, as for an element
 * of an array: {x, d} = {c, a} + {e, b} with scalar a, in front of the access. The sum is left to the access,
 * which takes base and offset as those of an instruction with a scalar base (wmi_stretch.sum). */
#ifndef WMI_SUMS_H
#define WMI_SUMS_H

#include "jit/stretch.h"

/* Whether the step is such a sum, and all that it computes is the address of the access behind it. */
bool wmi_is_address(const struct wmi_stretch *s, size_t at);
/* Whether the current step is such a sum, which the next step can take. */
bool wmi_takes_sum(const struct wmi_stretch *s);
/* Whether the base is {c, a}, both scalars; else the row that has its high word. */
bool wmi_sum_has_scalar_base(const struct wmi_step *sum);
uint32_t wmi_sum_base_row(const struct wmi_stretch *s, const struct wmi_step *sum);

#endif

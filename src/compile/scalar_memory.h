/* SPDX-License-Identifier: MIT */
/* Host code of loads from scalar memory. */
#ifndef WMI_SCALAR_MEMORY_H
#define WMI_SCALAR_MEMORY_H

#include "compile/stretch.h"

/* `dwords` dwords at a + offset + b, in the allocation that the instruction accessed last. */
bool wmi_scalar_load(struct wmi_stretch *s, const struct wmi_step *step, unsigned dwords);

#endif

/* SPDX-License-Identifier: MIT */
/* Host code of loads from scalar memory, and of pairs of scalars. */
#ifndef WMI_SCALAR_MEMORY_H
#define WMI_SCALAR_MEMORY_H

#include "compile/stretch.h"

/* Whether a load of 64 bits of the frame can be forwarded from the store that wrote both words last. It waits
 * for the cache if they were stored apart. */
bool wmi_scalars_are_together(const struct wmi_stretch *s, uint32_t place);
/* reg = the 64 bits at a place of the frame. Changes RCX if they were stored apart. */
void wmi_scalars_load_pair(struct wmi_stretch *s, enum wmi_gpr reg, uint32_t place);
/* `dwords` dwords at a + offset + b, in the allocation that the instruction accessed last. */
bool wmi_scalar_load(struct wmi_stretch *s, const struct wmi_step *step, unsigned dwords);

#endif

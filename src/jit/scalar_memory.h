/* SPDX-License-Identifier: MIT */
/* Host code of loads from scalar memory, and of pairs of scalars. */
#ifndef WMI_SCALAR_MEMORY_H
#define WMI_SCALAR_MEMORY_H

#include "jit/stretch.h"

/* Whether one store wrote both words at the place of the frame last. Only then can the host forward it to a
 * load of 64 bits; after two stores, the load waits until both have reached the cache. */
bool wmi_scalars_are_together(const struct wmi_stretch *s, uint32_t place);
/* reg = the 64 bits at the place, loaded as they were stored. Changes RCX. */
void wmi_scalars_load_pair(struct wmi_stretch *s, enum wmi_gpr reg, uint32_t place);
/* Whether the scalar is a constant here: one of the program, or of a step shortly before. */
bool wmi_scalar_constant(const struct wmi_stretch *s, uint32_t place, uint32_t *value);
/* Dwords at a + offset + b, in the allocation that the instruction accessed last. */
bool wmi_scalar_load(struct wmi_stretch *s, const struct wmi_step *step);

#endif

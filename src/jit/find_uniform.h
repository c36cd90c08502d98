/* SPDX-License-Identifier: MIT */
/* Finds out which rows are the same in all active lanes. */
#ifndef WMI_FIND_UNIFORM_H
#define WMI_FIND_UNIFORM_H

#include "jit/uniform.h"

/* live: what is read of rows, or NULL. NULL: nothing is known, there is no memory, or too much would be
 * needed. */
struct wmi_uniform *wmi_find_uniform(const struct wmi_block *block, const struct wmi_live *live);
void wmi_uniform_free(struct wmi_uniform *uniform);

#endif

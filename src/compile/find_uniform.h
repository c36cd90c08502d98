/* SPDX-License-Identifier: MIT */
/* Finds out which rows are the same in all active lanes. */
#ifndef WMI_FIND_UNIFORM_H
#define WMI_FIND_UNIFORM_H

#include "compile/uniform.h"

/* NULL: nothing is known, there is no memory, or too much would be needed. */
struct wmi_uniform *wmi_find_uniform(const struct wmi_block *block);
void wmi_uniform_free(struct wmi_uniform *uniform);

#endif

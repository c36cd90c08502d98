/* SPDX-License-Identifier: MIT */
/* A pass over the steps of a block: pairs of instructions that one step can do. */
#ifndef WMI_FUSE_H
#define WMI_FUSE_H

#include "lower/builder.h"

/* Fuses among the steps from `from` to the last one, which no branch enters but at the first, and closes the
 * gaps. Each fused step gives bit for bit what the steps that it replaces gave. */
void wmi_fuse(struct wmi_builder *b, size_t from);

#endif

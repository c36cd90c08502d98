/* SPDX-License-Identifier: MIT */
/* A pass over the steps of a block that fuses pairs of instructions. */
#ifndef WMI_FUSE_H
#define WMI_FUSE_H

#include "lower/builder.h"

/* Fuses steps from `from` to the last one and compacts the list. Branches may enter this range only at its
 * first step. A fused step gives bit-identical results to the steps it replaces. */
void wmi_fuse(struct wmi_builder *b, size_t from);

#endif

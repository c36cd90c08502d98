/* SPDX-License-Identifier: MIT */
/* Bytes by which the workgroups of different parts communicate. */
#ifndef WAVEMEM_TOOL_CONFLICTS_H
#define WAVEMEM_TOOL_CONFLICTS_H

#include "tool/shard/part.h"

#include <stdio.h>

/* Prints what one part wrote and another read or wrote, a line for each buffer, and one for GDS. Returns
 * TOOL_FINDINGS if there is any, TOOL_CLEAN if none, TOOL_WRONG after a message if out of memory. */
int part_find_conflicts(const struct part *parts, size_t count, FILE *file);

#endif

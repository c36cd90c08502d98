/* SPDX-License-Identifier: MIT */
/* Bytes by which the workgroups of different parts communicate. */
#ifndef WAVEMEM_TOOL_CONFLICTS_H
#define WAVEMEM_TOOL_CONFLICTS_H

#include "tool/shard/part.h"

#include <stdio.h>

/* Looks for bytes that one part wrote and another part read or wrote in the same dispatch, or read in a later
 * one: a line to `file` for each buffer, and one for GDS. With a report, each is an entry of its `incomplete`
 * instead: the check saw none of these accesses together. *stale: a part read what another one wrote. Also
 * sets `overwritten` of the parts. Returns TOOL_FINDINGS if there is any, TOOL_CLEAN if none, TOOL_WRONG
 * after a message if out of memory. */
int part_find_conflicts(struct part *parts, size_t count, FILE *file, json_t *report, bool *stale);

#endif

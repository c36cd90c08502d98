/* SPDX-License-Identifier: MIT */
/* Findings that have the same cause. */
#ifndef WAVEMEM_TOOL_CHECK_CAUSES_H
#define WAVEMEM_TOOL_CHECK_CAUSES_H

#include <jansson.h>

/* Gives each finding of the array, which have keys, its group: the key of the first finding with the same
 * cause. Findings of one rule have the same cause if
 * - they are at the same source line, of the same kernel or of instances of one template: an unrolled loop
 * has a mistake of the source many times. Of findings about two instructions, both lines must be the same,
 * but of races only one, in either; or
 * - the allocation is the cause (wm_finding.by_allocation), and is the same; or
 * - they are about the same byte that nobody wrote, in one kernel or in instances of one template. */
void tool_check_set_groups(json_t *findings);
/* The findings of the array by their groups: an array of arrays, in each of which the first finding is the
 * one that the group is named after. */
json_t *tool_check_groups(const json_t *findings);

#endif

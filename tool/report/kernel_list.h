/* SPDX-License-Identifier: MIT */
/* A line for each kernel that the report has no room to describe. */
#ifndef WAVEMEM_TOOL_KERNEL_LIST_H
#define WAVEMEM_TOOL_KERNEL_LIST_H

#include "tool/report/report.h"

/* Whether both are instances of one template: names that differ in their last template arguments only. */
bool tool_same_template(const struct tool_group *a, const struct tool_group *b);
/* Prints a line for those of the groups that are not described; one for all instances of a template. */
void tool_print_kernel_list(const struct tool_report *report, const struct tool_group *groups, size_t count,
                            const bool *described);

#endif

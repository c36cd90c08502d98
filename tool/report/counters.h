/* SPDX-License-Identifier: MIT */
/* The profile under the names of AMD's hardware counters. */
#ifndef WAVEMEM_TOOL_COUNTERS_H
#define WAVEMEM_TOOL_COUNTERS_H

#include "tool/report/report.h"

/* Writes kernel,name,value lines for each kernel and for '*', the total. Kernels with the same name are
 * combined. Returns TOOL_CLEAN, or TOOL_WRONG after a message. */
int tool_write_counters(const struct tool_report *report, const char *path);

#endif

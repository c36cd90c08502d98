/* SPDX-License-Identifier: MIT */
/* The findings of a profile: what costs time and what to change. */
#ifndef WAVEMEM_TOOL_ADVICE_H
#define WAVEMEM_TOOL_ADVICE_H

#include "tool/report/report.h"
#include "tool/report/summary.h"

enum { TOOL_ADVICE_SHOWN = 5 /* maximum shown per kernel in text, without --all */ };

/* The number of findings of the kernel, which are contiguous; *first: its first one. */
size_t tool_kernel_findings(const struct tool_report *report, const struct wm_profile_kernel *kernel,
                            const struct wm_profile_finding **first);

/* The first finding that gains 1 % or more; without, the first that is listed for what it costs. NULL: there
 * is none. */
const struct wm_profile_finding *tool_best_finding(const struct tool_report *report,
                                                   const struct wm_profile_kernel *kernel);

enum { TOOL_GAIN = 192 };
/* What to say instead of a best fix; the kernel has a bound. */
void tool_no_finding_text(const struct wm_profile_kernel *kernel, char text[TOOL_SENTENCES]);
/* The same in a few words, for a cell of a table. */
const char *tool_no_finding_short(const struct wm_profile_kernel *kernel);
/* "13.3 us -> at best 12.4 us, then bound by memory", or "the bound stays at 13.3 us"; and, if it changes, ";
 * predicted 21.1 us -> 20.7 us". */
void tool_gain_text(const struct wm_profile_finding *finding, char text[TOOL_GAIN]);
/* The same for the line that begins with "bound": "now 13.3 us -> ...". */
void tool_bound_text(const struct wm_profile_finding *finding, char text[TOOL_GAIN]);

/* Prints four lines: what bounds the kernel, the predicted time, the best fix, and the bound now and after.
 */
void tool_print_verdict(const struct tool_report *report, const struct wm_profile_kernel *kernel);
/* Prints all findings of the kernel, or with --all not set the first ones. */
void tool_advice_text(const struct tool_report *report, const struct wm_profile_kernel *kernel);
json_t *tool_json_advice(const struct tool_report *report);

#endif

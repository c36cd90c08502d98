/* SPDX-License-Identifier: MIT */
/* Files with the predicted timeline of waves, for viewers of other projects. */
#ifndef WAVEMEM_TOOL_TIMELINE_H
#define WAVEMEM_TOOL_TIMELINE_H

#include "tool/report/report.h"

/* Each writes the timelines of the report's profile; TOOL_WRONG: failed, with a message.
 *
 * events.c: a file in Chrome's Trace Event Format, which Perfetto and chrome://tracing open. */
int tool_write_events(const struct tool_report *report, const char *path);
/* viewer.c: a folder that ROCprof Compute Viewer opens; it must be empty, absent, or written by this before.
 */
int tool_write_viewer(const struct tool_report *report, const char *path);
/* Whether the folder can be written; TOOL_WRONG, after a message: no. */
int tool_check_viewer(const char *path);

#endif

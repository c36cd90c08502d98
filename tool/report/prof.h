/* SPDX-License-Identifier: MIT */
/* All outputs of a profile, for `prof` and `replay`. */
#ifndef WAVEMEM_TOOL_PROF_H
#define WAVEMEM_TOOL_PROF_H

#include "tool/report/gate.h"
#include "tool/report/products.h"
#include "tool/report/report.h"

struct tool_prof_outputs {
    struct tool_report_options show;
    const char *counters_path, *html_path; /* NULL: none */
    const char *timeline_path;             /* of `prof`; or NULL */
    const char *viewer_path;               /* a folder, likewise */
    bool json;
    const char *json_path; /* NULL: stdout */
    struct tool_gates gates;
    const char *trace_path;        /* of the trace that the profile writes; or NULL */
    bool trace_is_private;         /* it is read for the comparison, and of no use to the user */
    struct tool_products products; /* of --gpu: the profile's, and others that it is compared with */
    const uint8_t *replayed;       /* the trace that the profile is made from; NULL: it is in trace_path */
    size_t replayed_bytes;
    char *command; /* tool_command_line(); or NULL */
};

/* Checks before the run that the files can be written; TOOL_WRONG after a message if not. The trace file is
 * started earlier, by wm_profile_trace(). */
int tool_check_outputs(const struct tool_prof_outputs *outputs);

/* The command line with quotes as a shell wants them; the caller frees it. */
char *tool_command_line(int argc, char **argv);

/* Writes the requested outputs and adds them to `json`, which tool_report() created. Returns the worse of
 * `code` and its own result. */
int tool_show_profile(const struct tool_prof_outputs *outputs, struct wm_profile *profile,
                      const char *const *files, size_t file_count, json_t *json, int code);

/* Completes the trace that the profile writes, with the sources that are found, and shows nothing. */
int tool_end_trace(const struct tool_prof_outputs *outputs, struct wm_profile *profile,
                   const char *const *files, size_t file_count);

#endif

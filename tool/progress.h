/* SPDX-License-Identifier: MIT */
/* One line on a terminal that says how far a dispatch is, for the command and for the programs of `exec`. */
#ifndef WAVEMEM_TOOL_PROGRESS_H
#define WAVEMEM_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* A dispatch that is shown; several threads may have one each, and the line is that of the last call. */
struct tool_progress {
    const char *kernel;
    double from, begin; /* seconds: when to show it first, and when it began */
    bool on_terminal;
};

/* Begins to measure the time. The name must stay. */
struct tool_progress tool_progress_begin(const char *kernel);

/* Shows the line if stderr is a terminal, from WAVEMEM_PROGRESS seconds on (default 1), at most five times a
 * second. */
void tool_progress_show(const struct tool_progress *progress, uint64_t done, uint64_t workgroups);

/* Removes the line, before anything else is printed. */
void tool_progress_clear(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Origins of instructions: lines of source files, and the listing of a kernel. */
#ifndef WAVEMEM_TOOL_SOURCE_H
#define WAVEMEM_TOOL_SOURCE_H

#include "tool/report/report.h"

/* A source file, line by line. */
struct tool_source {
    char *text;
    const char **line; /* without line feeds; line[0] is line 1 */
    size_t count;
};

/* The result of looking for a source file. */
enum tool_source_state {
    TOOL_SOURCE_READ,
    TOOL_SOURCE_MISSING, /* not found, or not a source */
    TOOL_SOURCE_OMITTED, /* outside the allowed folders */
};

/* Reads the file that debug information calls `name`. Searches the folders of --source-path, also for
 * suffixes of the name, longest first, because code may have been built elsewhere; the replayed trace; the
 * name itself; the folders of the code objects and their parents.
 *
 * The name comes from an untrusted code object and the text may be passed on, so files must, after resolving
 * symbolic links, be below the current folder or one of --source-path, have the ending of a source file, and
 * have at most 4 MiB. Free the source if it was read. */
enum tool_source_state tool_source_read(const struct tool_report *report, const char *name,
                                        struct tool_source *source);
/* The text of that file, to be freed; NULL: see *state. */
char *tool_source_text(const struct tool_report *report, const char *name, enum tool_source_state *state);
/* The file that the row names, unless an earlier row names it; else NULL. */
const char *tool_new_source(const struct tool_report *report, size_t row);
/* Adds to the profile, and so to its trace, all sources that rows name and that are found. */
void tool_keep_sources(const struct tool_report *report);
/* Prints a line with the names of the omitted sources, if any. */
void tool_print_omitted(const struct tool_report *report);
void tool_source_free(struct tool_source *source);

/* One instruction of a listing. */
struct tool_instruction {
    uint64_t offset; /* from the start of the kernel */
    char *text;
};

struct tool_listing_of {
    struct tool_instruction *instruction;
    size_t count;
};

/* Reads the instructions of the row's symbol; false: its code is unknown. Free the listing if true. */
bool tool_listing_read(const struct tool_report *report, const struct wm_profile_row *row,
                       struct tool_listing_of *listing);
void tool_listing_free(struct tool_listing_of *listing);

#endif

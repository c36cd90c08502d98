/* SPDX-License-Identifier: MIT */
/* What instructions come from: lines of source files, and the listing of a kernel. */
#ifndef WAVEMEM_TOOL_SOURCE_H
#define WAVEMEM_TOOL_SOURCE_H

#include "tool/report/report.h"

/* A source file, line by line. */
struct tool_source {
    char *text;
    const char **line; /* without line feeds; line[0] is line 1 */
    size_t count;
};

/* What became of a source file that was looked for. */
enum tool_source_state {
    TOOL_SOURCE_READ,
    TOOL_SOURCE_MISSING, /* there is none, or it is no source */
    TOOL_SOURCE_OMITTED, /* it lies outside the folders that sources may be taken from */
};

/* Reads the file that debug information calls `name`. Looks for it in the folders of --source-path, there
 * also by the last components of the name alone, longest first, as code may have been built elsewhere; in the
 * trace that is replayed; at the name as it is; beside the code objects and one folder above them.
 *
 * The name comes from a stranger's code object and the text may be passed on, so only files are taken that
 * lie, symbolic links resolved, below the current folder or one of --source-path, with the endings of sources
 * and of at most 4 MiB. Free the source if it was read. */
enum tool_source_state tool_source_read(const struct tool_report *report, const char *name,
                                        struct tool_source *source);
/* Gives the profile, and so its trace, all sources that its rows name and that are found. */
void tool_keep_sources(const struct tool_report *report);
/* Prints a line with the names of the sources that were omitted, if there are any. */
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

/* The instructions of the symbol that the row lies in; false where its code is not known. Free it if true. */
bool tool_listing_read(const struct tool_report *report, const struct wm_profile_row *row,
                       struct tool_listing_of *listing);
void tool_listing_free(struct tool_listing_of *listing);

#endif

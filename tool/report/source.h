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

/* Reads the file that debug information calls `name`. Looks for it in the folder of --source=DIR, in the
 * trace that is replayed, at the name as it is, beside the code objects and one folder above them. Takes only
 * files with the endings of sources and of at most 4 MiB: the name comes from a stranger's code object. False
 * where there is none; free it if true. */
bool tool_source_read(const struct tool_report *report, const char *name, struct tool_source *source);
/* Gives the profile, and so its trace, all sources that its rows name and that are found. */
void tool_keep_sources(const struct tool_report *report);
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

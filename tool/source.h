/* SPDX-License-Identifier: MIT */
/* What instructions come from: lines of source files, and the listing of a kernel. */
#ifndef WAVEMEM_TOOL_SOURCE_H
#define WAVEMEM_TOOL_SOURCE_H

#include "report.h"

/* A source file, line by line. */
struct tool_source {
    char *text;
    const char **line; /* without line feeds; line[0] is line 1 */
    size_t count;
};

/* Reads the file that debug information calls `name`. Looks for it in `folder` (or NULL), at the name as it
 * is, beside the code objects and one folder above them. Takes only files with the endings of sources and of
 * at most 4 MiB: the name comes from a stranger's code object. False where there is none; free it if true. */
bool tool_source_read(const char *name, const char *folder, const struct tool_origin *origins, size_t count,
                      struct tool_source *source);
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

/* The instructions of the symbol that the row lies in, from the code object that has that row's text there;
 * false where none has. Free it if true. */
bool tool_listing_read(const struct wm_profile_row *row, const struct tool_origin *origins, size_t count,
                       struct tool_listing_of *listing);
void tool_listing_free(struct tool_listing_of *listing);

#endif

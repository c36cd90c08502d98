/* SPDX-License-Identifier: MIT */
/* Assembles files in LLVM's syntax. */
#ifndef WMI_ASSEMBLER_H
#define WMI_ASSEMBLER_H

#include "wavemem/wavemem.h"

struct wmi_assemble_options {
    const char *name;           /* file name for messages; .include searches its folder */
    const char *target;         /* gfx90a:xnack+ */
    bool raw;                   /* output only the bytes of .text */
    bool lines;                 /* write line tables for the lines of `text`, unless it has .file and .loc */
    bool reads_files;           /* whether .include and .incbin may read files */
    const char *const *folders; /* further folders that these search */
    size_t folder_count;
    const char *const *symbols; /* "NAME=NUMBER" */
    size_t symbol_count;
};

/* Whether the text is NAME=NUMBER. */
bool wmi_is_definition(const char *text);

/* Assembles `text`. Returns WM_OK with malloc'ed *bytes. *messages is set to malloc'ed text, lines of
 * "name:line:column: error: ..." or warnings; NULL if out of memory. */
enum wm_status wmi_assemble_file(const char *text, size_t size, const struct wmi_assemble_options *options,
                                 uint8_t **bytes, size_t *bytes_size, char **messages);

#endif

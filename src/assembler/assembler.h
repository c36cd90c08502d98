/* SPDX-License-Identifier: MIT */
/* Assembles files of LLVM's syntax. */
#ifndef WMI_ASSEMBLER_H
#define WMI_ASSEMBLER_H

#include "wavemem/wavemem.h"

struct wmi_assemble_options {
    const char *name;           /* of the file, for messages; .include looks beside it */
    const char *target;         /* gfx90a:xnack+ */
    bool raw;                   /* only the bytes of .text */
    bool lines;                 /* line tables that name the lines of `text`, unless it has .file and .loc */
    bool reads_files;           /* whether .include and .incbin may read files */
    const char *const *folders; /* where they look besides */
    size_t folder_count;
};

/* Assembles `text`. Returns WM_OK with malloc'ed *bytes. *messages becomes malloc'ed text, lines of
 * "name:line:column: error: ...", or of warnings; NULL without memory. */
enum wm_status wmi_assemble_file(const char *text, size_t size, const struct wmi_assemble_options *options,
                                 uint8_t **bytes, size_t *bytes_size, char **messages);

#endif

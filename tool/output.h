/* SPDX-License-Identifier: MIT */
/* Files that the command writes: they are whole, or there are none. */
#ifndef WAVEMEM_TOOL_OUTPUT_H
#define WAVEMEM_TOOL_OUTPUT_H

#include <stdio.h>

/* Begins the file; NULL after a message that begins with the option that names it. */
FILE *tool_begin_file(const char *option, const char *path);
/* Ends it. TOOL_WRONG, after a message: something was not written, and the file is gone. */
int tool_end_file(const char *option, const char *path, FILE *file);

#endif

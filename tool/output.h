/* SPDX-License-Identifier: MIT */
/* Files that the command writes: they are whole, or there are none. */
#ifndef WAVEMEM_TOOL_OUTPUT_H
#define WAVEMEM_TOOL_OUTPUT_H

#include <stdio.h>

/* 0 where a file of that name can be created or overwritten, else why not (errno). Nothing is left there, and
 * what is there stays as it is. */
int tool_file_error(const char *path);
/* The same with a message that begins with the option that names it: TOOL_CLEAN or TOOL_WRONG. For before
 * hours are spent on its content. */
int tool_check_file(const char *option, const char *path);

/* Begins the file; NULL after a message that begins with the option that names it. */
FILE *tool_begin_file(const char *option, const char *path);
/* Ends it. TOOL_WRONG, after a message: something was not written, and the file is gone. */
int tool_end_file(const char *option, const char *path, FILE *file);

#endif

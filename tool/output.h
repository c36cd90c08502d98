/* SPDX-License-Identifier: MIT */
/* Output files of the command: either complete or absent. */
#ifndef WAVEMEM_TOOL_OUTPUT_H
#define WAVEMEM_TOOL_OUTPUT_H

#include <stdio.h>

/* 0 where a file of that name can be created or overwritten, else why not (errno). Nothing is left there, and
 * what is there stays as it is. */
int tool_file_error(const char *path);
/* The same with a message that begins with the name of the option: TOOL_CLEAN or TOOL_WRONG. For before
 * hours are spent on its content. */
int tool_check_file(const char *option, const char *path);

/* Starts the file. Returns NULL after a message that begins with the name of the option. */
FILE *tool_begin_file(const char *option, const char *path);
/* Completes the file. TOOL_WRONG, after a message: writing failed, and the file was removed. */
int tool_end_file(const char *option, const char *path, FILE *file);

#endif

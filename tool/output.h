/* SPDX-License-Identifier: MIT */
/* Output files of the command: either complete or absent. */
#ifndef WAVEMEM_TOOL_OUTPUT_H
#define WAVEMEM_TOOL_OUTPUT_H

#include "base/whole_file.h"

#include <stdbool.h>

/* A file being written, to `whole.stream`. */
struct tool_file {
    const char *option, *path; /* what messages begin with, "--csv", and the name as it was given */
    struct wmi_whole_file whole;
};

/* TOOL_WRONG, after a message that begins with the option, where no file of that name can be written. For
 * before hours are spent on its content: nothing is left there, and what is there stays as it is. */
int tool_check_file(const char *option, const char *path);

/* Begins the file; false after a message. `option` and `path` must stay. */
bool tool_begin_file(struct tool_file *file, const char *option, const char *path);
/* Ends it. TOOL_WRONG, after a message: something was not written, and it is as if it had not been begun. */
int tool_end_file(struct tool_file *file);
/* Gives it up, without a message. */
void tool_drop_file(struct tool_file *file);

#endif

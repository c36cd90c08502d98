/* SPDX-License-Identifier: MIT */
/* Output files of the command: either complete or absent. */
#ifndef WAVEMEM_TOOL_OUTPUT_H
#define WAVEMEM_TOOL_OUTPUT_H

#include "base/whole_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file being written, to `whole.stream`. */
struct tool_file {
    const char *option, *path; /* prefix of messages, such as "--csv"; the path as given */
    struct wmi_whole_file whole;
};

/* Checks, before a long computation, that the file can be written, without creating or changing it.
 * TOOL_WRONG: it cannot, after a message that begins with the option. */
int tool_check_file(const char *option, const char *path);

/* Begins the file; false: failed, with a message. `option` and `path` must stay valid. */
bool tool_begin_file(struct tool_file *file, const char *option, const char *path);
/* Completes the file. TOOL_WRONG, after a message: writing failed, and an existing file is unchanged. */
int tool_end_file(struct tool_file *file);
/* Discards the file, without a message. */
void tool_drop_file(struct tool_file *file);
/* Writes the file of -o; "-" is standard output, for which main() checks for write errors. */
int tool_write_object(const char *path, const uint8_t *bytes, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* The arguments of a kernel by name, and texts that describe them. */
#ifndef WAVEMEM_TOOL_FORMALS_H
#define WAVEMEM_TOOL_FORMALS_H

#include "tool/arguments/job.h"

/* Finds an argument by name or position; `formals`: none. */
size_t tool_find_argument(const struct tool_dispatch *d, const char *key);
/* What finds the argument: its name, or its position if it has none or shares it with an earlier argument, as
 * padding in kernels written in assembly does. */
void tool_argument_key(const struct tool_dispatch *d, size_t argument, char *text, size_t size);
/* "float*", or a description by kind and size if the type has no name. */
void tool_describe_type(const struct wm_argument *formal, char *text, size_t size);
/* "argument 2 'n'" */
void tool_argument_title(const struct tool_dispatch *dispatch, size_t argument, char *text, size_t size);
/* The names of the arguments, separated by commas, as far as they fit. */
void tool_list_arguments(const struct tool_dispatch *d, char *list, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* What `wavemem check` and --check are asked for. */
#ifndef WAVEMEM_TOOL_CHECK_REQUEST_H
#define WAVEMEM_TOOL_CHECK_REQUEST_H

#include "wavemem/wavemem.h"

#include <stdbool.h>

struct tool_check_request {
    bool given;       /* `wavemem check`, or --check */
    unsigned classes; /* enum wm_check_what; 0: none yet */
};

/* Adds the classes of a list like "race,uninit". TOOL_WRONG: an unknown one, with a message that begins with
 * `where` and the option. */
int tool_check_add_classes(struct tool_check_request *request, const char *option, const char *list,
                           const char *where);
/* Sets the classes to all that the library has if none are chosen. */
void tool_check_complete(struct tool_check_request *request);
/* The name of a class: one bit of enum wm_check_what. */
const char *tool_check_class_name(enum wm_check_what class);

#endif

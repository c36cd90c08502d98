/* SPDX-License-Identifier: MIT */
#ifndef TESTS_KERNEL_OPEN_OBJECT_H
#define TESTS_KERNEL_OPEN_OBJECT_H

#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>

/* Opens the code object that a test program takes as its only argument. */
static inline struct wm_object *open_object(int count, char **arguments, const char *usage)
{
    struct wm_object *object;
    struct wm_diag diag;
    if (count != 2) {
        fprintf(stderr, "usage: %s\n", usage);
        exit(2);
    }
    if (wm_object_open_file(arguments[1], NULL, &object, &diag) != WM_OK) {
        fprintf(stderr, "%s\n", diag.message);
        exit(2);
    }
    return object;
}

#endif

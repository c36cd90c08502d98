/* SPDX-License-Identifier: MIT */
/* NumPy's .npy files; source: numpy.lib.format, versions 1.0, 2.0 and 3.0. */
#ifndef WAVEMEM_TOOL_NPY_H
#define WAVEMEM_TOOL_NPY_H

#include "tool/arguments/value.h"

#include <stdio.h>

struct tool_npy {
    const struct tool_type *type;
    uint64_t count; /* elements */
    size_t data;    /* bytes before them */
    char shape[96]; /* as in the header: "(3, 4)" */
};

/* Reads the header of the `size` bytes of a file called `name`, and checks that the elements follow it. Takes
 * little-endian C order, integers, bool and floats of up to 8 bytes. */
bool tool_npy_parse(const void *bytes, size_t size, const char *name, struct tool_npy *npy,
                    struct wm_diag *diag);

/* Writes `count` elements, as version 1.0. `shape`: as in struct tool_npy, or NULL for one dimension. Errors
 * are left to ferror(). */
void tool_npy_write(FILE *file, const struct tool_type *type, const void *elements, uint64_t count,
                    const char *shape);

#endif

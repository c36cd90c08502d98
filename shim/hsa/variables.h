/* SPDX-License-Identifier: MIT */
/* The names of a code object's variables. */
#ifndef SHIM_VARIABLES_H
#define SHIM_VARIABLES_H

#include "shim.h"

struct shim_variables {
    char **names;
    size_t count;
};

/* Lists the variables; an input that is not an ELF file has none. False: no memory. */
bool shim_variables_find(const void *bytes, size_t size, struct shim_variables *list);
void shim_variables_free(struct shim_variables *list);

#endif

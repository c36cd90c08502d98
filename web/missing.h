/* SPDX-License-Identifier: MIT */
/* What emscripten's C library lacks; included into every file of the module. */
#ifndef WAVEMEM_WEB_MISSING_H
#define WAVEMEM_WEB_MISSING_H

#include <stddef.h>

void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *),
             void *user);

#endif

/* SPDX-License-Identifier: MIT */
/* Copies of a few dozen bytes whose length is not a constant, for which compilers expand memcpy to slow
 * string instructions. */
#ifndef WMI_COPY_H
#define WMI_COPY_H

#include <stddef.h>
#include <string.h>

/* The areas must not overlap. Accesses no bytes outside them. */
static inline void wmi_copy_short(char *restrict to, const char *restrict from, size_t length)
{
    enum { BLOCK = 16, HALF = 8, QUARTER = 4 };
    if (length >= BLOCK) {
        for (size_t i = 0; i + BLOCK < length; i += BLOCK)
            memcpy(to + i, from + i, BLOCK);
        memcpy(to + length - BLOCK, from + length - BLOCK, BLOCK);
    } else if (length >= HALF) {
        memcpy(to, from, HALF);
        memcpy(to + length - HALF, from + length - HALF, HALF);
    } else if (length >= QUARTER) {
        memcpy(to, from, QUARTER);
        memcpy(to + length - QUARTER, from + length - QUARTER, QUARTER);
    } else if (length) {
        to[0] = from[0];
        to[length / 2] = from[length / 2];
        to[length - 1] = from[length - 1];
    }
}

#endif

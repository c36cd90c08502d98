/* SPDX-License-Identifier: MIT */
/* Arrays that grow by doubling. */
#ifndef WMI_GROW_H
#define WMI_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Grows the array, if it is full with `count` elements, to twice its capacity, or from none to `first`.
 * array: points to the pointer to the elements, of `size` bytes each. False: no memory; nothing has changed.
 */
static inline bool wmi_grow_from(void *array, size_t *capacity, size_t count, size_t size, size_t first)
{
    const size_t wanted = *capacity ? 2 * *capacity : first;
    void *elements;
    if (count < *capacity)
        return true;
    memcpy(&elements, array, sizeof elements);
    if (!(elements = realloc(elements, wanted * size)))
        return false;
    memcpy(array, &elements, sizeof elements);
    *capacity = wanted;
    return true;
}

static inline bool wmi_grow(void *array, size_t *capacity, size_t count, size_t size)
{
    return wmi_grow_from(array, capacity, count, size, 64);
}

#endif

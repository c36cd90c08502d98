/* SPDX-License-Identifier: MIT */
/* Shared by the fast steps of vector memory: the shape of a lane's access, and rows as vectors. For
 * *_lanes.c. */
#ifndef WMI_VMEM_SHAPE_H
#define WMI_VMEM_SHAPE_H

#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

/* Guest memory has no declared type and any alignment. */
typedef uint32_t __attribute__((aligned(1), may_alias)) word;
typedef uint16_t __attribute__((aligned(1), may_alias)) half;

/* What one lane moves. */
struct shape {
    unsigned elements, bytes;
    bool is_signed, d16, d16_hi;
};

INLINE void put(unsigned char *p, uint32_t value, struct shape shape)
{
    if (shape.d16_hi)
        value >>= 16;
    if (shape.bytes == 4)
        *(word *)p = value;
    else if (shape.bytes == 2)
        *(half *)p = (uint16_t)value;
    else
        *p = (unsigned char)value;
}

enum { VECTORS = WMI_LANES / WMI_VECTOR_LANES };

INLINE u32v vector(const uint32_t *row, unsigned v)
{
    return ((const u32v *)__builtin_assume_aligned(row, 64))[v];
}

#endif

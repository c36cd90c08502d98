/* SPDX-License-Identifier: MIT */
/* Reference for integer atomics: the new value from memory, data and comparand. */
#ifndef ATOMIC_OPERATIONS_H
#define ATOMIC_OPERATIONS_H

#include <stdint.h>

#define OPERATION(name, expression)                                                                          \
    static uint64_t name(uint64_t m, uint64_t d, uint64_t c, unsigned bits)                                  \
    {                                                                                                        \
        (void)m, (void)d, (void)c, (void)bits;                                                               \
        return expression;                                                                                   \
    }
OPERATION(swap, d)
OPERATION(cmpswap, m == c ? d : m)
OPERATION(add, m + d)
OPERATION(sub, m - d)
OPERATION(umin, m < d ? m : d)
OPERATION(umax, m > d ? m : d)
OPERATION(and, m &d)
OPERATION(or, m | d)
OPERATION(xor, m ^ d)
OPERATION(inc, m >= d ? 0 : m + 1)
OPERATION(dec, m == 0 || m > d ? d : m - 1)

#endif

/* SPDX-License-Identifier: MIT */
/* With WAVEMEM_BENCH_SMALL in the environment, as in the tests, every benchmark takes about a second: it runs
 * the same code, but its figures are meaningless and not compared with goals. */
#ifndef WAVEMEM_BENCH_SMALL_H
#define WAVEMEM_BENCH_SMALL_H

#include <stdlib.h>

/* Returns `small` with WAVEMEM_BENCH_SMALL, else `usual`. */
static inline unsigned bench_size(unsigned usual, unsigned small)
{
    return getenv("WAVEMEM_BENCH_SMALL") ? small : usual;
}

#endif

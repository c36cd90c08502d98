/* SPDX-License-Identifier: MIT */
/* WAVEMEM_BENCH_SMALL in the environment makes every benchmark take a second or so: it does all that it does,
 * but measures nothing worth reading and holds nothing against a goal. The tests run them so. */
#ifndef WAVEMEM_BENCH_SMALL_H
#define WAVEMEM_BENCH_SMALL_H

#include <stdlib.h>

/* `usual`, or `small` if that is asked for. */
static inline unsigned bench_size(unsigned usual, unsigned small)
{
    return getenv("WAVEMEM_BENCH_SMALL") ? small : usual;
}

#endif

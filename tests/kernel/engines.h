/* SPDX-License-Identifier: MIT */
/* How rocRAND seeds the engines of XORWOW and MRG32k3a, one per lane, and what they write. Source:
 * rocRAND 5.3.3, rocrand_xorwow.h, rocrand_mrg32k3a.h and library/src/rng. */
#ifndef WAVEMEM_TESTS_ENGINES_H
#define WAVEMEM_TESTS_ENGINES_H

#include "distributions.h"

#include <stddef.h>

enum { ENGINE_BYTES = 24 };

struct engine_family {
    const char *symbol; /* in the mangled names of its kernels */
    const struct distribution *distributions;
    void (*seed)(void *engines, uint64_t seed, size_t count); /* engine i at the start of subsequence i */
    uint32_t (*next)(void *engine);
};
extern const struct engine_family xorwow_family, mrg32k3a_family;

/* The expected output of generate_kernel, with `count` engines of which lane 0 has number `start`, for n
 * elements that start `skew` elements after an aligned address: lanes take whole groups in order, and the
 * lane after the last group fills the ends. */
void engines_expect(const struct engine_family *family, const struct distribution *d, uint8_t *engines,
                    uint32_t count, uint32_t start, uint8_t *data, size_t n, unsigned skew);

#endif

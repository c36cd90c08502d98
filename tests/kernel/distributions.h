/* SPDX-License-Identifier: MIT */
/* How rocRAND derives elements from a generator's words. Source: rocRAND 5.3.3, rocrand_uniform.h,
 * rocrand_normal.h, rocrand_discrete.h and library/src/rng/distribution. */
#ifndef WAVEMEM_TESTS_DISTRIBUTIONS_H
#define WAVEMEM_TESTS_DISTRIBUTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DISTRIBUTIONS = 13,
    MOST_IN = 4,
    MOST_BYTES = 16
}; /* maximum words per element, maximum bytes of
    * elements made at once */

/* Parameters of the kernel: none; mean and deviation; a table of a discrete distribution. */
enum distribution_parameters { NO_PARAMETERS, FLOATS, DOUBLES, HALVES, TABLE };

/* `in` words make `out` elements of `size` bytes. */
struct distribution {
    const char *type; /* in the mangled name of the kernel */
    unsigned size, in, out;
    void (*make)(const uint32_t *in, void *out);
    /* For Sobol's sequence, instead of make: one element from a number of `bits` bits. `out` is then the
     * number of elements that a lane makes at once. */
    void (*make_one)(uint64_t number, unsigned bits, void *out);
    enum distribution_parameters parameters;
    double absolute, relative; /* tolerance of floats of any size; both 0: bit-exact */
};

extern const struct distribution distributions[DISTRIBUTIONS], mrg_distributions[DISTRIBUTIONS],
    sobol_distributions[DISTRIBUTIONS];

struct distribution_values {
    float floats[2];
    double doubles[2];
    _Float16 halves[2]; /* for Sobol; other generators duplicate each */
};
extern const struct distribution_values distribution_values;

enum { TABLE_SIZE = 37, TABLE_OFFSET = 5 };
/* Arbitrary values that exercise all paths. */
struct distribution_table {
    uint32_t alias[TABLE_SIZE];
    double probability[TABLE_SIZE], cdf[TABLE_SIZE];
};
void distribution_make_table(struct distribution_table *table);

/* Whether `got` matches the element `expected`. */
bool distribution_same(const struct distribution *distribution, const void *got, const void *expected);

#endif

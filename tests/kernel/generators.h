/* SPDX-License-Identifier: MIT */
/* The random number generators of librocrand1, implemented independently from their authors' descriptions,
 * one number at a time and with jumps by powers of their transition matrices. */
#ifndef WAVEMEM_TESTS_GENERATORS_H
#define WAVEMEM_TESTS_GENERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Philox4x32-10. Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
 */
void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t result[4]);

/* XORWOW. Source: Marsaglia, "Xorshift RNGs" (2003), section 3.1. d is his Weyl sequence. */
struct xorwow {
    uint32_t d, x[5];
};
uint32_t xorwow_next(struct xorwow *state);
/* 160 x 160 bits: column j is the image of bit j of x. */
struct xorwow_jump {
    uint32_t column[160][5];
};
/* A jump of 2^log2 steps. */
void xorwow_make_jump(struct xorwow_jump *jump, unsigned log2);
/* Advances x; d must be advanced by 362437 per step. */
void xorwow_apply_jump(const struct xorwow_jump *jump, struct xorwow *state);

/* MRG32k3a. Source: L'Ecuyer, "Good parameters and implementations for combined multiple recursive random
 * number generators" (1999). Numbers are 1 to m1. */
struct mrg32k3a {
    uint32_t s1[3], s2[3]; /* oldest first */
};
uint32_t mrg32k3a_next(struct mrg32k3a *state);
struct matrix3 {
    uint64_t m[3][3];
};
struct mrg32k3a_jump {
    struct matrix3 a1, a2;
};
void mrg32k3a_make_jump(struct mrg32k3a_jump *jump, unsigned log2);
void mrg32k3a_apply_jump(const struct mrg32k3a_jump *jump, struct mrg32k3a *state);

/* MTGP32 of period 2^11213 - 1. Source: Saito, Matsumoto, "Variants of Mersenne Twister suitable for graphic
 * processors" (2013). */
enum { MTGP_MEXP = 11213, MTGP_WORDS = MTGP_MEXP / 32 + 1, MTGP_TABLE = 16 };
struct mtgp32_parameters {
    int32_t mexp, pos, sh1, sh2;
    uint32_t table[MTGP_TABLE], temper[MTGP_TABLE], float_temper[MTGP_TABLE];
    uint32_t mask;
    uint8_t sha1[21];
};
struct mtgp32 {
    const struct mtgp32_parameters *parameters;
    uint32_t *words; /* the complete state sequence, which grows */
    size_t at, room;
};
void mtgp32_seed(struct mtgp32 *state, const struct mtgp32_parameters *parameters, uint32_t seed);
uint32_t mtgp32_next(struct mtgp32 *state);
void mtgp32_free(struct mtgp32 *state);

/* Sobol's sequence with the direction numbers new-joe-kuo-6. Source: Joe, Kuo, "Constructing Sobol sequences
 * with better two-dimensional projections" (2008), and their list of primitive polynomials and initial
 * numbers. */
enum { SOBOL_DIMENSIONS = 8 };
/* The first `bits` direction numbers of a dimension (from 0), aligned to the top of `bits` bits. */
void sobol_directions(unsigned dimension, unsigned bits, uint64_t *directions);
/* Number `index` of the sequence, in Gray code order. */
uint64_t sobol_number(const uint64_t *directions, unsigned bits, uint64_t index);

#endif

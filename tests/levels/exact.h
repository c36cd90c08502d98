/* SPDX-License-Identifier: MIT */
/* Binary floating point in integer arithmetic: the reference of the level tests for float bodies. */
#ifndef WM_TEST_EXACT_H
#define WM_TEST_EXACT_H

#include <stdbool.h>
#include <stdint.h>

/* A binary format: number of fraction and exponent bits. */
struct format {
    int fraction, exponent;
};

extern const struct format exact_f16, exact_f32, exact_f64;

enum direction { TO_EVEN, UPWARD, DOWNWARD, TOWARD_ZERO }; /* as in MODE */

/* (-1)^negative * digits * 2^scale, digits below 2^120. */
struct number {
    bool negative;
    unsigned __int128 digits;
    int scale;
};

enum kind { ZERO, DENORMAL, NORMAL, INFINITE, QUIET, SIGNALLING };

enum kind exact_kind(const struct format *format, uint64_t bits);
bool exact_negative(const struct format *format, uint64_t bits);
bool exact_is_nan(const struct format *format, uint64_t bits);
uint64_t exact_quiet(const struct format *format, uint64_t bits);
uint64_t exact_infinity(const struct format *format, bool negative);
uint64_t exact_zero(const struct format *format, bool negative);
uint64_t exact_default_nan(const struct format *format, bool negative);
/* Flushes denormals to zero. */
uint64_t exact_flush(const struct format *format, uint64_t bits);

/* The value of a zero or finite number. */
struct number exact_value(const struct format *format, uint64_t bits);
struct number exact_product(struct number a, struct number b);
/* The sum; if it does not fit, the last digit is sticky, which does not affect rounding to a format. A zero
 * sum of opposite signs is negative only when rounding down. */
struct number exact_sum(struct number a, struct number b, enum direction direction);
/* Returns -1, 0 or 1. */
int exact_compare(struct number a, struct number b);
/* Rounds to the format. flush: a result below the smallest normal number becomes zero. As on x86, a number
 * that rounds up to the smallest normal number with an unbounded exponent is kept; with `late`, so is one
 * that does so at denormal precision. */
uint64_t exact_round(const struct format *format, struct number x, enum direction direction, bool flush,
                     bool late);
/* Rounds to an integral value. */
struct number exact_integral(struct number x, enum direction direction);

#endif

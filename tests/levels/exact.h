/* SPDX-License-Identifier: MIT */
/* Binary floating point in plain integers, for the level tests: the judge of the float bodies. */
#ifndef WM_TEST_EXACT_H
#define WM_TEST_EXACT_H

#include <stdbool.h>
#include <stdint.h>

/* A binary format: bits of the fraction and of the exponent. */
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
/* Denormals become zeros. */
uint64_t exact_flush(const struct format *format, uint64_t bits);

/* Of a zero or finite number. */
struct number exact_value(const struct format *format, uint64_t bits);
struct number exact_product(struct number a, struct number b);
/* The sum; where it does not fit, with a sticky last digit that no rounding to a format notices. A zero sum
 * of opposite signs is negative when rounding down only. */
struct number exact_sum(struct number a, struct number b, enum direction direction);
/* -1, 0, 1. */
int exact_compare(struct number a, struct number b);
/* Rounded to the format. flush: a result below the normal numbers becomes zero; a number that rounds up to
 * the smallest normal one with an unlimited exponent is kept, as x86 does, unless `late`, when it is kept
 * also if it does so with the denormals' fewer digits. */
uint64_t exact_round(const struct format *format, struct number x, enum direction direction, bool flush,
                     bool late);
/* Rounded to an integral value. */
struct number exact_integral(struct number x, enum direction direction);

#endif

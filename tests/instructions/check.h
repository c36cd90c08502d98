/* SPDX-License-Identifier: MIT */
/* Runs cases and compares their outcome with the expected one. */
#ifndef TESTS_INSTRUCTIONS_CHECK_H
#define TESTS_INSTRUCTIONS_CHECK_H

#include "case.h"

struct tally {
    unsigned cases, runs, values; /* values compared */
};

/* Runs all cases of a file on all their targets and CPU levels, observed and unobserved; reports
 * deviations. */
void check_file(const struct test_file *file, struct report *report, struct tally *tally);

#endif

/* SPDX-License-Identifier: MIT */
/* Runs cases and compares what they leave with what they expect. */
#ifndef TESTS_INSTRUCTIONS_CHECK_H
#define TESTS_INSTRUCTIONS_CHECK_H

#include "case.h"

struct tally {
    unsigned cases, runs, values; /* values compared */
};

/* Runs all cases of a file on all their targets, CPU levels, observed and unobserved; complains where they
 * are not as expected. */
void check_file(const struct test_file *file, struct report *report, struct tally *tally);

#endif

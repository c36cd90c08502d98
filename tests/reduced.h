/* SPDX-License-Identifier: MIT */
/* Whether the test shall do less, because a sanitizer makes it slow. */
#ifndef WAVEMEM_TESTS_REDUCED_H
#define WAVEMEM_TESTS_REDUCED_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool reduced(void)
{
    return getenv("WAVEMEM_TEST_REDUCED") != NULL;
}

#endif

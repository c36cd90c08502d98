/* SPDX-License-Identifier: MIT */
/* Reproducible random numbers: xorshift64*. */
#ifndef WAVEMEM_TESTS_RANDOM_H
#define WAVEMEM_TESTS_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252ULL;

static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1dULL;
}

static inline uint32_t random_word(void)
{
    return (uint32_t)(random_bits() >> 32);
}

/* 0 to limit - 1. */
static inline unsigned random_below(unsigned limit)
{
    return random_word() % limit;
}

#endif

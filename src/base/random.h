/* SPDX-License-Identifier: MIT */
/* The random numbers of `rand:TYPE:N:SEED` and of the examples: counter-based, so elements are independent.
 *
 * Element i of seed s comes from 64 bits, z = mix(s * 0x9E3779B97F4A7C15 + i), where mix is SplitMix64's
 * finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014, with Vigna's
 * constants). Integers are the top bits of z; floats its top bits as a fraction in [0, 1), all exact.
 * In NumPy, with G = np.uint64(0x9E3779B97F4A7C15) and z = np.uint64(s) * G + np.arange(n, dtype='u8') + G,
 *
 *     z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z >> 27) * 0x94D049BB133111EB; z ^= z >> 31
 *
 * and then f32 = (z >> 40).astype('f4') / 2**24, u32 = (z >> 32).astype('u4'). */
#ifndef WAVEMEM_BASE_RANDOM_H
#define WAVEMEM_BASE_RANDOM_H

#include <stdint.h>

/* All 64 bits of element `index`: used as they are for u64 and i64; narrower integers are the top bits. */
static inline uint64_t wmi_random_bits(uint64_t seed, uint64_t index)
{
    const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio, odd */
    uint64_t z = seed * golden + index + golden;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline uint32_t wmi_random_u32(uint64_t seed, uint64_t index)
{
    return wmi_random_bits(seed, index) >> 32;
}

/* 24 bits: a multiple of 2^-24 in [0, 1). */
static inline float wmi_random_f32(uint64_t seed, uint64_t index)
{
    return (float)(wmi_random_bits(seed, index) >> 40) * 0x1p-24f;
}

/* 53 bits: a multiple of 2^-53 in [0, 1). */
static inline double wmi_random_f64(uint64_t seed, uint64_t index)
{
    return (double)(wmi_random_bits(seed, index) >> 11) * 0x1p-53;
}

/* 11 bits: a multiple of 2^-11 in [0, 1), as the bits of an IEEE half. */
static inline uint16_t wmi_random_f16(uint64_t seed, uint64_t index)
{
    const uint32_t fraction = wmi_random_bits(seed, index) >> 53;
    if (fraction == 0)
        return 0;
    const int exponent = 31 - __builtin_clz(fraction); /* value: 1.m * 2^(exponent - 11) */
    return (uint16_t)((exponent - 11 + 15) << 10 | (fraction << (10 - exponent) & 0x3ff));
}

/* Which of `count` elements stands at place `index` of a random order, in which element 0 never stands first
 * unless it is alone. A Feistel network of four rounds permutes the next power of 4; what is too large is
 * permuted again. */
static inline uint64_t wmi_random_order(uint64_t seed, uint64_t count, uint64_t index)
{
    enum { ROUNDS = 4 };
    const uint64_t places[2] = {0, index};
    uint64_t element[2];
    unsigned half = 1;
    while (half < 32 && (count - 1) >> 2 * half)
        half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    for (unsigned i = 0; i < 2; i++) {
        element[i] = places[i];
        do {
            uint64_t left = element[i] >> half, right = element[i] & mask;
            for (uint64_t round = 0; round < ROUNDS; round++) {
                const uint64_t mixed = left ^ (wmi_random_bits(seed, right << 2 | round) >> 32 & mask);
                left = right;
                right = mixed;
            }
            element[i] = left << half | right;
        } while (element[i] >= count);
    }
    return element[0] ? element[1] : (element[1] + 1) % count;
}

#endif

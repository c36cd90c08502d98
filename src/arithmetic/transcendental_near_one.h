/* SPDX-License-Identifier: MIT */
/* log2 near one, as the units of gfx11 and gfx12 compute it: see transcendental_units.h. */
#ifndef WMI_TRANSCENDENTAL_NEAR_ONE_H
#define WMI_TRANSCENDENTAL_NEAR_ONE_H

#include <stdbool.h>
#include <stdint.h>

static const int32_t wmi_unit_log_above[][4] = {
#define LOG_ABOVE(c0, c1, c2, c3) {c0, c1, c2, c3},
#include "arithmetic/transcendental.def"
};
static const int32_t wmi_unit_log_below[][4] = {
#define LOG_BELOW(c0, c1, c2, c3) {c0, c1, c2, c3},
#include "arithmetic/transcendental.def"
};

/* x * 2^-n, rounded to nearest even. */
static inline int64_t wmi_unit_rounded(int64_t x, unsigned n)
{
    const int64_t q = x >> n, rest = x - q * (INT64_C(1) << n), half = INT64_C(1) << (n - 1);
    return q + (rest > half || (rest == half && q & 1));
}

/* x * 2^-scale truncated to 24 bits, one more with `more` or, with `up`, if anything was cut off. */
static inline uint32_t wmi_unit_cut(uint64_t x, int scale, bool up, bool more)
{
    const int width = 64 - __builtin_clzll(x), drop = width - 24;
    uint64_t m = drop > 0 ? x >> drop : x << -drop;
    m += more || (up && drop > 0 && x & ((UINT64_C(1) << drop) - 1));
    return (uint32_t)(width - 2 - scale + 127) * 0x800000 + (uint32_t)m; /* a carry moves into the exponent */
}

/* log2 for 63/64 <= x < 33/32, not 1. */
static inline uint32_t wmi_unit_log2_near_one(uint32_t bits)
{
    const bool above = bits > 0x3f800000;
    const int64_t i = above ? bits - 0x3f800000 : 0x3f800000 - bits;
    const int bit_width = 64 - __builtin_clzll((uint64_t)i);
    const bool narrow = bit_width < 18;
    if (above) {
        const unsigned row = i < 1 << 16 ? 0 : i < 1 << 17 ? 1 : 2;
        const int n = row == 0 ? (18 - bit_width) / 4 * 4 : 0;
        const int32_t *const c = wmi_unit_log_above[row];
        const int64_t wide = i * (INT64_C(1) << n), linear = c[1] * wide / 0x2000 * 4,
                      square = wide * i / 0x1000;
        const int64_t inner = wmi_unit_rounded(c[2] * INT64_C(0x400000) - c[3] * (2 * i + 1), 22);
        const int64_t product = inner * square;
        const int64_t quadratic =
            product >= INT64_C(1) << 47 ? 2 * wmi_unit_rounded(product, 24) : wmi_unit_rounded(product, 23);
        return wmi_unit_cut((uint64_t)(c[0] + linear - quadratic), 35 + n, false, true);
    }
    const unsigned row = i >= 1 << 17;
    const int n = narrow ? (18 - bit_width) / 4 * 4 : 0;
    const int32_t *const c = wmi_unit_log_below[row];
    const int64_t low = n < 14 ? (INT64_C(1) << (14 - n)) - 1 : 0;
    const int64_t low_square = n < 12 ? (INT64_C(1) << (12 - n)) - 1 : 0;
    const int64_t linear = 2 * c[1] * i & ~low, square = i * i & ~low_square;
    const int64_t inner = wmi_unit_rounded(c[2] * INT64_C(0x400000) + c[3] * (i - 1), 22);
    /* The product has more than 64 bits: its upper and lower halves of the square are rounded up together. */
    const unsigned drop = 38 - (unsigned)n;
    const int64_t low_product = inner * (square & 0xffff),
                  high_product = inner * (square >> 16) + (low_product >> 16);
    const bool lost = low_product & 0xffff || high_product & ((INT64_C(1) << (drop - 16)) - 1);
    const int64_t quadratic = (high_product >> (drop - 16)) + lost;
    const int64_t sum = 4 * linear + quadratic * (INT64_C(1) << (16 - n)) - (int64_t)c[0] * 0x10000;
    return 0x80000000u | wmi_unit_cut((uint64_t)sum, 50, true, false);
}

#endif

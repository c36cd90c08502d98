/* SPDX-License-Identifier: MIT */
/* Eight one-byte counters in a word. */
#ifndef WMI_BYTE_SUMS_H
#define WMI_BYTE_SUMS_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Adds `add` to each counter, saturating at `most`. */
static inline uint64_t wmi_byte_sums(uint64_t counters, uint64_t add, uint64_t most)
{
#ifdef __SSE2__
    const __m128i sum = _mm_adds_epu8(_mm_cvtsi64_si128((int64_t)counters), _mm_cvtsi64_si128((int64_t)add));
    return (uint64_t)_mm_cvtsi128_si64(_mm_min_epu8(sum, _mm_cvtsi64_si128((int64_t)most)));
#else
    uint64_t sums = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        const uint64_t sum = (counters >> shift & 0xff) + (add >> shift & 0xff), high = most >> shift & 0xff;
        sums |= (sum < high ? sum : high) << shift;
    }
    return sums;
#endif
}

#endif

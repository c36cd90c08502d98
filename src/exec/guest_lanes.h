/* SPDX-License-Identifier: MIT */
/* Moves elements of two and four words per lane between guest memory and rows of words, without splitting
 * them: see base/single_copy.h. For *_lanes.c. */
#ifndef WMI_GUEST_LANES_H
#define WMI_GUEST_LANES_H

#include "base/lanes.h"
#include "base/single_copy.h"
#include "base/vector.h"

typedef u64v __attribute__((aligned(1))) wmi_guest_vector;

static inline u64v wmi_read_vector(const unsigned char *p)
{
    return *(const volatile wmi_guest_vector *)p;
}

static inline void wmi_write_vector(unsigned char *p, u64v value)
{
    *(volatile wmi_guest_vector *)p = value;
}

/* ---- contiguous elements of a vector of lanes ---- */

/* The order of pairs of words, of which a vector holds half as many as lanes. */
#if WMI_VECTOR_BYTES == 64
#define WMI_ZIP_LOW_64  0, 8, 1, 9, 2, 10, 3, 11
#define WMI_ZIP_HIGH_64 4, 12, 5, 13, 6, 14, 7, 15
#define WMI_EVEN_64     0, 2, 4, 6, 8, 10, 12, 14
#define WMI_ODD_64      1, 3, 5, 7, 9, 11, 13, 15
#elif WMI_VECTOR_BYTES == 32
#define WMI_ZIP_LOW_64  0, 4, 1, 5
#define WMI_ZIP_HIGH_64 2, 6, 3, 7
#define WMI_EVEN_64     0, 2, 4, 6
#define WMI_ODD_64      1, 3, 5, 7
#else
#define WMI_ZIP_LOW_64  0, 2
#define WMI_ZIP_HIGH_64 1, 3
#define WMI_EVEN_64     0, 2
#define WMI_ODD_64      1, 3
#endif

/* The lanes' words, in pairs of rows. */
static inline void wmi_read_pairs(const unsigned char *from, struct wmi_f64x2 *pairs)
{
    for (int i = 0; i < 2; i++)
        pairs->v[i] = (f64v)wmi_read_vector(from + i * WMI_VECTOR_BYTES);
}

static inline void wmi_write_pairs(unsigned char *to, struct wmi_f64x2 pairs)
{
    for (int i = 0; i < 2; i++)
        wmi_write_vector(to + i * WMI_VECTOR_BYTES, (u64v)pairs.v[i]);
}

/* low: the first two words of each lane; high: the others. */
static inline void wmi_read_quads(const unsigned char *from, struct wmi_f64x2 *low, struct wmi_f64x2 *high)
{
    for (int i = 0; i < 2; i++) {
        const u64v first = wmi_read_vector(from + 2 * i * WMI_VECTOR_BYTES),
                   second = wmi_read_vector(from + (2 * i + 1) * WMI_VECTOR_BYTES);
        low->v[i] = (f64v)__builtin_shufflevector(first, second, WMI_EVEN_64);
        high->v[i] = (f64v)__builtin_shufflevector(first, second, WMI_ODD_64);
    }
}

static inline void wmi_write_quads(unsigned char *to, struct wmi_f64x2 low, struct wmi_f64x2 high)
{
    for (int i = 0; i < 2; i++) {
        const u64v l = (u64v)low.v[i], h = (u64v)high.v[i];
        wmi_write_vector(to + 2 * i * WMI_VECTOR_BYTES, __builtin_shufflevector(l, h, WMI_ZIP_LOW_64));
        wmi_write_vector(to + (2 * i + 1) * WMI_VECTOR_BYTES, __builtin_shufflevector(l, h, WMI_ZIP_HIGH_64));
    }
}

/* ---- elements anywhere ---- */

/* The pairs of words at base + at[i] of a vector of lanes. */
static inline struct wmi_f64x2 wmi_collect_pairs(const unsigned char *base, const uint32_t *at)
{
#define WMI_PAIR(i)       (*(const wmi_guest_64 *)(base + at[i]))
#define WMI_TWO_PAIRS(i)  WMI_PAIR(i), WMI_PAIR((i) + 1)
#define WMI_FOUR_PAIRS(i) WMI_TWO_PAIRS(i), WMI_TWO_PAIRS((i) + 2)
#define WMI_VECTOR_PAIRS(i)                                                                                  \
    (f64v)(u64v)                                                                                             \
    {                                                                                                        \
        WMI_PAIRS(i)                                                                                         \
    }
#if WMI_VECTOR_BYTES == 64
#define WMI_PAIRS(i) WMI_FOUR_PAIRS(i), WMI_FOUR_PAIRS((i) + 4)
#elif WMI_VECTOR_BYTES == 32
#define WMI_PAIRS WMI_FOUR_PAIRS
#else
#define WMI_PAIRS WMI_TWO_PAIRS
#endif
    return (struct wmi_f64x2){{WMI_VECTOR_PAIRS(0), WMI_VECTOR_PAIRS(WMI_VECTOR_LANES / 2)}};
}

/* low[i], high[i] <- the words at base + offset[i], for the lanes in `bits`; others are kept. Offsets are
 * below 2^31. */
WMI_INLINE void wmi_gather_pairs(wmi_word *low, wmi_word *high, const char *base, const wmi_word *offset,
                                 uint64_t bits)
{
#if WMI_LANES_AVX512
    const __m512i zero = _mm512_setzero_si512();
    for (unsigned i = 0; i < WMI_LANES; i += 16) {
        const __mmask16 active = (__mmask16)(bits >> i);
        const __m256i_u *at = (const __m256i_u *)(offset + i);
        const __m512i first = _mm512_mask_i32gather_epi64(zero, (__mmask8)active, _mm256_loadu_si256(at),
                                                          base, 1),
                      second = _mm512_mask_i32gather_epi64(zero, (__mmask8)(active >> 8),
                                                           _mm256_loadu_si256(at + 1), base, 1);
        const struct wmi_f64x2 pairs = {{(f64v)first, (f64v)second}};
        _mm512_storeu_si512(low + i, _mm512_mask_mov_epi32(_mm512_loadu_si512(low + i), active,
                                                           (__m512i)wmi_low_words(pairs)));
        _mm512_storeu_si512(high + i, _mm512_mask_mov_epi32(_mm512_loadu_si512(high + i), active,
                                                            (__m512i)wmi_high_words(pairs)));
    }
#else
    for (; bits; bits &= bits - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(bits);
        const uint64_t pair = wmi_read_64(base + offset[i]);
        low[i] = (uint32_t)pair;
        high[i] = (uint32_t)(pair >> 32);
    }
#endif
}

#endif

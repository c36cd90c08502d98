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

/* The order of triples: word k of three vectors is word k % 3 of lane k / 3. Shuffles take two vectors, so
 * the third one joins what is selected from the others. */
#define WMI_FOUR(m, i, n)    m(i, n), m((i) + 1, n), m((i) + 2, n), m((i) + 3, n)
#define WMI_EIGHT(m, i, n)   WMI_FOUR(m, i, n), WMI_FOUR(m, (i) + 4, n)
#define WMI_SIXTEEN(m, i, n) WMI_EIGHT(m, i, n), WMI_EIGHT(m, (i) + 8, n)
#if WMI_VECTOR_BYTES == 64
#define WMI_EACH(m, n) WMI_SIXTEEN(m, 0, n)
#elif WMI_VECTOR_BYTES == 32
#define WMI_EACH(m, n) WMI_EIGHT(m, 0, n)
#else
#define WMI_EACH(m, n) WMI_FOUR(m, 0, n)
#endif
#define WMI_WORD_IN_TWO(i, e) (3 * (i) + (e) < 2 * WMI_VECTOR_LANES ? 3 * (i) + (e) : 0)
#define WMI_WORD_IN_THIRD(i, e)                                                                              \
    (3 * (i) + (e) < 2 * WMI_VECTOR_LANES ? (i) : 3 * (i) + (e) - WMI_VECTOR_LANES)
#define WMI_WORD(i, n)         ((n) * WMI_VECTOR_LANES + (i))
#define WMI_ROW_IN_TWO(i, n)   (WMI_WORD(i, n) % 3 % 2 * WMI_VECTOR_LANES + WMI_WORD(i, n) / 3)
#define WMI_ROW_IN_THIRD(i, n) (WMI_WORD(i, n) % 3 == 2 ? WMI_VECTOR_LANES + WMI_WORD(i, n) / 3 : (i))
#define WMI_TRIPLE(x, two, third, n)                                                                         \
    __builtin_shufflevector(__builtin_shufflevector(x[0], x[1], WMI_EACH(two, n)), x[2], WMI_EACH(third, n))

static inline void wmi_read_triples(const unsigned char *from, u32v row[3])
{
    u32v x[3];
    for (int i = 0; i < 3; i++)
        x[i] = (u32v)wmi_read_vector(from + i * WMI_VECTOR_BYTES);
    row[0] = WMI_TRIPLE(x, WMI_WORD_IN_TWO, WMI_WORD_IN_THIRD, 0);
    row[1] = WMI_TRIPLE(x, WMI_WORD_IN_TWO, WMI_WORD_IN_THIRD, 1);
    row[2] = WMI_TRIPLE(x, WMI_WORD_IN_TWO, WMI_WORD_IN_THIRD, 2);
}

static inline void wmi_write_triples(unsigned char *to, const u32v row[3])
{
    wmi_write_vector(to, (u64v)WMI_TRIPLE(row, WMI_ROW_IN_TWO, WMI_ROW_IN_THIRD, 0));
    wmi_write_vector(to + WMI_VECTOR_BYTES, (u64v)WMI_TRIPLE(row, WMI_ROW_IN_TWO, WMI_ROW_IN_THIRD, 1));
    wmi_write_vector(to + 2 * WMI_VECTOR_BYTES, (u64v)WMI_TRIPLE(row, WMI_ROW_IN_TWO, WMI_ROW_IN_THIRD, 2));
}

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

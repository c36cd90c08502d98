/* SPDX-License-Identifier: MIT */
/* Lane operations that compilers do not vectorize well: masks to rows and back, gathers, permutes, pairs of
 * rows.
 *
 * A row is WMI_LANES words, one per lane. Each function has an equivalent in plain C, the last branch of its
 * #if, which WMI_LANES_PLAIN selects. Every translation unit gets the level that its compiler flags allow, so
 * only *_lanes.c files may include this header. */
#ifndef WMI_BASE_LANES_H
#define WMI_BASE_LANES_H

#include "base/lane_set.h"

#include <stdbool.h>
#include <string.h>

#if defined(WMI_LANES_PLAIN)
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define WMI_LANES_AVX512 1
#elif defined(__AVX2__)
#define WMI_LANES_AVX2 1
#elif defined(__SSE2__)
#define WMI_LANES_SSE2 1
#endif
#if WMI_LANES_AVX512 || WMI_LANES_AVX2
#include <immintrin.h>
#elif WMI_LANES_SSE2
#include <emmintrin.h>
#endif

#define WMI_INLINE static inline __attribute__((always_inline, unused))

/* Words of the frame are accessed as integers and floats; guest memory as any type, unaligned. */
typedef uint32_t __attribute__((may_alias)) wmi_word;
typedef uint64_t __attribute__((may_alias)) wmi_word64;
typedef uint32_t __attribute__((may_alias, aligned(1))) wmi_loose_word;

/* For loops whose iteration i accesses only lane i of each row: rows may alias, lanes do not. */
#ifdef __clang__
#define WMI_EACH_LANE _Pragma("clang loop vectorize(assume_safety)")
#else
#define WMI_EACH_LANE _Pragma("GCC ivdep")
#endif

/* All lanes of the wave. */
#define WMI_ALL_LANES (UINT64_MAX >> (64 - WMI_LANES))

/* row[i] <- all ones if bit i of `bits` is set, else 0. */
WMI_INLINE void wmi_lanes_expand(wmi_word *row, uint64_t bits)
{
#if WMI_LANES_AVX512
    for (unsigned i = 0; i < WMI_LANES; i += 16)
        _mm512_storeu_si512(row + i, _mm512_movm_epi32((__mmask16)(bits >> i)));
#elif WMI_LANES_AVX2
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (unsigned i = 0; i < WMI_LANES; i += 8) {
        const __m256i all = _mm256_set1_epi32((int)(bits >> i & 0xff));
        _mm256_storeu_si256((__m256i_u *)(row + i), _mm256_cmpeq_epi32(_mm256_and_si256(all, bit), bit));
    }
#elif WMI_LANES_SSE2
    const __m128i bit = _mm_setr_epi32(1, 2, 4, 8);
    for (unsigned i = 0; i < WMI_LANES; i += 4) {
        const __m128i all = _mm_set1_epi32((int)(bits >> i & 0xf));
        _mm_storeu_si128((__m128i_u *)(row + i), _mm_cmpeq_epi32(_mm_and_si128(all, bit), bit));
    }
#else
    for (unsigned i = 0; i < WMI_LANES; i++)
        row[i] = -((uint32_t)(bits >> (i & 32)) >> (i & 31) & 1);
#endif
}

/* Bit i of the result is the highest bit of row[i]: the sign, or any bit of a mask word. */
WMI_INLINE uint64_t wmi_lanes_pack(const wmi_word *row)
{
    uint64_t bits = 0;
#if WMI_LANES_AVX512
    for (unsigned i = 0; i < WMI_LANES; i += 16)
        bits |= (uint64_t)_mm512_movepi32_mask(_mm512_loadu_si512(row + i)) << i;
#elif WMI_LANES_AVX2
    for (unsigned i = 0; i < WMI_LANES; i += 8) {
        const __m256i words = _mm256_loadu_si256((const __m256i_u *)(row + i));
        bits |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(words)) << i;
    }
#elif WMI_LANES_SSE2
    for (unsigned i = 0; i < WMI_LANES; i += 16) {
        const __m128i_u *from = (const __m128i_u *)(row + i);
        const __m128i low = _mm_packs_epi32(_mm_loadu_si128(from), _mm_loadu_si128(from + 1));
        const __m128i high = _mm_packs_epi32(_mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << i;
    }
#else
    for (unsigned i = 0; i < WMI_LANES; i++)
        bits |= (uint64_t)(row[i] >> 31) << i;
#endif
    return bits;
}

/* Sets the lanes to `bits`, without those above the wave size. */
WMI_INLINE void wmi_lanes_set(struct wmi_lanes *set, uint64_t bits)
{
    bits &= WMI_ALL_LANES;
    set->bits = bits;
    set->full = bits == WMI_ALL_LANES;
    wmi_lanes_expand(set->row, bits);
}

#if WMI_LANES_AVX512
/* Stores words of a row where active. Not a masked store, because the next load from the row would stall. */
WMI_INLINE void wmi_lanes_put(wmi_word *row, __m512i words, const struct wmi_lanes *lanes, bool full,
                              unsigned i)
{
    if (!full)
        words = _mm512_ternarylogic_epi32(_mm512_loadu_si512(lanes->row + i), words,
                                          _mm512_loadu_si512(row + i), 0xca);
    _mm512_storeu_si512(row + i, words);
}
#endif

/* d[i] <- x[i] + y[i] + bit i of `carry`, in the lanes of the set; returns the carries of all lanes. d
 * may be x or y. */
WMI_INLINE uint64_t wmi_lanes_add(wmi_word *d, const wmi_word *x, const wmi_word *y, uint64_t carry,
                                  const struct wmi_lanes *lanes)
{
#if WMI_LANES_AVX512
    const __m512i ones = _mm512_set1_epi32(-1);
    const bool full = lanes->full;
    uint64_t out = 0;
    for (unsigned i = 0; i < WMI_LANES; i += 16) {
        const __mmask16 in = (__mmask16)(carry >> i);
        const __m512i from = _mm512_loadu_si512(y + i),
                      sum = _mm512_add_epi32(_mm512_loadu_si512(x + i), from);
        const __mmask16 over =
            _mm512_cmplt_epu32_mask(sum, from) | _mm512_mask_cmpeq_epi32_mask(in, sum, ones);
        const __m512i all = _mm512_mask_sub_epi32(sum, in, sum, ones);
        wmi_lanes_put(d, all, lanes, full, i);
        out |= (uint64_t)over << i;
    }
    return out;
#else
    uint32_t out[WMI_LANES];
    const wmi_word *mask = lanes->row;
    wmi_lanes_expand(out, carry);
    WMI_EACH_LANE
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t a = x[i], b = y[i], sum = a + b - out[i];
        out[i] = (a & b) | ((a | b) & ~sum);
        d[i] = (sum & mask[i]) | (d[i] & ~mask[i]);
    }
    return wmi_lanes_pack(out);
#endif
}

/* d[i] <- x[i] - y[i] - bit i of `borrow`, in the lanes of the set; returns the borrows of all lanes. d may
 * be x or y. */
WMI_INLINE uint64_t wmi_lanes_subtract(wmi_word *d, const wmi_word *x, const wmi_word *y, uint64_t borrow,
                                       const struct wmi_lanes *lanes)
{
#if WMI_LANES_AVX512
    const __m512i ones = _mm512_set1_epi32(-1);
    const bool full = lanes->full;
    uint64_t out = 0;
    for (unsigned i = 0; i < WMI_LANES; i += 16) {
        const __mmask16 in = (__mmask16)(borrow >> i);
        const __m512i from = _mm512_loadu_si512(x + i), less = _mm512_loadu_si512(y + i);
        const __m512i difference = _mm512_sub_epi32(from, less);
        const __mmask16 under =
            _mm512_cmplt_epu32_mask(from, less) | _mm512_mask_testn_epi32_mask(in, difference, difference);
        const __m512i all = _mm512_mask_add_epi32(difference, in, difference, ones);
        wmi_lanes_put(d, all, lanes, full, i);
        out |= (uint64_t)under << i;
    }
    return out;
#else
    uint32_t out[WMI_LANES];
    const wmi_word *mask = lanes->row;
    wmi_lanes_expand(out, borrow);
    WMI_EACH_LANE
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t a = x[i], b = y[i], difference = a - b + out[i];
        out[i] = (~a & b) | ((~a | b) & difference);
        d[i] = (difference & mask[i]) | (d[i] & ~mask[i]);
    }
    return wmi_lanes_pack(out);
#endif
}

/* Low and high words of 64-bit numbers, one per lane. */
struct wmi_lanes_64 {
    const wmi_word *low, *high;
    bool scalar_low, scalar_high; /* one word, used for all lanes */
};

/* d and d_high <- x + y, in the lanes of the set; returns the carries out of all lanes. d may be the low
 * words and d_high the high words of x or y, but d must not be high words. */
WMI_INLINE uint64_t wmi_lanes_add_64(wmi_word *d, wmi_word *d_high, const struct wmi_lanes_64 x,
                                     const wmi_word *y, const wmi_word *y_high, const struct wmi_lanes *lanes)
{
    const uint32_t low_word = *x.low, high_word = *x.high;
#if WMI_LANES_AVX512
    const __m512i ones = _mm512_set1_epi32(-1);
    const bool full = lanes->full;
    const __m512i low_all = _mm512_set1_epi32((int)low_word), high_all = _mm512_set1_epi32((int)high_word);
    uint64_t out = 0;
    for (unsigned i = 0; i < WMI_LANES; i += 16) {
        const __m512i a = x.scalar_low ? low_all : _mm512_loadu_si512(x.low + i);
        const __m512i low = _mm512_add_epi32(a, _mm512_loadu_si512(y + i));
        const __mmask16 carry = _mm512_cmplt_epu32_mask(low, a);
        const __m512i u = x.scalar_high ? high_all : _mm512_loadu_si512(x.high + i);
        const __m512i sum = _mm512_add_epi32(u, _mm512_loadu_si512(y_high + i));
        const __mmask16 over =
            _mm512_cmplt_epu32_mask(sum, u) | _mm512_mask_cmpeq_epi32_mask(carry, sum, ones);
        const __m512i high = _mm512_mask_sub_epi32(sum, carry, sum, ones);
        wmi_lanes_put(d, low, lanes, full, i);
        wmi_lanes_put(d_high, high, lanes, full, i);
        out |= (uint64_t)over << i;
    }
    return out;
#else
    uint32_t out[WMI_LANES];
    const wmi_word *mask = lanes->row;
    WMI_EACH_LANE
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t a = x.scalar_low ? low_word : x.low[i], b = y[i];
        const uint32_t u = x.scalar_high ? high_word : x.high[i], v = y_high[i];
        const uint32_t low = a + b, high = u + v + (((a & b) | ((a | b) & ~low)) >> 31);
        out[i] = (u & v) | ((u | v) & ~high);
        d[i] = (low & mask[i]) | (d[i] & ~mask[i]);
        d_high[i] = (high & mask[i]) | (d_high[i] & ~mask[i]);
    }
    return wmi_lanes_pack(out);
#endif
}

/* d[i] <- a[index[i] modulo WMI_LANES]. d may be a or index. */
WMI_INLINE void wmi_lanes_permute(wmi_word *d, const wmi_word *a, const wmi_word *index)
{
#if WMI_LANES_AVX512
    __m512i from[WMI_LANES / 16], to[WMI_LANES / 16];
    for (unsigned i = 0; i < WMI_LANES / 16; i++)
        from[i] = _mm512_loadu_si512(a + 16 * i);
    for (unsigned i = 0; i < WMI_LANES / 16; i++) {
        const __m512i at = _mm512_loadu_si512(index + 16 * i);
        to[i] = _mm512_permutex2var_epi32(from[0], at, from[1]);
#if WMI_LANES == 64
        const __m512i high = _mm512_permutex2var_epi32(from[2], at, from[3]);
        to[i] = _mm512_mask_mov_epi32(to[i], _mm512_test_epi32_mask(at, _mm512_set1_epi32(32)), high);
#endif
    }
    for (unsigned i = 0; i < WMI_LANES / 16; i++)
        _mm512_storeu_si512(d + 16 * i, to[i]);
#else
    uint32_t copy[WMI_LANES];
    memcpy(copy, a, sizeof copy);
    for (unsigned i = 0; i < WMI_LANES; i++)
        d[i] = copy[index[i] % WMI_LANES];
#endif
}

/* Each byte of d[i] <- by the same byte of select[i]: 0-3 a byte of b[i], 4-7 one of a[i], 8-11 the sign bit
 * of the upper byte of a half (b's two halves, then a's), replicated, 12 zeros, above 12 ones. d must not be
 * a source. */
WMI_INLINE void wmi_lanes_permute_bytes(wmi_word *d, const wmi_word *a, const wmi_word *b,
                                        const wmi_word *select)
{
#if WMI_LANES_AVX512
    const __m512i word = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
    const __m512i three = _mm512_set1_epi8(3), one = _mm512_set1_epi8(1), ones = _mm512_set1_epi8(-1);
    for (unsigned i = 0; i < WMI_LANES; i += 16) {
        const __m512i s = _mm512_loadu_si512(select + i);
        const __mmask64 special = _mm512_cmpgt_epu8_mask(s, _mm512_set1_epi8(7));
        /* the byte to select: s, or 2 * (s - 8) + 1 for signs */
        const __m512i sign = _mm512_or_si512(_mm512_add_epi8(s, s), one);
        const __m512i at = _mm512_mask_mov_epi8(s, special, sign);
        const __m512i inside = _mm512_or_si512(_mm512_and_si512(at, three), word);
        __m512i bytes = _mm512_shuffle_epi8(_mm512_loadu_si512(b + i), inside);
        const __mmask64 from_a = _mm512_test_epi8_mask(at, _mm512_set1_epi8(4));
        bytes = _mm512_mask_shuffle_epi8(bytes, from_a, _mm512_loadu_si512(a + i), inside);
        const __mmask64 set =
            (_mm512_movepi8_mask(bytes) & ~_mm512_cmpeq_epu8_mask(s, _mm512_set1_epi8(12))) |
            _mm512_cmpgt_epu8_mask(s, _mm512_set1_epi8(12));
        bytes = _mm512_mask_mov_epi8(bytes, special, _mm512_maskz_mov_epi8(set, ones));
        _mm512_storeu_si512(d + i, bytes);
    }
#elif WMI_LANES_AVX2
    const __m256i word =
        _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404, 0x08080808, 0x0c0c0c0c);
    const __m256i three = _mm256_set1_epi8(3), four = _mm256_set1_epi8(4), one = _mm256_set1_epi8(1);
    const __m256i twelve = _mm256_set1_epi8(12), zero = _mm256_setzero_si256();
    for (unsigned i = 0; i < WMI_LANES; i += 8) {
        /* 13 and above are equivalent: the compares are signed */
        const __m256i s =
            _mm256_min_epu8(_mm256_loadu_si256((const __m256i_u *)(select + i)), _mm256_set1_epi8(13));
        const __m256i special = _mm256_cmpgt_epi8(s, _mm256_set1_epi8(7));
        const __m256i sign = _mm256_or_si256(_mm256_add_epi8(s, s), one);
        const __m256i at = _mm256_blendv_epi8(s, sign, special);
        const __m256i inside = _mm256_or_si256(_mm256_and_si256(at, three), word);
        const __m256i from_a = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i_u *)(a + i)), inside);
        const __m256i from_b = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i_u *)(b + i)), inside);
        const __m256i is_a = _mm256_cmpeq_epi8(_mm256_and_si256(at, four), four);
        const __m256i bytes = _mm256_blendv_epi8(from_b, from_a, is_a);
        const __m256i signs =
            _mm256_andnot_si256(_mm256_cmpeq_epi8(s, twelve), _mm256_cmpgt_epi8(zero, bytes));
        const __m256i constant = _mm256_or_si256(signs, _mm256_cmpgt_epi8(s, twelve));
        _mm256_storeu_si256((__m256i_u *)(d + i), _mm256_blendv_epi8(bytes, constant, special));
    }
#else
    for (unsigned i = 0; i < WMI_LANES; i++) {
        uint32_t out = 0;
        for (unsigned shift = 0; shift < 32; shift += 8) {
            const uint32_t s = select[i] >> shift & 0xff;
            const uint32_t plain = (s & 4 ? a[i] : b[i]) >> 8 * (s & 3) & 0xff;
            const uint32_t sign = ((s & 2 ? a[i] : b[i]) >> (s & 1 ? 31 : 15) & 1) * 0xff;
            out |= (s < 8 ? plain : s < 12 ? sign : s == 12 ? 0 : 0xff) << shift;
        }
        d[i] = out;
    }
#endif
}

/* d[i] <- the word at base + offset[i], for the lanes in `bits`; others are kept. Offsets are below 2^31. */
WMI_INLINE void wmi_lanes_gather(wmi_word *d, const char *base, const wmi_word *offset, uint64_t bits)
{
#if WMI_LANES_AVX512
    for (unsigned i = 0; i < WMI_LANES; i += 16) {
        const __m512i at = _mm512_loadu_si512(offset + i), old = _mm512_loadu_si512(d + i);
        _mm512_storeu_si512(d + i, _mm512_mask_i32gather_epi32(old, (__mmask16)(bits >> i), at, base, 1));
    }
#else
    if (bits == WMI_ALL_LANES) {
        for (unsigned i = 0; i < WMI_LANES; i++)
            d[i] = *(const wmi_loose_word *)(base + offset[i]);
        return;
    }
    for (; bits; bits &= bits - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(bits);
        d[i] = *(const wmi_loose_word *)(base + offset[i]);
    }
#endif
}

/* The word at base + offset[i] <- a[i], for the lanes in `bits`, lowest first. Offsets are below 2^31. */
WMI_INLINE void wmi_lanes_scatter(char *base, const wmi_word *offset, const wmi_word *a, uint64_t bits)
{
#if WMI_LANES_AVX512
    for (unsigned i = 0; i < WMI_LANES; i += 16)
        _mm512_mask_i32scatter_epi32(base, (__mmask16)(bits >> i), _mm512_loadu_si512(offset + i),
                                     _mm512_loadu_si512(a + i), 1);
#else
    for (; bits; bits &= bits - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(bits);
        *(wmi_loose_word *)(base + offset[i]) = a[i];
    }
#endif
}

/* d[i] <- low[i] | high[i] << 32. */
WMI_INLINE void wmi_lanes_join(wmi_word64 *d, const wmi_word *low, const wmi_word *high)
{
#if WMI_LANES_AVX512
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    for (unsigned i = 0; i < WMI_LANES; i += 16) {
        const __m512i l = _mm512_loadu_si512(low + i), h = _mm512_loadu_si512(high + i);
        _mm512_storeu_si512(d + i, _mm512_permutex2var_epi32(l, first, h));
        _mm512_storeu_si512(d + i + 8, _mm512_permutex2var_epi32(l, second, h));
    }
#else
    for (unsigned i = 0; i < WMI_LANES; i++)
        d[i] = low[i] | (uint64_t)high[i] << 32;
#endif
}

/* low[i], high[i] <- the halves of a[i]. */
WMI_INLINE void wmi_lanes_split(wmi_word *low, wmi_word *high, const wmi_word64 *a)
{
#if WMI_LANES_AVX512
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    for (unsigned i = 0; i < WMI_LANES; i += 16) {
        const __m512i l = _mm512_loadu_si512(a + i), h = _mm512_loadu_si512(a + i + 8);
        _mm512_storeu_si512(low + i, _mm512_permutex2var_epi32(l, even, h));
        _mm512_storeu_si512(high + i, _mm512_permutex2var_epi32(l, odd, h));
    }
#else
    for (unsigned i = 0; i < WMI_LANES; i++) {
        low[i] = (uint32_t)a[i];
        high[i] = (uint32_t)(a[i] >> 32);
    }
#endif
}

#endif

/* SPDX-License-Identifier: MIT */
/* Vectors of words with lanes selected by bits; for *_lanes.c files, like vector.h. */
#ifndef WMI_VECTOR_BITS_H
#define WMI_VECTOR_BITS_H

#include "base/lane_set.h"
#include "base/vector.h"

/* A vector with 4-byte alignment. */
typedef uint32_t wmi_loose_vector __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias, aligned(4)));

/* A bit for each lane where a and b are equal. */
static inline uint32_t wmi_equal_bits(u32v a, u32v b)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
#else
    return (uint32_t)wmi_pack((u32v)(a == b));
#endif
}

/* A bit for each lane where a < b, unsigned. */
static inline uint32_t wmi_less_bits(u32v a, u32v b)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_cmplt_epu32_mask((__m512i)a, (__m512i)b);
#else
    return (uint32_t)wmi_pack((u32v)(a < b));
#endif
}

/* yes in the lanes whose bit is set, no in the others. */
static inline u32v wmi_choose_bits(uint32_t bits, u32v yes, u32v no)
{
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_mask_mov_epi32((__m512i)no, (__mmask16)bits, (__m512i)yes);
#else
    return wmi_select_u32(wmi_expand(bits), yes, no);
#endif
}

/* The same of vectors of 64-bit words: a bit for each word. */
static inline uint32_t wmi_equal_bits_u64(u64v a, u64v b)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b);
#else
    uint32_t bits = 0;
    for (unsigned i = 0; i < WMI_VECTOR_BYTES / 8; i++)
        bits |= (uint32_t)(a[i] == b[i]) << i;
    return bits;
#endif
}

/* A bit for each 64-bit word where a >= b, unsigned. */
static inline uint32_t wmi_not_less_bits_u64(u64v a, u64v b)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_cmpge_epu64_mask((__m512i)a, (__m512i)b);
#else
    uint32_t bits = 0;
    for (unsigned i = 0; i < WMI_VECTOR_BYTES / 8; i++)
        bits |= (uint32_t)(a[i] >= b[i]) << i;
    return bits;
#endif
}

static inline u64v wmi_choose_bits_u64(uint32_t bits, u64v yes, u64v no)
{
#if WMI_VECTOR_BYTES == 64
    return (u64v)_mm512_mask_mov_epi64((__m512i)no, (__mmask8)bits, (__m512i)yes);
#else
    u64v chosen = no;
    for (unsigned i = 0; i < WMI_VECTOR_BYTES / 8; i++)
        if (bits >> i & 1)
            chosen[i] = yes[i];
    return chosen;
#endif
}

/* Each lane gets the value of lane `lane ^ with`; with: 1, 2 or 3. */
static inline u32v wmi_swap_in_quads(u32v x, int with)
{
#if WMI_VECTOR_BYTES == 64
#define WMI_SWAP(how) (u32v) _mm512_shuffle_epi32((__m512i)x, how)
#elif WMI_VECTOR_BYTES == 32
#define WMI_SWAP(how) (u32v) _mm256_shuffle_epi32((__m256i)x, how)
#else
#define WMI_SWAP(how) __builtin_shufflevector(x, x, how & 3, how >> 2 & 3, how >> 4 & 3, how >> 6)
#endif
    return with == 1 ? WMI_SWAP(0xb1) : with == 2 ? WMI_SWAP(0x4e) : WMI_SWAP(0x1b);
#undef WMI_SWAP
}

/* The lanes of `now` moved up by one; the lowest is the highest of `before`. */
static inline u32v wmi_shift_lanes(u32v before, u32v now)
{
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_alignr_epi32((__m512i)now, (__m512i)before, 15);
#elif WMI_VECTOR_BYTES == 32
    return __builtin_shufflevector(before, now, 7, 8, 9, 10, 11, 12, 13, 14);
#else
    return __builtin_shufflevector(before, now, 3, 4, 5, 6);
#endif
}

/* Each lane's word of a table. */
static inline u32v wmi_gather_u32(const uint32_t *table, u32v index)
{
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_i32gather_epi32((__m512i)index, table, 4);
#elif WMI_VECTOR_BYTES == 32
    return (u32v)_mm256_i32gather_epi32((const int *)table, (__m256i)index, 4);
#else
    return (u32v){table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
#endif
}

/* Of the next WMI_VECTOR_BYTES / 8 places whose bits are set: the 64-bit words of a table that stand for the
 * dwords at these places, as bytes; else 0. */
static inline u64v wmi_gather_u64(const uint64_t *table, const uint32_t *at, uint32_t bits)
{
#if WMI_VECTOR_BYTES == 64
    return (u64v)_mm512_mask_i32gather_epi64(_mm512_setzero_si512(), (__mmask8)bits,
                                             _mm256_loadu_si256((const __m256i_u *)at), table, 2);
#else
    u64v words = {0};
    for (unsigned i = 0; i < WMI_VECTOR_BYTES / 8; i++)
        if (bits >> i & 1)
            words[i] = table[at[i] / 4];
    return words;
#endif
}

/* Sets those words. */
static inline void wmi_scatter_u64(uint64_t *table, const uint32_t *at, uint32_t bits, u64v words)
{
#if WMI_VECTOR_BYTES == 64
    _mm512_mask_i32scatter_epi64(table, (__mmask8)bits, _mm256_loadu_si256((const __m256i_u *)at),
                                 (__m512i)words, 2);
#else
    for (unsigned i = 0; i < WMI_VECTOR_BYTES / 8; i++)
        if (bits >> i & 1)
            table[at[i] / 4] = words[i];
#endif
}

/* The lanes whose bits are set, ORed together. */
static inline uint32_t wmi_or_of(u32v x, uint32_t bits)
{
#if WMI_VECTOR_BYTES == 64
    return (uint32_t)_mm512_mask_reduce_or_epi32((__mmask16)bits, (__m512i)x);
#else
    uint32_t all = 0;
    for (; bits; bits &= bits - 1)
        all |= x[__builtin_ctz(bits)];
    return all;
#endif
}

/* Writes a vector of words to a table; of those with the same index, the lowest lane's stays. */
static inline void wmi_scatter_u32(uint32_t *table, const uint32_t *index, const uint32_t *words)
{
#if WMI_VECTOR_BYTES == 64
    const __m512i down = _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm512_i32scatter_epi32(table, _mm512_permutexvar_epi32(down, _mm512_load_si512(index)),
                            _mm512_permutexvar_epi32(down, _mm512_load_si512(words)), 4);
#else
    for (unsigned i = WMI_VECTOR_LANES; i-- > 0;)
        table[index[i]] = words[i];
#endif
}

/* Bit number `bit` of each lane, as a mask of lanes. */
static inline uint32_t wmi_bits_at(u32v x, unsigned bit)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_test_epi32_mask((__m512i)x, _mm512_set1_epi32((int)(1u << bit)));
#else
    return (uint32_t)wmi_pack(x << (31 - bit));
#endif
}

/* Packs the words of a row of WMI_LANES whose bits are set. The rest of `to`, which is as long as the row, is
 * undefined. */
static inline void wmi_compress_row(uint32_t *restrict to, const uint32_t *restrict row, uint64_t bits)
{
#if WMI_VECTOR_BYTES == 64
    for (unsigned lane = 0; lane < WMI_LANES; lane += WMI_VECTOR_LANES) {
        const __mmask16 some = (__mmask16)(bits >> lane);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(some, _mm512_loadu_si512(row + lane)));
        to += __builtin_popcount(some);
    }
#else
    if (bits == UINT64_MAX >> (64 - WMI_LANES)) {
        memcpy(to, row, WMI_LANES * sizeof *to);
        return;
    }
    for (uint64_t lane = 0; lane < WMI_LANES; lane++) {
        *to = row[lane];
        to += bits >> lane & 1;
    }
#endif
}

/* Deposits the low bits of `from` at the positions of set bits in `to`. */
static inline uint64_t wmi_deposit_bits(uint64_t from, uint64_t to)
{
#if defined(__BMI2__) && WMI_VECTOR_BYTES >= 32
    return _pdep_u64(from, to);
#else
    uint64_t bits = 0;
    for (; to; to &= to - 1, from >>= 1)
        bits |= (to & -to) & -(from & 1);
    return bits;
#endif
}

#endif

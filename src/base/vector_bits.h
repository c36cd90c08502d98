/* SPDX-License-Identifier: MIT */
/* Vectors of words whose lanes are chosen by bits; for *_lanes.c files, as vector.h. */
#ifndef WMI_VECTOR_BITS_H
#define WMI_VECTOR_BITS_H

#include "base/vector.h"

/* A vector at any address of words. */
typedef uint32_t wmi_loose_vector __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias, aligned(4)));

/* A bit for each lane in which both are the same. */
static inline uint32_t wmi_equal_bits(u32v a, u32v b)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
#else
    return (uint32_t)wmi_pack((u32v)(a == b));
#endif
}

/* A bit for each lane in which a is less than b, without a sign. */
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

/* Each lane has what lane number `lane ^ with` has; with: 1, 2 or 3. */
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

/* The lanes of `now` moved up by one; the lowest becomes the highest of `before`. */
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

#endif

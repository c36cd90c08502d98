/* SPDX-License-Identifier: MIT */
/* Vectors as wide as the CPU level's, with operations that the language has no operator for.
 *
 * For *_lanes.c files only, because the width differs between levels. A vector holds WMI_VECTOR_LANES lanes
 * of a row; 64-bit values of the same lanes are a pair of vectors, see struct wmi_f64x2. All operators (+ - *
 * / & | ^ ~ < == ...) work lane by lane; a comparison gives all ones or zero. Every intrinsic has an
 * equivalent in plain C, which WMI_LANES_PLAIN selects. */
#ifndef WMI_VECTOR_H
#define WMI_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) && !defined(WMI_LANES_PLAIN)
#define WMI_VECTOR_SSE2 1
#include <immintrin.h>
#endif

#if !WMI_VECTOR_SSE2
#define WMI_VECTOR_BYTES 16
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define WMI_VECTOR_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define WMI_VECTOR_BYTES 32
#else
#define WMI_VECTOR_BYTES 16
#endif

enum { WMI_VECTOR_LANES = WMI_VECTOR_BYTES / 4 };

/* may_alias: rows are accessed as words, floats and halves. */
typedef float f32v __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias));
typedef int32_t i32v __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias));
typedef uint32_t u32v __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias));
typedef int16_t i16v __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias));
typedef double f64v __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias));
typedef int64_t i64v __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias));
typedef uint64_t u64v __attribute__((vector_size(WMI_VECTOR_BYTES), may_alias));
/* The 32-bit side of a conversion from or to an f64v. */
typedef float f32half __attribute__((vector_size(WMI_VECTOR_BYTES / 2), may_alias));
typedef int32_t i32half __attribute__((vector_size(WMI_VECTOR_BYTES / 2), may_alias));
typedef uint32_t u32half __attribute__((vector_size(WMI_VECTOR_BYTES / 2), may_alias));

/* 64-bit values of WMI_VECTOR_LANES lanes, in lane order. */
struct wmi_f64x2 {
    f64v v[2];
};

static inline u32v wmi_load_u32(const char *row)
{
    return *(const u32v *)row;
}

static inline u32v wmi_splat_u32(uint32_t x)
{
    return (u32v){0} + x;
}

static inline f32v wmi_splat_f32(float x)
{
    return (f32v){0} + x;
}

static inline u64v wmi_splat_u64(uint64_t x)
{
    return (u64v){0} + x;
}

static inline f64v wmi_splat_f64(double x)
{
    return (f64v){0} + x;
}

/* yes where the mask is ones, no where it is zero. Bitwise: `?:` on vectors is many times slower with clang.
 */
static inline u32v wmi_select_u32(u32v mask, u32v yes, u32v no)
{
    return (yes & mask) | (no & ~mask);
}

static inline f32v wmi_select_f32(u32v mask, f32v yes, f32v no)
{
    return (f32v)wmi_select_u32(mask, (u32v)yes, (u32v)no);
}

static inline u64v wmi_select_u64(u64v mask, u64v yes, u64v no)
{
    return (yes & mask) | (no & ~mask);
}

static inline f64v wmi_select_f64(u64v mask, f64v yes, f64v no)
{
    return (f64v)wmi_select_u64(mask, (u64v)yes, (u64v)no);
}

/* Whether any bit is set. */
static inline bool wmi_any(u32v x)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_test_epi32_mask((__m512i)x, (__m512i)x) != 0;
#elif WMI_VECTOR_BYTES == 32
    return !_mm256_testz_si256((__m256i)x, (__m256i)x);
#elif WMI_VECTOR_SSE2
    return _mm_movemask_epi8(_mm_cmpeq_epi8((__m128i)x, _mm_setzero_si128())) != 0xffff;
#else
    return (x[0] | x[1] | x[2] | x[3]) != 0;
#endif
}

/* Whether x is a NaN in any lane of `mask`. */
static inline bool wmi_any_nan_f32(f32v x, u32v mask)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_mask_cmp_ps_mask(_mm512_test_epi32_mask((__m512i)mask, (__m512i)mask), (__m512)x, (__m512)x,
                                   _CMP_UNORD_Q) != 0;
#else
    return wmi_any((u32v)(x != x) & mask);
#endif
}

/* Whether a or b is a NaN in any lane; a single comparison. */
static inline bool wmi_any_nan2_f32(f32v a, f32v b)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q) != 0;
#elif WMI_VECTOR_BYTES == 32
    return _mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_UNORD_Q)) != 0;
#elif WMI_VECTOR_SSE2
    return _mm_movemask_ps(_mm_cmpunord_ps((__m128)a, (__m128)b)) != 0;
#else
    return wmi_any((u32v)(a != a) | (u32v)(b != b));
#endif
}

static inline bool wmi_any_nan2_f64(f64v a, f64v b)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q) != 0;
#elif WMI_VECTOR_BYTES == 32
    return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_UNORD_Q)) != 0;
#elif WMI_VECTOR_SSE2
    return _mm_movemask_pd(_mm_cmpunord_pd((__m128d)a, (__m128d)b)) != 0;
#else
    return wmi_any((u32v)(a != a) | (u32v)(b != b));
#endif
}

/* The highest bit of each lane, as a comparison's result has it. */
static inline uint64_t wmi_pack(u32v mask)
{
#if WMI_VECTOR_BYTES == 64
    return _mm512_movepi32_mask((__m512i)mask);
#elif WMI_VECTOR_BYTES == 32
    return (uint32_t)_mm256_movemask_ps((__m256)mask);
#elif WMI_VECTOR_SSE2
    return (uint32_t)_mm_movemask_ps((__m128)mask);
#else
    const u32v bits = (u32v)((i32v)mask >> 31) & (u32v){1, 2, 4, 8};
    return bits[0] | bits[1] | bits[2] | bits[3];
#endif
}

/* The inverse: all ones in the lanes whose bit is set. */
static inline u32v wmi_expand(uint64_t bits)
{
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_movm_epi32((__mmask16)bits);
#elif WMI_VECTOR_BYTES == 32
    const u32v lane = {1, 2, 4, 8, 16, 32, 64, 128};
    return (u32v)((wmi_splat_u32((uint32_t)bits) & lane) != 0);
#else
    const u32v lane = {1, 2, 4, 8};
    return (u32v)((wmi_splat_u32((uint32_t)bits) & lane) != 0);
#endif
}

/* Stores the lanes of `value` in the mask, unaligned; bytes of other lanes are not accessed. */
static inline void wmi_store_active(unsigned char *to, u32v value, u32v mask)
{
#if WMI_VECTOR_BYTES == 64
    _mm512_mask_storeu_epi32(to, _mm512_movepi32_mask((__m512i)mask), (__m512i)value);
#elif WMI_VECTOR_BYTES == 32
    _mm256_maskstore_epi32((int *)to, (__m256i)mask, (__m256i)value);
#else
    for (int i = 0; i < WMI_VECTOR_LANES; i++)
        if (mask[i])
            memcpy(to + 4 * i, (char *)&value + 4 * i, 4);
#endif
}

/* a < b ? a : b, and a > b ? a : b: b if equal or unordered. */
static inline f32v wmi_lesser_f32(f32v a, f32v b)
{
#if WMI_VECTOR_BYTES == 64
    return (f32v)_mm512_min_ps((__m512)a, (__m512)b);
#elif WMI_VECTOR_BYTES == 32
    return (f32v)_mm256_min_ps((__m256)a, (__m256)b);
#elif WMI_VECTOR_SSE2
    return (f32v)_mm_min_ps((__m128)a, (__m128)b);
#else
    return wmi_select_f32((u32v)(a < b), a, b);
#endif
}

static inline f32v wmi_greater_f32(f32v a, f32v b)
{
#if WMI_VECTOR_BYTES == 64
    return (f32v)_mm512_max_ps((__m512)a, (__m512)b);
#elif WMI_VECTOR_BYTES == 32
    return (f32v)_mm256_max_ps((__m256)a, (__m256)b);
#elif WMI_VECTOR_SSE2
    return (f32v)_mm_max_ps((__m128)a, (__m128)b);
#else
    return wmi_select_f32((u32v)(a > b), a, b);
#endif
}

static inline f64v wmi_lesser_f64(f64v a, f64v b)
{
#if WMI_VECTOR_BYTES == 64
    return (f64v)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif WMI_VECTOR_BYTES == 32
    return (f64v)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif WMI_VECTOR_SSE2
    return (f64v)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return wmi_select_f64((u64v)(a < b), a, b);
#endif
}

static inline f64v wmi_greater_f64(f64v a, f64v b)
{
#if WMI_VECTOR_BYTES == 64
    return (f64v)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif WMI_VECTOR_BYTES == 32
    return (f64v)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif WMI_VECTOR_SSE2
    return (f64v)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return wmi_select_f64((u64v)(a > b), a, b);
#endif
}

/* a > b ? a : b */
static inline i32v wmi_greater_i32(i32v a, i32v b)
{
#if WMI_VECTOR_BYTES == 64
    return (i32v)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif WMI_VECTOR_BYTES == 32
    return (i32v)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    return (i32v)wmi_select_u32((u32v)(a > b), (u32v)a, (u32v)b);
#endif
}

/* x >> n, rounded toward minus infinity, for any n >= 0. */
static inline u32v wmi_shift_right_u32(u32v x, i32v n)
{
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_srlv_epi32((__m512i)x, (__m512i)n);
#elif WMI_VECTOR_BYTES == 32
    return (u32v)_mm256_srlv_epi32((__m256i)x, (__m256i)n);
#else
    return (x >> ((u32v)n & 31)) & (u32v)(n < 32);
#endif
}

static inline i32v wmi_shift_right_i32(i32v x, i32v n)
{
#if WMI_VECTOR_BYTES == 64
    return (i32v)_mm512_srav_epi32((__m512i)x, (__m512i)n);
#elif WMI_VECTOR_BYTES == 32
    return (i32v)_mm256_srav_epi32((__m256i)x, (__m256i)n);
#else
    return x >> (i32v)wmi_select_u32((u32v)(n > 31), wmi_splat_u32(31), (u32v)n);
#endif
}

/* a + b rounded to odd: if inexact, the neighbour whose last bit is set. The host must round to nearest. */
static inline f32v wmi_add_odd(f32v a, f32v b)
{
#if WMI_VECTOR_BYTES == 64
    const __m512 down = _mm512_add_round_ps((__m512)a, (__m512)b, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 up = _mm512_add_round_ps((__m512)a, (__m512)b, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __mmask16 odd = _mm512_test_epi32_mask((__m512i)down, _mm512_set1_epi32(1));

    return (f32v)_mm512_mask_mov_ps(up, odd, down);
#else
    /* The error of the sum is exact (Knuth's TwoSum); it does not exist for infinities and NaNs. */
    const f32v sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
#if WMI_VECTOR_BYTES == 32
    const u32v inexact = (u32v)_mm256_cmp_ps((__m256)error, _mm256_setzero_ps(), _CMP_NEQ_OQ);
#else
    const u32v inexact = (u32v)(error > 0) | (u32v)(error < 0);
#endif
    /* The neighbour of smaller magnitude if the error points there; then the odd one of the two neighbours.
     */
    const u32v inward = (u32v)((i32v)((u32v)error ^ (u32v)sum) >> 31) & inexact;

    return (f32v)(((u32v)sum + inward) | (inexact >> 31));
#endif
}

#if WMI_VECTOR_BYTES >= 32
/* Conversions between f32 and f16 in the low halves of words; the high halves are ignored, or become 0.
 * NaNs keep the top of their payload and become quiet; rounding: as in MODE. The host flushes f32 denormals
 * if it does so in f32 arithmetic, but never f16 denormals. half.h has the plain equivalents. */
#define WMI_VECTOR_F16 1
static inline f32v wmi_f32_of_f16(u32v half)
{
#if WMI_VECTOR_BYTES == 64
    return (f32v)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)half));
#else
    const __m256i low = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5,
                                         8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_shuffle_epi8((__m256i)half, low), 0x08);

    return (f32v)_mm256_cvtph_ps(_mm256_castsi256_si128(packed));
#endif
}

#if WMI_VECTOR_BYTES == 64
typedef __m256i wmi_f16s;
typedef __m256i_u wmi_f16s_u;
#define WMI_CONVERT_F16(x, how) _mm512_cvtps_ph((__m512)(x), (how) | _MM_FROUND_NO_EXC)
#else
typedef __m128i wmi_f16s;
typedef __m128i_u wmi_f16s_u;
#define WMI_CONVERT_F16(x, how) _mm256_cvtps_ph((__m256)(x), (how) | _MM_FROUND_NO_EXC)
#endif

static inline wmi_f16s wmi_f16s_of_f32(f32v x, uint32_t rounding)
{
    if (__builtin_expect(rounding == 0, 1))
        return WMI_CONVERT_F16(x, _MM_FROUND_TO_NEAREST_INT);
    return rounding == 1   ? WMI_CONVERT_F16(x, _MM_FROUND_TO_POS_INF)
           : rounding == 2 ? WMI_CONVERT_F16(x, _MM_FROUND_TO_NEG_INF)
                           : WMI_CONVERT_F16(x, _MM_FROUND_TO_ZERO);
}

static inline u32v wmi_f16_of_f32(f32v x, uint32_t rounding)
{
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_cvtepu16_epi32(wmi_f16s_of_f32(x, rounding));
#else
    return (u32v)_mm256_cvtepu16_epi32(wmi_f16s_of_f32(x, rounding));
#endif
}

/* The same for both halves of each word, in memory order: the first half of the lanes, then the second. */
static inline f32v wmi_f32_of_halves(u32v halves, int which)
{
#if WMI_VECTOR_BYTES == 64
    return (f32v)(which ? _mm512_cvtph_ps(_mm512_extracti64x4_epi64((__m512i)halves, 1))
                        : _mm512_cvtph_ps(_mm512_castsi512_si256((__m512i)halves)));
#else
    return (f32v)(which ? _mm256_cvtph_ps(_mm256_extracti128_si256((__m256i)halves, 1))
                        : _mm256_cvtph_ps(_mm256_castsi256_si128((__m256i)halves)));
#endif
}

static inline f32v wmi_f32_of_halves_at(const char *halves, int which)
{
    const wmi_f16s_u *const at = (const wmi_f16s_u *)(halves + which * (WMI_VECTOR_BYTES / 2));
#if WMI_VECTOR_BYTES == 64
    return (f32v)_mm512_cvtph_ps(_mm256_loadu_si256(at));
#else
    return (f32v)_mm256_cvtph_ps(_mm_loadu_si128(at));
#endif
}

static inline u32v wmi_halves_of_f32(f32v first, f32v second, uint32_t rounding)
{
    const wmi_f16s low = wmi_f16s_of_f32(first, rounding), high = wmi_f16s_of_f32(second, rounding);
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
#else
    return (u32v)_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
#endif
}
#endif

#if WMI_VECTOR_BYTES >= 32
/* In each group of eight lanes, the value of the first. */
static inline u32v wmi_first_of_eight(u32v x)
{
#if WMI_VECTOR_BYTES == 64
    const __m512i first = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8);
    return (u32v)_mm512_permutexvar_epi32(first, (__m512i)x);
#else
    return (u32v)_mm256_broadcastd_epi32(_mm256_castsi256_si128((__m256i)x));
#endif
}

/* Eight words from base + at[0], and in vectors of 16 lanes eight from base + at[8]. */
static inline u32v wmi_load_eights(const unsigned char *base, const uint32_t *at)
{
#if WMI_VECTOR_BYTES == 64
    const __m512i low = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i_u *)(base + at[0])));
    return (u32v)_mm512_inserti64x4(low, _mm256_loadu_si256((const __m256i_u *)(base + at[8])), 1);
#else
    return (u32v)_mm256_loadu_si256((const __m256i_u *)(base + at[0]));
#endif
}

/* The reverse. */
static inline void wmi_store_eights(unsigned char *base, const uint32_t *at, u32v words)
{
#if WMI_VECTOR_BYTES == 64
    _mm256_storeu_si256((__m256i_u *)(base + at[0]), _mm512_castsi512_si256((__m512i)words));
    _mm256_storeu_si256((__m256i_u *)(base + at[8]), _mm512_extracti64x4_epi64((__m512i)words, 1));
#else
    _mm256_storeu_si256((__m256i_u *)(base + at[0]), (__m256i)words);
#endif
}
#endif

/* a * b + c, rounded once. */
static inline f32v wmi_fused_f32(f32v a, f32v b, f32v c)
{
#if WMI_VECTOR_BYTES == 64
    return (f32v)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif WMI_VECTOR_BYTES == 32
    return (f32v)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif WMI_VECTOR_SSE2
    const __m128 x = (__m128)a, y = (__m128)b, z = (__m128)c;
    const __m128d low = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(x), _mm_cvtps_pd(y)), _mm_cvtps_pd(z));
    const __m128d high =
        _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(_mm_movehl_ps(x, x)), _mm_cvtps_pd(_mm_movehl_ps(y, y))),
                   _mm_cvtps_pd(_mm_movehl_ps(z, z)));
    f32v r = (f32v)_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
    const u32v ends = (u32v)_mm_shuffle_ps((__m128)low, (__m128)high, 0x88);
    const u32v tops = (u32v)_mm_shuffle_ps((__m128)low, (__m128)high, 0xdd);
    /* In f64 the product is exact; rounding the sum a second time is correct unless it is half-way between
     * two f32 or the result is denormal. */
    const u32v unsure = (u32v)((ends & 0x1fffffff) == 0x10000000) |
                        ((u32v)((i32v)((u32v)r & 0x7fffffff) <= 0x1000000) & (u32v)(tops << 1 != 0));

    if (__builtin_expect(wmi_any(unsure), 0))
        for (int i = 0; i < WMI_VECTOR_LANES; i++)
            r[i] = fmaf(a[i], b[i], c[i]);
    return r;
#else
    for (int i = 0; i < WMI_VECTOR_LANES; i++)
        a[i] = fmaf(a[i], b[i], c[i]);
    return a;
#endif
}

static inline f64v wmi_fused_f64(f64v a, f64v b, f64v c)
{
#if WMI_VECTOR_BYTES == 64
    return (f64v)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif WMI_VECTOR_BYTES == 32
    return (f64v)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    for (int i = 0; i < WMI_VECTOR_LANES / 2; i++)
        a[i] = fma(a[i], b[i], c[i]);
    return a;
#endif
}

/* The largest integer not above x. */
static inline f32v wmi_floor_f32(f32v x)
{
#if WMI_VECTOR_BYTES == 64
    return (f32v)_mm512_floor_ps((__m512)x);
#elif WMI_VECTOR_BYTES == 32
    return (f32v)_mm256_floor_ps((__m256)x);
#else
    for (int i = 0; i < WMI_VECTOR_LANES; i++)
        x[i] = floorf(x[i]);
    return x;
#endif
}

static inline f64v wmi_floor_f64(f64v x)
{
#if WMI_VECTOR_BYTES == 64
    return (f64v)_mm512_floor_pd((__m512d)x);
#elif WMI_VECTOR_BYTES == 32
    return (f64v)_mm256_floor_pd((__m256d)x);
#else
    for (int i = 0; i < WMI_VECTOR_LANES / 2; i++)
        x[i] = floor(x[i]);
    return x;
#endif
}

static inline f32v wmi_sqrt_f32(f32v x)
{
#if WMI_VECTOR_BYTES == 64
    return (f32v)_mm512_sqrt_ps((__m512)x);
#elif WMI_VECTOR_BYTES == 32
    return (f32v)_mm256_sqrt_ps((__m256)x);
#elif WMI_VECTOR_SSE2
    return (f32v)_mm_sqrt_ps((__m128)x);
#else
    for (int i = 0; i < WMI_VECTOR_LANES; i++)
        x[i] = sqrtf(x[i]);
    return x;
#endif
}

static inline f64v wmi_sqrt_f64(f64v x)
{
#if WMI_VECTOR_BYTES == 64
    return (f64v)_mm512_sqrt_pd((__m512d)x);
#elif WMI_VECTOR_BYTES == 32
    return (f64v)_mm256_sqrt_pd((__m256d)x);
#elif WMI_VECTOR_SSE2
    return (f64v)_mm_sqrt_pd((__m128d)x);
#else
    for (int i = 0; i < WMI_VECTOR_LANES / 2; i++)
        x[i] = sqrt(x[i]);
    return x;
#endif
}

/* Rounding to an integral value, regardless of the host's rounding mode; values are those of the immediate.
 */
enum wmi_rounding { WMI_ROUND_EVEN = 0, WMI_ROUND_DOWN = 1, WMI_ROUND_UP = 2, WMI_ROUND_ZERO = 3 };

#if WMI_VECTOR_BYTES == 64
#define wmi_round_f32(x, how) ((f32v)_mm512_roundscale_ps((__m512)(x), (how) | _MM_FROUND_NO_EXC))
#define wmi_round_f64(x, how) ((f64v)_mm512_roundscale_pd((__m512d)(x), (how) | _MM_FROUND_NO_EXC))
#elif WMI_VECTOR_BYTES == 32
#define wmi_round_f32(x, how) ((f32v)_mm256_round_ps((__m256)(x), (how) | _MM_FROUND_NO_EXC))
#define wmi_round_f64(x, how) ((f64v)_mm256_round_pd((__m256d)(x), (how) | _MM_FROUND_NO_EXC))
#else
static inline double wmi_round_one(double x, enum wmi_rounding how)
{
    const double t = trunc(x), away = copysign(1, x);

    if (how == WMI_ROUND_ZERO || t == x || x != x)
        return t;
    if (how == WMI_ROUND_EVEN) {
        const double rest = fabs(x - t);
        return copysign(rest > 0.5 || (rest == 0.5 && fmod(t, 2) != 0) ? t + away : t, x);
    }
    return copysign((how == WMI_ROUND_UP) == (x > 0) ? t + away : t, x);
}

static inline f32v wmi_round_f32(f32v x, enum wmi_rounding how)
{
    const u32v sign = (u32v)x & 0x80000000u;
    const f32v size = (f32v)((u32v)x ^ sign);
    /* From 2^23 on all values are integral. */
    const u32v small = (u32v)(size < 0x1p23f);
    const i32v whole = __builtin_convertvector((f32v)((u32v)size & small), i32v);
    const f32v toward_zero = __builtin_convertvector(whole, f32v), rest = size - toward_zero;
    const u32v inexact = (u32v)(size > toward_zero), negative = (u32v)(sign != 0);
    u32v away = wmi_splat_u32(0);

    if (how == WMI_ROUND_EVEN)
        away = (u32v)(rest > 0.5f) | ((u32v)(rest == 0.5f) & (u32v)((whole & 1) != 0));
    else if (how != WMI_ROUND_ZERO)
        away = inexact & (how == WMI_ROUND_DOWN ? negative : ~negative);
    const u32v one = (u32v)wmi_splat_f32(1) & away;
    const u32v rounded = (u32v)(toward_zero + (f32v)one) | sign;

    return wmi_select_f32(small, (f32v)rounded, x);
}

static inline f64v wmi_round_f64(f64v x, enum wmi_rounding how)
{
    for (int i = 0; i < WMI_VECTOR_LANES / 2; i++)
        x[i] = wmi_round_one(x[i], how);
    return x;
}
#endif

/* Lane order of two vectors of 64-bit values relative to rows of their low and high words. */
#if WMI_VECTOR_BYTES == 64
#define WMI_ZIP_LOW   0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define WMI_ZIP_HIGH  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define WMI_EVEN      0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define WMI_ODD       1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define WMI_HALF_LOW  0, 1, 2, 3, 4, 5, 6, 7
#define WMI_HALF_HIGH 8, 9, 10, 11, 12, 13, 14, 15
#elif WMI_VECTOR_BYTES == 32
#define WMI_ZIP_LOW   0, 8, 1, 9, 2, 10, 3, 11
#define WMI_ZIP_HIGH  4, 12, 5, 13, 6, 14, 7, 15
#define WMI_EVEN      0, 2, 4, 6, 8, 10, 12, 14
#define WMI_ODD       1, 3, 5, 7, 9, 11, 13, 15
#define WMI_HALF_LOW  0, 1, 2, 3
#define WMI_HALF_HIGH 4, 5, 6, 7
#else
#define WMI_ZIP_LOW   0, 4, 1, 5
#define WMI_ZIP_HIGH  2, 6, 3, 7
#define WMI_EVEN      0, 2, 4, 6
#define WMI_ODD       1, 3, 5, 7
#define WMI_HALF_LOW  0, 1
#define WMI_HALF_HIGH 2, 3
#endif

static inline struct wmi_f64x2 wmi_join(u32v low, u32v high)
{
    return (struct wmi_f64x2){{(f64v)__builtin_shufflevector(low, high, WMI_ZIP_LOW),
                               (f64v)__builtin_shufflevector(low, high, WMI_ZIP_HIGH)}};
}

static inline u32v wmi_low_words(struct wmi_f64x2 x)
{
    return __builtin_shufflevector((u32v)x.v[0], (u32v)x.v[1], WMI_EVEN);
}

static inline u32v wmi_high_words(struct wmi_f64x2 x)
{
    return __builtin_shufflevector((u32v)x.v[0], (u32v)x.v[1], WMI_ODD);
}

/* The 64-bit value at rows `row` and `row` + row_bytes. */
static inline struct wmi_f64x2 wmi_load_f64(const char *row, unsigned row_bytes)
{
    return wmi_join(wmi_load_u32(row), wmi_load_u32(row + row_bytes));
}

static inline u32half wmi_half_u32(u32v x, int which)
{
    return which ? __builtin_shufflevector(x, x, WMI_HALF_HIGH) : __builtin_shufflevector(x, x, WMI_HALF_LOW);
}

/* Joins both halves into one vector; not through memory, from which a load cannot be forwarded two stores. */
static inline u32v wmi_whole_u32(u32half low, u32half high)
{
#if WMI_VECTOR_BYTES == 64
    return (u32v)_mm512_inserti64x4(_mm512_castsi256_si512((__m256i)low), (__m256i)high, 1);
#elif WMI_VECTOR_BYTES == 32
    return (u32v)_mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)low), (__m128i)high, 1);
#else
    union {
        u32half half[2];
        u32v whole;
    } both = {{low, high}};

    return both.whole;
#endif
}

/* Exact conversions to f64. gcc would take two of the host's operations for each. */
static inline f64v wmi_wide_f32(f32half x)
{
#if WMI_VECTOR_BYTES == 64
    return (f64v)_mm512_cvtps_pd((__m256)x);
#else
    return __builtin_convertvector(x, f64v);
#endif
}

static inline f64v wmi_wide_i32(i32half x)
{
#if WMI_VECTOR_BYTES == 64
    return (f64v)_mm512_cvtepi32_pd((__m256i)x);
#else
    return __builtin_convertvector(x, f64v);
#endif
}

#endif

/* SPDX-License-Identifier: MIT */
/* What atomics compute: the new value of memory, one expression per operation, for LDS, GDS and memory alike.
 *
 * Sources: Vega and RDNA 3 ISA, "DS Instructions"; Vega ISA, "FLAT, Scratch and Global instructions"; RDNA 4
 * ISA, DS_COND_SUB_U32, DS_SUB_CLAMP_U32, DS_CONDXCHG32_RTN_B64 and DS_MIN_NUM_RTN_F32 (NaNs as IEEE 754-2008
 * minNum, two NaNs give the quieted data, -0 < +0; before gfx12 unverified); CDNA 4 ISA, "Float Memory
 * Atomics" (sums round to nearest even whatever MODE says). Unverified: which of two NaNs a sum returns; ours
 * returns memory's. */
#ifndef WMI_SEM_ATOMIC_H
#define WMI_SEM_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Defines wmi_atomic_NAME_BITS(m, d, c): `m` is the old value in memory, `d` the data, `c` the comparand or
 * the second data operand. `integer` is the signed type of that width. */
#define WMI_ATOMIC_OF(name, bits, expression)                                                                \
    static inline uint##bits##_t wmi_atomic_##name##_##bits(uint##bits##_t m, uint##bits##_t d,              \
                                                            uint##bits##_t c)                                \
    {                                                                                                        \
        typedef int##bits##_t integer;                                                                       \
        (void)m, (void)d, (void)c, (void)(integer)0;                                                         \
        return expression;                                                                                   \
    }
#define WMI_ATOMIC(name, expression)                                                                         \
    WMI_ATOMIC_OF(name, 32, expression)                                                                      \
    WMI_ATOMIC_OF(name, 64, expression)

/* ---- integers ---- */

WMI_ATOMIC(swap, d)
WMI_ATOMIC(cmpswap, m == c ? d : m)
WMI_ATOMIC(add, m + d)
WMI_ATOMIC(sub, m - d)
WMI_ATOMIC(rsub, d - m)
WMI_ATOMIC(smin, (integer)m < (integer)d ? m : d)
WMI_ATOMIC(smax, (integer)m > (integer)d ? m : d)
WMI_ATOMIC(umin, m < d ? m : d)
WMI_ATOMIC(umax, m > d ? m : d)
WMI_ATOMIC(and, m &d)
WMI_ATOMIC(or, m | d)
WMI_ATOMIC(xor, m ^ d)
WMI_ATOMIC(inc, m >= d ? 0 : m + 1)
WMI_ATOMIC(dec, m == 0 || m > d ? d : m - 1)
WMI_ATOMIC(masked_or, (m & ~d) | c)
WMI_ATOMIC_OF(wrap, 32, m >= d ? m - d : m + c)
WMI_ATOMIC_OF(csub, 32, m >= d ? m - d : 0)
WMI_ATOMIC_OF(cond_sub, 32, m >= d ? m - d : m)

/* Each half is replaced if the top bit of its data is set; that bit is not stored. */
static inline uint32_t wmi_atomic_exchange_if_marked(uint32_t m, uint32_t d)
{
    return d >> 31 ? d & 0x7fffffff : m;
}
WMI_ATOMIC_OF(exchange_marked_halves, 64,
              wmi_atomic_exchange_if_marked((uint32_t)m, (uint32_t)d) |
                  (uint64_t)wmi_atomic_exchange_if_marked((uint32_t)(m >> 32), (uint32_t)(d >> 32)) << 32)

/* The low half of memory is the number of the wave whose turn it is. Source: RDNA 4 ISA,
 * GLOBAL_ATOMIC_ORDERED_ADD_B64; VGT_GS_MAX_WAVE_ID, where it wraps, is assumed to be all ones. */
WMI_ATOMIC_OF(ordered_add, 64,
              (uint32_t)m == (uint32_t)d
                  ? (uint64_t)((uint32_t)(m >> 32) + (uint32_t)(d >> 32)) << 32 | (uint32_t)(m + 1)
                  : m)

/* ---- floats ---- */

/* Comparisons work on bits, independent of the host's float mode. Sums use that mode: the caller sets it to
 * round to nearest even with the denormal handling it needs. */
#define WMI_ATOMIC_FLOAT(bits, float_type, quiet, infinity)                                                  \
    static inline bool wmi_atomic_is_nan_##bits(uint##bits##_t x)                                            \
    {                                                                                                        \
        return (x & ~((uint##bits##_t)1 << (bits - 1))) > infinity;                                          \
    }                                                                                                        \
    static inline int##bits##_t wmi_atomic_order_##bits(uint##bits##_t x)                                    \
    {                                                                                                        \
        return (int##bits##_t)(x ^ ((uint##bits##_t)((int##bits##_t)x >> (bits - 1)) >> 1));                 \
    }                                                                                                        \
    static inline uint##bits##_t wmi_atomic_choose_##bits(uint##bits##_t m, uint##bits##_t d, bool d_wins)   \
    {                                                                                                        \
        if (wmi_atomic_is_nan_##bits(d))                                                                     \
            return wmi_atomic_is_nan_##bits(m) ? d | quiet : m;                                              \
        return wmi_atomic_is_nan_##bits(m) || d_wins ? d : m;                                                \
    }                                                                                                        \
    static inline bool wmi_atomic_equal_##bits(uint##bits##_t m, uint##bits##_t c)                           \
    {                                                                                                        \
        return !wmi_atomic_is_nan_##bits(m) && !wmi_atomic_is_nan_##bits(c) &&                               \
               (m == c || (uint##bits##_t)((m | c) << 1) == 0);                                              \
    }                                                                                                        \
    static inline uint##bits##_t wmi_atomic_sum_##bits(uint##bits##_t m, uint##bits##_t d)                   \
    {                                                                                                        \
        float_type x, y;                                                                                     \
        uint##bits##_t sum;                                                                                  \
        memcpy(&x, &m, sizeof m);                                                                            \
        memcpy(&y, &d, sizeof d);                                                                            \
        x += y;                                                                                              \
        memcpy(&sum, &x, sizeof sum);                                                                        \
        if (__builtin_expect(wmi_atomic_is_nan_##bits(sum), 0)) /* the host chooses other NaNs than AMD */   \
            return wmi_atomic_is_nan_##bits(m)   ? m | quiet                                                 \
                   : wmi_atomic_is_nan_##bits(d) ? d | quiet                                                 \
                                                 : (uint##bits##_t)1 << (bits - 1) | infinity | quiet;       \
        return sum;                                                                                          \
    }

WMI_ATOMIC_FLOAT(32, float, 0x00400000u, 0x7f800000u)
WMI_ATOMIC_FLOAT(64, double, 0x0008000000000000u, 0x7ff0000000000000u)

WMI_ATOMIC_OF(fcmpswap, 32, wmi_atomic_equal_32(m, c) ? d : m)
WMI_ATOMIC_OF(fcmpswap, 64, wmi_atomic_equal_64(m, c) ? d : m)
WMI_ATOMIC_OF(fmin, 32, wmi_atomic_choose_32(m, d, wmi_atomic_order_32(d) < wmi_atomic_order_32(m)))
WMI_ATOMIC_OF(fmin, 64, wmi_atomic_choose_64(m, d, wmi_atomic_order_64(d) < wmi_atomic_order_64(m)))
WMI_ATOMIC_OF(fmax, 32, wmi_atomic_choose_32(m, d, wmi_atomic_order_32(d) > wmi_atomic_order_32(m)))
WMI_ATOMIC_OF(fmax, 64, wmi_atomic_choose_64(m, d, wmi_atomic_order_64(d) > wmi_atomic_order_64(m)))
WMI_ATOMIC_OF(fadd, 32, wmi_atomic_sum_32(m, d))
WMI_ATOMIC_OF(fadd, 64, wmi_atomic_sum_64(m, d))

/* ---- pairs of 16-bit floats ---- */

/* Sums are computed as f32, whose precision makes double rounding harmless. */
static inline uint32_t wmi_atomic_f32_of_f16(uint32_t half)
{
    const uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | fraction << 13;
    if (!fraction)
        return sign;
    const unsigned shift = (unsigned)__builtin_clz(fraction) - 21; /* moves the leading one to bit 10 */
    return sign | (113 - shift) << 23 | (fraction << shift & 0x3ff) << 13;
}

/* `value` shifted right by `places`, rounded to nearest even. */
static inline uint32_t wmi_atomic_rounded(uint32_t value, unsigned places)
{
    const uint32_t half = 1u << (places - 1), rest = value & (2 * half - 1), kept = value >> places;
    return kept + (rest > half || (rest == half && kept & 1));
}

static inline uint32_t wmi_atomic_f16_of_f32(uint32_t x)
{
    const uint32_t sign = x >> 16 & 0x8000, magnitude = x & 0x7fffffff;
    if (magnitude >= 0x7f800000)
        return sign | 0x7c00 | (magnitude > 0x7f800000 ? 0x200 | (magnitude >> 13 & 0x3ff) : 0);
    if (magnitude >= 0x47800000) /* 2^16 */
        return sign | 0x7c00;
    if (magnitude >= 0x38800000) /* 2^-14: normal, may round up to infinity */
        return sign | wmi_atomic_rounded(magnitude - (112u << 23), 13);
    const unsigned exponent = magnitude >> 23;
    if (exponent < 102) /* less than half of the smallest denormal */
        return sign;
    return sign | wmi_atomic_rounded((magnitude & 0x7fffff) | 0x800000, 126 - exponent);
}

static inline uint32_t wmi_atomic_bf16_of_f32(uint32_t x)
{
    return wmi_atomic_is_nan_32(x) ? x >> 16 | 0x40 : wmi_atomic_rounded(x, 16);
}

static inline uint32_t wmi_atomic_sum_f16(uint32_t m, uint32_t d)
{
    return wmi_atomic_f16_of_f32(
        wmi_atomic_sum_32(wmi_atomic_f32_of_f16(m & 0xffff), wmi_atomic_f32_of_f16(d & 0xffff)));
}

static inline uint32_t wmi_atomic_sum_bf16(uint32_t m, uint32_t d)
{
    return wmi_atomic_bf16_of_f32(wmi_atomic_sum_32(m << 16, d << 16));
}

/* Denormal halves become zeros of the same sign. */
static inline uint32_t wmi_atomic_flush_f16(uint32_t pair)
{
    const uint32_t kept =
        (pair & 0x7c00 ? 0xffffu : 0x8000u) | (pair & 0x7c000000 ? 0xffff0000u : 0x80000000u);
    return pair & kept;
}

WMI_ATOMIC_OF(pk_add_f16, 32, wmi_atomic_sum_f16(m, d) | wmi_atomic_sum_f16(m >> 16, d >> 16) << 16)
WMI_ATOMIC_OF(pk_add_f16_flush, 32,
              wmi_atomic_flush_f16(wmi_atomic_pk_add_f16_32(wmi_atomic_flush_f16(m), wmi_atomic_flush_f16(d),
                                                            c)))
WMI_ATOMIC_OF(pk_add_bf16, 32, wmi_atomic_sum_bf16(m, d) | wmi_atomic_sum_bf16(m >> 16, d >> 16) << 16)

/* An arrival at a split barrier in LDS, which d units arrive at: {init count, phase, pending count}. Source:
 * CDNA 5 ISA, "LDS Barrier Atomic Instructions". That the pending count has 29 bits, of the widths that it
 * allows, is what LLVM and Triton assume (unverified). */
static inline uint64_t wmi_atomic_barrier_arrive_64(uint64_t m, uint64_t d, uint64_t second)
{
    enum { WIDTH = 29 };
    const uint32_t pending = (1u << WIDTH) - 1;
    uint32_t state = (uint32_t)m - (uint32_t)d;
    (void)second;
    if (state >> (WIDTH - 1) & 1) /* all have arrived */
        state = (state & ~pending) | (m >> 32 & UINT16_MAX);
    return (m & ~(uint64_t)UINT32_MAX) | state;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Float atomics: sums are rounded to nearest even regardless of MODE; min and max compare bits.
 *
 * Sources: CDNA 4 ISA, "Float Memory Atomics" (rounding; f16 and f64 keep denormals); LLVM,
 * FeatureMemoryAtomicFAddF32DenormalSupport (which targets keep f32 denormals); RDNA 4 ISA,
 * DS_MIN_NUM_RTN_F32 (NaNs as IEEE 754-2008 minNum, two NaNs give the quieted data, -0 < +0; before gfx12
 * unverified). Unverified: which of two NaNs a sum returns; ours returns memory's. */
#include "exec/atomic_float.h"

#include "base/host_float.h"

#include <string.h>

/* Sums run with a host float mode of their own; the compiler must not move them out of these calls. */
static uint32_t enter(bool keeps_denormals)
{
    const uint32_t before = wmi_host_float_get();
    wmi_host_float_set(wmi_host_float_word(0, keeps_denormals ? 3 : 0));
    return before;
}

#define FLOAT_TYPE(bits, float_type, quiet, infinity)                                                        \
    static bool is_nan_##bits(uint##bits##_t x)                                                              \
    {                                                                                                        \
        return (x & ~((uint##bits##_t)1 << (bits - 1))) > infinity;                                          \
    }                                                                                                        \
    static int##bits##_t order_##bits(uint##bits##_t x)                                                      \
    {                                                                                                        \
        return (int##bits##_t)(x ^ ((uint##bits##_t)((int##bits##_t)x >> (bits - 1)) >> 1));                 \
    }                                                                                                        \
    static uint##bits##_t choose_##bits(uint##bits##_t m, uint##bits##_t d, bool d_wins)                     \
    {                                                                                                        \
        if (is_nan_##bits(d))                                                                                \
            return is_nan_##bits(m) ? d | quiet : m;                                                         \
        return is_nan_##bits(m) || d_wins ? d : m;                                                           \
    }                                                                                                        \
    uint##bits##_t wmi_fmin_##bits(uint##bits##_t m, uint##bits##_t d)                                       \
    {                                                                                                        \
        return choose_##bits(m, d, order_##bits(d) < order_##bits(m));                                       \
    }                                                                                                        \
    uint##bits##_t wmi_fmax_##bits(uint##bits##_t m, uint##bits##_t d)                                       \
    {                                                                                                        \
        return choose_##bits(m, d, order_##bits(d) > order_##bits(m));                                       \
    }                                                                                                        \
    bool wmi_fequal_##bits(uint##bits##_t m, uint##bits##_t c)                                               \
    {                                                                                                        \
        return !is_nan_##bits(m) && !is_nan_##bits(c) && (m == c || (uint##bits##_t)((m | c) << 1) == 0);    \
    }                                                                                                        \
    static uint##bits##_t sum_##bits(uint##bits##_t m, uint##bits##_t d, bool keeps_denormals)               \
    {                                                                                                        \
        volatile float_type x, y; /* volatile keeps the sum between the mode changes */                      \
        uint##bits##_t sum;                                                                                  \
        memcpy((void *)&x, &m, sizeof m);                                                                    \
        memcpy((void *)&y, &d, sizeof d);                                                                    \
        const uint32_t before = enter(keeps_denormals);                                                      \
        x = x + y;                                                                                           \
        wmi_host_float_set(before);                                                                          \
        memcpy(&sum, (const void *)&x, sizeof sum);                                                          \
        if (is_nan_##bits(sum)) /* the host's NaN selection differs from AMD's */                            \
            return is_nan_##bits(m) ? m | quiet : is_nan_##bits(d) ? d | quiet : infinity | quiet;           \
        return sum;                                                                                          \
    }

FLOAT_TYPE(32, float, 0x00400000u, 0x7f800000u)
FLOAT_TYPE(64, double, 0x0008000000000000u, 0x7ff0000000000000u)

uint32_t wmi_fadd_32(uint32_t m, uint32_t d)
{
    return sum_32(m, d, true);
}

uint32_t wmi_fadd_flush_32(uint32_t m, uint32_t d)
{
    return sum_32(m, d, false);
}

uint64_t wmi_fadd_64(uint64_t m, uint64_t d)
{
    return sum_64(m, d, true);
}

/* ---- 16-bit sums: computed as f32, precise enough that double rounding is harmless ---- */

static uint32_t f32_of_f16(uint32_t half)
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
static uint32_t rounded(uint32_t value, unsigned places)
{
    const uint32_t half = 1u << (places - 1), rest = value & (2 * half - 1), kept = value >> places;
    return kept + (rest > half || (rest == half && kept & 1));
}

static uint32_t f16_of_f32(uint32_t x)
{
    const uint32_t sign = x >> 16 & 0x8000, magnitude = x & 0x7fffffff;
    if (magnitude >= 0x7f800000)
        return sign | 0x7c00 | (magnitude > 0x7f800000 ? 0x200 | (magnitude >> 13 & 0x3ff) : 0);
    if (magnitude >= 0x47800000) /* 2^16 */
        return sign | 0x7c00;
    if (magnitude >= 0x38800000) /* 2^-14: normal, may round up to infinity */
        return sign | rounded(magnitude - (112u << 23), 13);
    const unsigned exponent = magnitude >> 23;
    if (exponent < 102) /* less than half of the smallest denormal */
        return sign;
    return sign | rounded((magnitude & 0x7fffff) | 0x800000, 126 - exponent);
}

static uint32_t bf16_of_f32(uint32_t x)
{
    return is_nan_32(x) ? x >> 16 | 0x40 : rounded(x, 16);
}

uint32_t wmi_pk_add_f16_32(uint32_t m, uint32_t d)
{
    const uint32_t low = f16_of_f32(sum_32(f32_of_f16(m & 0xffff), f32_of_f16(d & 0xffff), true));
    return low | f16_of_f32(sum_32(f32_of_f16(m >> 16), f32_of_f16(d >> 16), true)) << 16;
}

uint32_t wmi_pk_add_bf16_32(uint32_t m, uint32_t d)
{
    const uint32_t low = bf16_of_f32(sum_32(m << 16, d << 16, true));
    return low | bf16_of_f32(sum_32(m & 0xffff0000, d & 0xffff0000, true)) << 16;
}

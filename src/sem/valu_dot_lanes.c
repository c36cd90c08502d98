/* SPDX-License-Identifier: MIT */
/* Dot products: of halves, bytes and nibbles of two words, added to a third operand.
 *
 * Integer sums are exact; with CLAMP they saturate at the end. Source: Vega 7nm ISA, V_DOT2 to V_DOT8; when
 * they saturate is not said there (unverified). */
#include "base/half.h"
#include "sem/bodies.h"
#include "sem/float_bodies.h"

WMI_INLINE int32_t part_i(uint32_t x, unsigned part, unsigned bits)
{
    return (int32_t)(x << (32 - bits - part * bits)) >> (32 - bits);
}

WMI_INLINE uint32_t part_u(uint32_t x, unsigned part, unsigned bits)
{
    return x << (32 - bits - part * bits) >> (32 - bits);
}

WMI_INLINE int64_t saturated_i(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

WMI_INLINE int64_t saturated_u(int64_t x)
{
    return x > UINT32_MAX ? UINT32_MAX : x;
}

/* In type T: uint32_t where the sum may wrap, int64_t where it may not. */
#define PRODUCT(T, kind, bits, part) ((T)part_##kind(a, part, bits) * (T)part_##kind(b, part, bits))
#define SUM2(T, kind, bits)          (PRODUCT(T, kind, bits, 0) + PRODUCT(T, kind, bits, 1))
#define SUM4(T, kind, bits)          (SUM2(T, kind, bits) + PRODUCT(T, kind, bits, 2) + PRODUCT(T, kind, bits, 3))
#define SUM8(T, kind, bits)                                                                                  \
    (SUM4(T, kind, bits) + PRODUCT(T, kind, bits, 4) + PRODUCT(T, kind, bits, 5) +                           \
     PRODUCT(T, kind, bits, 6) + PRODUCT(T, kind, bits, 7))
#define DOT(name, type, kind, SUM, bits)                                                                     \
    CLAMPED3(name, type, u32, u32, type, SUM(uint32_t, kind, bits) + (uint32_t)c,                            \
             saturated_##kind(SUM(int64_t, kind, bits) + c))

DOT(v_dot2_i32_i16, i32, i, SUM2, 16)
DOT(v_dot2_u32_u16, u32, u, SUM2, 16)
DOT(v_dot4_i32_i8, i32, i, SUM4, 8)
DOT(v_dot4_u32_u8, u32, u, SUM4, 8)
DOT(v_dot8_i32_i4, i32, i, SUM8, 4)
DOT(v_dot8_u32_u4, u32, u, SUM8, 4)

/* The low product, which is exact, the high one added and rounded, c added and rounded. Source: CDNA 3 ISA,
 * V_DOT2_F32_F16; the Vega 7nm ISA gives no order, so it is approximate there. */
static inline f32v dot2_f16(u32v a, u32v b, f32v c, u32v active, uint32_t mode)
{
    const f32v a0 = wmi_input_f16(a & 0xffff, mode), b0 = wmi_input_f16(b & 0xffff, mode);
    const f32v a1 = wmi_input_f16(a >> 16, mode), b1 = wmi_input_f16(b >> 16, mode);
    const f32v low = wmi_settle_f32(a0 * b0, active, a0, b0, b0);
    const f32v both = wmi_settle_f32(wmi_fused_f32(a1, b1, low), active, a1, b1, low);
    return wmi_settle_f32(both + c, active, both, c, c);
}

WMI_ROWS3(v_dot2_f32_f16, u32v, dot2_f16(a, b, (f32v)c, active, mode))

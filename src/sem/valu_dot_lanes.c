/* SPDX-License-Identifier: MIT */
/* Dot products of the halves, bytes or nibbles of two words, added to a third operand.
 *
 * Integer sums are exact; with CLAMP they saturate at the end. Source: Vega 7nm ISA, V_DOT2 to V_DOT8, which
 * do not say when they saturate (unverified). */
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

/* T: uint32_t if the sum may wrap, int64_t if not. */
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
DOT(v_dot2c_i32_i16, i32, i, SUM2, 16)
DOT(v_dot4c_i32_i8, i32, i, SUM4, 8)
DOT(v_dot8c_i32_i4, i32, i, SUM8, 4)
DOT(v_dot4_i32_i8, i32, i, SUM4, 8)
DOT(v_dot4_u32_u8, u32, u, SUM4, 8)
DOT(v_dot8_i32_i4, i32, i, SUM8, 4)
DOT(v_dot8_u32_u4, u32, u, SUM8, 4)

/* Bytes and nibbles with the signedness given by op->x: bit 0 for a, bit 1 for b. */
WMI_INLINE int64_t part_by(uint32_t x, unsigned part, unsigned bits, bool is_signed)
{
    return is_signed ? part_i(x, part, bits) : (int64_t)part_u(x, part, bits);
}

WMI_INLINE int64_t mixed_sum(uint32_t a, uint32_t b, int32_t c, unsigned bits, uint32_t x)
{
    int64_t sum = c;
    for (unsigned part = 0; part < 32 / bits; part++)
        sum += part_by(a, part, bits, x & 1) * part_by(b, part, bits, x >> 1 & 1);
    return sum;
}

#define MIXED_DOT(name, bits)                                                                                \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c);   \
        wmi_word r[WMI_LANES];                                                                               \
        for (unsigned i = 0; i < WMI_LANES; i++) {                                                           \
            const int64_t sum = mixed_sum(a[i], b[i], (int32_t)c[i], bits, op->x);                           \
            r[i] = (uint32_t)(op->y & 1 ? saturated_i(sum) : sum);                                           \
        }                                                                                                    \
        WMI_MASKED_LOOP(u32, r[i]);                                                                          \
        return wmi_next(frame, op);                                                                          \
    }

MIXED_DOT(v_dot4_i32_iu8, 8)
MIXED_DOT(v_dot8_i32_iu4, 4)

/* The low product, which is exact, plus the high one, rounded, plus c, rounded. Source: CDNA 3 ISA,
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
WMI_ROWS3(v_dot2c_f32_f16, u32v, dot2_f16(a, b, (f32v)c, active, mode))

/* bf16 is the upper half of an f32. */
static inline f32v low_bf16(u32v x)
{
    return (f32v)(x << 16);
}

static inline f32v high_bf16(u32v x)
{
    return (f32v)(x & 0xffff0000);
}

/* Rounds to nearest even; a NaN keeps its upper payload. */
static inline u32v narrow_bf16(f32v x)
{
    const u32v bits = (u32v)x, rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;

    return wmi_select_u32(wmi_is_nan_f32(x), (bits >> 16) | 0x40, rounded);
}

/* c plus the low, then the high product, each sum rounded once to f32. Source of the order: RDNA 3 ISA,
 * V_DOT2_F32_BF16 and related; the points of rounding are unverified. */
static inline f32v dot2_sum(f32v a0, f32v b0, f32v a1, f32v b1, f32v c, u32v active)
{
    const f32v one = wmi_settle_f32(wmi_fused_f32(a0, b0, c), active, a0, b0, c);

    return wmi_settle_f32(wmi_fused_f32(a1, b1, one), active, a1, b1, one);
}

static inline f32v dot2_bf16(u32v a, u32v b, f32v c, u32v active)
{
    return dot2_sum(low_bf16(a), low_bf16(b), high_bf16(a), high_bf16(b), c, active);
}

WMI_ROWS3(v_dot2_f32_bf16, u32v, dot2_bf16(a, b, (f32v)c, active))
WMI_ROWS3(v_dot2_bf16_bf16, u32v, narrow_bf16(dot2_bf16(a, b, low_bf16(c), active)))
WMI_ROWS3(v_dot2_f16_f16, u32v,
          wmi_output_f16(wmi_raise_f32(dot2_sum(wmi_input_f16(a, mode), wmi_input_f16(b, mode),
                                                wmi_input_f16(a >> 16, mode), wmi_input_f16(b >> 16, mode),
                                                wmi_input_f16(c, mode), active)),
                         mode))

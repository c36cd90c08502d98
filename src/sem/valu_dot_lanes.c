/* SPDX-License-Identifier: MIT */
/* Dot products of the halves, bytes or nibbles of two words, added to a third operand.
 *
 * Integer sums are exact; with CLAMP they saturate at the end. Source: Vega 7nm ISA, V_DOT2 to V_DOT8, which
 * do not say when they saturate (unverified). */
#include "arithmetic/dot_vector.h"
#include "arithmetic/half.h"
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
    const f32v both = wmi_settle_f32(wmi_fused_f32(a1, b1, low), active, a1, b1, wmi_addend_f32(a1, b1, low));
    return wmi_settle_f32(both + c, active, both, c, c);
}

WMI_ROWS3(v_dot2_f32_f16, u32v, dot2_f16(a, b, (f32v)c, active, mode))
WMI_ROWS3(v_dot2c_f32_f16, u32v, dot2_f16(a, b, (f32v)c, active, mode))

/* The products, which are exact, added in turn, the low one first. v_dot2 adds c last, v_dot2c starts with
 * it. Source: CDNA 4 ISA, V_DOT2_F32_BF16 and V_DOT2C_F32_BF16. */
static inline f32v dot2_bf16(u32v a, u32v b, f32v c, u32v active, bool c_first)
{
    const f32v a0 = (f32v)(a << 16), b0 = (f32v)(b << 16);
    const f32v a1 = (f32v)(a & 0xffff0000u), b1 = (f32v)(b & 0xffff0000u);
    const f32v low = wmi_settle_f32(a0 * b0, active, a0, b0, b0);
    const f32v start = c_first ? wmi_settle_f32(c + low, active, c, low, low) : low;
    const f32v high = wmi_settle_f32(a1 * b1, active, a1, b1, b1);
    const f32v both = wmi_settle_f32(start + high, active, start, high, high);
    return c_first ? both : wmi_settle_f32(both + c, active, both, c, c);
}

WMI_ROWS3(v_dot2_f32_bf16_in_turn, u32v, dot2_bf16(a, b, (f32v)c, active, false))
WMI_ROWS3(v_dot2c_f32_bf16, u32v, dot2_bf16(a, b, (f32v)c, active, true))

/* From gfx11 on: base/dot_step.h. Packed results: v_dot2_f16_f16 and v_dot2_bf16_bf16. */
enum packing { PACK_F32, PACK_F16, PACK_BF16 };

static uint32_t one_dot(const struct wmi_dot *dot, unsigned count, enum packing packing, uint32_t a,
                        uint32_t b, uint32_t c, uint32_t mode)
{
    const unsigned bits = 32 / count;
    const uint32_t mask = (1u << bits) - 1;
    uint32_t x[WMI_DOT_PRODUCTS], y[WMI_DOT_PRODUCTS];
    for (unsigned i = 0; i < count; i++) {
        x[i] = a >> i * bits & mask;
        y[i] = b >> i * bits & mask;
    }
    if (packing == PACK_BF16)
        return wmi_dot_bf16_of(wmi_dot_step(dot, x, y, count, c << 16, false));
    return wmi_dot_step(dot, x, y, count, packing == PACK_F16 ? wmi_dot_f32_of_f16(c & 0xffff) : c,
                        mode >> 23 & 1);
}

/* One vector of lanes; those whose exponents are not moderate one by one. */
WMI_INLINE u32v dot_vector(const struct wmi_dot *dot, unsigned count, enum packing packing, u32v a, u32v b,
                           u32v c, uint32_t mode)
{
    const unsigned bits = 32 / count, align = 24u - dot->a->fraction - dot->b->fraction;
    const enum wmi_dot_to to = packing == PACK_F16    ? WMI_DOT_TO_F16
                               : packing == PACK_BF16 ? WMI_DOT_TO_BF16
                                                      : WMI_DOT_TO_F32;
    const uint32_t most = WMI_DOT_MOST_EXPONENT + 127;
    const u32v part = c & (packing == PACK_F32 ? UINT32_MAX : 0xffff);
    u32v wide = wmi_splat_u32(0);
    struct wmi_dot_factors x[WMI_DOT_PRODUCTS], y[WMI_DOT_PRODUCTS];
    for (unsigned i = 0; i < count; i++) {
        x[i] = wmi_dot_split(a >> i * bits, dot->a, dot->flushes, 0, &wide);
        y[i] = wmi_dot_split(b >> i * bits, dot->b, dot->flushes, align, &wide);
        wide |= (u32v)(x[i].e + y[i].e > WMI_DOT_MOST_EXPONENT);
    }
    wide |= packing == PACK_F16    ? (u32v)((part & 0x7fff) >= WMI_INFINITY_F16)
            : packing == PACK_BF16 ? (u32v)((part & 0x7fff) > most << 7)
                                   : (u32v)((part & 0x7fffffff) > most << 23);
    u32v r = wmi_dot_vector_step(x, y, count, dot->group, to, part, &wide);
    if (__builtin_expect(wmi_any(wide), 0))
        for (unsigned i = 0; i < WMI_VECTOR_LANES; i++)
            if (wide[i])
                r[i] = one_dot(dot, count, packing, a[i], b[i], c[i], mode);
    return r;
}

#define DOT_STEP(name, count, packing, ...)                                                                  \
    static const struct wmi_dot name##_dot = __VA_ARGS__;                                                    \
    WMI_LANE_LOOP(name, WMI_APART, WMI_LOAD3(u32v),                                                          \
                  WMI_STORE1(dot_vector(&name##_dot, count, packing, a, b, c, mode)))                        \
    WMI_UNDER(name, wmi_host_float_word(0, 3))

#define F16  &wmi_dot_f16, &wmi_dot_f16
#define BF16 &wmi_dot_bf16, &wmi_dot_bf16

DOT_STEP(v_dot2_f32_f16_gfx11, 2, PACK_F32, {F16, &wmi_dot_f32_flushed, 0, false, WMI_DOT_INVALID})
DOT_STEP(v_dot2_f32_f16_gfx12, 2, PACK_F32, {F16, &wmi_dot_f32, 2, false, WMI_DOT_INVALID})
DOT_STEP(v_dot2_f16_f16, 2, PACK_F16, {F16, &wmi_dot_f16_result, 0, false, WMI_DOT_INVALID})
DOT_STEP(v_dot2_f16_f16_gfx12, 2, PACK_F16, {F16, &wmi_dot_f16_result, 2, false, WMI_DOT_INVALID})
DOT_STEP(v_dot2_f32_bf16, 2, PACK_F32, {BF16, &wmi_dot_f32_flushed, 0, true, WMI_DOT_INVALID})
DOT_STEP(v_dot2_f32_bf16_gfx12, 2, PACK_F32, {BF16, &wmi_dot_f32, 2, false, WMI_DOT_INVALID})
DOT_STEP(v_dot2_bf16_bf16, 2, PACK_BF16, {BF16, &wmi_dot_f32_flushed, 0, true, WMI_DOT_INVALID})
DOT_STEP(v_dot2_bf16_bf16_gfx12, 2, PACK_BF16, {BF16, &wmi_dot_f32, 2, false, WMI_DOT_INVALID})
DOT_STEP(v_dot4_f32_fp8_bf8, 4, PACK_F32, {&wmi_dot_fp8, &wmi_dot_bf8, &wmi_dot_f32, 4, false, WMI_DOT_NAN})
DOT_STEP(v_dot4_f32_bf8_fp8, 4, PACK_F32, {&wmi_dot_bf8, &wmi_dot_fp8, &wmi_dot_f32, 4, false, WMI_DOT_NAN})
DOT_STEP(v_dot4_f32_fp8_fp8, 4, PACK_F32, {&wmi_dot_fp8, &wmi_dot_fp8, &wmi_dot_f32, 4, false, WMI_DOT_NAN})
DOT_STEP(v_dot4_f32_bf8_bf8, 4, PACK_F32, {&wmi_dot_bf8, &wmi_dot_bf8, &wmi_dot_f32, 4, false, WMI_DOT_NAN})

/* SPDX-License-Identifier: MIT */
/* Packed 16-bit integer instructions (VOP3P). Stages before the body have selected the halves, so the loops
 * treat them as twice as many 16-bit lanes. */
#include "sem/bodies.h"

typedef uint16_t __attribute__((may_alias)) wmi_half;

WMI_INLINE wmi_half *halves(char *frame, uint32_t offset)
{
    return __builtin_assume_aligned(frame + offset, 64);
}

WMI_INLINE int16_t saturate_i16(int32_t value)
{
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

WMI_INLINE uint16_t saturate_u16(int64_t value)
{
    return (uint16_t)(value > UINT16_MAX ? UINT16_MAX : value < 0 ? 0 : value);
}

/* The halves of d become `value` in the lanes of the set. No separate loop for full sets: it would save only
 * one blend. */
#define PACKED_LOOP(value)                                                                                   \
    do {                                                                                                     \
        const wmi_half *mask = halves(frame, op->lanes + (uint32_t)offsetof(struct wmi_lanes, row));         \
        wmi_half *d = halves(frame, op->d);                                                                  \
        WMI_EACH_LANE                                                                                        \
        for (unsigned i = 0; i < 2 * WMI_LANES; i++)                                                         \
            d[i] = (wmi_half)(((wmi_half)(value) & mask[i]) | (d[i] & ~mask[i]));                            \
    } while (0)

#define PACKED2(name, T, expression, clamped)                                                                \
    WMI_FUNCTION2(name##_of, T, T, T, expression)                                                            \
    WMI_FUNCTION2(name##_clamped, T, T, T, clamped)                                                          \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_half *a = halves(frame, op->a), *b = halves(frame, op->b);                                 \
        if (__builtin_expect(op->y & 1, 0))                                                                  \
            PACKED_LOOP(name##_clamped((wmi_##T)a[i], (wmi_##T)b[i]));                                       \
        else                                                                                                 \
            PACKED_LOOP(name##_of((wmi_##T)a[i], (wmi_##T)b[i]));                                            \
        return wmi_next(frame, op);                                                                          \
    }

#define PACKED3(name, T, expression, clamped)                                                                \
    WMI_FUNCTION3(name##_of, T, T, T, T, expression)                                                         \
    WMI_FUNCTION3(name##_clamped, T, T, T, T, clamped)                                                       \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_half *a = halves(frame, op->a), *b = halves(frame, op->b), *c = halves(frame, op->c);      \
        if (__builtin_expect(op->y & 1, 0))                                                                  \
            PACKED_LOOP(name##_clamped((wmi_##T)a[i], (wmi_##T)b[i], (wmi_##T)c[i]));                        \
        else                                                                                                 \
            PACKED_LOOP(name##_of((wmi_##T)a[i], (wmi_##T)b[i], (wmi_##T)c[i]));                             \
        return wmi_next(frame, op);                                                                          \
    }

PACKED2(v_pk_add_u16, u16, a + b, saturate_u16(a + b))
PACKED2(v_pk_sub_u16, u16, a - b, saturate_u16(a - b))
PACKED2(v_pk_add_i16, i16, a + b, saturate_i16(a + b))
PACKED2(v_pk_sub_i16, i16, a - b, saturate_i16(a - b))
PACKED3(v_pk_mad_u16, u16, (uint32_t)a *b + c, saturate_u16((int64_t)a *b + c))
PACKED3(v_pk_mad_i16, i16, a *b + c, saturate_i16(a *b + c))

/* Only the product can overflow, and its low half does not saturate: CLAMP has no effect. */
#define PACKED2_PLAIN(name, T, expression) PACKED2(name, T, expression, expression)
PACKED2_PLAIN(v_pk_mul_lo_u16, u16, (uint32_t)a *b)
PACKED2_PLAIN(v_pk_lshlrev_b16, u16, (uint32_t)b << (a & 15))
PACKED2_PLAIN(v_pk_max_i16, i16, a > b ? a : b)
PACKED2_PLAIN(v_pk_min_i16, i16, a < b ? a : b)
PACKED2_PLAIN(v_pk_max_u16, u16, a > b ? a : b)
PACKED2_PLAIN(v_pk_min_u16, u16, a < b ? a : b)

/* By words: AVX2 has no 16-bit shifts by variable amounts. */
LANES2(v_pk_lshrrev_b16, u32, u32, u32, (b & 0xffff) >> (a & 15) | b >> 16 >> (a >> 16 & 15) << 16)
LANES2(v_pk_ashrrev_i16, u32, u32, i32,
       (uint32_t)((int32_t)((uint32_t)b << 16) >> 16 >> (a & 15) & 0xffff) |
           (uint32_t)(b >> 16 >> (a >> 16 & 15)) << 16)

/* The sum saturates whatever CLAMP says, which makes negative results 0. Source: CDNA 5 ISA,
 * V_PK_ADD_MAX_I16, and "Packed Min3 and Max3 ops". */
WMI_INLINE int16_t higher_i16(int16_t a, int16_t b)
{
    return a > b ? a : b;
}

WMI_INLINE int16_t lower_i16(int16_t a, int16_t b)
{
    return a < b ? a : b;
}

WMI_INLINE uint16_t higher_u16(uint16_t a, uint16_t b)
{
    return a > b ? a : b;
}

WMI_INLINE uint16_t lower_u16(uint16_t a, uint16_t b)
{
    return a < b ? a : b;
}

/* Without a condition, whose merge with a maximum makes gcc 12 fail. */
WMI_INLINE uint16_t sum_u16(uint16_t a, uint16_t b)
{
    const uint16_t sum = (uint16_t)(a + b);
    return (uint16_t)(sum | -(sum < a));
}

#define PACKED3_I16(name, value) PACKED3(name, i16, value, higher_i16(value, 0))
#define PACKED3_U16(name, value) PACKED3(name, u16, value, value)
PACKED3_I16(v_pk_add_max_i16, higher_i16(saturate_i16(a + b), c))
PACKED3_I16(v_pk_add_min_i16, lower_i16(saturate_i16(a + b), c))
PACKED3_I16(v_pk_max3_i16, higher_i16(higher_i16(a, b), c))
PACKED3_I16(v_pk_min3_i16, lower_i16(lower_i16(a, b), c))
PACKED3_U16(v_pk_add_max_u16, higher_u16(sum_u16(a, b), c))
PACKED3_U16(v_pk_add_min_u16, lower_u16(sum_u16(a, b), c))
PACKED3_U16(v_pk_max3_u16, higher_u16(higher_u16(a, b), c))
PACKED3_U16(v_pk_min3_u16, lower_u16(lower_u16(a, b), c))

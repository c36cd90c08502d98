/* SPDX-License-Identifier: MIT */
/* Integer arithmetic of vector instructions on 32-bit and 16-bit lanes.
 *
 * Sources: AMD's ISA documents of Vega and CDNA 3. CLAMP saturates to the range of the result's type; the
 * low half of a product (v_mul_lo) does not saturate. */
#include "sem/bodies.h"

/* ---- saturation ---- */

WMI_INLINE uint32_t saturate_u32(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

WMI_INLINE int32_t saturate_i32(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

WMI_INLINE uint16_t saturate_u16(int64_t value)
{
    return value > UINT16_MAX ? UINT16_MAX : value < 0 ? 0 : (uint16_t)value;
}

WMI_INLINE int16_t saturate_i16(int64_t value)
{
    return value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : (int16_t)value;
}

/* ---- sums ---- */

CLAMPED2(v_add_u32, u32, u32, u32, a + b, saturate_u32((uint64_t)a + b))
CLAMPED2(v_sub_u32, u32, u32, u32, a - b, a < b ? 0 : a - b)
CLAMPED2(v_subrev_u32, u32, u32, u32, b - a, b < a ? 0 : b - a)
CLAMPED2(v_add_i32, i32, i32, i32, (uint32_t)a + (uint32_t)b, saturate_i32((int64_t)a + b))
CLAMPED2(v_sub_i32, i32, i32, i32, (uint32_t)a - (uint32_t)b, saturate_i32((int64_t)a - b))
CLAMPED2(v_add_u16, u16, u16, u16, a + b, saturate_u16(a + b))
CLAMPED2(v_sub_u16, u16, u16, u16, a - b, saturate_u16(a - b))
CLAMPED2(v_subrev_u16, u16, u16, u16, b - a, saturate_u16(b - a))
CLAMPED2(v_add_i16, i16, i16, i16, a + b, saturate_i16(a + b))
CLAMPED2(v_sub_i16, i16, i16, i16, a - b, saturate_i16(a - b))
LANES3(v_add3_u32, u32, u32, u32, u32, a + b + c)
LANES3(v_xad_u32, u32, u32, u32, u32, (a ^ b) + c)
LANES3(v_lshl_add_u32, u32, u32, u32, u32, (a << (b & 31)) + c)
LANES3(v_add_lshl_u32, u32, u32, u32, u32, (a + b) << (c & 31))

/* ---- sums with carry: the mask at e receives the carries of the set's lanes, the mask at c is carry in ----
 * Clamped results saturate; that they have the same carry is undocumented (unverified). */
WMI_INLINE const struct wmi_op *carry_out(char *frame, const struct wmi_op *op, uint64_t carries,
                                          bool to_ones)
{
    carries &= wmi_op_lanes(frame, op)->bits;
    if (__builtin_expect(op->y & 1, 0)) {
        wmi_word *d = wmi_row(frame, op->d), carried[WMI_LANES];
        wmi_lanes_expand(carried, carries);
        for (unsigned i = 0; i < WMI_LANES; i++)
            d[i] = to_ones ? d[i] | carried[i] : d[i] & ~carried[i];
    }
    wmi_put_mask(frame, op->e, carries);
    return wmi_next(frame, op);
}

#define CARRY(name, compute, first, second, carry_in, to_ones)                                               \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const uint64_t carries = compute(wmi_row(frame, op->d), wmi_row(frame, op->first),                   \
                                         wmi_row(frame, op->second), carry_in, wmi_op_lanes(frame, op));     \
        return carry_out(frame, op, carries, to_ones);                                                       \
    }

CARRY(v_add_co_u32, wmi_lanes_add, a, b, 0, true)
CARRY(v_addc_co_u32, wmi_lanes_add, a, b, wmi_get_mask(frame, op->c), true)
CARRY(v_sub_co_u32, wmi_lanes_subtract, a, b, 0, false)
CARRY(v_subb_co_u32, wmi_lanes_subtract, a, b, wmi_get_mask(frame, op->c), false)
CARRY(v_subrev_co_u32, wmi_lanes_subtract, b, a, 0, false)
CARRY(v_subbrev_co_u32, wmi_lanes_subtract, b, a, wmi_get_mask(frame, op->c), false)

/* ---- products ---- */

WMI_INLINE int32_t signed24(int32_t value)
{
    return (int32_t)((uint32_t)value << 8) >> 8;
}

WMI_INLINE uint32_t unsigned24(uint32_t value)
{
    return value & 0xffffff;
}

WMI_INLINE int64_t product_i24(int32_t a, int32_t b)
{
    return (int64_t)signed24(a) * signed24(b);
}

WMI_INLINE uint64_t product_u24(uint32_t a, uint32_t b)
{
    return (uint64_t)unsigned24(a) * unsigned24(b);
}

LANES2(v_mul_lo_u32, u32, u32, u32, a *b)
LANES2(v_mul_lo_i32, u32, u32, u32, a *b)
LANES2(v_mul_hi_u32, u32, u32, u32, (uint64_t)a *b >> 32)
LANES2(v_mul_hi_i32, i32, i32, i32, (int64_t)a *b >> 32)
CLAMPED2(v_mul_i32_i24, i32, i32, i32, (uint32_t)signed24(a) * (uint32_t)signed24(b),
         saturate_i32(product_i24(a, b)))
CLAMPED2(v_mul_u32_u24, u32, u32, u32, unsigned24(a) * unsigned24(b), saturate_u32(product_u24(a, b)))
LANES2(v_mul_hi_i32_i24, i32, i32, i32, product_i24(a, b) >> 32)
LANES2(v_mul_hi_u32_u24, u32, u32, u32, product_u24(a, b) >> 32)
CLAMPED3(v_mad_i32_i24, i32, i32, i32, i32, (uint32_t)signed24(a) * (uint32_t)signed24(b) + (uint32_t)c,
         saturate_i32(product_i24(a, b) + c))
CLAMPED3(v_mad_u32_u24, u32, u32, u32, u32, unsigned24(a) * unsigned24(b) + c,
         saturate_u32(product_u24(a, b) + c))

LANES2(v_mul_lo_u16, u16, u16, u16, (uint32_t)a *b)
CLAMPED3(v_mad_u16, u16, u16, u16, u16, (uint32_t)a *b + c, saturate_u16((int64_t)a *b + c))
CLAMPED3(v_mad_i16, i16, i16, i16, i16, a *b + c, saturate_i16((int64_t)a *b + c))
CLAMPED3(v_mad_legacy_u16, u16, u16, u16, u16, (uint32_t)a *b + c, saturate_u16((int64_t)a *b + c))
CLAMPED3(v_mad_legacy_i16, i16, i16, i16, i16, a *b + c, saturate_i16((int64_t)a *b + c))
CLAMPED3(v_mad_u32_u16, u32, u16, u16, u32, (uint32_t)a *b + c, saturate_u32((uint64_t)a *b + c))
CLAMPED3(v_mad_i32_i16, i32, i16, i16, i32, (uint32_t)(a *b) + (uint32_t)c, saturate_i32((int64_t)a *b + c))

/* ---- minimum, maximum, median ---- */

#define SMALLER(a, b)   ((a) < (b) ? (a) : (b))
#define LARGER(a, b)    ((a) > (b) ? (a) : (b))
#define MIDDLE(a, b, c) LARGER(SMALLER(a, b), SMALLER(LARGER(a, b), c))

LANES2(v_min_i32, i32, i32, i32, SMALLER(a, b))
LANES2(v_max_i32, i32, i32, i32, LARGER(a, b))
LANES2(v_min_u32, u32, u32, u32, SMALLER(a, b))
LANES2(v_max_u32, u32, u32, u32, LARGER(a, b))
LANES2(v_min_i16, i16, i16, i16, SMALLER(a, b))
LANES2(v_max_i16, i16, i16, i16, LARGER(a, b))
LANES2(v_min_u16, u16, u16, u16, SMALLER(a, b))
LANES2(v_max_u16, u16, u16, u16, LARGER(a, b))
LANES3(v_min3_i32, i32, i32, i32, i32, SMALLER(SMALLER(a, b), c))
LANES3(v_max3_i32, i32, i32, i32, i32, LARGER(LARGER(a, b), c))
LANES3(v_med3_i32, i32, i32, i32, i32, MIDDLE(a, b, c))
LANES3(v_maxmin_i32, i32, i32, i32, i32, SMALLER(LARGER(a, b), c))
LANES3(v_minmax_i32, i32, i32, i32, i32, LARGER(SMALLER(a, b), c))
LANES3(v_maxmin_u32, u32, u32, u32, u32, SMALLER(LARGER(a, b), c))
LANES3(v_minmax_u32, u32, u32, u32, u32, LARGER(SMALLER(a, b), c))
LANES3(v_min3_u32, u32, u32, u32, u32, SMALLER(SMALLER(a, b), c))
LANES3(v_max3_u32, u32, u32, u32, u32, LARGER(LARGER(a, b), c))
LANES3(v_med3_u32, u32, u32, u32, u32, MIDDLE(a, b, c))
LANES3(v_min3_i16, i16, i16, i16, i16, SMALLER(SMALLER(a, b), c))
LANES3(v_max3_i16, i16, i16, i16, i16, LARGER(LARGER(a, b), c))
LANES3(v_med3_i16, i16, i16, i16, i16, MIDDLE(a, b, c))
LANES3(v_min3_u16, u16, u16, u16, u16, SMALLER(SMALLER(a, b), c))
LANES3(v_max3_u16, u16, u16, u16, u16, LARGER(LARGER(a, b), c))
LANES3(v_med3_u16, u16, u16, u16, u16, MIDDLE(a, b, c))

/* ---- sums of absolute differences of bytes ---- */

WMI_INLINE uint32_t byte_difference(uint32_t a, uint32_t b, unsigned shift)
{
    const uint32_t x = a >> shift & 0xff, y = b >> shift & 0xff;
    return x > y ? x - y : y - x;
}

WMI_INLINE uint32_t sum_of_differences(uint32_t a, uint32_t b)
{
    return byte_difference(a, b, 0) + byte_difference(a, b, 8) + byte_difference(a, b, 16) +
           byte_difference(a, b, 24);
}

/* The same without bytes that are 0 in b. */
WMI_INLINE uint32_t masked_sum_of_differences(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (unsigned shift = 0; shift < 32; shift += 8)
        sum += b >> shift & 0xff ? byte_difference(a, b, shift) : 0;
    return sum;
}

WMI_INLINE uint32_t half_differences(uint32_t a, uint32_t b)
{
    const uint32_t al = a & 0xffff, bl = b & 0xffff, ah = a >> 16, bh = b >> 16;
    return (al > bl ? al - bl : bl - al) + (ah > bh ? ah - bh : bh - ah);
}

#define DIFFERENCES(name, sum)                                                                               \
    CLAMPED3(name, u32, u32, u32, u32, (sum) + c, saturate_u32((uint64_t)(sum) + c))
DIFFERENCES(v_sad_u8, sum_of_differences(a, b))
DIFFERENCES(v_sad_hi_u8, sum_of_differences(a, b) << 16)
DIFFERENCES(v_sad_u16, half_differences(a, b))
DIFFERENCES(v_sad_u32, a > b ? a - b : b - a)
DIFFERENCES(v_msad_u8, masked_sum_of_differences(a, b))

/* Four sums: of b with the four bytes of a that start at byte 0, 1, 2, 3; each is added to its part of c. The
 * 16-bit sums are at most 1020 before c is added and wrap, or saturate with CLAMP. */
#define FOUR_SUMS(name, sum)                                                                                 \
    WMI_INLINE uint64_t name##_sums(uint64_t a, uint32_t b, uint64_t c, uint32_t clamp)                      \
    {                                                                                                        \
        uint64_t sums = 0;                                                                                   \
        for (unsigned k = 0; k < 4; k++) {                                                                   \
            uint32_t one = sum((uint32_t)(a >> 8 * k), b) + (uint32_t)(c >> 16 * k & 0xffff);                \
            one = clamp && one > 0xffff ? 0xffff : one & 0xffff;                                             \
            sums |= (uint64_t)one << 16 * k;                                                                 \
        }                                                                                                    \
        return sums;                                                                                         \
    }                                                                                                        \
    CLAMPED3(name, u64, u64, u32, u64, name##_sums(a, b, c, 0), name##_sums(a, b, c, 1))
FOUR_SUMS(v_qsad_pk_u16_u8, sum_of_differences)
FOUR_SUMS(v_mqsad_pk_u16_u8, masked_sum_of_differences)

/* 32-bit sums: d and c are four rows. d must not overlap the sources (LLVM rejects it). */
WMI_DEFINE(v_mqsad_u32_u8)
{
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c);
    wmi_word *d = wmi_row(frame, op->d);
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);

    for (unsigned i = 0; i < WMI_LANES; i++) {
        uint32_t sums[4];
        for (unsigned k = 0; k < 4; k++) {
            const uint32_t bytes = (uint32_t)(wmi_get_u64(a, i) >> 8 * k), add = c[i + k * WMI_LANES];
            sums[k] = masked_sum_of_differences(bytes, b[i]) + add;
            if (op->y & 1 && sums[k] < add)
                sums[k] = UINT32_MAX;
        }
        for (unsigned k = 0; k < 4; k++)
            wmi_merge_u32(d + k * WMI_LANES, i, sums[k], lanes->row[i]);
    }
    return wmi_next(frame, op);
}

/* ---- sums that saturate whatever CLAMP says, and the larger or smaller of them and c; CLAMP makes negative
 * results 0. Source: CDNA 5 ISA, V_ADD_MAX_I32. ---- */

WMI_INLINE int32_t sum_i32(int32_t a, int32_t b)
{
    const int64_t sum = (int64_t)a + b;
    return (int32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

WMI_INLINE uint32_t sum_u32(uint32_t a, uint32_t b)
{
    return a + b < a ? UINT32_MAX : a + b;
}

WMI_INLINE int32_t higher_i32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

WMI_INLINE int32_t lower_i32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

CLAMPED3(v_add_max_i32, i32, i32, i32, i32, higher_i32(sum_i32(a, b), c),
         higher_i32(higher_i32(sum_i32(a, b), c), 0))
CLAMPED3(v_add_min_i32, i32, i32, i32, i32, lower_i32(sum_i32(a, b), c),
         higher_i32(lower_i32(sum_i32(a, b), c), 0))
LANES3(v_add_max_u32, u32, u32, u32, u32, sum_u32(a, b) > c ? sum_u32(a, b) : c)
LANES3(v_add_min_u32, u32, u32, u32, u32, sum_u32(a, b) < c ? sum_u32(a, b) : c)
LANES3(v_mad_u32, u32, u32, u32, u32, a *b + c)

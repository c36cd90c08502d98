/* SPDX-License-Identifier: MIT */
/* Logic, shifts, bit fields, counts and byte selection of vector instructions on 32-bit and 16-bit lanes.
 *
 * Sources: AMD's ISA documents of Vega and CDNA 3. */
#include "sem/bodies.h"

/* ---- logic ---- */

LANES1(v_not_b32, u32, u32, ~a)
LANES1(v_not_b16, u16, u16, ~a)
LANES2(v_and_b32, u32, u32, u32, a &b)
LANES2(v_or_b32, u32, u32, u32, a | b)
LANES2(v_xor_b32, u32, u32, u32, a ^ b)
LANES2(v_and_b16, u16, u16, u16, a &b)
LANES2(v_or_b16, u16, u16, u16, a | b)
LANES2(v_xor_b16, u16, u16, u16, a ^ b)
LANES3(v_and_or_b32, u32, u32, u32, u32, (a & b) | c)
LANES3(v_xor3_b32, u32, u32, u32, u32, a ^ b ^ c)
LANES3(v_or3_b32, u32, u32, u32, u32, a | b | c)
LANES2(v_xnor_b32, u32, u32, u32, ~(a ^ b))
LANES3(v_bfi_b32, u32, u32, u32, u32, (a & b) | (~a & c))

/* ---- shifts: the amount is the first operand of `rev` forms ---- */

LANES2(v_lshl_b32, u32, u32, u32, a << (b & 31))
LANES2(v_lshr_b32, u32, u32, u32, a >> (b & 31))
LANES2(v_ashr_i32, i32, i32, u32, a >> (b & 31))
LANES2(v_lshlrev_b32, u32, u32, u32, b << (a & 31))
LANES2(v_lshrrev_b32, u32, u32, u32, b >> (a & 31))
LANES2(v_ashrrev_i32, i32, u32, i32, b >> (a & 31))
LANES2(v_lshlrev_b16, u16, u16, u16, (uint32_t)b << (a & 15))
LANES2(v_lshrrev_b16, u16, u16, u16, b >> (a & 15))
LANES2(v_ashrrev_i16, i16, u16, i16, b >> (a & 15))
LANES3(v_lshl_or_b32, u32, u32, u32, u32, (a << (b & 31)) | c)

/* The low word of a:b shifted right. Shifting left in two steps keeps the amount below 32. */
WMI_INLINE uint32_t funnel_right(uint32_t high, uint32_t low, uint32_t shift)
{
    return low >> shift | high << 1 << (31 - shift);
}

LANES3(v_alignbit_b32, u32, u32, u32, u32, funnel_right(a, b, c & 31))
LANES3(v_alignbyte_b32, u32, u32, u32, u32, funnel_right(a, b, 8 * (c & 3)))

/* ---- bit fields: b bits [4:0] are the first bit, c bits [4:0] the width ---- */

WMI_INLINE int32_t field_i32(int32_t value, uint32_t first, uint32_t width)
{
    /* Shift out the bits above the field; a field that extends beyond bit 31 is truncated. */
    const uint32_t beyond = first + width < 32 ? (32 - first - width) & 31 : 0;
    const int32_t field = (int32_t)((uint32_t)value << beyond) >> beyond >> first;
    return width ? field : 0;
}

LANES3(v_bfe_u32, u32, u32, u32, u32, a >> (b & 31) & ((1u << (c & 31)) - 1))
LANES3(v_bfe_i32, i32, i32, u32, u32, field_i32(a, b & 31, c & 31))
LANES2(v_bfm_b32, u32, u32, u32, ((1u << (a & 31)) - 1) << (b & 31))

/* ---- counts: in 32-bit words, which all levels have instructions for. Avoids the usual multiplication as
 * the last step: gcc recognizes it as a population count and does not vectorize it. ---- */

WMI_INLINE uint32_t count_bits(uint32_t value)
{
    value -= value >> 1 & 0x55555555;
    value = (value & 0x33333333) + (value >> 2 & 0x33333333);
    value = (value + (value >> 4)) & 0x0f0f0f0f;
    value += value >> 8;
    return (value + (value >> 16)) & 0x3f;
}

WMI_INLINE uint32_t reverse_bits(uint32_t value)
{
    value = (value >> 1 & 0x55555555) | (value & 0x55555555) << 1;
    value = (value >> 2 & 0x33333333) | (value & 0x33333333) << 2;
    value = (value >> 4 & 0x0f0f0f0f) | (value & 0x0f0f0f0f) << 4;
    value = (value >> 8 & 0x00ff00ff) | (value & 0x00ff00ff) << 8;
    return value >> 16 | value << 16;
}

/* Zeros below the lowest set bit; -1 if there is none. */
WMI_INLINE uint32_t first_from_low(uint32_t value)
{
    return value ? count_bits(~value & (value - 1)) : UINT32_MAX;
}

/* Zeros above the highest set bit; -1 if there is none. */
WMI_INLINE uint32_t first_from_high(uint32_t value)
{
    uint32_t below = value | value >> 1;
    below |= below >> 2;
    below |= below >> 4;
    below |= below >> 8;
    below |= below >> 16;
    return value ? 32 - count_bits(below) : UINT32_MAX;
}

LANES1(v_bfrev_b32, u32, u32, reverse_bits(a))
LANES1(v_ffbl_b32, u32, u32, first_from_low(a))
LANES1(v_ffbh_u32, u32, u32, first_from_high(a))
LANES1(v_ffbh_i32, u32, i32, first_from_high((uint32_t)(a ^ a >> 31)))
LANES2(v_bcnt_u32_b32, u32, u32, u32, count_bits(a) + b)

/* b + the number of set bits of a for lower lanes: within lanes 0 to 31, and within lanes 32 to 63. */
#define COUNT_BELOW(name, below)                                                                             \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);                               \
        WMI_LOOPS(u32, count_bits(a[i] & (below)) + b[i]);                                                   \
        return wmi_next(frame, op);                                                                          \
    }
COUNT_BELOW(v_mbcnt_lo_u32_b32, i < 32 ? (1u << (i & 31)) - 1 : UINT32_MAX)
COUNT_BELOW(v_mbcnt_hi_u32_b32, i < 32 ? 0 : (1u << (i & 31)) - 1)

/* ---- bytes ---- */

WMI_DEFINE(v_perm_b32)
{
    wmi_word out[WMI_LANES];
    wmi_lanes_permute_bytes(out, wmi_row(frame, op->a), wmi_row(frame, op->b), wmi_row(frame, op->c));
    WMI_LOOPS(u32, out[i]);
    return wmi_next(frame, op);
}

/* Per byte (a + b + the lowest bit of c's byte) / 2. */
WMI_INLINE uint32_t average_byte(uint32_t a, uint32_t b, uint32_t c, unsigned shift)
{
    return ((a >> shift & 0xff) + (b >> shift & 0xff) + (c >> shift & 1)) >> 1 << shift;
}

LANES3(v_lerp_u8, u32, u32, u32, u32,
       average_byte(a, b, c, 0) | average_byte(a, b, c, 8) | average_byte(a, b, c, 16) |
           average_byte(a, b, c, 24))

WMI_INLINE uint32_t saturate_u8(int32_t value)
{
    return value < 0 ? 0 : value > 255 ? 255 : (uint32_t)value;
}

LANES1(v_sat_pk_u8_i16, u32, u32, saturate_u8((int16_t)a) | saturate_u8((int32_t)a >> 16) << 8)

/* The shader engines, out of four, that overlap a screen rectangle: the table of the ISA documents of Vega
 * and CDNA 2, one hexadecimal digit per entry, 16 entries per line. */
static const char partitions[] = "137f5fff7fffffff"
                                 "f26efafffbffffff"
                                 "df4cff5fffdfffff"
                                 "9bf8fffafffeffff"
                                 "ffff4cdf6fffefff"
                                 "fffff89bf99ffdff"
                                 "ffff7f13ff9fffbf"
                                 "ffff6ef26ff6fff7"
                                 "bfffffff23bfafff"
                                 "f7fffffff19df5ff"
                                 "ffefffffef8cffaf"
                                 "fffdffff67f4fff5"
                                 "9fffdfffffff8cef"
                                 "f66ffefffffff467"
                                 "ff6fff7fffffbf23"
                                 "9ff9fffbffff9df1";
static_assert(sizeof partitions == 257, "one digit per entry");

WMI_INLINE uint32_t partition(uint32_t rectangle)
{
    const uint32_t digit = (unsigned char)partitions[rectangle & 0xff];
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

LANES1(v_screen_partition_4se_b32, u32, u32, partition(a))

/* A step of a generator of random numbers. Source: CDNA 4 ISA, V_PRNG_B32. */
LANES1(v_prng_b32, u32, u32, a << 1 ^ (a >> 31 ? 197 : 0))

/* Bit 4 * a + 2 * b + c of the table, for each bit of the operands. Source: CDNA 4 ISA, V_BITOP3_B32. */
WMI_INLINE uint32_t bitop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t r = 0;
    for (unsigned at = 0; at < 8; at++)
        if (table >> at & 1)
            r |= (at & 4 ? a : ~a) & (at & 2 ? b : ~b) & (at & 1 ? c : ~c);
    return r;
}

#define BITOP3(name, type)                                                                                   \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c);   \
        const uint32_t table = op->y >> WMI_Y_TABLE;                                                         \
        WMI_LOOPS(type, (wmi_##type)bitop3(a[i], b[i], c[i], table));                                        \
        return wmi_next(frame, op);                                                                          \
    }
BITOP3(v_bitop3_b16, u16)
BITOP3(v_bitop3_b32, u32)

/* Two shifted numbers, saturated to 8 bits. Source: CDNA 4 ISA, V_ASHR_PK_I8_I32. */
WMI_INLINE uint32_t to_i8(int32_t x)
{
    return (uint32_t)(x < -128 ? -128 : x > 127 ? 127 : x) & 0xff;
}

WMI_INLINE uint32_t to_u8(int32_t x)
{
    return (uint32_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

LANES3(v_ashr_pk_i8_i32, u16, i32, i32, u32, to_i8(a >> (c & 31)) | to_i8(b >> (c & 31)) << 8)
LANES3(v_ashr_pk_u8_i32, u16, i32, i32, u32, to_u8(a >> (c & 31)) | to_u8(b >> (c & 31)) << 8)

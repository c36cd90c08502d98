/* SPDX-License-Identifier: MIT */
/* Every integer body, on every CPU level of the host, wave32 and wave64, against an independent
 * implementation of the ISA documents in 128-bit integers, lane by lane: edge values and random bits, full
 * and partial lane sets, with and without CLAMP, and the result in a separate register or in that of a
 * source. */
#include "frame.h"
#include "isa/isa.h"
#include "sem/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <cmocka.h>

typedef __int128 wide;

/* ---- rules: exact results, truncated or saturated to the type of d by the check below ---- */

enum type { NONE, U16, I16, U32, I32, U64, I64, MASK };

static unsigned bits_of(enum type type)
{
    return type <= I16 ? 16 : type <= I32 ? 32 : 64;
}

/* `bits` as an integer of the type. */
static wide number(enum type type, uint64_t bits)
{
    switch (type) {
    case U16:
        return (uint16_t)bits;
    case I16:
        return (int16_t)bits;
    case U32:
        return (uint32_t)bits;
    case I32:
        return (int32_t)bits;
    case I64:
        return (int64_t)bits;
    default:
        return bits;
    }
}

static wide bit(unsigned n)
{
    return (wide)1 << n;
}

static wide low_bits(wide value, unsigned n)
{
    return value & (bit(n) - 1);
}

static wide sign_extended(wide value, unsigned n)
{
    return n && value & bit(n - 1) ? low_bits(value, n) - bit(n) : low_bits(value, n);
}

static wide smaller(wide a, wide b)
{
    return a < b ? a : b;
}

static wide larger(wide a, wide b)
{
    return a > b ? a : b;
}

static wide saturated(enum type type, wide value)
{
    const bool is_signed = type == I16 || type == I32 || type == I64;
    const wide top = bit(bits_of(type) - is_signed) - 1, bottom = is_signed ? -top - 1 : 0;

    return smaller(larger(value, bottom), top);
}

/* The median of three. */
static wide middle(wide a, wide b, wide c)
{
    wide v[3] = {a, b, c};

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            if (v[j] > v[j + 1]) {
                const wide swap = v[j];
                v[j] = v[j + 1];
                v[j + 1] = swap;
            }
    return v[1];
}

static wide count(wide value, unsigned n)
{
    unsigned ones = 0;

    for (unsigned i = 0; i < n; i++)
        ones += value >> i & 1;
    return ones;
}

/* Index of the first bit equal to `wanted`, counted from the lowest (step 1) or the highest (step -1) of 32;
 * -1 if there is none. */
static wide find(wide value, int step, int wanted)
{
    for (int i = 0; i < 32; i++)
        if ((value >> (step > 0 ? i : 31 - i) & 1) == wanted)
            return i;
    return -1;
}

static wide reversed(wide value)
{
    wide result = 0;

    for (int i = 0; i < 32; i++)
        result |= (value >> i & 1) << (31 - i);
    return result;
}

static wide byte(wide value, unsigned n)
{
    return value >> (8 * n) & 0xff;
}

static wide byte_sad(wide a, wide b, bool masked)
{
    wide sum = 0;

    for (unsigned n = 0; n < 4; n++)
        if (!masked || byte(b, n))
            sum += byte(a, n) > byte(b, n) ? byte(a, n) - byte(b, n) : byte(b, n) - byte(a, n);
    return sum;
}

static wide half_sad(wide a, wide b)
{
    wide sum = 0;

    for (unsigned n = 0; n < 32; n += 16) {
        const wide difference = low_bits(a >> n, 16) - low_bits(b >> n, 16);
        sum += difference < 0 ? -difference : difference;
    }
    return sum;
}

static wide quad_sad(wide a, wide b, wide c, bool masked, bool clamp)
{
    wide result = 0;

    for (unsigned k = 0; k < 4; k++) {
        const wide sum = byte_sad(a >> (8 * k), b, masked) + low_bits(c >> (16 * k), 16);
        result |= (clamp ? smaller(sum, 0xffff) : low_bits(sum, 16)) << (16 * k);
    }
    return result;
}

/* CDNA 3 ISA, BYTE_PERMUTE. */
static wide permuted(wide a, wide b, wide select)
{
    const wide data = a << 32 | b;
    wide result = 0;

    for (unsigned n = 0; n < 4; n++) {
        const unsigned s = (unsigned)byte(select, n);
        wide value;
        if (s >= 13)
            value = 0xff;
        else if (s == 12)
            value = 0;
        else if (s >= 8)
            value = byte(data, 2 * (s - 8) + 1) >> 7 ? 0xff : 0;
        else
            value = byte(data, s);
        result |= value << (8 * n);
    }
    return result;
}

static wide average(wide a, wide b, wide c)
{
    wide result = 0;

    for (unsigned n = 0; n < 4; n++)
        result |= (byte(a, n) + byte(b, n) + (byte(c, n) & 1)) / 2 << (8 * n);
    return result;
}

static wide packed_pair(wide low, wide high)
{
    return low_bits(low, 16) | low_bits(high, 16) << 16;
}

/* Sum of the products of the `bits`-bit elements. */
static wide dot(wide a, wide b, unsigned bits, bool is_signed)
{
    const wide range = bit(bits);
    wide total = 0;

    for (unsigned n = 0; n < 32; n += bits) {
        wide x = a / bit(n) % range, y = b / bit(n) % range;
        if (is_signed && x >= range / 2)
            x -= range;
        if (is_signed && y >= range / 2)
            y -= range;
        total += x * y;
    }
    return total;
}

struct lane {
    wide a, b, c; /* sources as integers of their types; c is the carry of rows with CARRY_IN */
    unsigned number;
    bool clamp;
};

enum flag {
    CLAMP = 1,      /* saturates when the CLAMP bit is set */
    CARRY_OUT = 2,  /* bit `width of d` of the exact result goes to the mask at e */
    CARRY_IN = 4,   /* c is a mask */
    HALVES = 8,     /* packed: the rule applies to each half */
    TAKES_BIT = 16, /* the rule gets the CLAMP bit and saturates by itself */
};

#define RULE(row, expression)                                                                                \
    static wide row(struct lane l)                                                                           \
    {                                                                                                        \
        const wide a = l.a, b = l.b, c = l.c;                                                                \
        (void)a, (void)b, (void)c;                                                                           \
        return (expression);                                                                                 \
    }

/* ROW(row, types of d, a, b, c, flags, exact result) */
#define ROWS(ROW)                                                                                            \
    ROW(v_mov_b32, U32, U32, NONE, NONE, 0, a)                                                               \
    ROW(v_not_b32, U32, U32, NONE, NONE, 0, -1 - a)                                                          \
    ROW(v_bfrev_b32, U32, U32, NONE, NONE, 0, reversed(a))                                                   \
    ROW(v_ffbh_u32, U32, U32, NONE, NONE, 0, find(a, -1, 1))                                                 \
    ROW(v_ffbl_b32, U32, U32, NONE, NONE, 0, find(a, 1, 1))                                                  \
    ROW(v_ffbh_i32, U32, I32, NONE, NONE, 0, find(a, -1, a >= 0))                                            \
    ROW(v_sat_pk_u8_i16, U32, U32, NONE, NONE, 0,                                                            \
        smaller(larger(number(I16, (uint64_t)a), 0), 255) |                                                  \
            smaller(larger(number(I16, (uint64_t)(a >> 16)), 0), 255) << 8)                                  \
    ROW(v_cndmask_b32, U32, U32, U32, MASK, CARRY_IN, c ? b : a)                                             \
    ROW(v_and_b32, U32, U32, U32, NONE, 0, a &b)                                                             \
    ROW(v_or_b32, U32, U32, U32, NONE, 0, a | b)                                                             \
    ROW(v_xor_b32, U32, U32, U32, NONE, 0, (a | b) - (a & b))                                                \
    ROW(v_xnor_b32, U32, U32, U32, NONE, 0, -1 - ((a | b) - (a & b)))                                        \
    ROW(v_and_or_b32, U32, U32, U32, U32, 0, (a & b) | c)                                                    \
    ROW(v_xor3_b32, U32, U32, U32, U32, 0, (((a | b) - (a & b)) | c) - (((a | b) - (a & b)) & c))            \
    ROW(v_mov_b16, U16, U16, NONE, NONE, 0, a)                                                               \
    ROW(v_not_b16, U16, U16, NONE, NONE, 0, -1 - a)                                                          \
    ROW(v_and_b16, U16, U16, U16, NONE, 0, a &b)                                                             \
    ROW(v_or_b16, U16, U16, U16, NONE, 0, a | b)                                                             \
    ROW(v_xor_b16, U16, U16, U16, NONE, 0, (a | b) - (a & b))                                                \
    ROW(v_cvt_i32_i16, I32, I16, NONE, NONE, 0, a)                                                           \
    ROW(v_cvt_u32_u16, U32, U16, NONE, NONE, 0, a)                                                           \
    ROW(v_cndmask_b16, U16, U16, U16, MASK, CARRY_IN, c ? b : a)                                             \
    ROW(v_mul_lo_i32, U32, U32, U32, NONE, 0, a *b)                                                          \
    ROW(v_maxmin_i32, I32, I32, I32, I32, 0, smaller(larger(a, b), c))                                       \
    ROW(v_minmax_i32, I32, I32, I32, I32, 0, larger(smaller(a, b), c))                                       \
    ROW(v_maxmin_u32, U32, U32, U32, U32, 0, smaller(larger(a, b), c))                                       \
    ROW(v_minmax_u32, U32, U32, U32, U32, 0, larger(smaller(a, b), c))                                       \
    ROW(v_dot2c_i32_i16, I32, U32, U32, I32, CLAMP, dot(a, b, 16, true) + c)                                 \
    ROW(v_dot4c_i32_i8, I32, U32, U32, I32, CLAMP, dot(a, b, 8, true) + c)                                   \
    ROW(v_dot8c_i32_i4, I32, U32, U32, I32, CLAMP, dot(a, b, 4, true) + c)                                   \
    ROW(v_dot4_i32_iu8, I32, U32, U32, I32, CLAMP, dot(a, b, 8, false) + c)                                  \
    ROW(v_dot8_i32_iu4, I32, U32, U32, I32, CLAMP, dot(a, b, 4, false) + c)                                  \
    ROW(v_or3_b32, U32, U32, U32, U32, 0, a | b | c)                                                         \
    ROW(v_bfi_b32, U32, U32, U32, U32, 0, (a & b) | (~a & c))                                                \
    ROW(v_lshl_b32, U32, U32, U32, NONE, 0, a *bit(b % 32))                                                  \
    ROW(v_lshr_b32, U32, U32, U32, NONE, 0, a / bit(b % 32))                                                 \
    ROW(v_ashr_i32, I32, I32, U32, NONE, 0, a >> b % 32)                                                     \
    ROW(v_lshlrev_b32, U32, U32, U32, NONE, 0, b *bit(a % 32))                                               \
    ROW(v_lshrrev_b32, U32, U32, U32, NONE, 0, b / bit(a % 32))                                              \
    ROW(v_ashrrev_i32, I32, U32, I32, NONE, 0, b >> a % 32)                                                  \
    ROW(v_lshlrev_b16, U16, U16, U16, NONE, 0, b *bit(a % 16))                                               \
    ROW(v_lshrrev_b16, U16, U16, U16, NONE, 0, b / bit(a % 16))                                              \
    ROW(v_ashrrev_i16, I16, U16, I16, NONE, 0, b >> a % 16)                                                  \
    ROW(v_lshlrev_b64, U64, U32, U64, NONE, 0, low_bits(b, 64 - a % 64) * bit(a % 64))                       \
    ROW(v_lshrrev_b64, U64, U32, U64, NONE, 0, b / bit(a % 64))                                              \
    ROW(v_ashrrev_i64, I64, U32, I64, NONE, 0, b >> a % 64)                                                  \
    ROW(v_lshl_or_b32, U32, U32, U32, U32, 0, a *bit(b % 32) | c)                                            \
    ROW(v_lshl_b64, U64, U64, U32, NONE, 0, low_bits(a, 64 - b % 64) * bit(b % 64))                          \
    ROW(v_lshr_b64, U64, U64, U32, NONE, 0, a / bit(b % 64))                                                 \
    ROW(v_ashr_i64, I64, I64, U32, NONE, 0, a >> b % 64)                                                     \
    ROW(v_mov_b64, U64, U64, NONE, NONE, 0, a)                                                               \
    ROW(v_lshl_add_u64, U64, U64, U32, U64, 0, a *bit(b % 8) + c)                                            \
    ROW(v_lshl_add_u32, U32, U32, U32, U32, 0, a *bit(b % 32) + c)                                           \
    ROW(v_add_lshl_u32, U32, U32, U32, U32, 0, (a + b) * bit(c % 32))                                        \
    ROW(v_alignbit_b32, U32, U32, U32, U32, 0, (a * bit(32) + b) >> c % 32)                                  \
    ROW(v_alignbyte_b32, U32, U32, U32, U32, 0, (a * bit(32) + b) >> 8 * (c % 4))                            \
    ROW(v_bfe_u32, U32, U32, U32, U32, 0, low_bits(a >> b % 32, c % 32))                                     \
    ROW(v_bfe_i32, I32, I32, U32, U32, 0, sign_extended(low_bits(a >> b % 32, c % 32), c % 32))              \
    ROW(v_bfm_b32, U32, U32, U32, NONE, 0, (bit(a % 32) - 1) * bit(b % 32))                                  \
    ROW(v_bcnt_u32_b32, U32, U32, U32, NONE, 0, count(a, 32) + b)                                            \
    ROW(v_mbcnt_lo_u32_b32, U32, U32, U32, NONE, 0, count(a, smaller(l.number, 32)) + b)                     \
    ROW(v_mbcnt_hi_u32_b32, U32, U32, U32, NONE, 0, count(a, larger(l.number, 32) - 32) + b)                 \
    ROW(v_perm_b32, U32, U32, U32, U32, 0, permuted(a, b, c))                                                \
    ROW(v_lerp_u8, U32, U32, U32, U32, 0, average(a, b, c))                                                  \
    ROW(v_cvt_pk_u16_u32, U32, U32, U32, NONE, 0, packed_pair(saturated(U16, a), saturated(U16, b)))         \
    ROW(v_cvt_pk_i16_i32, U32, I32, I32, NONE, 0, packed_pair(saturated(I16, a), saturated(I16, b)))         \
    ROW(v_add_u32, U32, U32, U32, NONE, CLAMP, a + b)                                                        \
    ROW(v_sub_u32, U32, U32, U32, NONE, CLAMP, a - b)                                                        \
    ROW(v_subrev_u32, U32, U32, U32, NONE, CLAMP, b - a)                                                     \
    ROW(v_add_i32, I32, I32, I32, NONE, CLAMP, a + b)                                                        \
    ROW(v_sub_i32, I32, I32, I32, NONE, CLAMP, a - b)                                                        \
    ROW(v_add_u16, U16, U16, U16, NONE, CLAMP, a + b)                                                        \
    ROW(v_sub_u16, U16, U16, U16, NONE, CLAMP, a - b)                                                        \
    ROW(v_subrev_u16, U16, U16, U16, NONE, CLAMP, b - a)                                                     \
    ROW(v_add_i16, I16, I16, I16, NONE, CLAMP, a + b)                                                        \
    ROW(v_sub_i16, I16, I16, I16, NONE, CLAMP, a - b)                                                        \
    ROW(v_add3_u32, U32, U32, U32, U32, 0, a + b + c)                                                        \
    ROW(v_xad_u32, U32, U32, U32, U32, 0, (a ^ b) + c)                                                       \
    ROW(v_add_co_u32, U32, U32, U32, NONE, CLAMP | CARRY_OUT, a + b)                                         \
    ROW(v_sub_co_u32, U32, U32, U32, NONE, CLAMP | CARRY_OUT, a - b)                                         \
    ROW(v_subrev_co_u32, U32, U32, U32, NONE, CLAMP | CARRY_OUT, b - a)                                      \
    ROW(v_addc_co_u32, U32, U32, U32, MASK, CLAMP | CARRY_OUT | CARRY_IN, a + b + c)                         \
    ROW(v_subb_co_u32, U32, U32, U32, MASK, CLAMP | CARRY_OUT | CARRY_IN, a - b - c)                         \
    ROW(v_subbrev_co_u32, U32, U32, U32, MASK, CLAMP | CARRY_OUT | CARRY_IN, b - a - c)                      \
    ROW(v_mul_lo_u32, U32, U32, U32, NONE, 0, a *b)                                                          \
    ROW(v_mul_hi_u32, U32, U32, U32, NONE, 0, a *b >> 32)                                                    \
    ROW(v_mul_hi_i32, I32, I32, I32, NONE, 0, a *b >> 32)                                                    \
    ROW(v_mul_i32_i24, I32, I32, I32, NONE, CLAMP, sign_extended(a, 24) * sign_extended(b, 24))              \
    ROW(v_mul_hi_i32_i24, I32, I32, I32, NONE, 0, sign_extended(a, 24) * sign_extended(b, 24) >> 32)         \
    ROW(v_mul_u32_u24, U32, U32, U32, NONE, CLAMP, low_bits(a, 24) * low_bits(b, 24))                        \
    ROW(v_mul_hi_u32_u24, U32, U32, U32, NONE, 0, low_bits(a, 24) * low_bits(b, 24) >> 32)                   \
    ROW(v_mad_i32_i24, I32, I32, I32, I32, CLAMP, sign_extended(a, 24) * sign_extended(b, 24) + c)           \
    ROW(v_mad_u32_u24, U32, U32, U32, U32, CLAMP, low_bits(a, 24) * low_bits(b, 24) + c)                     \
    ROW(v_mul_lo_u16, U16, U16, U16, NONE, 0, a *b)                                                          \
    ROW(v_mad_u16, U16, U16, U16, U16, CLAMP, a *b + c)                                                      \
    ROW(v_mad_i16, I16, I16, I16, I16, CLAMP, a *b + c)                                                      \
    ROW(v_mad_legacy_u16, U16, U16, U16, U16, CLAMP, a *b + c)                                               \
    ROW(v_mad_legacy_i16, I16, I16, I16, I16, CLAMP, a *b + c)                                               \
    ROW(v_mad_u32_u16, U32, U16, U16, U32, CLAMP, a *b + c)                                                  \
    ROW(v_mad_i32_i16, I32, I16, I16, I32, CLAMP, a *b + c)                                                  \
    ROW(v_mad_u64_u32, U64, U32, U32, U64, CLAMP | CARRY_OUT, a * b + c)                                     \
    ROW(v_mad_i64_i32, I64, I32, I32, I64, CLAMP | CARRY_OUT, a * b + c)                                     \
    ROW(v_min_i32, I32, I32, I32, NONE, 0, smaller(a, b))                                                    \
    ROW(v_max_i32, I32, I32, I32, NONE, 0, larger(a, b))                                                     \
    ROW(v_min_u32, U32, U32, U32, NONE, 0, smaller(a, b))                                                    \
    ROW(v_max_u32, U32, U32, U32, NONE, 0, larger(a, b))                                                     \
    ROW(v_min_i16, I16, I16, I16, NONE, 0, smaller(a, b))                                                    \
    ROW(v_max_i16, I16, I16, I16, NONE, 0, larger(a, b))                                                     \
    ROW(v_min_u16, U16, U16, U16, NONE, 0, smaller(a, b))                                                    \
    ROW(v_max_u16, U16, U16, U16, NONE, 0, larger(a, b))                                                     \
    ROW(v_min3_i32, I32, I32, I32, I32, 0, smaller(smaller(a, b), c))                                        \
    ROW(v_max3_i32, I32, I32, I32, I32, 0, larger(larger(a, b), c))                                          \
    ROW(v_med3_i32, I32, I32, I32, I32, 0, middle(a, b, c))                                                  \
    ROW(v_min3_u32, U32, U32, U32, U32, 0, smaller(smaller(a, b), c))                                        \
    ROW(v_max3_u32, U32, U32, U32, U32, 0, larger(larger(a, b), c))                                          \
    ROW(v_med3_u32, U32, U32, U32, U32, 0, middle(a, b, c))                                                  \
    ROW(v_min3_i16, I16, I16, I16, I16, 0, smaller(smaller(a, b), c))                                        \
    ROW(v_max3_i16, I16, I16, I16, I16, 0, larger(larger(a, b), c))                                          \
    ROW(v_med3_i16, I16, I16, I16, I16, 0, middle(a, b, c))                                                  \
    ROW(v_min3_u16, U16, U16, U16, U16, 0, smaller(smaller(a, b), c))                                        \
    ROW(v_max3_u16, U16, U16, U16, U16, 0, larger(larger(a, b), c))                                          \
    ROW(v_med3_u16, U16, U16, U16, U16, 0, middle(a, b, c))                                                  \
    ROW(v_sad_u8, U32, U32, U32, U32, CLAMP, byte_sad(a, b, false) + c)                                      \
    ROW(v_sad_hi_u8, U32, U32, U32, U32, CLAMP, byte_sad(a, b, false) * 0x10000 + c)                         \
    ROW(v_sad_u16, U32, U32, U32, U32, CLAMP, half_sad(a, b) + c)                                            \
    ROW(v_sad_u32, U32, U32, U32, U32, CLAMP, larger(a, b) - smaller(a, b) + c)                              \
    ROW(v_msad_u8, U32, U32, U32, U32, CLAMP, byte_sad(a, b, true) + c)                                      \
    ROW(v_qsad_pk_u16_u8, U64, U64, U32, U64, TAKES_BIT, quad_sad(a, b, c, false, l.clamp))                  \
    ROW(v_mqsad_pk_u16_u8, U64, U64, U32, U64, TAKES_BIT, quad_sad(a, b, c, true, l.clamp))                  \
    ROW(v_dot2_i32_i16, I32, U32, U32, I32, CLAMP, dot(a, b, 16, true) + c)                                  \
    ROW(v_dot2_u32_u16, U32, U32, U32, U32, CLAMP, dot(a, b, 16, false) + c)                                 \
    ROW(v_dot4_i32_i8, I32, U32, U32, I32, CLAMP, dot(a, b, 8, true) + c)                                    \
    ROW(v_dot4_u32_u8, U32, U32, U32, U32, CLAMP, dot(a, b, 8, false) + c)                                   \
    ROW(v_dot8_i32_i4, I32, U32, U32, I32, CLAMP, dot(a, b, 4, true) + c)                                    \
    ROW(v_dot8_u32_u4, U32, U32, U32, U32, CLAMP, dot(a, b, 4, false) + c)                                   \
    ROW(v_pk_mad_i16, I16, I16, I16, I16, HALVES | CLAMP, a * b + c)                                         \
    ROW(v_pk_mul_lo_u16, U16, U16, U16, NONE, HALVES, a *b)                                                  \
    ROW(v_pk_add_i16, I16, I16, I16, NONE, HALVES | CLAMP, a + b)                                            \
    ROW(v_pk_sub_i16, I16, I16, I16, NONE, HALVES | CLAMP, a - b)                                            \
    ROW(v_pk_lshlrev_b16, U16, U16, U16, NONE, HALVES, b *bit(a % 16))                                       \
    ROW(v_pk_lshrrev_b16, U16, U16, U16, NONE, HALVES, b / bit(a % 16))                                      \
    ROW(v_pk_ashrrev_i16, I16, U16, I16, NONE, HALVES, b >> a % 16)                                          \
    ROW(v_pk_max_i16, I16, I16, I16, NONE, HALVES, larger(a, b))                                             \
    ROW(v_pk_min_i16, I16, I16, I16, NONE, HALVES, smaller(a, b))                                            \
    ROW(v_pk_mad_u16, U16, U16, U16, U16, HALVES | CLAMP, a * b + c)                                         \
    ROW(v_pk_add_u16, U16, U16, U16, NONE, HALVES | CLAMP, a + b)                                            \
    ROW(v_pk_sub_u16, U16, U16, U16, NONE, HALVES | CLAMP, a - b)                                            \
    ROW(v_pk_max_u16, U16, U16, U16, NONE, HALVES, larger(a, b))                                             \
    ROW(v_pk_min_u16, U16, U16, U16, NONE, HALVES, smaller(a, b))

#define COMPARES_OF(ROW, PREFIX, suffix, T)                                                                  \
    ROW(PREFIX##_f_##suffix, MASK, T, T, NONE, 0, 0)                                                         \
    ROW(PREFIX##_lt_##suffix, MASK, T, T, NONE, 0, a < b)                                                    \
    ROW(PREFIX##_eq_##suffix, MASK, T, T, NONE, 0, a == b)                                                   \
    ROW(PREFIX##_le_##suffix, MASK, T, T, NONE, 0, !(a > b))                                                 \
    ROW(PREFIX##_gt_##suffix, MASK, T, T, NONE, 0, a > b)                                                    \
    ROW(PREFIX##_ne_##suffix, MASK, T, T, NONE, 0, a != b)                                                   \
    ROW(PREFIX##_ge_##suffix, MASK, T, T, NONE, 0, !(a < b))                                                 \
    ROW(PREFIX##_t_##suffix, MASK, T, T, NONE, 0, 1)
#define COMPARES(ROW, PREFIX)                                                                                \
    COMPARES_OF(ROW, PREFIX, i16, I16)                                                                       \
    COMPARES_OF(ROW, PREFIX, u16, U16)                                                                       \
    COMPARES_OF(ROW, PREFIX, i32, I32)                                                                       \
    COMPARES_OF(ROW, PREFIX, u32, U32)                                                                       \
    COMPARES_OF(ROW, PREFIX, i64, I64)                                                                       \
    COMPARES_OF(ROW, PREFIX, u64, U64)

#define RULE_OF(row, d, a_, b_, c_, flags, expression) RULE(row, expression)
ROWS(RULE_OF)
COMPARES(RULE_OF, v_cmp)

static const struct row {
    const char *name;
    enum wmi_insn_id id;
    enum type d, source[3];
    unsigned flags;
    wide (*rule)(struct lane l);
} rows[] = {
#define ENTRY(row, d, a, b, c, flags, expression) {#row, WMI_INSN_##row, d, {a, b, c}, flags, row},
    ROWS(ENTRY) COMPARES(ENTRY, v_cmp)};

/* ---- the check ---- */

enum {
    ROW_OF_D = 0, /* rows: two each */
    ROW_OF_A = 2,
    ROW_OF_B = 4,
    ROW_OF_C = 6,
    SLOT_D = 20, /* scalar words: two each */
    SLOT_E = 22,
    SLOT_C = 24,
    ROUNDS = 24,
};

static uint64_t pick(uint64_t *state)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     15,
                                     16,
                                     17,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffff,
                                     0x800000,
                                     0xffffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xfffffffe,
                                     0xffffffff,
                                     0x0c0d0b08,
                                     0x07060504,
                                     0x100000000,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff};
    const uint64_t random = test_random(state), choice = test_random(state) % 8;

    if (choice < 3)
        return edges[random % (sizeof edges / sizeof *edges)];
    if (choice == 3) /* a small number of either sign */
        return random % 64 - 16;
    if (choice == 4) /* edge values in both halves */
        return edges[random % 32] << 16 | (edges[random / 32 % 32] & 0xffff);
    return random;
}

static uint64_t expected_of(const struct row *row, struct lane l, wide *exact)
{
    const wide value = *exact = row->rule(l);

    if (row->d == MASK)
        return (uint64_t)value & 1;
    const wide kept = row->flags & CLAMP && l.clamp ? saturated(row->d, value) : value;
    return (uint64_t)low_bits(kept, bits_of(row->d));
}

static uint64_t expected_halves(const struct row *row, const uint64_t source[3], bool clamp)
{
    uint64_t result = 0;
    wide exact;

    for (unsigned n = 0; n < 32; n += 16) {
        const struct lane l = {.a = number(row->source[0], source[0] >> n),
                               .b = number(row->source[1], source[1] >> n),
                               .c = number(row->source[2], source[2] >> n),
                               .clamp = clamp};
        result |= expected_of(row, l, &exact) << n;
    }
    return result;
}

static uint64_t scalar_pair(const struct test_wave *wave, unsigned slot)
{
    uint64_t bits;

    memcpy(&bits, &test_state(wave)->s[slot], sizeof bits);
    return bits;
}

/* One run. alias: d uses a separate register, the register of source 0 to 2, or (3) a pair whose low row is
 * b's high row. */
static void check_once(struct test_wave *wave, const struct row *row, wmi_body body, uint64_t set, bool clamp,
                       int alias, uint64_t *state)
{
    static const unsigned places[] = {ROW_OF_A, ROW_OF_B, ROW_OF_C, ROW_OF_B + 1};
    const unsigned lanes = wave->lanes, place = alias < 0 ? ROW_OF_D : places[alias];
    const uint64_t all = UINT64_MAX >> (64 - lanes), marker = UINT64_C(0xabcdef0123456789);
    const uint64_t carry_in = test_random(state);
    struct wmi_frame *frame = test_state(wave);
    uint64_t source[64][3], old[64];

    for (unsigned lane = 0; lane < lanes; lane++)
        for (unsigned i = 0; i < 3; i++) {
            source[lane][i] = pick(state);
            test_put64(wave, places[i], lane, source[lane][i]);
        }
    for (unsigned lane = 0; lane < lanes && alias < 0; lane++)
        test_put64(wave, ROW_OF_D, lane, test_random(state));
    for (unsigned lane = 0; lane < lanes; lane++)
        old[lane] = test_get64(wave, place, lane);
    memcpy(&frame->s[SLOT_C], &carry_in, 8);
    memcpy(&frame->s[SLOT_D], &marker, 8);
    memcpy(&frame->s[SLOT_E], &marker, 8);
    memcpy(&frame->s[WMI_S_EXEC], &marker, 8);
    test_set_lanes(&frame->exec, lanes, set);

    const struct wmi_op op = {
        .body = body,
        .d = row->d == MASK ? 4 * SLOT_D : test_row(wave, place),
        .a = test_row(wave, ROW_OF_A),
        .b = test_row(wave, ROW_OF_B),
        .c = row->source[2] == MASK ? 4 * SLOT_C : test_row(wave, ROW_OF_C),
        .e = 4 * SLOT_E,
        .lanes = offsetof(struct wmi_frame, exec),
        .y = clamp,
    };
    assert_true(test_run(wave, &op));

    uint64_t mask = 0;
    for (unsigned lane = 0; lane < lanes; lane++) {
        const uint64_t *s = source[lane];
        const struct lane l = {
            .a = number(row->source[0], s[0]),
            .b = number(row->source[1], s[1]),
            .c = row->source[2] == MASK ? (wide)(carry_in >> lane & 1) : number(row->source[2], s[2]),
            .number = lane,
            .clamp = clamp,
        };
        const bool active = set >> lane & 1;
        wide exact = 0;
        uint64_t expected =
            row->flags & HALVES ? expected_halves(row, s, clamp) : expected_of(row, l, &exact);
        if (row->d == MASK) {
            mask |= (uint64_t)(active && expected) << lane;
            expected = old[lane];
        } else {
            mask |= (uint64_t)(active && exact >> bits_of(row->d) & 1) << lane;
            if (bits_of(row->d) < 64)
                expected |= old[lane] & ~UINT64_C(0xffffffff);
            if (!active)
                expected = old[lane];
        }
        const uint64_t got = test_get64(wave, place, lane);
        if (got != expected)
            fail_msg("%s lane %u of %u, set 0x%llx, clamp %d, d in %d: a 0x%llx b 0x%llx c 0x%llx carry %d: "
                     "0x%llx, expected 0x%llx",
                     row->name, lane, lanes, (unsigned long long)set, clamp, alias, (unsigned long long)s[0],
                     (unsigned long long)s[1], (unsigned long long)s[2], (int)(carry_in >> lane & 1),
                     (unsigned long long)got, (unsigned long long)expected);
    }
    mask |= marker & ~all;
    const uint64_t d = row->d == MASK ? mask : marker, e = row->flags & CARRY_OUT ? mask : marker;
    if (scalar_pair(wave, SLOT_D) != d || scalar_pair(wave, SLOT_E) != e ||
        scalar_pair(wave, WMI_S_EXEC) != marker)
        fail_msg("%s with %u lanes, set 0x%llx: masks 0x%llx 0x%llx exec 0x%llx, expected 0x%llx", row->name,
                 lanes, (unsigned long long)set, (unsigned long long)scalar_pair(wave, SLOT_D),
                 (unsigned long long)scalar_pair(wave, SLOT_E),
                 (unsigned long long)scalar_pair(wave, WMI_S_EXEC), (unsigned long long)mask);
}

static void check_row(struct test_wave *wave, const struct row *row, wmi_body body, uint64_t *state)
{
    const uint64_t all = UINT64_MAX >> (64 - wave->lanes);
    const bool clamps = row->flags & (CLAMP | TAKES_BIT);

    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint64_t sets[] = {all, test_random(state) & all, 0,
                                 UINT64_C(1) << test_random(state) % wave->lanes,
                                 UINT64_C(0xaaaaaaaaaaaaaaaa) & all};
        const uint64_t set = sets[round % 5];
        for (int alias = -1; alias < 4; alias++) {
            if (alias >= 0 && row->d == MASK)
                continue;
            if (alias == 3 ? bits_of(row->d) < 64
                           : alias >= 0 && (row->source[alias] == NONE || row->source[alias] == MASK))
                continue;
            check_once(wave, row, body, set, clamps && round % 3 == 0, alias, state);
        }
    }
}

static void check_level(enum wmi_cpu_level level)
{
    uint64_t state = 1;

    if (level > wmi_cpu_level()) {
        print_message("this host does not run this level\n");
        skip();
    }
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct test_wave wave = test_wave_new(lanes);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const wmi_body body = wmi_sem_body(level, lanes, rows[i].id);
            if (!body)
                fail_msg("%s has no body", rows[i].name);
            check_row(&wave, &rows[i], body, &state);
        }
        free(wave.frame);
    }
}

static void baseline_is_exact(void **unused)
{
    (void)unused;
    check_level(WMI_CPU_BASELINE);
}

static void avx2_is_exact(void **unused)
{
    (void)unused;
    check_level(WMI_CPU_AVX2);
}

static void avx512_is_exact(void **unused)
{
    (void)unused;
    check_level(WMI_CPU_AVX512);
}

/* ---- rows without a per-lane rule ---- */

static void run(struct test_wave *wave, enum wmi_cpu_level level, enum wmi_insn_id id, struct wmi_op op)
{
    op.body = wmi_sem_body(level, wave->lanes, id);
    op.lanes = offsetof(struct wmi_frame, exec);
    assert_non_null(op.body);
    assert_true(test_run(wave, &op));
}

static void lanes_are_exchanged(void **unused)
{
    uint64_t state = 7;

    (void)unused;
    for (enum wmi_cpu_level level = WMI_CPU_BASELINE; level <= wmi_cpu_level(); level++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
            struct test_wave wave = test_wave_new(lanes);
            struct wmi_frame *frame = test_state(&wave);
            for (unsigned round = 0; round < 100; round++) {
                const uint64_t set = round % 4 ? test_random(&state) & test_random(&state) : 0;
                const uint32_t choice = (uint32_t)test_random(&state);
                uint32_t a[64], d[64];
                test_set_lanes(&frame->exec, lanes, set);
                for (unsigned lane = 0; lane < lanes; lane++) {
                    test_put(&wave, ROW_OF_A, lane, a[lane] = (uint32_t)test_random(&state));
                    test_put(&wave, ROW_OF_D, lane, d[lane] = (uint32_t)test_random(&state));
                }
                const uint32_t row_a = test_row(&wave, ROW_OF_A), row_d = test_row(&wave, ROW_OF_D);
                frame->s[SLOT_E] = choice;

                unsigned first = 0;
                while (frame->exec.bits && !(frame->exec.bits >> first & 1))
                    first++;
                run(&wave, level, WMI_INSN_v_readfirstlane_b32, (struct wmi_op){.d = 4 * SLOT_D, .a = row_a});
                assert_int_equal(frame->s[SLOT_D], a[first]);
                run(&wave, level, WMI_INSN_v_readlane_b32,
                    (struct wmi_op){.d = 4 * SLOT_D, .a = row_a, .b = 4 * SLOT_E});
                assert_int_equal(frame->s[SLOT_D], a[choice % lanes]);

                run(&wave, level, WMI_INSN_v_swap_b32, (struct wmi_op){.d = row_d, .a = row_a});
                for (unsigned lane = 0; lane < lanes; lane++) {
                    const bool active = frame->exec.bits >> lane & 1;
                    assert_int_equal(test_get(&wave, ROW_OF_A, lane), active ? d[lane] : a[lane]);
                    assert_int_equal(test_get(&wave, ROW_OF_D, lane), active ? a[lane] : d[lane]);
                }
                frame->s[SLOT_D] = ~choice;
                run(&wave, level, WMI_INSN_v_writelane_b32,
                    (struct wmi_op){.d = row_d, .a = 4 * SLOT_D, .b = 4 * SLOT_E});
                assert_int_equal(test_get(&wave, ROW_OF_D, choice % lanes), ~choice);
            }
            free(wave.frame);
        }
}

/* v_permlane*: permutes rows of 16 lanes by nibbles of two scalars or by lanes, or swaps the halves of a
 * wave. */
static void lanes_are_permuted(void **unused)
{
    static const struct {
        enum wmi_insn_id id;
        unsigned flip;
        bool by_lane;
    } permutes[] = {
        {WMI_INSN_v_permlane16_b32, 0, false},    {WMI_INSN_v_permlanex16_b32, 16, false},
        {WMI_INSN_v_permlane16_var_b32, 0, true}, {WMI_INSN_v_permlanex16_var_b32, 16, true},
        {WMI_INSN_v_permlane64_b32, 32, false},
    };
    uint64_t state = 13;

    (void)unused;
    for (enum wmi_cpu_level level = WMI_CPU_BASELINE; level <= wmi_cpu_level(); level++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
            struct test_wave wave = test_wave_new(lanes);
            struct wmi_frame *frame = test_state(&wave);
            for (unsigned round = 0; round < 200; round++) {
                const unsigned which = round % 5, choice = round / 5 % 4;
                const bool fetch = choice & 1, bound = choice & 2;
                const uint64_t select = test_random(&state);
                uint32_t a[64], b[64], d[64];
                test_set_lanes(&frame->exec, lanes, round % 3 ? test_random(&state) : UINT64_MAX);
                for (unsigned lane = 0; lane < lanes; lane++) {
                    b[lane] = permutes[which].by_lane ? (uint32_t)test_random(&state) : (uint32_t)select;
                    test_put(&wave, ROW_OF_A, lane, a[lane] = (uint32_t)test_random(&state));
                    test_put(&wave, ROW_OF_B, lane, b[lane]);
                    test_put(&wave, ROW_OF_C, lane, (uint32_t)(select >> 32));
                    test_put(&wave, ROW_OF_D, lane, d[lane] = (uint32_t)test_random(&state));
                }
                run(&wave, level, permutes[which].id,
                    (struct wmi_op){.d = test_row(&wave, ROW_OF_D),
                                    .a = test_row(&wave, ROW_OF_A),
                                    .b = test_row(&wave, ROW_OF_B),
                                    .c = test_row(&wave, ROW_OF_C),
                                    .x = choice << WMI_X_OP_SEL});
                for (unsigned lane = 0; lane < lanes; lane++) {
                    const bool active = frame->exec.bits >> lane & 1, halves = permutes[which].flip == 32;
                    const unsigned pick =
                        permutes[which].by_lane ? b[lane] & 15 : select >> lane % 16 * 4 & 15;
                    const unsigned from = halves ? lane ^ 32 : (lane / 16 * 16 + pick) ^ permutes[which].flip;
                    const bool source = halves || fetch || (from < lanes && frame->exec.bits >> from & 1);
                    uint32_t expected = d[lane];
                    if (active && source && from < lanes)
                        expected = a[from];
                    else if (active && bound && !halves)
                        expected = 0;
                    assert_int_equal(test_get(&wave, ROW_OF_D, lane), expected);
                }
            }
            free(wave.frame);
        }
}

/* Signed and unsigned bytes and nibbles, selected by op->x. */
static void mixed_signs_are_exact(void **unused)
{
    uint64_t state = 17;

    (void)unused;
    for (enum wmi_cpu_level level = WMI_CPU_BASELINE; level <= wmi_cpu_level(); level++) {
        struct test_wave wave = test_wave_new(32);
        test_set_lanes(&test_state(&wave)->exec, 32, UINT64_MAX);
        for (unsigned round = 0; round < 64; round++) {
            const uint32_t a = (uint32_t)test_random(&state), b = (uint32_t)test_random(&state),
                           x = round & 3;
            const unsigned bits = round & 4 ? 4 : 8;
            wide exact = 0;
            for (unsigned part = 0; part < 32; part += bits) {
                const wide p = low_bits(a >> part, bits), q = low_bits(b >> part, bits);
                exact += (x & 1 ? sign_extended(p, bits) : p) * (x & 2 ? sign_extended(q, bits) : q);
            }
            test_put(&wave, ROW_OF_A, 5, a);
            test_put(&wave, ROW_OF_B, 5, b);
            test_put(&wave, ROW_OF_C, 5, 0);
            run(&wave, level, bits == 4 ? WMI_INSN_v_dot8_i32_iu4 : WMI_INSN_v_dot4_i32_iu8,
                (struct wmi_op){.d = test_row(&wave, ROW_OF_D),
                                .a = test_row(&wave, ROW_OF_A),
                                .b = test_row(&wave, ROW_OF_B),
                                .c = test_row(&wave, ROW_OF_C),
                                .x = x});
            assert_int_equal((int32_t)test_get(&wave, ROW_OF_D, 5), (int32_t)exact);
        }
        free(wave.frame);
    }
}

/* v_mqsad_u32_u8: four rows in, four rows out. */
static void four_sums_are_exact(void **unused)
{
    enum { A = 0, B = 2, C = 4, D = 8 };
    uint64_t state = 11;

    (void)unused;
    for (enum wmi_cpu_level level = WMI_CPU_BASELINE; level <= wmi_cpu_level(); level++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
            struct test_wave wave = test_wave_new(lanes);
            for (unsigned round = 0; round < 20; round++) {
                const uint64_t set = round % 2 ? test_random(&state) : UINT64_MAX;
                uint32_t words[12][64];
                test_set_lanes(&test_state(&wave)->exec, lanes, set);
                for (unsigned row = 0; row < 12; row++)
                    for (unsigned lane = 0; lane < lanes; lane++)
                        test_put(&wave, row, lane, words[row][lane] = (uint32_t)pick(&state));
                run(&wave, level, WMI_INSN_v_mqsad_u32_u8,
                    (struct wmi_op){.d = test_row(&wave, D),
                                    .a = test_row(&wave, A),
                                    .b = test_row(&wave, B),
                                    .c = test_row(&wave, C),
                                    .y = round & 2});
                for (unsigned lane = 0; lane < lanes; lane++)
                    for (unsigned k = 0; k < 4; k++) {
                        const wide a = words[A][lane] | (wide)words[A + 1][lane] << 32;
                        const wide sum = byte_sad(a >> (8 * k), words[B][lane], true) + words[C + k][lane];
                        const bool active = set >> lane & 1;
                        assert_int_equal(test_get(&wave, D + k, lane),
                                         active ? (uint32_t)low_bits(sum, 32) : words[D + k][lane]);
                    }
            }
            free(wave.frame);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baseline_is_exact),     cmocka_unit_test(avx2_is_exact),
        cmocka_unit_test(avx512_is_exact),       cmocka_unit_test(lanes_are_exchanged),
        cmocka_unit_test(four_sums_are_exact),   cmocka_unit_test(lanes_are_permuted),
        cmocka_unit_test(mixed_signs_are_exact),
    };

    return cmocka_run_group_tests_name("integer bodies", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Vector instructions with 64-bit integer results. */
#include "sem/bodies.h"

LANES2(v_lshlrev_b64, u64, u32, u64, b << (a & 63))
LANES2(v_lshrrev_b64, u64, u32, u64, b >> (a & 63))
LANES2(v_ashrrev_i64, i64, u32, i64, b >> (a & 63))
LANES2(v_lshl_b64, u64, u64, u32, a << (b & 63))
LANES2(v_lshr_b64, u64, u64, u32, a >> (b & 63))
LANES2(v_ashr_i64, i64, i64, u32, a >> (b & 63))
LANES1(v_mov_b64, u64, u64, a)
/* The shift has three bits. Source: CDNA 3 ISA, V_LSHL_ADD_U64. */
LANES3(v_lshl_add_u64, u64, u64, u32, u64, (a << (b & 7)) + c)

/* d = a * b + c, and the mask at e receives bit 64 of the 65-bit sum for the lanes of the set: the carry if
 * unsigned, the sign if signed. Source: CDNA 3 ISA, V_MAD_U64_U32 and V_MAD_I64_I32. CLAMP is not documented
 * for them; it saturates as elsewhere (unverified). */
#define MULTIPLY_ADD(name, factor, type, bit64, saturated)                                                   \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *row_a = wmi_row(frame, op->a), *row_b = wmi_row(frame, op->b);                       \
        const wmi_word *row_c = wmi_row(frame, op->c);                                                       \
        wmi_word *d = wmi_row(frame, op->d);                                                                 \
        const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);                                             \
        wmi_word carry[WMI_LANES], high[WMI_LANES];                                                          \
        if (__builtin_expect(op->y & 1, 0)) {                                                                \
            WMI_EACH_LANE                                                                                    \
            for (unsigned i = 0; i < WMI_LANES; i++) {                                                       \
                const uint64_t product = (uint64_t)((type)(factor)row_a[i] * (factor)row_b[i]);              \
                const uint64_t c = wmi_get_u64(row_c, i), sum = product + c;                                 \
                carry[i] = (uint32_t)((bit64) >> 32);                                                        \
                wmi_merge_u64(d, i, (saturated), lanes->row[i]);                                             \
            }                                                                                                \
        } else {                                                                                             \
            /* in words, which compilers vectorize better */                                                 \
            WMI_EACH_LANE                                                                                    \
            for (unsigned i = 0; i < WMI_LANES; i++)                                                         \
                high[i] = (uint32_t)((type)(factor)row_a[i] * (factor)row_b[i] >> 32);                       \
            WMI_EACH_LANE                                                                                    \
            for (unsigned i = 0; i < WMI_LANES; i++) {                                                       \
                const uint32_t low = row_a[i] * row_b[i] + row_c[i], mask = lanes->row[i];                   \
                const uint32_t product = high[i], c = row_c[i + WMI_LANES];                                  \
                const uint32_t sum = product + c + (low < row_c[i]);                                         \
                carry[i] = (bit64);                                                                          \
                d[i] = (low & mask) | (d[i] & ~mask);                                                        \
                d[i + WMI_LANES] = (sum & mask) | (d[i + WMI_LANES] & ~mask);                                \
            }                                                                                                \
        }                                                                                                    \
        wmi_put_mask(frame, op->e, wmi_lanes_pack(carry) & lanes->bits);                                     \
        return wmi_next(frame, op);                                                                          \
    }

/* In the highest bit, of 64-bit values or of their high words: the carry of product + c, the sign of the sum,
 * and whether the sum exceeds the signed range. */
#define CARRY        ((product & c) | ((product | c) & ~sum))
#define SIGN         ((product & c) | ((product | c) & sum))
#define OVERFLOW     (~(product ^ c) & (product ^ sum))
#define SPREAD(bits) (uint64_t)((int64_t)(bits) >> 63)

MULTIPLY_ADD(v_mad_u64_u32, uint32_t, uint64_t, CARRY, sum | SPREAD(CARRY))
MULTIPLY_ADD(v_mad_i64_i32, int32_t, int64_t, SIGN,
             (sum & ~SPREAD(OVERFLOW)) | ((SPREAD(c) ^ INT64_MAX) & SPREAD(OVERFLOW)))

/* Without carries; CLAMP saturates. Source: CDNA 5 ISA, V_ADD_NC_U64 and the following; of multiply-adds,
 * whose CLAMP is not documented, as above (unverified). */
CLAMPED2(v_add_nc_u64, u64, u64, u64, a + b, a + b < a ? UINT64_MAX : a + b)
CLAMPED2(v_sub_nc_u64, u64, u64, u64, a - b, a < b ? 0 : a - b)
LANES2(v_mul_u64, u64, u64, u64, a *b)
LANES2(v_min_u64, u64, u64, u64, a < b ? a : b)
LANES2(v_max_u64, u64, u64, u64, a >= b ? a : b)
LANES2(v_min_i64, i64, i64, i64, a < b ? a : b)
LANES2(v_max_i64, i64, i64, i64, a >= b ? a : b)

WMI_INLINE int64_t saturated_sum(int64_t a, int64_t b)
{
    const uint64_t sum = (uint64_t)a + (uint64_t)b;
    const uint64_t over = ~((uint64_t)a ^ (uint64_t)b) & ((uint64_t)a ^ sum);
    return over >> 63 ? (a < 0 ? INT64_MIN : INT64_MAX) : (int64_t)sum;
}

CLAMPED3(v_mad_nc_u64_u32, u64, u32, u32, u64, (uint64_t)a *b + c,
         (uint64_t)a *b + c < c ? UINT64_MAX : (uint64_t)a * b + c)
CLAMPED3(v_mad_nc_i64_i32, i64, i32, i32, i64, (uint64_t)((int64_t)a *b) + (uint64_t)c,
         saturated_sum((int64_t)a *b, c))

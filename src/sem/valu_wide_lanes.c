/* SPDX-License-Identifier: MIT */
/* Vector instructions with 64-bit integer results. */
#include "sem/bodies.h"

LANES2(v_lshlrev_b64, u64, u32, u64, b << (a & 63))
LANES2(v_lshrrev_b64, u64, u32, u64, b >> (a & 63))
LANES2(v_ashrrev_i64, i64, u32, i64, b >> (a & 63))

/* d = a * b + c, and the mask at e gets bit 64 of the sum, taken with 65 bits, for the lanes of the set: the
 * carry of unsigned operands, the sign of signed ones. Source: CDNA 3 ISA, V_MAD_U64_U32 and V_MAD_I64_I32.
 * CLAMP is not documented for them; it saturates as elsewhere (unverified). */
#define MULTIPLY_ADD(name, factor, type, bit64, saturated)                                                   \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        const wmi_word *row_a = wmi_row(frame, op->a), *row_b = wmi_row(frame, op->b);                       \
        const wmi_word *row_c = wmi_row(frame, op->c);                                                       \
        wmi_word *d = wmi_row(frame, op->d);                                                                 \
        const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);                                             \
        const uint64_t clamp = -(uint64_t)(op->y & 1);                                                       \
        wmi_word carry[WMI_LANES];                                                                           \
        WMI_EACH_LANE                                                                                        \
        for (unsigned i = 0; i < WMI_LANES; i++) {                                                           \
            const uint64_t product = (uint64_t)((type)(factor)row_a[i] * (factor)row_b[i]);                  \
            const uint64_t c = wmi_get_u64(row_c, i), sum = product + c, out = (bit64);                      \
            carry[i] = (uint32_t)(out >> 32);                                                                \
            wmi_merge_u64(d, i, (sum & ~clamp) | ((saturated) & clamp), lanes->row[i]);                      \
        }                                                                                                    \
        wmi_put_mask(frame, op->e, wmi_lanes_pack(carry) & lanes->bits);                                     \
        return op + 1;                                                                                       \
    }

/* In the highest bit: the carry of product + c, and whether that sum has left the signed range. */
#define CARRY        ((product & c) | ((product | c) & ~sum))
#define OVERFLOW     (~(product ^ c) & (product ^ sum))
#define SPREAD(bits) (uint64_t)((int64_t)(bits) >> 63)

MULTIPLY_ADD(v_mad_u64_u32, uint32_t, uint64_t, CARRY, sum | SPREAD(CARRY))
MULTIPLY_ADD(v_mad_i64_i32, int32_t, int64_t, (product & c) | ((product | c) & sum),
             (sum & ~SPREAD(OVERFLOW)) | ((SPREAD(c) ^ INT64_MAX) & SPREAD(OVERFLOW)))

/* SPDX-License-Identifier: MIT */
/* Integer compares of vector instructions: v_cmp_* of 16, 32 and 64 bits. */
#include "sem/bodies.h"

#define COMPARES(type)                                                                                       \
    COMPARE(f_##type, type, type, 0)                                                                         \
    COMPARE(lt_##type, type, type, a < b)                                                                    \
    COMPARE(eq_##type, type, type, a == b)                                                                   \
    COMPARE(le_##type, type, type, a <= b)                                                                   \
    COMPARE(gt_##type, type, type, a > b)                                                                    \
    COMPARE(ne_##type, type, type, a != b)                                                                   \
    COMPARE(ge_##type, type, type, a >= b)                                                                   \
    COMPARE(t_##type, type, type, 1)

COMPARES(i16)
COMPARES(u16)
COMPARES(i32)
COMPARES(u32)

/* 64-bit compares by halves, in 32-bit words: compilers widen rows slowly. */
#define COMPARE_HALVES(suffix, type, expression)                                                             \
    WMI_DEFINE(v_cmp_##suffix)                                                                               \
    {                                                                                                        \
        const wmi_word *row_a = wmi_row(frame, op->a), *row_b = wmi_row(frame, op->b);                       \
        wmi_word hit[WMI_LANES];                                                                             \
        WMI_EACH_LANE                                                                                        \
        for (unsigned i = 0; i < WMI_LANES; i++) {                                                           \
            const uint32_t a = row_a[i], b = row_b[i];                                                       \
            const type a_high = (type)row_a[i + WMI_LANES], b_high = (type)row_b[i + WMI_LANES];             \
            const uint32_t same = -(uint32_t)(a_high == b_high);                                             \
            const uint32_t equal = -(uint32_t)(a == b) & same;                                               \
            const uint32_t less = -(uint32_t)(a_high < b_high) | (-(uint32_t)(a < b) & same);                \
            (void)equal, (void)less;                                                                         \
            hit[i] = (expression);                                                                           \
        }                                                                                                    \
        wmi_put_mask(frame, op->d, wmi_lanes_pack(hit) & wmi_op_lanes(frame, op)->bits);                     \
        return wmi_next(frame, op);                                                                          \
    }

#define COMPARES_HALVES(suffix, type)                                                                        \
    COMPARE_HALVES(f_##suffix, type, 0)                                                                      \
    COMPARE_HALVES(lt_##suffix, type, less)                                                                  \
    COMPARE_HALVES(eq_##suffix, type, equal)                                                                 \
    COMPARE_HALVES(le_##suffix, type, less | equal)                                                          \
    COMPARE_HALVES(gt_##suffix, type, ~(less | equal))                                                       \
    COMPARE_HALVES(ne_##suffix, type, ~equal)                                                                \
    COMPARE_HALVES(ge_##suffix, type, ~less)                                                                 \
    COMPARE_HALVES(t_##suffix, type, UINT32_MAX)

COMPARES_HALVES(i64, int32_t)
COMPARES_HALVES(u64, uint32_t)

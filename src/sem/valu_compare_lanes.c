/* SPDX-License-Identifier: MIT */
/* Integer compares of vector instructions: v_cmp_* and v_cmpx_* of 16, 32 and 64 bits. */
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
COMPARES(i64)
COMPARES(u64)

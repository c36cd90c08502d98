/* SPDX-License-Identifier: MIT */
/* Steps that replace common pairs of instructions, or a broadcast and the body that uses it.
 *
 * The results are bit-identical to those of the two steps; lowering fuses only adjacent ones. */
#ifndef WMI_FUSED_H
#define WMI_FUSED_H

#include "sem/sem.h"

enum wmi_fused {
    /* row d <- the scalar word at a, in op->lanes: v_mov_b32 from an SGPR. */
    WMI_FUSED_MOVE_SCALAR,
    /* v_add_co_u32 d, mask, a, b and v_addc_co_u32 x, mask, c, e, mask: a 64-bit sum. d, a, b: low rows; x,
     * c, e: high rows; y: the mask, which gets the carry out of the high words. d is neither c nor e. */
    WMI_FUSED_ADD_64,
    /* The same with a scalar word at a, without a broadcast. */
    WMI_FUSED_ADD_64_SCALAR,
    /* And with a scalar word at c. */
    WMI_FUSED_ADD_64_SCALARS,
    /* The same three without the mask. */
    WMI_FUSED_ADD_64_ALONE,
    WMI_FUSED_ADD_64_SCALAR_ALONE,
    WMI_FUSED_ADD_64_SCALARS_ALONE,
    /* v_lshlrev_b64 by a constant: rows d and d + 1 <- rows b and b + 1, shifted left by x, 1 to 31. */
    WMI_FUSED_SHIFT_LEFT_64,
    WMI_FUSED_COUNT
};

/* Added to a sum with its mask to get the one without. */
enum { WMI_FUSED_WITHOUT_CARRY = WMI_FUSED_ADD_64_ALONE - WMI_FUSED_ADD_64 };

/* The step for a CPU level and a wave size (32 or 64). */
wmi_body wmi_fused(enum wmi_cpu_level level, unsigned lanes, enum wmi_fused fused);

#endif

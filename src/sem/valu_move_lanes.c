/* SPDX-License-Identifier: MIT */
/* Vector instructions that move: copies, selection, exchange with scalar registers, packing of integers. */
#include "sem/bodies.h"

WMI_DEFINE(v_nop)
{
    (void)frame;
    return wmi_next(frame, op);
}

/* Exceptions are not recorded, so there is nothing to clear. */
WMI_DEFINE(v_clrexcp)
{
    (void)frame;
    return wmi_next(frame, op);
}

LANES1(v_mov_b32, u32, u32, a)

WMI_DEFINE(v_swap_b32)
{
    wmi_word *a = wmi_row(frame, op->a), *d = wmi_row(frame, op->d);
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    WMI_EACH_LANE
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t change = (a[i] ^ d[i]) & lanes->row[i];
        a[i] ^= change;
        d[i] ^= change;
    }
    return wmi_next(frame, op);
}

/* d = b in the lanes whose bit of the mask at c is set, else a. */
WMI_DEFINE(v_cndmask_b32)
{
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);
    wmi_word pick[WMI_LANES];
    wmi_lanes_expand(pick, wmi_get_mask(frame, op->c));
    WMI_LOOPS(u32, (b[i] & pick[i]) | (a[i] & ~pick[i]));
    return wmi_next(frame, op);
}

/* ---- exchange with scalar registers: no lane set masks these ---- */

WMI_INLINE wmi_word *scalar(char *frame, uint32_t offset)
{
    return (wmi_word *)(frame + offset);
}

/* From the lowest lane of EXEC, or from lane 0 when EXEC is empty. Source: CDNA 3 ISA, V_READFIRSTLANE_B32.
 */
WMI_DEFINE(v_readfirstlane_b32)
{
    const uint64_t bits = wmi_op_lanes(frame, op)->bits;
    *scalar(frame, op->d) = wmi_row(frame, op->a)[bits ? __builtin_ctzll(bits) : 0];
    return wmi_next(frame, op);
}

/* The lane number is taken modulo the wave size. */
WMI_DEFINE(v_readlane_b32)
{
    *scalar(frame, op->d) = wmi_row(frame, op->a)[*scalar(frame, op->b) % WMI_LANES];
    return wmi_next(frame, op);
}

WMI_DEFINE(v_writelane_b32)
{
    wmi_row(frame, op->d)[*scalar(frame, op->b) % WMI_LANES] = *scalar(frame, op->a);
    return wmi_next(frame, op);
}

/* ---- packing: the results saturate ---- */

WMI_INLINE uint32_t half_u16(uint32_t value)
{
    return value > UINT16_MAX ? UINT16_MAX : value;
}

WMI_INLINE uint32_t half_i16(int32_t value)
{
    return (uint16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

/* That they saturate: LLVM's clamps from 64 to 16 bits rely on it (AMDGPUPreLegalizerCombiner). */
LANES2(v_cvt_pk_u16_u32, u32, u32, u32, half_u16(a) | half_u16(b) << 16)
LANES2(v_cvt_pk_i16_i32, u32, i32, i32, half_i16(a) | half_i16(b) << 16)

/* SPDX-License-Identifier: MIT */
/* Vector moves: copies, selection, exchange with scalar registers, packing of integers. */
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

WMI_DEFINE(v_pipeflush)
{
    (void)frame;
    return wmi_next(frame, op);
}

LANES1(v_mov_b32, u32, u32, a)
LANES1(v_mov_b16, u16, u16, a)
LANES1(v_cvt_i32_i16, i32, i16, a)
LANES1(v_cvt_u32_u16, u32, u16, a)

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

WMI_DEFINE(v_cndmask_b16)
{
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);
    wmi_word pick[WMI_LANES];
    wmi_lanes_expand(pick, wmi_get_mask(frame, op->c));
    WMI_LOOPS(u32, ((b[i] & pick[i]) | (a[i] & ~pick[i])) & 0xffff);
    return wmi_next(frame, op);
}

/* ---- exchange between lanes ---- */

/* Each lane of the set reads the lane of row a given by `index`. Lanes outside the set are sources only with
 * op_sel[0]; a lane without a source gets 0 with op_sel[1], else keeps its value. Source: RDNA 3 ISA,
 * V_PERMLANE16_B32; LLVM, llvm.amdgcn.permlane16 (fi, bound_control). */
static void permute_in_rows(char *restrict frame, const struct wmi_op *op, const wmi_word *index)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const uint32_t fetch = op->x >> WMI_X_OP_SEL & 1 ? UINT32_MAX : 0;
    const uint32_t bound = op->x >> (WMI_X_OP_SEL + 1) & 1 ? UINT32_MAX : 0;
    wmi_word *d = wmi_row(frame, op->d);
    wmi_word from[WMI_LANES], valid[WMI_LANES];
    wmi_lanes_permute(from, wmi_row(frame, op->a), index);
    wmi_lanes_permute(valid, (const wmi_word *)lanes->row, index);
    WMI_EACH_LANE
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t source = valid[i] | fetch, change = lanes->row[i] & (source | bound);
        d[i] = (d[i] & ~change) | (from[i] & source & change);
    }
}

/* Lane i of a row of 16 reads the lane given by nibble i of {c, b}, in its row or in the adjacent one: c and
 * b are uniform. */
static void permute_by_scalar(char *restrict frame, const struct wmi_op *op, unsigned flip)
{
    const uint64_t select = wmi_row(frame, op->b)[0] | (uint64_t)wmi_row(frame, op->c)[0] << 32;
    wmi_word index[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        index[i] = ((i & ~15u) ^ flip) | (uint32_t)(select >> 4 * (i & 15) & 15);
    permute_in_rows(frame, op, index);
}

/* The same with the low bits of each lane of b. Source: RDNA 4 ISA, V_PERMLANE16_VAR_B32. */
static void permute_by_lane(char *restrict frame, const struct wmi_op *op, unsigned flip)
{
    const wmi_word *b = wmi_row(frame, op->b);
    wmi_word index[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        index[i] = ((i & ~15u) ^ flip) | (b[i] & 15);
    permute_in_rows(frame, op, index);
}

#define PERMUTE(name, permute, flip)                                                                         \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        permute(frame, op, flip);                                                                            \
        return wmi_next(frame, op);                                                                          \
    }
PERMUTE(v_permlane16_b32, permute_by_scalar, 0)
PERMUTE(v_permlanex16_b32, permute_by_scalar, 16)
PERMUTE(v_permlane16_var_b32, permute_by_lane, 0)
PERMUTE(v_permlanex16_var_b32, permute_by_lane, 16)

/* In each group of 2 * size lanes the upper lanes of d and the lower lanes of a change places. A lane that is
 * not in the set keeps its value; its partner keeps its own, too, or takes the value with fi (op_sel[0]), or
 * 0 with bound_ctrl (op_sel[1]). Source: CDNA 4 ISA, V_PERMLANE16_SWAP_B32 and V_PERMLANE32_SWAP_B32, which
 * do not say what EXEC does (unverified: as V_PERMLANE16_B32). */
static void swap_lanes(char *restrict frame, const struct wmi_op *op, unsigned size)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const bool fetch = op->x >> WMI_X_OP_SEL & 1, bound = op->x >> (WMI_X_OP_SEL + 1) & 1;
    wmi_word *d = wmi_row(frame, op->d), *a = wmi_row(frame, op->a);
    for (unsigned low = 0; low + size < WMI_LANES; low += low % size == size - 1 ? size + 1 : 1) {
        const unsigned high = low + size;
        const bool low_on = lanes->row[low], high_on = lanes->row[high];
        const uint32_t from_a = a[low], from_d = d[high];
        if (high_on && (low_on || fetch || bound))
            d[high] = low_on || fetch ? from_a : 0;
        if (low_on && (high_on || fetch || bound))
            a[low] = high_on || fetch ? from_d : 0;
    }
}

WMI_DEFINE(v_permlane16_swap_b32)
{
    swap_lanes(frame, op, 16);
    return wmi_next(frame, op);
}

WMI_DEFINE(v_permlane32_swap_b32)
{
    swap_lanes(frame, op, 32);
    return wmi_next(frame, op);
}

/* Each half of a wave of 64 reads the other, active or not; no operation in waves of 32. Source: RDNA 3 ISA,
 * V_PERMLANE64_B32. */
WMI_DEFINE(v_permlane64_b32)
{
#if WMI_LANES == 64
    const wmi_word *a = wmi_row(frame, op->a);
    wmi_word from[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        from[i] = a[i ^ 32];
    WMI_MASKED_LOOP(u32, from[i]);
#endif
    return wmi_next(frame, op);
}

/* ---- exchange with scalar registers: not masked by a lane set ---- */

WMI_INLINE wmi_word *scalar(char *frame, uint32_t offset)
{
    return (wmi_word *)(frame + offset);
}

/* Reads the lowest active lane, or lane 0 if EXEC is zero. Source: CDNA 3 ISA, V_READFIRSTLANE_B32. */
WMI_DEFINE(v_readfirstlane_b32)
{
    const uint64_t bits = wmi_op_lanes(frame, op)->bits;
    *scalar(frame, op->d) = wmi_row(frame, op->a)[bits ? __builtin_ctzll(bits) : 0];
    return wmi_next(frame, op);
}

/* The lane number is modulo the wave size. */
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

/* ---- packing: results saturate ---- */

WMI_INLINE uint32_t half_u16(uint32_t value)
{
    return value > UINT16_MAX ? UINT16_MAX : value;
}

WMI_INLINE uint32_t half_i16(int32_t value)
{
    return (uint16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

/* Saturating: LLVM's clamps from 64 to 16 bits rely on it (AMDGPUPreLegalizerCombiner). */
LANES2(v_cvt_pk_u16_u32, u32, u32, u32, half_u16(a) | half_u16(b) << 16)
LANES2(v_cvt_pk_i16_i32, u32, i32, i32, half_i16(a) | half_i16(b) << 16)

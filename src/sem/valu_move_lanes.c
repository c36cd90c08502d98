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

/* Permutations within groups of c lanes, by the uniform number b. All lanes are sources, whatever EXEC says.
 * Widths that are no power of two are not defined. Source: CDNA 5 ISA, V_PERMLANE_BCAST_B32 and the
 * following. */
enum move { BROADCAST, UP, DOWN, XOR };

WMI_INLINE unsigned moved_lane(unsigned lane, uint32_t number, uint32_t width, enum move move)
{
    const unsigned mask = width - 1, base = lane & ~mask, in_group = lane & mask;
    const uint32_t most = number > width ? width : number;
    switch (move) {
    case BROADCAST:
        return base + (number & 63 & mask);
    case UP:
        return in_group < most ? lane : lane - most;
    case DOWN:
        return in_group + most < width ? lane + most : lane;
    default:
        return number >= WMI_LANES || (lane ^ number) >= base + width ? lane : lane ^ number;
    }
}

WMI_INLINE void move_in_groups(char *frame, const struct wmi_op *op, enum move move)
{
    const uint32_t number = wmi_row(frame, op->b)[0], width = wmi_row(frame, op->c)[0];
    wmi_word index[WMI_LANES], from[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        index[i] = moved_lane(i, number, width, move) % WMI_LANES;
    wmi_lanes_permute(from, wmi_row(frame, op->a), index);
    WMI_MASKED_LOOP(u32, from[i]);
}

#define MOVE_IN_GROUPS(name, move)                                                                           \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        move_in_groups(frame, op, move);                                                                     \
        return wmi_next(frame, op);                                                                          \
    }
MOVE_IN_GROUPS(v_permlane_bcast_b32, BROADCAST)
MOVE_IN_GROUPS(v_permlane_up_b32, UP)
MOVE_IN_GROUPS(v_permlane_down_b32, DOWN)
MOVE_IN_GROUPS(v_permlane_xor_b32, XOR)

/* The address of lane a in the lane's group of b lanes, for ds_bpermute_b32. */
WMI_DEFINE(v_permlane_idx_gen_b32)
{
    const wmi_word *a = wmi_row(frame, op->a);
    const uint32_t mask = wmi_row(frame, op->b)[0] - 1;
    wmi_word index[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        index[i] = ((a[i] & 63 & mask) + (i & ~mask)) << 2;
    WMI_MASKED_LOOP(u32, index[i]);
    return wmi_next(frame, op);
}

/* ---- tables in registers: 16 elements of `bits` bits, which a (high) and b hold, chosen by the 16 halves of
 * bytes of c. Source: CDNA 5 ISA, V_PERM_PK16_B4_U4 and the following. ---- */

WMI_INLINE void look_up(char *frame, const struct wmi_op *op, unsigned bits, unsigned b_dwords)
{
    enum { ELEMENTS = 16, MOST_DWORDS = 4 };
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c);
    wmi_word *d = wmi_row(frame, op->d);
    for (unsigned i = 0; i < WMI_LANES; i++) {
        uint32_t table[MOST_DWORDS + 1] = {0}, result[MOST_DWORDS + 1] = {0};
        for (unsigned k = 0; k < bits / 2; k++)
            table[k] = k < b_dwords ? b[k * WMI_LANES + i] : a[(k - b_dwords) * WMI_LANES + i];
        for (unsigned k = 0; k < ELEMENTS; k++) {
            const unsigned at = (c[k / 8 * WMI_LANES + i] >> k % 8 * 4 & 15) * bits, to = k * bits;
            const uint64_t two = table[at / 32] | (uint64_t)table[at / 32 + 1] << 32;
            const uint64_t element = (two >> at % 32 & ((1u << bits) - 1)) << to % 32;
            result[to / 32] |= (uint32_t)element;
            result[to / 32 + 1] |= (uint32_t)(element >> 32);
        }
        for (unsigned k = 0; lanes->row[i] && k < bits / 2; k++)
            d[k * WMI_LANES + i] = result[k];
    }
}

#define LOOK_UP(name, bits, b_dwords)                                                                        \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        look_up(frame, op, bits, b_dwords);                                                                  \
        return wmi_next(frame, op);                                                                          \
    }
LOOK_UP(v_perm_pk16_b4_u4, 4, 1)
LOOK_UP(v_perm_pk16_b6_u4, 6, 2)
LOOK_UP(v_perm_pk16_b8_u4, 8, 2)

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

WMI_INLINE uint32_t nibble_i8(uint32_t word, unsigned k)
{
    const int32_t value = (int8_t)(word >> 8 * k);
    return (uint32_t)(value > 7 ? 7 : value < -8 ? -8 : value) & 15;
}

WMI_INLINE uint32_t nibble_u8(uint32_t word, unsigned k)
{
    const uint32_t value = word >> 8 * k & 255;
    return value > 15 ? 15 : value;
}

/* Source: CDNA 5 ISA, V_SAT_PK4_I4_I8 and V_SAT_PK4_U4_U8. */
LANES1(v_sat_pk4_i4_i8, u16, u32,
       nibble_i8(a, 0) | nibble_i8(a, 1) << 4 | nibble_i8(a, 2) << 8 | nibble_i8(a, 3) << 12)
LANES1(v_sat_pk4_u4_u8, u16, u32,
       nibble_u8(a, 0) | nibble_u8(a, 1) << 4 | nibble_u8(a, 2) << 8 | nibble_u8(a, 3) << 12)

/* SPDX-License-Identifier: MIT */
/* Vector instructions of hosts with AVX2 (and FMA, F16C, BMI2), which do what those of AVX-512 do.
 *
 * A zmm register is two ymm registers, or 64 bytes on the stack (struct wmi_avx2_area). Masks of k5 to k7 are
 * in R12 to R14; those that comparisons of words have set are on the stack, too, as ones in the lanes of a
 * register, while that is known (kept_lanes). Those of k1 to k4, which are used more often than they change,
 * are on the stack in both ways. RBX and RBP are free. The flags change, other than with AVX-512.
 *
 * Source: Intel SDM volume 2: the operations of both kinds of instructions. */
#include "jit/host_avx2.h"

/* ---- results of instructions ---- */

/* The half `reg` (not T3) becomes the value of the zmm: merged with the old one, or with zeros, by the mask.
 */
static void finish(struct wmi_host *host, unsigned zmm, unsigned half, unsigned reg, unsigned mask, bool wide)
{
    const unsigned k = mask & 7;
    if (!k) {
        wmi_avx2_keep(host, zmm, half, reg);
        return;
    }
    wmi_avx2_expand(host, T3, k, half, wide);
    if (mask & WMI_ZEROING) {
        wmi_vex_256(host, VPAND, reg, reg, wmi_zmm(T3));
        wmi_avx2_keep(host, zmm, half, reg);
        return;
    }
    const struct wmi_host_operand old = wmi_avx2_half(host, zmm, half);
    const unsigned to = wmi_avx2_in_register(host, old, T1);
    wmi_avx2_blend(host, to, to, wmi_zmm(reg), T3);
    wmi_avx2_keep(host, zmm, half, to);
}

/* d = the half of b in lanes of the mask, and 0 in others. */
static void take_lanes(struct wmi_host *host, unsigned d, struct wmi_host_operand b, unsigned mask,
                       unsigned half)
{
    const unsigned x = wmi_avx2_in_register(host, b, d);
    if (wmi_avx2_has_lanes_of(host, mask) && !(host->full_masks >> mask & 1)) {
        wmi_vex_256(host, VPAND, d, x, wmi_avx2_lanes(mask, half));
        return;
    }
    wmi_avx2_expand(host, T3, mask, half, false);
    wmi_vex_256(host, VPAND, d, x, wmi_zmm(T3));
}

/* ---- instructions of several ---- */

enum { ONES = 0xff, NOT_THIRD = 0x55 };

/* By the table of VPTERNLOG, of d, b and c. All are in registers, `to` is none of them, and T3 is free. */
static bool put_logic(struct wmi_host *host, unsigned table, unsigned to, unsigned d, unsigned b, unsigned c)
{
    switch (table) {
    case ONES:
        wmi_vex_256(host, VPCMPEQD, to, to, wmi_zmm(to));
        return true;
    case NOT_THIRD:
        wmi_vex_256(host, VPXOR, to, c, CONSTANT(ones));
        return true;
    case 0x96: /* d ^ b ^ c */
        wmi_vex_256(host, VPXOR, to, d, wmi_zmm(b));
        wmi_vex_256(host, VPXOR, to, to, wmi_zmm(c));
        return true;
    case 0xc3: /* ~(d ^ b) */
        wmi_vex_256(host, VPXOR, to, d, wmi_zmm(b));
        wmi_vex_256(host, VPXOR, to, to, CONSTANT(ones));
        return true;
    case 0xca: /* d ? b : c */
        wmi_vex_256(host, VPXOR, to, b, wmi_zmm(c));
        wmi_vex_256(host, VPAND, to, to, wmi_zmm(d));
        wmi_vex_256(host, VPXOR, to, to, wmi_zmm(c));
        return true;
    case 0xd8: /* c ? b : d */
        wmi_vex_256(host, VPXOR, to, b, wmi_zmm(d));
        wmi_vex_256(host, VPAND, to, to, wmi_zmm(c));
        wmi_vex_256(host, VPXOR, to, to, wmi_zmm(d));
        return true;
    case 0xe8: /* two of three: d where d and b agree, and else c */
        wmi_vex_256(host, VPXOR, to, d, wmi_zmm(b));
        wmi_vex_256(host, VPXOR, T3, d, wmi_zmm(c));
        wmi_vex_256(host, VPAND, to, to, wmi_zmm(T3));
        wmi_vex_256(host, VPXOR, to, to, wmi_zmm(d));
        return true;
    case 0xea: /* d & b | c */
        wmi_vex_256(host, VPAND, to, d, wmi_zmm(b));
        wmi_vex_256(host, VPOR, to, to, wmi_zmm(c));
        return true;
    case 0xf4: /* d | b & ~c */
        wmi_vex_256(host, VPANDN, to, c, wmi_zmm(b));
        wmi_vex_256(host, VPOR, to, to, wmi_zmm(d));
        return true;
    case WMI_OR_DIFFERENCE:
        wmi_vex_256(host, VPXOR, to, b, wmi_zmm(c));
        wmi_vex_256(host, VPOR, to, to, wmi_zmm(d));
        return true;
    case 0xfe:
        wmi_vex_256(host, VPOR, to, d, wmi_zmm(b));
        wmi_vex_256(host, VPOR, to, to, wmi_zmm(c));
        return true;
    default:
        return false;
    }
}

static bool put_logic_from(struct wmi_host *host, uint32_t instruction, unsigned d,
                           struct wmi_host_operand before, unsigned b, struct wmi_host_operand c,
                           unsigned mask, unsigned table)
{
    const bool collects =
        table == WMI_OR_DIFFERENCE && mask && !(mask & WMI_ZEROING) && !is_wide(instruction);
    for (EACH_HALF(host, half)) {
        unsigned old = T0, second = T3, third = T1;
        if (collects) {
            const unsigned to = wmi_avx2_target(host, d, half, T2);
            wmi_vex_256(host, VPXOR, T1, wmi_avx2_load(host, b, half, T1),
                        wmi_avx2_operand(host, instruction, c, half, T0));
            take_lanes(host, T1, wmi_zmm(T1), mask, half);
            wmi_vex_256(host, VPOR, to, T1, wmi_avx2_operand(host, instruction, before, half, T0));
            wmi_avx2_keep(host, d, half, to);
            continue;
        }
        if (table != ONES && table != NOT_THIRD) {
            old = wmi_avx2_in_register(host, wmi_avx2_operand(host, instruction, before, half, T0), T0);
            second = wmi_avx2_load(host, b, half, T3);
        }
        if (table != ONES)
            third = wmi_avx2_in_register(host, wmi_avx2_operand(host, instruction, c, half, T1), T1);
        if (!put_logic(host, table, T2, old, second, third))
            return false;
        finish(host, d, half, T2, mask, is_wide(instruction));
    }
    return true;
}

/* d = a * b + old, or 0 in lanes that are not in the mask. d is neither a nor b. */
static void put_fused_from(struct wmi_host *host, uint32_t instruction, unsigned d,
                           struct wmi_host_operand old, unsigned a, struct wmi_host_operand b, unsigned mask)
{
    for (EACH_HALF(host, half)) {
        const struct wmi_host_operand sum = wmi_avx2_operand(host, instruction, old, half, T2);
        const unsigned to = wmi_avx2_target(host, d, half, T2), x = wmi_avx2_load(host, a, half, T0);
        if (sum.in_memory)
            wmi_vex_256(host, WMI_VMOVUPS_LOAD, to, 0, sum);
        else
            wmi_avx2_move(host, to, sum.reg);
        wmi_vex_256(host, instruction, to, x, wmi_avx2_operand(host, instruction, b, half, T1));
        finish(host, d, half, to, mask, is_wide(instruction));
    }
}

/* Whether the instruction keeps its first operand where the second one is 0. */
static bool is_kept_by_zero(uint32_t instruction)
{
    switch (instruction) {
    case KIND(WMI_VPADDD):
    case KIND(WMI_VPSUBD):
    case KIND(VPOR):
    case KIND(VPXOR):
    case KIND(VPMAXUD):
        return true;
    default:
        return false;
    }
}

/* Instructions that VEX has with the same opcode. */
static void put_same(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                     struct wmi_host_operand b, unsigned mask, int immediate, bool has_two)
{
    const bool merges = mask && !(mask & WMI_ZEROING);
    if (merges && d == a && is_kept_by_zero(instruction)) {
        for (EACH_HALF(host, half)) {
            const unsigned to = wmi_avx2_target(host, d, half, T2);
            take_lanes(host, T1, wmi_avx2_operand(host, instruction, b, half, T1), mask, half);
            wmi_vex_256(host, instruction, to, wmi_avx2_load(host, a, half, T0), wmi_zmm(T1));
            wmi_avx2_keep(host, d, half, to);
        }
        return;
    }
    for (EACH_HALF(host, half)) {
        const unsigned x = has_two ? wmi_avx2_load(host, a, half, T0) : 0,
                       to = merges ? (unsigned)T2 : wmi_avx2_target(host, d, half, T2);
        wmi_vex(host, instruction, LONG, to, x, wmi_avx2_operand(host, instruction, b, half, T1), immediate);
        finish(host, d, half, to, mask, is_wide(instruction));
    }
}

/* Shifts and rotations by an immediate. */
static void put_shift(struct wmi_host *host, uint32_t instruction, unsigned digit, unsigned d,
                      struct wmi_host_operand b, int count)
{
    const unsigned left = (digit == WMI_ROTATE_LEFT ? (unsigned)count : 32 - (unsigned)count) & 31;
    for (EACH_HALF(host, half)) {
        const unsigned to = wmi_avx2_target(host, d, half, T2),
                       from =
                           wmi_avx2_in_register(host, wmi_avx2_operand(host, instruction, b, half, T0), T0);
        if (digit == WMI_ROTATE_RIGHT || digit == WMI_ROTATE_LEFT) {
            wmi_avx2_shift(host, WMI_LEFT, T1, from, left);
            wmi_avx2_shift(host, WMI_RIGHT, to, from, 32 - left);
            wmi_vex_256(host, VPOR, to, to, wmi_zmm(T1));
        } else {
            wmi_vex(host, instruction, LONG, digit, to, wmi_zmm(from), count);
        }
        wmi_avx2_keep(host, d, half, to);
    }
}

/* Both halves = the register T2, in lanes of the mask. */
static void keep_both(struct wmi_host *host, unsigned d, unsigned mask, bool wide)
{
    for (EACH_HALF(host, half))
        finish(host, d, half, T2, mask, wide);
}

static void put_broadcast(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand b,
                          unsigned mask)
{
    const bool wide = is_wide(instruction);
    switch (instruction) {
    case WMI_VPBROADCASTD_GPR:
    case WMI_VPBROADCASTQ_GPR:
        wmi_vex_128(host, wide ? VMOVQ_FROM : VMOVD_FROM, T2, 0, wmi_zmm(b.reg));
        b = wmi_zmm(T2);
        break;
    default:
        if (!b.in_memory)
            b = wmi_avx2_half(host, b.reg, first_half(host));
    }
    const unsigned to = mask ? (unsigned)T2 : wmi_avx2_target(host, d, first_half(host), T2);
    wmi_vex_256(host, wide ? (uint32_t)VPBROADCASTQ : (uint32_t)WMI_VPBROADCASTD, to, 0, b);
    if (mask)
        keep_both(host, d, mask, wide);
    else
        for (EACH_HALF(host, half))
            wmi_avx2_keep(host, d, half, to);
}

/* The part of 128 bits, in the low half of a ymm register. */
static struct wmi_host_operand part_of(struct wmi_host *host, struct wmi_host_operand half, unsigned part,
                                       unsigned temporary)
{
    if (half.in_memory)
        return wmi_avx2_further(half, (int32_t)(part * QUARTER));
    if (!part)
        return half;
    wmi_vex(host, VEXTRACTI128, LONG, half.reg, 0, wmi_zmm(temporary), 1);
    return wmi_zmm(temporary);
}

/* An instruction whose results are twice as wide as its source, the low half of b, or b / 4 of it. */
static void put_widen(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand b)
{
    if (!b.in_memory) { /* the second half of the result must not find the first one in its place */
        b = wmi_avx2_half(host, b.reg, 0);
        wmi_avx2_move(host, T0, wmi_avx2_in_register(host, b, T0));
        b = wmi_zmm(T0);
    }
    for (unsigned half = 0; half < 2; half++) {
        const unsigned to = wmi_avx2_target(host, d, half, T2);
        wmi_vex_256(host, instruction, to, 0, part_of(host, b, half, T1));
        wmi_avx2_keep(host, d, half, to);
    }
}

/* The low half of d = two results of 128 bits, in T2 and T1; the other half is 0. */
static void keep_narrow(struct wmi_host *host, unsigned d)
{
    wmi_vex(host, VINSERTI128, LONG, T2, T2, wmi_zmm(T1), 1);
    wmi_avx2_keep(host, d, 0, T2);
    wmi_avx2_clear(host, T1);
    wmi_avx2_keep(host, d, 1, T1);
}

/* An instruction whose results are half as wide as its source. */
static void put_narrow(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand b)
{
    for (unsigned half = 0; half < 2; half++)
        wmi_vex_256(host, instruction, half ? T1 : T2, 0, wmi_avx2_half(host, b.reg, half));
    keep_narrow(host, d);
}

/* VCVTPS2PH: d is the source. */
static void put_to_f16(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand b,
                       int immediate)
{
    for (unsigned half = 0; half < 2; half++)
        wmi_vex(host, instruction, LONG, wmi_avx2_load(host, d, half, T0), 0, wmi_zmm(half ? T1 : T2),
                immediate);
    keep_narrow(host, b.reg);
}

/* T2 = the low words or bytes of 16 dwords, in its low part or in the half. */
static void narrow_dwords(struct wmi_host *host, unsigned zmm, bool to_bytes)
{
    for (unsigned half = 0; half < 2; half++) {
        const unsigned to = half ? T1 : T2, from = wmi_avx2_load(host, zmm, half, to);
        wmi_avx2_shift(host, WMI_LEFT, to, from, to_bytes ? 24 : 16);
        wmi_avx2_shift(host, WMI_RIGHT, to, to, to_bytes ? 24 : 16);
    }
    wmi_vex_256(host, VPACKUSDW, T2, T2, wmi_zmm(T1));
    wmi_vex(host, VPERMQ, LONG, T2, 0, wmi_zmm(T2), 0xd8);
    if (!to_bytes)
        return;
    wmi_vex(host, VEXTRACTI128, LONG, T2, 0, wmi_zmm(T1), 1);
    wmi_vex_128(host, VPACKUSWB, T2, T2, wmi_zmm(T1));
}

/* A loop over the bits of WMI_RBX: WMI_RBP is the number of each one, from the lowest on. */
struct bit_loop {
    size_t none, head;
};

static struct bit_loop begin_loop(struct wmi_host *host)
{
    wmi_scalar_registers(host, WMI_TEST, false, WMI_RBX, WMI_RBX);
    const size_t none = wmi_jump_if(host, WMI_IF_EQUAL), head = host->count;
    wmi_scalar_registers(host, WMI_BSF, false, WMI_RBP, WMI_RBX);
    return (struct bit_loop){none, head};
}

static void end_loop(struct wmi_host *host, const struct bit_loop *loop)
{
    enum { BLSR = WMI_EVEX(0xf3, WMI_MAP_0F38, 0, 0), BLSR_DIGIT = 1 };
    wmi_vex(host, BLSR, 0, BLSR_DIGIT, WMI_RBX, wmi_zmm(WMI_RBX), WMI_NO_IMMEDIATE);
    wmi_jump_back_if(host, WMI_IF_NOT_EQUAL, loop->head);
    wmi_land(host, loop->none);
}

static void take_bits(struct wmi_host *host, unsigned k)
{
    const enum wmi_gpr from = wmi_avx2_bits_in_gpr(host, k, WMI_RBX);
    wmi_scalar_registers(host, WMI_MOVZX_16, false, WMI_RBX, from);
}

/* Stores the low byte or word of each lane of the mask, in a row. */
static void store_narrow(struct wmi_host *host, unsigned zmm, struct wmi_host_operand to, unsigned mask,
                         bool to_bytes)
{
    if (!mask) {
        narrow_dwords(host, zmm, to_bytes);
        wmi_vex(host, WMI_VMOVUPS_STORE, to_bytes ? 0 : LONG, T2, 0, to, WMI_NO_IMMEDIATE);
        return;
    }
    const struct wmi_host_operand from = wmi_avx2_in_memory(host, zmm, 0);
    take_bits(host, mask);
    const struct bit_loop loop = begin_loop(host);
    wmi_vex_indexed(host, VMOVD_FROM, 0, T2, 0, from.base, WMI_RBP, 2, from.displacement);
    wmi_vex_indexed(host, to_bytes ? VPEXTRB : VPEXTRW, 0, T2, 0, to.base, WMI_RBP, to_bytes ? 0 : 1,
                    to.displacement);
    wmi_put_8(host, 0);
    end_loop(host, &loop);
}

/* Bytes or words in a row, extended: without a mask, or 0 in lanes that are not in it, which are not read. */
static void load_extended(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand b,
                          unsigned mask)
{
    enum { ZERO_EXTENDS = 0x10 };
    const bool bytes_ = (instruction & 0xf) == 1;
    const int32_t step = bytes_ ? 8 : 16;
    if (!mask) {
        for (unsigned half = 0; half < 2; half++) {
            const unsigned to = wmi_avx2_target(host, d, half, T2);
            wmi_vex_256(host, instruction, to, 0, wmi_avx2_further(b, (int32_t)half * step));
            wmi_avx2_keep(host, d, half, to);
        }
        return;
    }
    const struct wmi_host_operand place = AREA_AT(temporary);
    wmi_avx2_clear(host, T2);
    wmi_vex_256(host, WMI_VMOVUPS_STORE, T2, 0, place);
    wmi_vex_256(host, WMI_VMOVUPS_STORE, T2, 0, wmi_avx2_further(place, HALF));
    take_bits(host, mask & 7);
    const struct bit_loop loop = begin_loop(host);
    wmi_vex_indexed(host, bytes_ ? VPINSRB : VPINSRW, 0, T1, T2, b.base, WMI_RBP, bytes_ ? 0 : 1,
                    b.displacement);
    wmi_put_8(host, 0);
    wmi_vex_indexed(host, VMOVD_TO, 0, T1, 0, WMI_R15, WMI_RBP, 2, place.displacement);
    end_loop(host, &loop);
    for (unsigned half = 0; half < 2; half++) {
        const unsigned bits = bytes_ ? 24 : 16;
        wmi_vex_256(host, WMI_VMOVUPS_LOAD, T2, 0, wmi_avx2_further(place, (int32_t)(half * HALF)));
        if (!(instruction & ZERO_EXTENDS)) {
            wmi_avx2_shift(host, WMI_LEFT, T2, T2, bits);
            wmi_avx2_shift(host, WMI_RIGHT_SIGNED, T2, T2, bits);
        }
        wmi_avx2_keep(host, d, half, T2);
    }
}

static void load_masked(struct wmi_host *host, unsigned d, struct wmi_host_operand b, unsigned mask)
{
    for (EACH_HALF(host, half)) {
        wmi_avx2_expand(host, T3, mask & 7, half, false);
        wmi_vex_256(host, VPMASKMOVD_LOAD, T2, T3, wmi_avx2_further(b, (int32_t)(half * HALF)));
        if (!(mask & WMI_ZEROING)) {
            const unsigned old = wmi_avx2_load(host, d, half, T1);
            wmi_avx2_blend(host, T2, old, wmi_zmm(T2), T3);
        }
        wmi_avx2_keep(host, d, half, T2);
    }
}

/* Whether only the wave has the memory at the register: stores may write lanes that are off, as they are. */
static bool is_of_wave(enum wmi_gpr base)
{
    return base == WMI_ROWS || base == WMI_FRAME;
}

static void put_store(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand b,
                      unsigned mask)
{
    for (EACH_HALF(host, half)) {
        unsigned from = wmi_avx2_load(host, d, half, T0);
        const struct wmi_host_operand to = wmi_avx2_further(b, (int32_t)(half * HALF));
        if (mask)
            wmi_avx2_expand(host, T3, mask, half, false);
        if (mask && !is_of_wave(b.base)) {
            wmi_vex_256(host, VPMASKMOVD_STORE, from, T3, to);
            continue;
        }
        if (mask) { /* AMD's hosts take several times as long for a masked store */
            wmi_vex_256(host, WMI_VMOVUPS_LOAD, T1, 0, to);
            wmi_avx2_blend(host, T1, T1, wmi_zmm(from), T3);
            from = T1;
        }
        wmi_vex_256(host, instruction, from, 0, to);
    }
}

static void load_lanes(struct wmi_host *host, unsigned reg, enum wmi_gpr base, unsigned index, unsigned mask,
                       unsigned k, const uint8_t temporary[2])
{
    (void)k;
    (void)temporary;
    enum { PART = 4 };
    const struct wmi_host_operand given = wmi_avx2_in_memory(host, index, 0),
                                  kept = wmi_avx2_further(AREA_AT(temporary), 64);
    for (unsigned half = 0; half < 2; half++) {
        struct wmi_host_operand places = wmi_avx2_further(given, (int32_t)(half * HALF));
        size_t idle = 0;
        if (mask) {
            idle = wmi_avx2_jump_if_active(host, mask, half, 0);
            wmi_vex_256(host, WMI_VMOVUPS_LOAD, T3, 0, wmi_avx2_lanes(mask, half));
            wmi_vex_256(host, VPAND, T3, T3, places);
            wmi_vex_256(host, WMI_VMOVUPS_STORE, T3, 0, kept);
            places = kept;
        }
        for (unsigned i = 0; i < 2 * PART; i++) {
            const unsigned part = i < PART ? T1 : T2;
            wmi_avx2_take_index(host, places, i);
            wmi_vex_indexed(host, i % PART ? (uint32_t)VPINSRD : (uint32_t)VMOVD_FROM, 0, part,
                            i % PART ? part : 0, base, WMI_RBX, 0, 0);
            if (i % PART)
                wmi_put_8(host, (uint8_t)(i % PART));
        }
        wmi_vex(host, VINSERTI128, LONG, T1, T1, wmi_zmm(T2), 1);
        wmi_avx2_keep(host, reg, half, T1);
        if (mask)
            wmi_land(host, idle);
    }
}

/* In the order of lanes: those of the mask, of dwords or quadwords. */
static void put_scatter(struct wmi_host *host, unsigned reg, enum wmi_gpr base, unsigned index,
                        unsigned displacement, unsigned mask, bool wide)
{
    enum { MOVSXD = 0x63, REX_WRB = 0x4d };
    const struct wmi_host_operand places = wmi_avx2_in_memory(host, index, 0),
                                  data = wmi_avx2_in_memory(host, reg, 1);
    const enum wmi_gpr place = wmi_avx2_gpr_of(mask);
    take_bits(host, mask);
    if (wide)
        wmi_arithmetic_immediate(host, 4, false, WMI_RBX, 0xff);
    const struct bit_loop loop = begin_loop(host);
    wmi_put_8(host, REX_WRB & (places.base >= 8 ? 0xff : 0xfe)); /* place is R12, R13 or R14 */
    wmi_put_8(host, MOVSXD);
    wmi_vex_put_index(host, place, places.base, WMI_RBP, 2, places.displacement);
    wmi_vex_indexed(host, wide ? (uint32_t)VMOVQ_LOAD : (uint32_t)VMOVD_FROM, 0, T2, 0, data.base, WMI_RBP,
                    wide ? 3 : 2, data.displacement);
    wmi_scalar_registers(host, WMI_ADD, true, place, base);
    wmi_vex_128(host, wide ? VMOVQ_TO : VMOVD_TO, T2, 0, wmi_at(place, (int32_t)displacement));
    end_loop(host, &loop);
}

static void indexed(struct wmi_host *host, uint32_t instruction, unsigned reg, enum wmi_gpr base,
                    unsigned index, unsigned displacement, unsigned mask)
{
    put_scatter(host, reg, base, index, displacement, mask, is_wide(instruction));
    wmi_scalar_registers(host, WMI_XOR, false, wmi_avx2_gpr_of(mask), wmi_avx2_gpr_of(mask));
    wmi_avx2_forget_mask(host, mask);
}

/* ---- permutations ---- */

/* reg = the words of the zmm that the half `order` of another asks for by four bits. Changes T0 and T1. */
static void pick_words(struct wmi_host *host, unsigned reg, unsigned order, unsigned half,
                       struct wmi_host_operand from)
{
    enum { BIT_3_TO_SIGN = 28 };
    unsigned by = wmi_avx2_load(host, order, half, T0);
    wmi_vex_256(host, WMI_VPERMD, reg, by, wmi_avx2_operand(host, WMI_VPERMD, from, 0, T1));
    wmi_vex_256(host, WMI_VPERMD, T1, by, wmi_avx2_operand(host, WMI_VPERMD, from, 1, T1));
    wmi_avx2_shift(host, WMI_LEFT, T0, by, BIT_3_TO_SIGN);
    wmi_avx2_blend(host, reg, reg, wmi_zmm(T1), T0);
}

/* VPERMD: the word of b that each lane of a asks for. */
static void put_permute(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b)
{
    for (unsigned half = 0; half < 2; half++)
        pick_words(host, T2 + half, a, half, b);
    for (unsigned half = 0; half < 2; half++) /* d may be a or b */
        wmi_avx2_keep(host, d, half, T2 + half);
}

/* VPERMI2D: the word of {b, a} that each lane of d, which is neither of them, asks for by five bits. */
static void put_permute_two(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b)
{
    enum { BIT_4_TO_SIGN = 27 };
    for (unsigned half = 0; half < 2; half++) {
        pick_words(host, T2, d, half, wmi_zmm(a));
        pick_words(host, T3, d, half, b);
        wmi_avx2_shift(host, WMI_LEFT, T0, wmi_avx2_load(host, d, half, T0), BIT_4_TO_SIGN);
        wmi_avx2_blend(host, T2, T2, wmi_zmm(T3), T0);
        wmi_avx2_keep(host, d, half, T2);
    }
}

static void take_word(struct wmi_host *host, unsigned d, unsigned a, unsigned word,
                      struct wmi_host_operand number)
{
    const struct wmi_host_operand from = wmi_avx2_half(host, a, word / 8);
    (void)number;
    word %= 8;
    if (from.in_memory) {
        wmi_vex_256(host, WMI_VPBROADCASTD, T2, 0, wmi_avx2_further(from, (int32_t)(4 * word)));
    } else {
        const struct wmi_host_operand part = part_of(host, from, word / 4, T2);
        wmi_vex(host, VPSHUFD, 0, T2, 0, part, (int)(word % 4));
        wmi_vex_256(host, WMI_VPBROADCASTD, T2, 0, wmi_zmm(T2));
    }
    keep_both(host, d, WMI_NO_MASK, false);
}

static void take_quad(struct wmi_host *host, enum wmi_gpr d, unsigned a, unsigned number, unsigned scratch)
{
    enum { VPEXTRQ = WMI_EVEX(0x16, WMI_MAP_0F3A, WMI_PREFIX_66, 1) };
    struct wmi_host_operand from = wmi_avx2_half(host, a, 0);
    (void)scratch;
    if (from.in_memory) {
        from = wmi_avx2_further(from, (int32_t)(8 * number));
        wmi_scalar_memory(host, WMI_MOV_LOAD, true, d, from.base, from.displacement);
        return;
    }
    from = part_of(host, from, number / 2, T0);
    if (number % 2)
        wmi_vex(host, VPEXTRQ, 0, from.reg, 0, wmi_zmm(d), 1);
    else
        wmi_vex_128(host, VMOVQ_TO, from.reg, 0, wmi_zmm(d));
}

static void take_first(struct wmi_host *host, unsigned d, unsigned a, unsigned mask)
{
    const struct wmi_host_operand from = wmi_avx2_in_memory(host, a, 0);
    wmi_scalar_registers(host, WMI_MOVZX_16, false, WMI_RBP, wmi_avx2_bits_in_gpr(host, mask, WMI_RBP));
    wmi_avx2_take_first_bit(host, from);
    wmi_vex_128(host, VMOVD_FROM, T2, 0, wmi_zmm(WMI_RBX));
    wmi_vex_256(host, WMI_VPBROADCASTD, T2, 0, wmi_zmm(T2));
    keep_both(host, d, WMI_NO_MASK, false);
}

/* Parts of 128 bits: two of a, then two of b, by two bits of the selection each. */
static void put_shuffle_parts(struct wmi_host *host, unsigned d, unsigned a, unsigned b, unsigned selection)
{
    for (unsigned half = 0; half < 2; half++) {
        const unsigned from = half ? b : a, two = selection >> 4 * half & 15;
        wmi_avx2_swap_parts(host, T2 + half, wmi_avx2_load(host, from, 0, T0), wmi_avx2_half(host, from, 1),
                            (two & 3) | (two >> 2) << 4);
    }
    for (unsigned half = 0; half < 2; half++)
        wmi_avx2_keep(host, d, half, T2 + half);
}

/* The 16 words that begin at word `count` of {a, b}. */
static void put_align(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b,
                      unsigned count)
{
    const struct wmi_host_operand place = AREA_AT(temporary);
    if (count % 8) {
        for (unsigned i = 0; i < 4; i++)
            wmi_vex_256(host, WMI_VMOVUPS_STORE, wmi_avx2_load(host, i < 2 ? b.reg : a, i % 2, T0), 0,
                        wmi_avx2_further(place, (int32_t)(i * HALF)));
        for (unsigned half = 0; half < 2; half++)
            wmi_vex_256(host, WMI_VMOVUPS_LOAD, T2 + half, 0,
                        wmi_avx2_further(place, (int32_t)(half * HALF + 4 * count)));
    } else {
        for (unsigned half = 0; half < 2; half++) {
            const unsigned which = half + count / 8;
            wmi_avx2_move(host, T2 + half, wmi_avx2_load(host, which < 2 ? b.reg : a, which % 2, T2 + half));
        }
    }
    for (unsigned half = 0; half < 2; half++)
        wmi_avx2_keep(host, d, half, T2 + half);
}

/* Shifts of words by words: of the high and of the low words of dwords. */
static void put_shift_words(struct wmi_host *host, enum wmi_shift kind, unsigned d, unsigned a,
                            struct wmi_host_operand b)
{
    const uint32_t by_lane = kind == WMI_LEFT ? WMI_VPSLLVD : kind == WMI_RIGHT ? WMI_VPSRLVD : WMI_VPSRAVD;
    for (EACH_HALF(host, half)) {
        const unsigned x = wmi_avx2_load(host, a, half, T0),
                       y = wmi_avx2_in_register(host, wmi_avx2_operand(host, 0, b, half, T1), T1);
        wmi_avx2_shift(host, WMI_RIGHT, T3, y, 16);
        wmi_vex_256(host, VMOVAPS, T2, 0, CONSTANT(low_halves));
        wmi_vex_256(host, VPANDN, T2, T2, wmi_zmm(x));
        wmi_vex_256(host, by_lane, T2, T2, wmi_zmm(T3));
        if (kind != WMI_LEFT) { /* what has come out of the high word */
            wmi_avx2_shift(host, WMI_RIGHT, T2, T2, 16);
            wmi_avx2_shift(host, WMI_LEFT, T2, T2, 16);
        }
        wmi_vex_256(host, VPAND, T3, y, CONSTANT(low_halves));
        if (kind == WMI_RIGHT_SIGNED) {
            wmi_avx2_shift(host, WMI_LEFT, T1, x, 16);
            wmi_avx2_shift(host, WMI_RIGHT_SIGNED, T1, T1, 16);
        } else {
            wmi_vex_256(host, VPAND, T1, x, CONSTANT(low_halves));
        }
        wmi_vex_256(host, by_lane, T1, T1, wmi_zmm(T3));
        wmi_vex_256(host, VPAND, T1, T1, CONSTANT(low_halves));
        wmi_vex_256(host, VPOR, T2, T2, wmi_zmm(T1));
        wmi_avx2_keep(host, d, half, T2);
    }
}

/* ---- numbers ---- */

/* reg = a word, or a quadword, of the area in all lanes. */
static void splat(struct wmi_host *host, unsigned reg, struct wmi_host_operand place)
{
    wmi_vex_256(host, WMI_VPBROADCASTD, reg, 0, place);
}

static void splat_64(struct wmi_host *host, unsigned reg, struct wmi_host_operand place)
{
    wmi_vex_256(host, VPBROADCASTQ, reg, 0, place);
}

/* reg = f64 of the four unsigned dwords at the operand: bits of 2^52 + n, less 2^52, and no -0. Changes
 * `spare`. */
static void unsigned_to_f64(struct wmi_host *host, unsigned reg, struct wmi_host_operand from, unsigned spare)
{
    wmi_vex_256(host, VPMOVZXDQ, reg, 0, from);
    splat_64(host, spare, CONSTANT(two_52));
    wmi_vex_256(host, VPOR, reg, reg, wmi_zmm(spare));
    wmi_vex_256(host, VSUBPD, reg, reg, wmi_zmm(spare));
    splat_64(host, spare, CONSTANT(magnitude_64));
    wmi_vex_256(host, VPAND, reg, reg, wmi_zmm(spare));
}

/* VCVTUDQ2PS: both halves of a word are exact, and their sum is rounded once. */
static void put_unsigned_to_f32(struct wmi_host *host, unsigned d, struct wmi_host_operand b)
{
    const uint32_t vcvtdq2ps = WMI_EVEX(0x5b, WMI_MAP_0F, 0, 0),
                   vfmadd213ps = WMI_EVEX(0xa8, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    for (EACH_HALF(host, half)) {
        const unsigned from = wmi_avx2_in_register(host, wmi_avx2_operand(host, 0, b, half, T0), T0);
        wmi_vex_256(host, VPAND, T1, from, CONSTANT(low_halves));
        wmi_avx2_shift(host, WMI_RIGHT, T2, from, 16);
        wmi_vex_256(host, vcvtdq2ps, T1, 0, wmi_zmm(T1));
        wmi_vex_256(host, vcvtdq2ps, T2, 0, wmi_zmm(T2));
        splat(host, T3, CONSTANT(two_16));
        wmi_vex_256(host, vfmadd213ps, T2, T3, wmi_zmm(T1));
        wmi_avx2_keep(host, d, half, T2);
    }
}

/* VCVTUDQ2PD of the low half. */
static void put_unsigned_to_f64(struct wmi_host *host, unsigned d, struct wmi_host_operand b)
{
    const struct wmi_host_operand from = wmi_avx2_half(host, b.reg, 0);
    for (unsigned half = 0; half < 2; half++)
        unsigned_to_f64(host, T1 + half, part_of(host, from, half, T1 + half), T3);
    for (unsigned half = 0; half < 2; half++)
        wmi_avx2_keep(host, d, half, T1 + half);
}

/* VCVTTPS2UDQ: all bits for what is out of range. From 2^31 on, what is above that is converted. */
static void put_to_unsigned(struct wmi_host *host, unsigned d, struct wmi_host_operand b)
{
    enum { NOT_ABOVE_OR_NAN = WMI_FLOAT_NOT_ABOVE_OR_NAN, NOT_BELOW = WMI_FLOAT_NOT_BELOW };
    const uint32_t vcmpps = WMI_VCMPPS;
    for (EACH_HALF(host, half)) {
        const unsigned x = wmi_avx2_in_register(host, wmi_avx2_operand(host, 0, b, half, T0), T0);
        splat(host, T1, CONSTANT(two_31));
        wmi_vex_256(host, VSUBPS, T2, x, wmi_zmm(T1));
        wmi_vex_256(host, VCVTTPS2DQ, T2, 0, wmi_zmm(T2));
        splat(host, T3, CONSTANT(sign));
        wmi_vex_256(host, VPXOR, T2, T2, wmi_zmm(T3));
        wmi_vex(host, vcmpps, LONG, T1, x, wmi_zmm(T1), NOT_BELOW);
        wmi_vex_256(host, VCVTTPS2DQ, T3, 0, wmi_zmm(x));
        wmi_avx2_blend(host, T2, T3, wmi_zmm(T2), T1);
        splat(host, T1, CONSTANT(two_32));
        wmi_vex(host, vcmpps, LONG, T1, x, wmi_zmm(T1), NOT_BELOW);
        wmi_vex_256(host, VPOR, T2, T2, wmi_zmm(T1));
        splat(host, T1, CONSTANT(minus_one));
        wmi_vex(host, vcmpps, LONG, T1, x, wmi_zmm(T1), NOT_ABOVE_OR_NAN);
        wmi_vex_256(host, VPOR, T2, T2, wmi_zmm(T1));
        wmi_avx2_keep(host, d, half, T2);
    }
}

/* ---- all instructions ---- */

/* Instructions of 128 bits, whose results end at the first part of a register; and moves of single words. */
static void put_short(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                      struct wmi_host_operand b, int immediate)
{
    const uint32_t opcode = instruction & 0xff, plain = KIND(instruction);
    switch (plain) {
    case KIND(VMOVD_TO):
    case KIND(VMOVQ_TO): { /* d is the source */
        const struct wmi_host_operand from = wmi_avx2_half(host, d, 0);
        if (from.in_memory && !b.in_memory)
            wmi_scalar_memory(host, WMI_MOV_LOAD, is_wide(plain), b.reg, from.base, from.displacement);
        else
            wmi_vex_128(host, plain, wmi_avx2_in_register(host, from, T0), 0, b);
        return;
    }
    case KIND(WMI_EVEX(0xd6, WMI_MAP_0F, WMI_PREFIX_66, 1)): /* VMOVQ to memory */
    case KIND(WMI_EVEX(0x11, WMI_MAP_0F, 0, 0)):
    case KIND(WMI_EVEX(0x11, WMI_MAP_0F, WMI_PREFIX_F3, 0)):
    case KIND(WMI_EVEX(0x16, WMI_MAP_0F3A, WMI_PREFIX_66, 0)): /* VPEXTRD */
        wmi_vex(host, plain & ~(1u << 14), 0, wmi_avx2_load(host, d, 0, T0), 0, b, immediate);
        return;
    default:
        break;
    }
    if (!b.in_memory && opcode != 0x6e)
        b = wmi_avx2_half(host, b.reg, 0);
    const bool has_two = opcode != 0x10 && opcode != 0x6e && opcode != 0x7e && opcode != 0x51;
    wmi_vex(host, opcode == 0x7e ? (uint32_t)VMOVQ_LOAD : plain, 0, T2,
            has_two ? wmi_avx2_load(host, a, 0, T0) : 0, b, immediate);
    wmi_avx2_keep(host, d, 0, T2);
    wmi_avx2_clear(host, T2);
    wmi_avx2_keep(host, d, 1, T2);
}

/* Of one word of a register. */
static bool is_scalar(uint32_t instruction)
{
    enum { WORD = 2 };
    return (instruction >> 12 & 3) == WMI_PREFIX_F3 && (instruction >> 8 & 7) == WMI_MAP_0F &&
           (instruction >> 16 & 15) == WORD;
}

/* Of 256 bits: loads and stores. */
static void put_long(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand b)
{
    if (KIND(instruction) == KIND(WMI_VMOVUPS_STORE)) {
        wmi_vex_256(host, WMI_VMOVUPS_STORE, wmi_avx2_load(host, d, 0, T0), 0, b);
        return;
    }
    wmi_vex_256(host, WMI_VMOVUPS_LOAD, T2, 0, b);
    wmi_avx2_keep(host, d, 0, T2);
}

/* Instructions on bytes with a mask of 64 bits. */
static void put_masked_bytes(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                             struct wmi_host_operand b, unsigned mask, bool has_two)
{
    for (unsigned half = 0; half < 2; half++) {
        const unsigned x = has_two ? wmi_avx2_load(host, a, half, T0) : 0;
        if (has_two)
            wmi_vex_256(host, instruction, T2, x, wmi_avx2_half(host, b.reg, half));
        else
            wmi_avx2_move(host, T2, wmi_avx2_load(host, b.reg, half, T2));
        wmi_avx2_expand_bytes(host, T3, mask, half);
        const unsigned to = wmi_avx2_load(host, d, half, T1);
        wmi_vex(host, VPBLENDVB, LONG, to, to, wmi_zmm(T2), (int)(T3 << 4));
        wmi_avx2_keep(host, d, half, to);
    }
}

/* A mask register as 8 words, of ones where a bit is set. */
static void put_mask_lanes(struct wmi_host *host, unsigned d, unsigned k)
{
    wmi_vex_128(host, VMOVD_FROM, T2, 0, wmi_zmm(wmi_avx2_bits_in_gpr(host, k, WMI_RBX)));
    wmi_vex_128(host, VPBROADCASTW, T2, 0, wmi_zmm(T2));
    wmi_vex_128(host, VPAND, T2, T2, CONSTANT(bit_16));
    wmi_vex_128(host, VPCMPEQW, T2, T2, CONSTANT(bit_16));
    wmi_avx2_keep(host, d, 0, T2);
    wmi_avx2_clear(host, T2);
    wmi_avx2_keep(host, d, 1, T2);
}

static void put_part(struct wmi_host *host, unsigned d, struct wmi_host_operand to, unsigned part)
{
    const struct wmi_host_operand half = wmi_avx2_half(host, d, part / 2);
    const unsigned from = wmi_avx2_in_register(host, half, T0);
    wmi_vex(host, VEXTRACTI128, LONG, from, 0, to, (int)(part % 2));
}

/* VBLENDM: b in lanes of the mask, and else a. */
static void put_blend(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                      struct wmi_host_operand b, unsigned mask)
{
    for (EACH_HALF(host, half)) {
        const unsigned x = wmi_avx2_load(host, a, half, T0), to = wmi_avx2_target(host, d, half, T2);
        wmi_avx2_expand(host, T3, mask, half, is_wide(instruction));
        wmi_avx2_blend(host, to, x, wmi_avx2_operand(host, instruction, b, half, T1), T3);
        wmi_avx2_keep(host, d, half, to);
    }
}

/* How an instruction is made of others. */
enum way {
    UNKNOWN,
    SAME_1, /* with one source, and the same opcode */
    SAME_2,
    BYTES, /* the same, with a mask that has a bit for each byte */
    LOGIC,
    FUSED,
    SHIFT,
    STORE,
    LOAD,
    WIDEN,
    NARROW,
    BROADCAST,
    COMPARE_I32,
    COMPARE_U32,
    COMPARE_I8,
    COMPARE_U8,
    COMPARE_FLOAT,
    TEST_32,
    TEST_8,
    CLASS,
    BLEND,
    PERMUTE,
    PERMUTE_TWO,
    SHUFFLE_PARTS,
    ALIGN,
    BROADCAST_PART,
    EXTRACT_PART,
    INSERT_HALF,
    MOVE_BYTES,
    SHIFT_WORDS_LEFT,
    SHIFT_WORDS_RIGHT,
    SHIFT_WORDS_SIGNED,
    NARROW_TO_WORDS,
    NARROW_TO_BYTES,
    EXTEND,
    TO_F16,
    UNSIGNED_TO_F32,
    UNSIGNED_TO_F64,
    TO_UNSIGNED,
};

/* By map, prefix and opcode; where W tells two apart, see evex(). */
static const uint8_t ways[4][4][256] = {
    [WMI_MAP_0F] =
        {
            [0] = {[0x10] = LOAD,
                   [0x11] = STORE,
                   [0x2b] = STORE,
                   [0x51] = SAME_1,
                   [0x58] = SAME_2,
                   [0x59] = SAME_2,
                   [0x5a] = WIDEN,
                   [0x5b] = SAME_1,
                   [0x5c] = SAME_2,
                   [0x5d] = SAME_2,
                   [0x5e] = SAME_2,
                   [0x5f] = SAME_2,
                   [0x78] = TO_UNSIGNED,
                   [0xc2] = COMPARE_FLOAT,
                   [0xc6] = SAME_2},
            [WMI_PREFIX_66] =
                {[0x51] = SAME_1, [0x58] = SAME_2,        [0x59] = SAME_2, [0x5a] = NARROW, [0x5c] = SAME_2,
                 [0x5d] = SAME_2, [0x5e] = SAME_2,        [0x5f] = SAME_2, [0x62] = SAME_2, [0x6a] = SAME_2,
                 [0x6c] = SAME_2, [0x6d] = SAME_2,        [0x6f] = LOAD,   [0x70] = SAME_1, [0x72] = SHIFT,
                 [0x73] = SHIFT,  [0xc2] = COMPARE_FLOAT, [0xd4] = SAME_2, [0xd5] = SAME_2, [0xdb] = SAME_2,
                 [0xdf] = SAME_2, [0xe6] = NARROW,        [0xea] = SAME_2, [0xeb] = SAME_2, [0xee] = SAME_2,
                 [0xef] = SAME_2, [0xf4] = SAME_2,        [0xf5] = SAME_2, [0xf8] = BYTES,  [0xf9] = SAME_2,
                 [0xfa] = SAME_2, [0xfb] = SAME_2,        [0xfc] = BYTES,  [0xfd] = SAME_2, [0xfe] = SAME_2},
            [WMI_PREFIX_F3] = {[0x16] = SAME_1, [0x5b] = SAME_1, [0x7a] = UNSIGNED_TO_F64, [0xe6] = WIDEN},
            [WMI_PREFIX_F2] = {[0x6f] = MOVE_BYTES, [0x7a] = UNSIGNED_TO_F32},
        },
    [WMI_MAP_0F38] =
        {
            [WMI_PREFIX_66] = {[0x00] = BYTES,
                               [0x04] = SAME_2,
                               [0x10] = SHIFT_WORDS_RIGHT,
                               [0x11] = SHIFT_WORDS_SIGNED,
                               [0x12] = SHIFT_WORDS_LEFT,
                               [0x13] = WIDEN,
                               [0x21] = EXTEND,
                               [0x23] = EXTEND,
                               [0x26] = TEST_8,
                               [0x27] = TEST_32,
                               [0x28] = SAME_2,
                               [0x31] = EXTEND,
                               [0x33] = EXTEND,
                               [0x35] = WIDEN,
                               [0x36] = PERMUTE,
                               [0x39] = SAME_2,
                               [0x3a] = SAME_2,
                               [0x3b] = SAME_2,
                               [0x3d] = SAME_2,
                               [0x3e] = SAME_2,
                               [0x3f] = SAME_2,
                               [0x40] = SAME_2,
                               [0x45] = SAME_2,
                               [0x46] = SAME_2,
                               [0x47] = SAME_2,
                               [0x58] = BROADCAST,
                               [0x59] = BROADCAST,
                               [0x5a] = BROADCAST_PART,
                               [0x64] = BLEND,
                               [0x76] = PERMUTE_TWO,
                               [0x7c] = BROADCAST,
                               [0xb8] = FUSED},
            [WMI_PREFIX_F3] = {[0x27] = TEST_32, [0x31] = NARROW_TO_BYTES, [0x33] = NARROW_TO_WORDS},
        },
    [WMI_MAP_0F3A] =
        {
            [WMI_PREFIX_66] = {[0x03] = ALIGN,
                               [0x08] = SAME_1,
                               [0x09] = SAME_1,
                               [0x1d] = TO_F16,
                               [0x1e] = COMPARE_U32,
                               [0x1f] = COMPARE_I32,
                               [0x23] = SHUFFLE_PARTS,
                               [0x25] = LOGIC,
                               [0x39] = EXTRACT_PART,
                               [0x3a] = INSERT_HALF,
                               [0x3e] = COMPARE_U8,
                               [0x3f] = COMPARE_I8,
                               [0x43] = SHUFFLE_PARTS,
                               [0x66] = CLASS},
        },
};

/* Whether a lane of the result depends on lanes of the other half, or is none of its own. */
static bool mixes_halves(enum way way)
{
    switch (way) {
    case WIDEN:
    case NARROW:
    case PERMUTE:
    case PERMUTE_TWO:
    case SHUFFLE_PARTS:
    case ALIGN:
    case BROADCAST_PART:
    case EXTRACT_PART:
    case INSERT_HALF:
    case MOVE_BYTES:
    case NARROW_TO_WORDS:
    case NARROW_TO_BYTES:
    case EXTEND:
    case TO_F16:
    case UNSIGNED_TO_F64:
    case TEST_8:
    case COMPARE_I8:
    case COMPARE_U8:
        return true;
    default:
        return false;
    }
}

static void evex(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                 struct wmi_host_operand b, unsigned mask, int immediate)
{
    const bool wide = is_wide(instruction);
    const unsigned selection = (unsigned)immediate;
    const uint32_t same = KIND(instruction);
    const enum way way = (enum way)ways[instruction >> 8 & 3][instruction >> 12 & 3][instruction & 0xff];
    bool known = true;
    if (host->only_half && (instruction & (WMI_EVEX_128 | WMI_EVEX_256) || is_scalar(instruction) ||
                            mixes_halves(way) || (way == BYTES && mask))) {
        host->needs_both = true;
        return;
    }
    if (instruction & WMI_EVEX_128 && same == KIND(WMI_EVEX(0x28, WMI_MAP_0F38, WMI_PREFIX_F3, 1))) {
        put_mask_lanes(host, d, b.reg);
        return;
    }
    if (instruction & WMI_EVEX_128 || is_scalar(instruction)) {
        put_short(host, instruction, d, a, b, immediate);
        return;
    }
    if (instruction & WMI_EVEX_256) {
        put_long(host, instruction, d, b);
        return;
    }
    switch (way) {
    case SAME_1:
        put_same(host, same, d, a, b, mask, immediate, false);
        break;
    case SAME_2:
        put_same(host, same, d, a, b, mask, immediate, true);
        break;
    case BYTES:
        if (mask)
            put_masked_bytes(host, same, d, a, b, mask, true);
        else
            put_same(host, same, d, a, b, mask, immediate, true);
        break;
    case LOGIC:
        known = put_logic_from(host, instruction, d, wmi_zmm(d), a, b, mask, selection);
        break;
    case FUSED:
        put_fused_from(host, same, d, wmi_zmm(d), a, b, mask);
        break;
    case SHIFT:
        known = !(wide && (instruction & 0xff) == 0x72); /* VPSRAQ */
        put_shift(host, same & ~(1u << 14), d, a, b, immediate);
        break;
    case STORE:
        put_store(host, same, d, b, mask);
        break;
    case LOAD:
        if (b.in_memory && mask)
            load_masked(host, d, b, mask);
        else
            put_same(host, WMI_VMOVUPS_LOAD, d, 0, b, mask, immediate, false);
        break;
    case WIDEN:
        put_widen(host, same, d, b);
        break;
    case NARROW:
        put_narrow(host, same & ~(1u << 14), d, b);
        break;
    case BROADCAST:
        put_broadcast(host, instruction, d, b, mask);
        break;
    case COMPARE_I32:
    case COMPARE_U32:
    case COMPARE_I8:
    case COMPARE_U8:
        known = !(wide && way == COMPARE_I32);
        wmi_avx2_put_compare(host, instruction, d, a, b, selection, mask);
        break;
    case COMPARE_FLOAT:
        wmi_avx2_put_float_compare(host, instruction, d, a, b, mask, immediate);
        break;
    case TEST_8:
        wmi_avx2_put_test(host, instruction, d, a, b, mask, 1);
        break;
    case TEST_32:
        wmi_avx2_put_test(host, instruction, d, a, b, mask, wide ? 8 : 4);
        break;
    case CLASS:
        known = wmi_avx2_put_class(host, d, b, selection, wide);
        break;
    case BLEND:
        put_blend(host, instruction, d, a, b, mask);
        break;
    case PERMUTE:
        put_permute(host, d, a, b);
        break;
    case PERMUTE_TWO:
        put_permute_two(host, d, a, b);
        break;
    case SHUFFLE_PARTS:
        put_shuffle_parts(host, d, a, b.reg, selection);
        break;
    case ALIGN:
        put_align(host, d, a, b, wide ? 2 * selection : selection);
        break;
    case BROADCAST_PART:
        wmi_vex_256(host, VBROADCASTI128, T2, 0, b);
        keep_both(host, d, WMI_NO_MASK, false);
        break;
    case EXTRACT_PART:
        put_part(host, d, b, selection);
        break;
    case INSERT_HALF: {
        const unsigned low = wmi_avx2_load(host, a, 0, T0), high = wmi_avx2_load(host, b.reg, 0, T1);
        wmi_avx2_move(host, T2, high);
        wmi_avx2_keep(host, d, 0, low);
        wmi_avx2_keep(host, d, 1, T2);
        break;
    }
    case MOVE_BYTES:
        put_masked_bytes(host, same, d, 0, b, mask, false);
        break;
    case SHIFT_WORDS_LEFT:
        put_shift_words(host, WMI_LEFT, d, a, b);
        break;
    case SHIFT_WORDS_RIGHT:
        put_shift_words(host, WMI_RIGHT, d, a, b);
        break;
    case SHIFT_WORDS_SIGNED:
        put_shift_words(host, WMI_RIGHT_SIGNED, d, a, b);
        break;
    case NARROW_TO_WORDS:
    case NARROW_TO_BYTES: {
        const bool to_bytes = (instruction & 0xff) == 0x31;
        if (b.in_memory) { /* d is the source */
            store_narrow(host, d, b, mask, to_bytes);
            break;
        }
        narrow_dwords(host, d, to_bytes);
        wmi_avx2_keep(host, b.reg, 0, T2);
        wmi_avx2_clear(host, T2);
        wmi_avx2_keep(host, b.reg, 1, T2);
        break;
    }
    case EXTEND:
        if (b.in_memory)
            load_extended(host, same, d, b, mask);
        else
            put_widen(host, same, d, b);
        break;
    case TO_F16:
        put_to_f16(host, same, d, b, immediate);
        break;
    case UNSIGNED_TO_F32:
        put_unsigned_to_f32(host, d, b);
        break;
    case UNSIGNED_TO_F64:
        put_unsigned_to_f64(host, d, b);
        break;
    case TO_UNSIGNED:
        known = !wide;
        put_to_unsigned(host, d, b);
        break;
    case UNKNOWN:
        known = false;
    }
    if (!known)
        host->full = true; /* nothing is compiled then */
}

static void evex_from(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand old,
                      unsigned a, struct wmi_host_operand b, unsigned mask, int immediate)
{
    if (instruction == WMI_VPTERNLOGD)
        host->full |= !put_logic_from(host, instruction, d, old, a, b, mask, (unsigned)immediate);
    else
        put_fused_from(host, KIND(instruction), d, old, a, b, mask);
}

static void add_64(struct wmi_host *host, unsigned low, unsigned high, unsigned a, unsigned a_high,
                   const struct wmi_host_pair *b)
{
    for (EACH_HALF(host, half)) {
        const unsigned x = wmi_avx2_load(host, a, half, T0), sum = wmi_avx2_target(host, low, half, T2);
        const struct wmi_host_operand y = wmi_avx2_operand(host, 0, b->low, half, T1);
        wmi_vex_256(host, WMI_VPADDD, sum, x, y);
        wmi_vex_256(host, VPMAXUD, T3, sum, y);
        wmi_vex_256(host, VPCMPEQD, T3, T3, wmi_zmm(sum)); /* ones where it does not wrap */
        wmi_avx2_keep(host, low, half, sum);
        const unsigned x_high = wmi_avx2_load(host, a_high, half, T0),
                       sum_high = wmi_avx2_target(host, high, half, T2);
        wmi_vex_256(host, WMI_VPADDD, sum_high, x_high, wmi_avx2_operand(host, 0, b->high, half, T1));
        wmi_vex_256(host, WMI_VPSUBD, sum_high, sum_high, CONSTANT(ones));
        wmi_vex_256(host, WMI_VPADDD, sum_high, sum_high, wmi_zmm(T3));
        wmi_avx2_keep(host, high, half, sum_high);
    }
}

static void high_product(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a, unsigned b)
{
    enum { ODD_LANES = 0xaa };
    const uint32_t vmovshdup = WMI_EVEX(0x16, WMI_MAP_0F, WMI_PREFIX_F3, 0);
    for (EACH_HALF(host, half)) {
        const unsigned x = wmi_avx2_load(host, a, half, T0);
        const struct wmi_host_operand y = wmi_avx2_half(host, b, half);
        wmi_vex_256(host, KIND(instruction), T2, x, y);
        wmi_vex_256(host, vmovshdup, T2, 0, wmi_zmm(T2));
        wmi_vex_256(host, vmovshdup, T3, 0, wmi_zmm(x));
        wmi_vex_256(host, vmovshdup, T1, 0, y);
        wmi_vex_256(host, KIND(instruction), T3, T3, wmi_zmm(T1));
        wmi_vex(host, VPBLENDD, LONG, T2, T2, wmi_zmm(T3), ODD_LANES);
        wmi_avx2_keep(host, d, half, T2);
    }
}

/* ---- entries ---- */

static const uint8_t callers_registers[] = {WMI_RBX, WMI_RBP, WMI_R12, WMI_R13, WMI_R14, WMI_R15};
enum { CALLERS_REGISTERS = sizeof callers_registers };

static void enter(struct wmi_host *host)
{
    enum { AND_DIGIT = 4, ALIGNMENT = alignof(struct wmi_avx2_area) };
    for (unsigned i = 0; i < CALLERS_REGISTERS; i++)
        wmi_push(host, callers_registers[i]);
    wmi_scalar_memory(host, WMI_LEA, true, WMI_R15, WMI_RSP, -(int32_t)sizeof(struct wmi_avx2_area));
    wmi_arithmetic_immediate(host, AND_DIGIT, true, WMI_R15, -ALIGNMENT);
    wmi_scalar_memory(host, WMI_MOV_STORE, true, WMI_RSP, WMI_R15, offsetof(struct wmi_avx2_area, stack));
    wmi_scalar_registers(host, WMI_MOV_LOAD, true, WMI_RSP, WMI_R15);
    wmi_move_immediate(host, WMI_RSI, (uintptr_t)&wmi_avx2_constants);
    wmi_host_forget_masks(host);
}

static void leave(struct wmi_host *host)
{
    wmi_scalar_memory(host, WMI_MOV_LOAD, true, WMI_RSP, WMI_R15, offsetof(struct wmi_avx2_area, stack));
    for (unsigned i = CALLERS_REGISTERS; i-- > 0;)
        wmi_pop(host, callers_registers[i]);
}

const struct wmi_vector_set wmi_avx2 = {
    .begin_half_strips = wmi_avx2_begin_half_strips,
    .broadcast_half_strips = wmi_avx2_broadcast_half_strips,
    .load_half_strips = wmi_avx2_load_half_strips,
    .extend_half_strips = wmi_avx2_extend_half_strips,
    .store_half_strips = wmi_avx2_store_half_strips,
    .scatter_half_strips = wmi_avx2_scatter_half_strips,
    .add_64 = add_64,
    .high_product = high_product,
    .begin_halves = wmi_avx2_begin_halves,
    .collect_nans = wmi_avx2_collect_nans,
    .test_failed = wmi_avx2_test_failed,
    .collect_bits = wmi_avx2_collect_bits,
    .keep_half = wmi_avx2_keep_half,
    .restore_half = wmi_avx2_restore_half,
    .compute_f64 = wmi_avx2_compute_f64,
    .compare_f64 = wmi_avx2_compare_f64,
    .carry_half = wmi_avx2_carry_half,
    .split_pairs = wmi_avx2_split_pairs,
    .join_pairs = wmi_avx2_join_pairs,
    .gather_pairs = wmi_avx2_gather_pairs,
    .scatter_pairs = wmi_avx2_scatter_pairs,
    .gather_quads = wmi_avx2_gather_quads,
    .scatter_quads = wmi_avx2_scatter_quads,
    .find_differences = wmi_avx2_find_differences,
    .differ_from_first = wmi_avx2_differ_from_first,
    .enter = enter,
    .leave = leave,
    .evex = evex,
    .evex_from = evex_from,
    .test_nans = wmi_avx2_test_nans,
    .indexed = indexed,
    .load_lanes = load_lanes,
    .take_word = take_word,
    .take_quad = take_quad,
    .take_first = take_first,
    .kmov_load = wmi_avx2_kmov_load,
    .kmov_store = wmi_avx2_kmov_store,
    .kmov_gpr = wmi_avx2_kmov_gpr,
    .kunpack = wmi_avx2_kunpack,
    .kshift_right = wmi_avx2_kshift_right,
    .kortest = wmi_avx2_kortest,
    .jump_unless_full = wmi_avx2_jump_unless_full,
    .test_words = wmi_avx2_test_words,
    .test_above = wmi_avx2_test_above,
    .mask = wmi_avx2_mask_registers,
    .mask_low_8 = wmi_avx2_mask_low_8,
    .names_memory = true,
};

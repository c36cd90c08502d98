/* SPDX-License-Identifier: MIT */
/* Encodings of VEX, and halves of registers. Source: Intel SDM volume 2, section 2.3. */
#include "jit/host_avx2.h"

const struct wmi_avx2_constants wmi_avx2_constants = {
#define BITS_4(n) 1 << (n), 1 << ((n) + 1), 1 << ((n) + 2), 1 << ((n) + 3)
#define EIGHT(x)  x, x, x, x, x, x, x, x
    .bit = {BITS_4(0), BITS_4(4), BITS_4(8), BITS_4(12)},
    .bit_64 = {BITS_4(0), BITS_4(4)},
    .bit_16 = {BITS_4(0), BITS_4(4)},
    .spread_8 = {EIGHT(0), EIGHT(1), EIGHT(2), EIGHT(3)},
    .bit_8 = {BITS_4(0), BITS_4(4), BITS_4(0), BITS_4(4), BITS_4(0), BITS_4(4), BITS_4(0), BITS_4(4)},
    .ones = {EIGHT(UINT32_MAX)},
    .low_halves = {EIGHT(0xffff)},
    .twice_infinity_64 = {EIGHT(0xffe00000)},
    .two_16 = 0x47800000,
    .sign = 0x80000000,
    .magnitude = 0x7fffffff,
    .exponent_bits = 0x7f800000,
    .least_normal = 0x00800000,
    .most_finite = 0x7f7fffff,
    .two_32 = 0x4f800000,
    .two_31 = 0x4f000000,
    .minus_one = 0xbf800000,
    .sign_64 = UINT64_C(1) << 63,
    .magnitude_64 = ~(UINT64_C(1) << 63),
    .exponent_64 = UINT64_C(0x7ff) << 52,
    .most_finite_64 = (UINT64_C(0x7ff) << 52) - 1,
    .two_52 = UINT64_C(0x433) << 52,
};

/* ---- encodings ---- */

static unsigned off(unsigned reg, unsigned bit, unsigned place)
{
    return (~reg >> bit & 1) << place;
}

static void put_prefix(struct wmi_host *host, uint32_t instruction, unsigned length, unsigned d, unsigned a,
                       unsigned index, unsigned rm)
{
    const unsigned map = instruction >> 8 & 7, w = instruction >> 14 & 1,
                   rest = (~a & 15) << 3 | length << 2 | (instruction >> 12 & 3);
    if (map == WMI_MAP_0F && !w && rm < 8 && index < 8) {
        wmi_put_8(host, 0xc5);
        wmi_put_8(host, off(d, 3, 7) | rest);
    } else {
        wmi_put_8(host, 0xc4);
        wmi_put_8(host, off(d, 3, 7) | off(index, 3, 6) | off(rm, 3, 5) | map);
        wmi_put_8(host, w << 7 | rest);
    }
    wmi_put_8(host, instruction & 0xff);
}

void wmi_vex(struct wmi_host *host, uint32_t instruction, unsigned length, unsigned d, unsigned a,
             struct wmi_host_operand b, int immediate)
{
    put_prefix(host, instruction, length, d, a, 0, b.in_memory ? b.base : b.reg);
    if (b.in_memory)
        wmi_put_memory(host, d, b.base, b.displacement, 0);
    else
        wmi_put_registers(host, d, b.reg);
    if (immediate != WMI_NO_IMMEDIATE)
        wmi_put_8(host, (uint8_t)immediate);
}

void wmi_vex_256(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                 struct wmi_host_operand b)
{
    wmi_vex(host, instruction, LONG, d, a, b, WMI_NO_IMMEDIATE);
}

void wmi_vex_128(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                 struct wmi_host_operand b)
{
    wmi_vex(host, instruction, 0, d, a, b, WMI_NO_IMMEDIATE);
}

void wmi_vex_put_index(struct wmi_host *host, unsigned reg, unsigned base, unsigned index, unsigned scale,
                       int32_t displacement)
{
    enum { HAS_SIB = 4, DISPLACEMENT_32 = 2 << 6 };
    wmi_put_8(host, DISPLACEMENT_32 | (reg & 7) << 3 | HAS_SIB);
    wmi_put_8(host, scale << 6 | (index & 7) << 3 | (base & 7));
    wmi_put_32(host, (uint32_t)displacement);
}

void wmi_vex_indexed(struct wmi_host *host, uint32_t instruction, unsigned length, unsigned d, unsigned a,
                     unsigned base, unsigned index, unsigned scale, int32_t displacement)
{
    put_prefix(host, instruction, length, d, a, index, base);
    wmi_vex_put_index(host, d, base, index, scale, displacement);
}

void wmi_avx2_shift(struct wmi_host *host, enum wmi_shift kind, unsigned d, unsigned a, unsigned count)
{
    wmi_vex(host, WMI_SHIFT_IMMEDIATE, LONG, kind, d, wmi_zmm(a), (int)count);
}

void wmi_avx2_blend(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b, unsigned mask)
{
    wmi_vex(host, VBLENDVPS, LONG, d, a, b, (int)(mask << 4));
}

void wmi_avx2_swap_parts(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b,
                         unsigned selection)
{
    wmi_vex(host, VPERM2I128, LONG, d, a, b, (int)selection);
}

/* ---- registers ---- */

struct wmi_host_operand wmi_avx2_further(struct wmi_host_operand operand, int32_t bytes)
{
    operand.displacement += operand.broadcast ? 0 : bytes;
    return operand;
}

struct wmi_host_operand wmi_avx2_half(const struct wmi_host *host, unsigned zmm, unsigned half)
{
    const int32_t displacement = (int32_t)(half * HALF);
    if (zmm >= WMI_FIRST_NAME) {
        const struct wmi_host_operand *named = &host->name[zmm - WMI_FIRST_NAME];
        if (named->in_memory)
            return wmi_avx2_further(*named, displacement);
        zmm = named->reg;
    }
    if (host->only_half && zmm < WMI_HALF_REGISTERS)
        return wmi_zmm(zmm);
    if (!host->only_half && zmm < WMI_NEAR_REGISTERS)
        return wmi_zmm(2 * zmm + half);
    if (zmm == WMI_SCRATCH)
        return wmi_zmm(SCRATCH_PLACE + half);
    return wmi_avx2_further(wmi_at(WMI_R15, (int32_t)(zmm * 2 * HALF)), displacement);
}

unsigned wmi_avx2_in_register(struct wmi_host *host, struct wmi_host_operand operand, unsigned temporary)
{
    if (!operand.in_memory)
        return operand.reg;
    if (operand.broadcast)
        wmi_vex_256(host, WMI_VPBROADCASTD, temporary, 0, operand);
    else
        wmi_vex_256(host, WMI_VMOVUPS_LOAD, temporary, 0, operand);
    return temporary;
}

unsigned wmi_avx2_load(struct wmi_host *host, unsigned zmm, unsigned half, unsigned temporary)
{
    return wmi_avx2_in_register(host, wmi_avx2_half(host, zmm, half), temporary);
}

void wmi_avx2_move(struct wmi_host *host, unsigned to, unsigned from)
{
    if (to != from)
        wmi_vex_256(host, VMOVAPS, to, 0, wmi_zmm(from));
}

unsigned wmi_avx2_target(const struct wmi_host *host, unsigned zmm, unsigned half, unsigned temporary)
{
    const struct wmi_host_operand own = wmi_avx2_half(host, zmm, half);
    return own.in_memory ? temporary : own.reg;
}

void wmi_avx2_keep(struct wmi_host *host, unsigned zmm, unsigned half, unsigned reg)
{
    const struct wmi_host_operand own = wmi_avx2_half(host, zmm, half);
    if (own.in_memory)
        wmi_vex_256(host, WMI_VMOVUPS_STORE, reg, 0, own);
    else
        wmi_avx2_move(host, own.reg, reg);
}

void wmi_avx2_clear(struct wmi_host *host, unsigned reg)
{
    wmi_vex_256(host, VPXOR, reg, reg, wmi_zmm(reg));
}

struct wmi_host_operand wmi_avx2_operand(struct wmi_host *host, uint32_t instruction,
                                         struct wmi_host_operand b, unsigned half, unsigned temporary)
{
    if (!b.in_memory)
        return wmi_avx2_half(host, b.reg, half);
    if (!b.broadcast)
        return wmi_avx2_further(b, (int32_t)(half * HALF));
    b.broadcast = false;
    wmi_vex_256(host, is_wide(instruction) ? (uint32_t)VPBROADCASTQ : (uint32_t)WMI_VPBROADCASTD, temporary,
                0, b);
    return wmi_zmm(temporary);
}

struct wmi_host_operand wmi_avx2_in_memory(struct wmi_host *host, unsigned zmm, unsigned temporary)
{
    const struct wmi_host_operand own = wmi_avx2_half(host, zmm, 0);
    if (own.in_memory)
        return own;
    const struct wmi_host_operand place =
        wmi_at(WMI_R15, (int32_t)(offsetof(struct wmi_avx2_area, temporary) + 64 * temporary));
    for (unsigned half = 0; half < 2; half++)
        wmi_vex_256(host, WMI_VMOVUPS_STORE, wmi_avx2_half(host, zmm, half).reg, 0,
                    wmi_avx2_further(place, (int32_t)(half * HALF)));
    return place;
}

size_t wmi_avx2_jump_if_active(struct wmi_host *host, unsigned mask, unsigned half, uint8_t lanes)
{
    enum { CMP_8 = 0x80, CMP_DIGIT = 7 };
    wmi_scalar_memory(host, CMP_8, false, CMP_DIGIT, WMI_R15, wmi_avx2_bits(mask) + (int32_t)half);
    wmi_put_8(host, lanes);
    return wmi_jump_if(host, WMI_IF_EQUAL);
}

void wmi_avx2_take_first_bit(struct wmi_host *host, struct wmi_host_operand row)
{
    enum { REX_B = 0x41 };
    wmi_scalar_registers(host, WMI_BSF, false, WMI_RBP, WMI_RBP); /* 0 stays 0 */
    if (row.base >= 8)
        wmi_put_8(host, REX_B);
    wmi_put_8(host, WMI_MOV_LOAD);
    wmi_vex_put_index(host, WMI_RBX, row.base, WMI_RBP, 2, row.displacement);
    wmi_scalar_memory(host, WMI_CMOV | WMI_IF_EQUAL, false, WMI_RBX, WMI_RSI, CONSTANT(zero).displacement);
}

void wmi_avx2_take_index(struct wmi_host *host, struct wmi_host_operand index, unsigned lane)
{
    enum { MOVSXD = 0x63 };
    wmi_scalar_memory(host, MOVSXD, true, WMI_RBX, index.base, index.displacement + (int32_t)(4 * lane));
}

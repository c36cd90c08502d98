/* SPDX-License-Identifier: MIT */
/* Encodes host instructions. */
#include "jit/host.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct wmi_host *host)
{
    enum { FIRST = 1 << 14 };
    const size_t capacity = host->capacity ? 2 * host->capacity : FIRST;
    uint8_t *bytes = host->full ? NULL : realloc(host->bytes, capacity);
    if (!bytes)
        return false;
    host->bytes = bytes;
    host->capacity = capacity;
    return true;
}

void wmi_put_bytes(struct wmi_host *host, const void *bytes, size_t count)
{
    while (host->capacity - host->count < count)
        if (!grow(host)) {
            host->full = true;
            return;
        }
    if (count)
        memcpy(host->bytes + host->count, bytes, count);
    host->count += count;
}

void wmi_put_8_more(struct wmi_host *host, unsigned value)
{
    wmi_put_bytes(host, &(uint8_t){(uint8_t)value}, 1);
}

void wmi_put_32(struct wmi_host *host, uint32_t value)
{
    wmi_put_bytes(host, &value, sizeof value);
}

void wmi_put_64(struct wmi_host *host, uint64_t value)
{
    wmi_put_bytes(host, &value, sizeof value);
}

void wmi_put_memory(struct wmi_host *host, unsigned reg, unsigned base, int32_t displacement, unsigned scale)
{
    enum { HAS_NO_DISPLACEMENT_0 = WMI_RBP, NEEDS_SIB = WMI_RSP };
    const int32_t small = displacement >> scale;
    const bool is_small = small * (1 << scale) == displacement && small >= -128 && small <= 127;
    const unsigned mode = !displacement && (base & 7) != HAS_NO_DISPLACEMENT_0 ? 0 : is_small ? 1 : 2;
    wmi_put_8(host, mode << 6 | (reg & 7) << 3 | (base & 7));
    if ((base & 7) == NEEDS_SIB)
        wmi_put_8(host, 0x24);
    if (mode == 1)
        wmi_put_8(host, (uint8_t)small);
    else if (mode == 2)
        wmi_put_32(host, (uint32_t)displacement);
}

void wmi_put_registers(struct wmi_host *host, unsigned reg, unsigned rm)
{
    wmi_put_8(host, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

void wmi_end_vectors(struct wmi_host *host)
{
    wmi_put_bytes(host, (const uint8_t[]){0xc5, 0xf8, 0x77}, 3);
}

/* ---- scalar instructions ---- */

void wmi_put_opcode(struct wmi_host *host, unsigned opcode, bool wide, unsigned reg, unsigned rm)
{
    const unsigned rex = (wide ? 8 : 0) | (reg >> 3 & 1) << 2 | (rm >> 3 & 1);
    if (rex)
        wmi_put_8(host, 0x40 | rex);
    if (opcode > 0xff)
        wmi_put_8(host, 0x0f);
    wmi_put_8(host, opcode & 0xff);
}

void wmi_scalar_memory(struct wmi_host *host, unsigned opcode, bool wide, unsigned reg, enum wmi_gpr base,
                       int32_t displacement)
{
    wmi_put_opcode(host, opcode, wide, reg, base);
    wmi_put_memory(host, reg, base, displacement, 0);
}

void wmi_scalar_registers(struct wmi_host *host, unsigned opcode, bool wide, unsigned reg, enum wmi_gpr rm)
{
    wmi_put_opcode(host, opcode, wide, reg, rm);
    wmi_put_registers(host, reg, rm);
}

void wmi_prefetch(struct wmi_host *host, enum wmi_gpr base, int32_t displacement, bool for_store)
{
    enum { PREFETCHW = 0x10d, PREFETCHT0 = 0x118, DIGIT = 1 }; /* both have the same digit */
    wmi_scalar_memory(host, for_store ? PREFETCHW : PREFETCHT0, false, DIGIT, base, displacement);
}

void wmi_set_if(struct wmi_host *host, enum wmi_condition condition, enum wmi_gpr reg)
{
    wmi_put_opcode(host, 0x190 | condition, false, 0, reg); /* AL to BL only: others would need a prefix */
    wmi_put_registers(host, 0, reg);
    wmi_scalar_registers(host, WMI_MOVZX_8, false, reg, reg);
}

void wmi_move_immediate(struct wmi_host *host, enum wmi_gpr reg, uint64_t value)
{
    wmi_put_opcode(host, 0xb8 | (reg & 7), value > UINT32_MAX, 0, reg);
    if (value > UINT32_MAX)
        wmi_put_64(host, value);
    else
        wmi_put_32(host, (uint32_t)value);
}

static bool fits_8(int32_t value)
{
    return value >= -128 && value <= 127;
}

static void put_immediate(struct wmi_host *host, int32_t value)
{
    if (fits_8(value))
        wmi_put_8(host, (uint8_t)value);
    else
        wmi_put_32(host, (uint32_t)value);
}

void wmi_arithmetic_immediate(struct wmi_host *host, unsigned digit, bool wide, enum wmi_gpr reg,
                              int32_t value)
{
    wmi_put_opcode(host, fits_8(value) ? 0x83 : 0x81, wide, 0, reg);
    wmi_put_registers(host, digit, reg);
    put_immediate(host, value);
}

void wmi_arithmetic_memory(struct wmi_host *host, unsigned digit, bool wide, enum wmi_gpr base,
                           int32_t displacement, int32_t value)
{
    wmi_put_opcode(host, fits_8(value) ? 0x83 : 0x81, wide, 0, base);
    wmi_put_memory(host, digit, base, displacement, 0);
    put_immediate(host, value);
}

void wmi_store_immediate(struct wmi_host *host, bool wide, enum wmi_gpr base, int32_t displacement,
                         int32_t value)
{
    wmi_put_opcode(host, 0xc7, wide, 0, base);
    wmi_put_memory(host, 0, base, displacement, 0);
    wmi_put_32(host, (uint32_t)value);
}

enum { TEST_8 = 0xf6, TEST_32 = 0xf7, TEST_DIGIT = 0 };

void wmi_test_immediate_8(struct wmi_host *host, enum wmi_gpr reg, unsigned bits)
{
    wmi_scalar_registers(host, TEST_8, false, TEST_DIGIT, reg);
    wmi_put_8(host, bits);
}

void wmi_test_memory_8(struct wmi_host *host, enum wmi_gpr base, int32_t displacement, unsigned bits)
{
    wmi_scalar_memory(host, TEST_8, false, TEST_DIGIT, base, displacement);
    wmi_put_8(host, bits);
}

void wmi_test_memory_32(struct wmi_host *host, enum wmi_gpr base, int32_t displacement, uint32_t bits)
{
    wmi_scalar_memory(host, TEST_32, false, TEST_DIGIT, base, displacement);
    wmi_put_32(host, bits);
}

void wmi_bit_memory(struct wmi_host *host, unsigned digit, enum wmi_gpr base, int32_t displacement,
                    unsigned bit)
{
    wmi_put_opcode(host, 0x1ba, true, 0, base);
    wmi_put_memory(host, digit, base, displacement, 0);
    wmi_put_8(host, bit);
}

void wmi_shift_immediate(struct wmi_host *host, unsigned digit, bool wide, enum wmi_gpr reg, unsigned count)
{
    wmi_put_opcode(host, 0xc1, wide, 0, reg);
    wmi_put_registers(host, digit, reg);
    wmi_put_8(host, count);
}

/* ---- jumps ---- */

size_t wmi_jump_if(struct wmi_host *host, enum wmi_condition condition)
{
    wmi_put_8(host, 0x0f);
    wmi_put_8(host, 0x80 | condition);
    wmi_put_32(host, 0);
    return host->count;
}

size_t wmi_jump(struct wmi_host *host)
{
    wmi_put_8(host, 0xe9);
    wmi_put_32(host, 0);
    return host->count;
}

size_t wmi_code_address(struct wmi_host *host, enum wmi_gpr reg)
{
    enum { BEHIND_INSTRUCTION = 5 }; /* ModRM: the displacement counts from the next instruction */
    wmi_put_opcode(host, WMI_LEA, true, reg, 0);
    wmi_put_8(host, (reg & 7) << 3 | BEHIND_INSTRUCTION);
    wmi_put_32(host, 0);
    return host->count;
}

void wmi_land(struct wmi_host *host, size_t jump)
{
    wmi_host_forget_masks(host);
    if (host->full)
        return;
    const int32_t distance = (int32_t)(host->count - jump);
    memcpy(host->bytes + jump - sizeof distance, &distance, sizeof distance);
}

void wmi_land_if(struct wmi_host *host, size_t jump)
{
    if (jump)
        wmi_land(host, jump);
}

void wmi_jump_back(struct wmi_host *host, size_t to)
{
    wmi_put_8(host, 0xe9);
    wmi_put_32(host, (uint32_t)(to - (host->count + 4)));
}

void wmi_jump_back_if(struct wmi_host *host, enum wmi_condition condition, size_t to)
{
    wmi_put_8(host, 0x0f);
    wmi_put_8(host, 0x80 | condition);
    wmi_put_32(host, (uint32_t)(to - (host->count + 4)));
}

void wmi_call_back(struct wmi_host *host, size_t to)
{
    wmi_put_8(host, 0xe8);
    wmi_put_32(host, (uint32_t)(to - (host->count + 4)));
}

static void put_short_form(struct wmi_host *host, unsigned opcode, enum wmi_gpr reg)
{
    enum { REX_B = 0x41 };
    if (reg >= 8)
        wmi_put_8(host, REX_B);
    wmi_put_8(host, opcode + (reg & 7));
}

void wmi_push(struct wmi_host *host, enum wmi_gpr reg)
{
    put_short_form(host, 0x50, reg);
}

void wmi_pop(struct wmi_host *host, enum wmi_gpr reg)
{
    put_short_form(host, 0x58, reg);
}

void wmi_call_register(struct wmi_host *host, enum wmi_gpr reg)
{
    wmi_put_opcode(host, 0xff, false, 0, reg);
    wmi_put_registers(host, 2, reg);
}

void wmi_jump_register(struct wmi_host *host, enum wmi_gpr reg)
{
    wmi_put_opcode(host, 0xff, false, 0, reg);
    wmi_put_registers(host, 4, reg);
}

void wmi_jump_memory(struct wmi_host *host, enum wmi_gpr base, int32_t displacement)
{
    wmi_put_opcode(host, 0xff, false, 0, base);
    wmi_put_memory(host, 4, base, displacement, 0);
}

void wmi_return(struct wmi_host *host)
{
    wmi_put_8(host, 0xc3);
}

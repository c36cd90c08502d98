/* SPDX-License-Identifier: MIT */
/* Encodes host instructions. */
#include "compile/host.h"

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

static void put(struct wmi_host *host, const void *bytes, size_t count)
{
    if (host->capacity - host->count < count && !grow(host)) {
        host->full = true;
        return;
    }
    memcpy(host->bytes + host->count, bytes, count);
    host->count += count;
}

void wmi_put_8(struct wmi_host *host, unsigned value)
{
    put(host, &(uint8_t){(uint8_t)value}, 1);
}

void wmi_put_32(struct wmi_host *host, uint32_t value)
{
    put(host, &value, sizeof value);
}

void wmi_put_64(struct wmi_host *host, uint64_t value)
{
    put(host, &value, sizeof value);
}

/* ModRM, SIB and displacement of memory at `base`. The displacement takes 8 bits if it is a multiple of
 * 1 << scale and fits. */
static void put_memory(struct wmi_host *host, unsigned reg, unsigned base, int32_t displacement,
                       unsigned scale)
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

static void put_register(struct wmi_host *host, unsigned reg, unsigned rm)
{
    wmi_put_8(host, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

/* ---- vector instructions ---- */

static unsigned off(unsigned reg, unsigned bit, unsigned place)
{
    return (~reg >> bit & 1) << place;
}

void wmi_evex(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a, struct wmi_host_operand b,
              unsigned mask, int immediate)
{
    enum { WORDS_OF_4 = 2, WORDS_OF_8 = 3, LENGTH_256 = 1 << 5, LENGTH_512 = 2 << 5 };
    enum { BROADCAST = 1 << 4, ZEROING = 1 << 7 };
    const bool rounds = instruction & WMI_EVEX_ROUNDS;
    const unsigned length = rounds                       ? (instruction >> 22 & 3) << 5
                            : instruction & WMI_EVEX_128 ? 0
                            : instruction & WMI_EVEX_256 ? LENGTH_256
                                                         : LENGTH_512;
    const unsigned w = instruction >> 14 & 1, rm = b.in_memory ? b.base : b.reg;
    wmi_put_8(host, 0x62);
    wmi_put_8(host, off(d, 3, 7) | (b.in_memory ? 1 << 6 : off(rm, 4, 6)) | off(rm, 3, 5) | off(d, 4, 4) |
                        (instruction >> 8 & 7));
    wmi_put_8(host, w << 7 | (~a & 15) << 3 | 1 << 2 | (instruction >> 12 & 3));
    wmi_put_8(host, (mask & WMI_ZEROING ? ZEROING : 0) | length | (b.broadcast || rounds ? BROADCAST : 0) |
                        off(a, 4, 3) | (mask & 7));
    wmi_put_8(host, instruction & 0xff);
    if (b.in_memory)
        put_memory(host, d, b.base, b.displacement,
                   b.broadcast ? (w ? WORDS_OF_8 : WORDS_OF_4) : instruction >> 16 & 15);
    else
        put_register(host, d, rm);
    if (immediate != WMI_NO_IMMEDIATE)
        wmi_put_8(host, (uint8_t)immediate);
}

void wmi_evex_plain(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                    struct wmi_host_operand b)
{
    wmi_evex(host, instruction, d, a, b, WMI_NO_MASK, WMI_NO_IMMEDIATE);
}

void wmi_evex_indexed(struct wmi_host *host, uint32_t instruction, unsigned reg, enum wmi_gpr base,
                      unsigned index, unsigned displacement, unsigned mask)
{
    enum { LENGTH_512 = 2 << 5, HAS_SIB = 4, DISPLACEMENT_8 = 1 << 6 };
    const unsigned w = instruction >> 14 & 1;
    wmi_put_8(host, 0x62);
    wmi_put_8(host,
              off(reg, 3, 7) | off(index, 3, 6) | off(base, 3, 5) | off(reg, 4, 4) | (instruction >> 8 & 7));
    wmi_put_8(host, w << 7 | 15 << 3 | 1 << 2 | (instruction >> 12 & 3));
    wmi_put_8(host, LENGTH_512 | off(index, 4, 3) | mask);
    wmi_put_8(host, instruction & 0xff);
    wmi_put_8(host, DISPLACEMENT_8 | (reg & 7) << 3 | HAS_SIB);
    wmi_put_8(host, (index & 7) << 3 | (base & 7));
    wmi_put_8(host, displacement >> (w ? 3 : 2));
}

void wmi_end_vectors(struct wmi_host *host)
{
    put(host, (const uint8_t[]){0xc5, 0xf8, 0x77}, 3);
}

/* ---- mask registers ---- */

/* VEX prefix of three bytes, without extended registers except `base`. */
static void put_vex(struct wmi_host *host, unsigned base, unsigned w, unsigned a, unsigned length,
                    unsigned prefix)
{
    wmi_put_8(host, 0xc4);
    wmi_put_8(host, 0xc0 | off(base, 3, 5) | WMI_MAP_0F);
    wmi_put_8(host, w << 7 | (~a & 15) << 3 | length << 2 | prefix);
}

void wmi_kmov_load(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement)
{
    put_vex(host, base, 0, 0, 0, 0);
    wmi_put_8(host, 0x90);
    put_memory(host, k, base, displacement, 0);
}

void wmi_kmov_store(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement,
                    unsigned bytes)
{
    put_vex(host, base, bytes > 2, 0, 0, bytes == 4 ? WMI_PREFIX_66 : 0);
    wmi_put_8(host, 0x91);
    put_memory(host, k, base, displacement, 0);
}

void wmi_kunpack(struct wmi_host *host, unsigned d, unsigned a, unsigned b, unsigned bits)
{
    put_vex(host, 0, bits == 32, a, 1, 0);
    wmi_put_8(host, 0x4b);
    put_register(host, d, b);
}

void wmi_kmov_gpr(struct wmi_host *host, unsigned k, enum wmi_gpr reg)
{
    put_vex(host, reg, 1, 0, 0, WMI_PREFIX_F2);
    wmi_put_8(host, 0x92);
    put_register(host, k, reg & 7);
}

void wmi_kshift_right(struct wmi_host *host, unsigned d, unsigned a, unsigned count)
{
    put(host, (const uint8_t[]){0xc4, 0xe0 | WMI_MAP_0F3A, 0xf9, 0x31}, 4); /* W1, 66 */
    put_register(host, d, a);
    wmi_put_8(host, count);
}

void wmi_kortest(struct wmi_host *host, unsigned a, unsigned b)
{
    put_vex(host, 0, 0, 0, 0, 0);
    wmi_put_8(host, 0x98);
    put_register(host, a, b);
}

void wmi_mask(struct wmi_host *host, enum wmi_mask_operation operation, unsigned d, unsigned a, unsigned b)
{
    put_vex(host, 0, 0, a, 1, 0);
    wmi_put_8(host, operation);
    put_register(host, d, b);
}

void wmi_mask_low_8(struct wmi_host *host, unsigned d)
{
    put_vex(host, 0, 0, d, 1, WMI_PREFIX_66); /* KXNORB */
    wmi_put_8(host, WMI_KXNOR);
    put_register(host, d, d);
}

/* ---- scalar instructions ---- */

static void put_opcode(struct wmi_host *host, unsigned opcode, bool wide, unsigned reg, unsigned rm)
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
    put_opcode(host, opcode, wide, reg, base);
    put_memory(host, reg, base, displacement, 0);
}

void wmi_scalar_registers(struct wmi_host *host, unsigned opcode, bool wide, unsigned reg, enum wmi_gpr rm)
{
    put_opcode(host, opcode, wide, reg, rm);
    put_register(host, reg, rm);
}

void wmi_prefetch(struct wmi_host *host, enum wmi_gpr base, int32_t displacement, bool for_store)
{
    enum { PREFETCHW = 0x10d, PREFETCHT0 = 0x118, DIGIT = 1 }; /* both have the same digit */
    wmi_scalar_memory(host, for_store ? PREFETCHW : PREFETCHT0, false, DIGIT, base, displacement);
}

void wmi_set_if(struct wmi_host *host, enum wmi_condition condition, enum wmi_gpr reg)
{
    put_opcode(host, 0x190 | condition, false, 0, reg); /* AL to BL only: others would need a prefix */
    put_register(host, 0, reg);
    wmi_scalar_registers(host, WMI_MOVZX_8, false, reg, reg);
}

void wmi_move_immediate(struct wmi_host *host, enum wmi_gpr reg, uint64_t value)
{
    put_opcode(host, 0xb8 | (reg & 7), value > UINT32_MAX, 0, reg);
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
    put_opcode(host, fits_8(value) ? 0x83 : 0x81, wide, 0, reg);
    put_register(host, digit, reg);
    put_immediate(host, value);
}

void wmi_arithmetic_memory(struct wmi_host *host, unsigned digit, bool wide, enum wmi_gpr base,
                           int32_t displacement, int32_t value)
{
    put_opcode(host, fits_8(value) ? 0x83 : 0x81, wide, 0, base);
    put_memory(host, digit, base, displacement, 0);
    put_immediate(host, value);
}

void wmi_store_immediate(struct wmi_host *host, bool wide, enum wmi_gpr base, int32_t displacement,
                         int32_t value)
{
    put_opcode(host, 0xc7, wide, 0, base);
    put_memory(host, 0, base, displacement, 0);
    wmi_put_32(host, (uint32_t)value);
}

void wmi_bit_memory(struct wmi_host *host, unsigned digit, enum wmi_gpr base, int32_t displacement,
                    unsigned bit)
{
    put_opcode(host, 0x1ba, true, 0, base);
    put_memory(host, digit, base, displacement, 0);
    wmi_put_8(host, bit);
}

void wmi_shift_immediate(struct wmi_host *host, unsigned digit, bool wide, enum wmi_gpr reg, unsigned count)
{
    put_opcode(host, 0xc1, wide, 0, reg);
    put_register(host, digit, reg);
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
    put_opcode(host, WMI_LEA, true, reg, 0);
    wmi_put_8(host, (reg & 7) << 3 | BEHIND_INSTRUCTION);
    wmi_put_32(host, 0);
    return host->count;
}

void wmi_land(struct wmi_host *host, size_t jump)
{
    if (host->full)
        return;
    const int32_t distance = (int32_t)(host->count - jump);
    memcpy(host->bytes + jump - sizeof distance, &distance, sizeof distance);
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

void wmi_call_register(struct wmi_host *host, enum wmi_gpr reg)
{
    put_opcode(host, 0xff, false, 0, reg);
    put_register(host, 2, reg);
}

void wmi_jump_register(struct wmi_host *host, enum wmi_gpr reg)
{
    put_opcode(host, 0xff, false, 0, reg);
    put_register(host, 4, reg);
}

void wmi_jump_memory(struct wmi_host *host, enum wmi_gpr base, int32_t displacement)
{
    put_opcode(host, 0xff, false, 0, base);
    put_memory(host, 4, base, displacement, 0);
}

void wmi_return(struct wmi_host *host)
{
    wmi_put_8(host, 0xc3);
}

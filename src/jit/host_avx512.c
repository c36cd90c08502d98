/* SPDX-License-Identifier: MIT */
/* Vector instructions of hosts with AVX-512 (F, BW, DQ, VL). */
#include "jit/host.h"

static unsigned off(unsigned reg, unsigned bit, unsigned place)
{
    return (~reg >> bit & 1) << place;
}

static void evex(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                 struct wmi_host_operand b, unsigned mask, int immediate)
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
        wmi_put_memory(host, d, b.base, b.displacement,
                       b.broadcast ? (w ? WORDS_OF_8 : WORDS_OF_4) : instruction >> 16 & 15);
    else
        wmi_put_registers(host, d, rm);
    if (immediate != WMI_NO_IMMEDIATE)
        wmi_put_8(host, (uint8_t)immediate);
}

static void indexed(struct wmi_host *host, uint32_t instruction, unsigned reg, enum wmi_gpr base,
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

static void load_lanes(struct wmi_host *host, unsigned reg, enum wmi_gpr base, unsigned index, unsigned mask,
                       unsigned k, const uint8_t temporary[2])
{
    enum { PARTS = 4, LANES = 4 };
    static const uint32_t vextract = WMI_EVEX(0x39, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
                          vinsert = WMI_EVEX(0x38, WMI_MAP_0F3A, WMI_PREFIX_66, 0);
    for (unsigned part = 0; part < PARTS; part++) {
        unsigned active = mask;
        if (mask && part) {
            wmi_kshift_right(host, k, mask, LANES * part);
            active = k;
        }
        const unsigned d = part ? temporary[1] : reg, places = part || mask ? temporary[0] : index;
        if (part)
            evex(host, vextract, index, 0, wmi_zmm(places), active ? active | WMI_ZEROING : WMI_NO_MASK,
                 (int)part);
        else if (mask)
            evex(host, WMI_VMOVDQA32 | WMI_EVEX_128, places, 0, wmi_zmm(index), active | WMI_ZEROING,
                 WMI_NO_IMMEDIATE);
        for (unsigned i = 0; i < LANES; i++) {
            evex(host, WMI_VPEXTRD, places, 0, wmi_zmm(WMI_RAX), WMI_NO_MASK, (int)i);
            wmi_scalar_registers(host, WMI_ADD, true, WMI_RAX, base);
            if (i)
                evex(host, WMI_VPINSRD, d, d, wmi_at(WMI_RAX, 0), WMI_NO_MASK, (int)i);
            else
                evex(host, WMI_VMOVD_LOAD, d, 0, wmi_at(WMI_RAX, 0), WMI_NO_MASK, WMI_NO_IMMEDIATE);
        }
        if (part)
            evex(host, vinsert, reg, reg, wmi_zmm(d), WMI_NO_MASK, (int)part);
    }
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

static void kmov_load(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement)
{
    put_vex(host, base, 0, 0, 0, 0);
    wmi_put_8(host, 0x90);
    wmi_put_memory(host, k, base, displacement, 0);
}

static void kmov_store(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement,
                       unsigned bytes)
{
    put_vex(host, base, bytes > 2, 0, 0, bytes == 4 ? WMI_PREFIX_66 : 0);
    wmi_put_8(host, 0x91);
    wmi_put_memory(host, k, base, displacement, 0);
}

static void kunpack(struct wmi_host *host, unsigned d, unsigned a, unsigned b, unsigned bits)
{
    put_vex(host, 0, bits == 32, a, 1, 0);
    wmi_put_8(host, 0x4b);
    wmi_put_registers(host, d, b);
}

static void kmov_gpr(struct wmi_host *host, unsigned k, enum wmi_gpr reg)
{
    put_vex(host, reg, 1, 0, 0, WMI_PREFIX_F2);
    wmi_put_8(host, 0x92);
    wmi_put_registers(host, k, reg & 7);
}

static void kshift_right(struct wmi_host *host, unsigned d, unsigned a, unsigned count)
{
    wmi_put_32(host, 0x31f900c4 | (0xe0u | WMI_MAP_0F3A) << 8); /* W1, 66 */
    wmi_put_registers(host, d, a);
    wmi_put_8(host, count);
}

static void kortest(struct wmi_host *host, unsigned a, unsigned b)
{
    put_vex(host, 0, 0, 0, 0, 0);
    wmi_put_8(host, 0x98);
    wmi_put_registers(host, a, b);
}

static void mask_registers(struct wmi_host *host, enum wmi_mask_operation operation, unsigned d, unsigned a,
                           unsigned b)
{
    put_vex(host, 0, 0, a, 1, 0);
    wmi_put_8(host, operation);
    wmi_put_registers(host, d, b);
}

static void mask_low_8(struct wmi_host *host, unsigned d)
{
    put_vex(host, 0, 0, d, 1, WMI_PREFIX_66); /* KXNORB */
    wmi_put_8(host, WMI_KXNOR);
    wmi_put_registers(host, d, d);
}

static void test_words(struct wmi_host *host, unsigned reg, unsigned k)
{
    evex(host, WMI_VPTESTMD, k, reg, wmi_zmm(reg), WMI_NO_MASK, WMI_NO_IMMEDIATE);
    kortest(host, k, k);
}

static void test_above(struct wmi_host *host, unsigned a, unsigned b, unsigned k)
{
    evex(host, WMI_VPCMPUD, k, a, wmi_zmm(b), WMI_NO_MASK, WMI_ABOVE);
    kortest(host, k, k);
}

static size_t jump_unless_full(struct wmi_host *host, unsigned k)
{
    kortest(host, k, k); /* CF: all 16 bits are set */
    return wmi_jump_if(host, WMI_IF_NOT_BELOW);
}

/* ---- words in all lanes ---- */

static void plain(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                  struct wmi_host_operand b)
{
    evex(host, instruction, d, a, b, WMI_NO_MASK, WMI_NO_IMMEDIATE);
}

static void take_word(struct wmi_host *host, unsigned d, unsigned a, unsigned word,
                      struct wmi_host_operand number)
{
    (void)word;
    plain(host, WMI_VPBROADCASTD_MEMORY, d, 0, number);
    plain(host, WMI_VPERMD, d, d, wmi_zmm(a));
}

static void take_quad(struct wmi_host *host, enum wmi_gpr d, unsigned a, unsigned number, unsigned scratch)
{
    if (number)
        evex(host, WMI_VALIGNQ, scratch, a, wmi_zmm(a), WMI_NO_MASK, (int)number);
    evex(host, WMI_VMOVQ_GPR, number ? scratch : a, 0, wmi_zmm(d), WMI_NO_MASK, WMI_NO_IMMEDIATE);
}

static void take_first(struct wmi_host *host, unsigned d, unsigned a, unsigned mask)
{
    const uint32_t vpcompressd = WMI_EVEX(0x8b, WMI_MAP_0F38, WMI_PREFIX_66, 0);
    evex(host, vpcompressd, a, 0, wmi_zmm(d), mask | WMI_ZEROING, WMI_NO_IMMEDIATE);
    plain(host, WMI_VPBROADCASTD, d, 0, wmi_zmm(d));
}

static void evex_from(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand old,
                      unsigned a, struct wmi_host_operand b, unsigned mask, int immediate)
{
    plain(host, WMI_VMOVDQA32, d, 0, old);
    evex(host, instruction, d, a, b, mask, immediate);
}

const struct wmi_vector_set wmi_avx512 = {
    .extends_masked = true,
    .evex = evex,
    .evex_from = evex_from,
    .indexed = indexed,
    .load_lanes = load_lanes,
    .take_word = take_word,
    .take_quad = take_quad,
    .take_first = take_first,
    .kmov_load = kmov_load,
    .kmov_store = kmov_store,
    .kmov_gpr = kmov_gpr,
    .kunpack = kunpack,
    .kshift_right = kshift_right,
    .kortest = kortest,
    .jump_unless_full = jump_unless_full,
    .test_words = test_words,
    .test_above = test_above,
    .mask = mask_registers,
    .mask_low_8 = mask_low_8,
    .gathers = true,
};

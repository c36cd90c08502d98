/* SPDX-License-Identifier: MIT */
/* Encodes host instructions: the vector and scalar x86-64 instructions that compiled blocks consist of.
 *
 * Source: Intel SDM volume 2, sections 2.1 (legacy prefixes, ModRM, SIB), 2.3 (VEX) and 2.7 (EVEX). */
#ifndef WMI_HOST_H
#define WMI_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers of the host, by their number in encodings. */
enum wmi_gpr {
    WMI_RAX,
    WMI_RCX,
    WMI_RDX,
    WMI_RBX,
    WMI_RSP,
    WMI_RBP,
    WMI_RSI,
    WMI_RDI,
    WMI_R8,
    WMI_R9,
    WMI_R10,
    WMI_R11,
    WMI_R12,
    WMI_R13,
    WMI_R14,
    WMI_R15,
    /* What compiled code keeps in them. */
    WMI_FRAME = WMI_RDI,
    WMI_OP = WMI_RSI,   /* the operation, where code leaves for the interpreter */
    WMI_ROWS = WMI_RDX, /* a place among the rows of the frame */
    WMI_ENDED = WMI_R9, /* the step by which a wave has ended, for the code that starts the next one */
};

/* Vector registers: the first ones hold rows, the last one is for moves. */
enum { WMI_ZMM_REGISTERS = 31, WMI_SCRATCH = 31 };
/* Those that hosts without AVX-512 have; others are in memory. */
enum { WMI_NEAR_REGISTERS = 5 };
/* The same where instructions work on one half of each register; rows that can be kept meanwhile. */
enum { WMI_HALF_REGISTERS = 9, WMI_KEPT_ROWS = 8 };

enum { WMI_FIRST_NAME = 32, WMI_MOST_NAMES = 32 };

/* An operand in a register or in memory at `base` + `displacement`; `broadcast`: one word for all lanes. */
struct wmi_host_operand {
    bool in_memory, broadcast;
    uint8_t reg;  /* zmm number */
    uint8_t base; /* enum wmi_gpr */
    int32_t displacement;
};

/* The words of numbers of 64 bits. */
struct wmi_host_pair {
    struct wmi_host_operand low, high;
};

struct wmi_vector_set;

/* A buffer of host code, which grows. Without memory, `full` is set and nothing more is written. */
struct wmi_host {
    const struct wmi_vector_set *vectors; /* how vector instructions are made */
    uint8_t *bytes;
    size_t count, capacity;
    bool full;
    /* Of hosts without AVX-512: 1 + the half of each register that instructions work on, or 0: on both;
     * whether one of them would have needed the other half, too. */
    uint8_t only_half;
    bool needs_both;
    /* Of hosts without AVX-512: a bit for each mask register that has all bits, or whose ones in lanes are
     * kept; operands in memory that have numbers of registers, from WMI_FIRST_NAME on. */
    uint8_t full_masks, kept_lanes, names;
    struct wmi_host_operand name[WMI_MOST_NAMES];
};

/* Code from elsewhere joins: what is known of mask registers no longer holds. */
static inline void wmi_host_forget_masks(struct wmi_host *host)
{
    host->full_masks = host->kept_lanes = 0;
}

static inline struct wmi_host_operand wmi_zmm(unsigned reg)
{
    return (struct wmi_host_operand){.reg = (uint8_t)reg};
}

static inline struct wmi_host_operand wmi_at(enum wmi_gpr base, int32_t displacement)
{
    return (struct wmi_host_operand){.in_memory = true, .base = (uint8_t)base, .displacement = displacement};
}

/* ---- vector instructions of 512 bits ---- */

/* An EVEX instruction: opcode, map (1: 0F, 2: 0F38, 3: 0F3A), prefix (0: none, 1: 66, 2: F3, 3: F2), W, and
 * the size of its memory operand as a power of two, by which EVEX scales a displacement of 8 bits. */
#define WMI_EVEX_OF(opcode, map, prefix, w, size)                                                            \
    ((uint32_t)(opcode) | (uint32_t)(map) << 8 | (uint32_t)(prefix) << 12 | (uint32_t)(w) << 14 |            \
     (uint32_t)(size) << 16)
#define WMI_EVEX(opcode, map, prefix, w) WMI_EVEX_OF(opcode, map, prefix, w, 6)
enum { WMI_EVEX_128 = 1 << 20, WMI_EVEX_256 = 1 << 21 }; /* of so many bits instead */
/* Rounds so, whatever MXCSR says; b is a register. */
enum {
    WMI_EVEX_ROUNDS = 4 << 22,
    WMI_EVEX_DOWN = 5 << 22,
    WMI_EVEX_UP = 6 << 22,
    WMI_EVEX_TO_ZERO = 7 << 22
};
enum { WMI_MAP_0F = 1, WMI_MAP_0F38, WMI_MAP_0F3A };
enum { WMI_PREFIX_66 = 1, WMI_PREFIX_F3, WMI_PREFIX_F2 };

/* Instructions that more than one file emits; for the others see the tables of their files. */
enum wmi_evex {
    WMI_VMOVUPS_LOAD = WMI_EVEX(0x10, WMI_MAP_0F, 0, 0),
    WMI_VMOVUPS_STORE = WMI_EVEX(0x11, WMI_MAP_0F, 0, 0),
    WMI_VFMADD231PS = WMI_EVEX(0xb8, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPADDW = WMI_EVEX(0xfd, WMI_MAP_0F, WMI_PREFIX_66, 0),
    WMI_VPMULLW = WMI_EVEX(0xd5, WMI_MAP_0F, WMI_PREFIX_66, 0),
    WMI_VMOVDQA32 = WMI_EVEX(0x6f, WMI_MAP_0F, WMI_PREFIX_66, 0),
    WMI_VPBROADCASTD_MEMORY = WMI_EVEX_OF(0x58, WMI_MAP_0F38, WMI_PREFIX_66, 0, 2),
    WMI_VPBROADCASTD_GPR = WMI_EVEX(0x7c, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPBROADCASTQ_GPR = WMI_EVEX(0x7c, WMI_MAP_0F38, WMI_PREFIX_66, 1),
    WMI_VPBROADCASTD = WMI_EVEX(0x58, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPGATHERDD = WMI_EVEX(0x90, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPGATHERDQ = WMI_EVEX(0x90, WMI_MAP_0F38, WMI_PREFIX_66, 1),
    WMI_VPSCATTERDD = WMI_EVEX(0xa0, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPSCATTERDQ = WMI_EVEX(0xa0, WMI_MAP_0F38, WMI_PREFIX_66, 1),
    WMI_VPERMD = WMI_EVEX(0x36, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPERMI2D = WMI_EVEX(0x76, WMI_MAP_0F38, WMI_PREFIX_66, 0), /* d: the indices, and the result */
    WMI_VALIGNQ = WMI_EVEX(0x03, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
    WMI_VMOVD_GPR = WMI_EVEX_OF(0x7e, WMI_MAP_0F, WMI_PREFIX_66, 0, 2) | WMI_EVEX_128, /* from a zmm */
    WMI_VMOVQ_GPR = WMI_EVEX(0x7e, WMI_MAP_0F, WMI_PREFIX_66, 1) | WMI_EVEX_128,
    WMI_VMOVD_LOAD = WMI_EVEX_OF(0x6e, WMI_MAP_0F, WMI_PREFIX_66, 0, 2) | WMI_EVEX_128,
    WMI_VPEXTRD = WMI_EVEX_OF(0x16, WMI_MAP_0F3A, WMI_PREFIX_66, 0, 2) | WMI_EVEX_128,
    WMI_VPINSRD = WMI_EVEX_OF(0x22, WMI_MAP_0F3A, WMI_PREFIX_66, 0, 2) | WMI_EVEX_128,
    WMI_VSHUFI32X4 = WMI_EVEX(0x43, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    WMI_VPADDD = WMI_EVEX(0xfe, WMI_MAP_0F, WMI_PREFIX_66, 0),
    WMI_VPSUBD = WMI_EVEX(0xfa, WMI_MAP_0F, WMI_PREFIX_66, 0),
    WMI_VPSUBQ = WMI_EVEX(0xfb, WMI_MAP_0F, WMI_PREFIX_66, 1),
    WMI_VPADDQ = WMI_EVEX(0xd4, WMI_MAP_0F, WMI_PREFIX_66, 1),
    WMI_VPMULLD = WMI_EVEX(0x40, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPANDD = WMI_EVEX(0xdb, WMI_MAP_0F, WMI_PREFIX_66, 0),
    WMI_VPANDND = WMI_EVEX(0xdf, WMI_MAP_0F, WMI_PREFIX_66, 0),
    WMI_VPORD = WMI_EVEX(0xeb, WMI_MAP_0F, WMI_PREFIX_66, 0),
    WMI_VPXORD = WMI_EVEX(0xef, WMI_MAP_0F, WMI_PREFIX_66, 0),
    WMI_VPTERNLOGD = WMI_EVEX(0x25, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    WMI_VPBLENDMD = WMI_EVEX(0x64, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPCMPD = WMI_EVEX(0x1f, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    WMI_VPCMPUD = WMI_EVEX(0x1e, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    WMI_VPCMPUQ = WMI_EVEX(0x1e, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
    WMI_VCMPPS = WMI_EVEX(0xc2, WMI_MAP_0F, 0, 0),
    WMI_VPTESTMD = WMI_EVEX(0x27, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPTESTNMD = WMI_EVEX(0x27, WMI_MAP_0F38, WMI_PREFIX_F3, 0),
    WMI_VADDPS = WMI_EVEX(0x58, WMI_MAP_0F, 0, 0),
    WMI_VMULPS = WMI_EVEX(0x59, WMI_MAP_0F, 0, 0),
    WMI_VMINPS = WMI_EVEX(0x5d, WMI_MAP_0F, 0, 0),
    WMI_VMAXPS = WMI_EVEX(0x5f, WMI_MAP_0F, 0, 0),
    WMI_VPSLLVD = WMI_EVEX(0x47, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPSRLVD = WMI_EVEX(0x45, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_VPSRAVD = WMI_EVEX(0x46, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    WMI_SHIFT_IMMEDIATE = WMI_EVEX(0x72, WMI_MAP_0F, WMI_PREFIX_66, 0),    /* d: enum wmi_shift */
    WMI_SHIFT_IMMEDIATE_64 = WMI_EVEX(0x73, WMI_MAP_0F, WMI_PREFIX_66, 1), /* the same; no WMI_RIGHT_SIGNED */
};

/* An immediate of VPTERNLOGD: d | (a ^ b). */
enum { WMI_OR_DIFFERENCE = 0xf6 };

/* Immediates of VPCMPD and VPCMPUD. */
enum wmi_predicate {
    WMI_EQUAL,
    WMI_BELOW,
    WMI_NOT_ABOVE,
    WMI_DIFFERS = 4,
    WMI_NOT_BELOW,
    WMI_ABOVE,
    WMI_OPPOSITE = 4, /* changed: the opposite */
};
/* Immediates of VCMPPS and VCMPPD that raise no exception for quiet NaNs. WMI_UNORDERED: a or b is a NaN.
 */
enum wmi_float_predicate {
    WMI_FLOAT_EQUAL = 0x00,
    WMI_FLOAT_LESS = 0x11,
    WMI_FLOAT_NOT_ABOVE = 0x12,
    WMI_FLOAT_DIFFERS = 0x0c,
    WMI_FLOAT_NOT_BELOW = 0x1d,
    WMI_FLOAT_ABOVE = 0x1e,
    WMI_ORDERED = 0x07,
    WMI_UNORDERED = 0x03,
    WMI_FLOAT_EQUAL_OR_NAN = 0x08,
    WMI_FLOAT_DIFFERS_OR_NAN = 0x04,
    WMI_FLOAT_LESS_OR_NAN = 0x19,
    WMI_FLOAT_NOT_ABOVE_OR_NAN = 0x1a,
    WMI_FLOAT_NOT_BELOW_OR_NAN = 0x15,
    WMI_FLOAT_ABOVE_OR_NAN = 0x16,
};
/* Digits of WMI_SHIFT_IMMEDIATE and its form for 64 bits. */
enum wmi_shift {
    WMI_ROTATE_RIGHT = 0,
    WMI_ROTATE_LEFT = 1,
    WMI_RIGHT = 2,
    WMI_RIGHT_SIGNED = 4,
    WMI_LEFT = 6,
};
/* Immediates of VFPCLASS. */
enum { WMI_IS_ZERO = 0x06, WMI_IS_INFINITE = 0x18, WMI_IS_DENORMAL = 0x20, WMI_IS_NAN = 0x81 };
enum { WMI_NO_MASK = 0, WMI_NO_IMMEDIATE = -1, WMI_NO_INDEX = -1 };
enum { WMI_ZEROING = 8 }; /* added to a mask register: lanes that are off become 0 */
/* Masks of half strips: results of compares of words, and masks of VPBLENDMD. */
enum { WMI_K_LANES = 8, WMI_LANE_MASKS = 8 };

enum wmi_mask_operation {
    WMI_KAND = 0x41,
    WMI_KANDN = 0x42,
    WMI_KOR = 0x45,
    WMI_KXNOR = 0x46,
    WMI_KXOR = 0x47,
};

/* The vector instructions of a kind of host. All of them are asked for as AVX-512 has them; a host without it
 * gets others that do the same. What the functions do is described with those below that call them. */
struct wmi_vector_set {
    void (*evex)(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                 struct wmi_host_operand b, unsigned mask, int immediate);
    void (*indexed)(struct wmi_host *host, uint32_t instruction, unsigned reg, enum wmi_gpr base,
                    unsigned index, unsigned displacement, unsigned mask);
    /* A gather of dwords at base + the index of each lane, with a load for each lane, of which one at least
     * is active. Inactive lanes get the dword at base. reg is not index. May change the mask register k, the
     * temporary registers and RAX. */
    void (*load_lanes)(struct wmi_host *host, unsigned reg, enum wmi_gpr base, unsigned index, unsigned mask,
                       unsigned k, const uint8_t temporary[2]);
    void (*take_word)(struct wmi_host *host, unsigned d, unsigned a, unsigned word,
                      struct wmi_host_operand number);
    /* A general register = a word of 64 bits of a, one of the first four. May change the scratch register. */
    void (*take_quad)(struct wmi_host *host, enum wmi_gpr d, unsigned a, unsigned number, unsigned scratch);
    void (*take_first)(struct wmi_host *host, unsigned d, unsigned a, unsigned mask);
    void (*kmov_load)(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement);
    void (*kmov_store)(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement,
                       unsigned bytes);
    void (*kmov_gpr)(struct wmi_host *host, unsigned k, enum wmi_gpr reg);
    void (*kunpack)(struct wmi_host *host, unsigned d, unsigned a, unsigned b, unsigned bits);
    void (*kshift_right)(struct wmi_host *host, unsigned d, unsigned a, unsigned count);
    void (*kortest)(struct wmi_host *host, unsigned a, unsigned b);
    size_t (*jump_unless_full)(struct wmi_host *host, unsigned k);
    void (*test_words)(struct wmi_host *host, unsigned reg, unsigned k);
    void (*test_above)(struct wmi_host *host, unsigned a, unsigned b, unsigned k);
    void (*mask)(struct wmi_host *host, enum wmi_mask_operation operation, unsigned d, unsigned a,
                 unsigned b);
    void (*mask_low_8)(struct wmi_host *host, unsigned d);
    /* The same as wmi_evex(), for an instruction that reads d, with `old` as the value of d before it. */
    void (*evex_from)(struct wmi_host *host, uint32_t instruction, unsigned d, struct wmi_host_operand old,
                      unsigned a, struct wmi_host_operand b, unsigned mask, int immediate);
    /* ZF: no word of the registers is a NaN. NULL: compares do as well. */
    void (*test_nans)(struct wmi_host *host, const uint8_t *reg, unsigned count);
    /* Or NULL: dwords of a wave at base + index, with a register for each strip, and a mask of k1 to k4 for
     * each, or none if all lanes are active. begin_half_strips() keeps the indices for the other three and
     * returns a jump, which is taken unless the indices of each half strip (the active ones of eight lanes)
     * follow one another as the offsets do. Inactive lanes that are loaded become 0. `ahead`: how far from
     * what is accessed a line is prefetched, or 0. scatter_half_strips() is for all lanes. */
    size_t (*begin_half_strips)(struct wmi_host *host, const uint8_t *index, const uint8_t *mask,
                                unsigned strips, struct wmi_host_operand offsets);
    void (*load_half_strips)(struct wmi_host *host, const uint8_t *d, const uint8_t *mask, unsigned strips,
                             enum wmi_gpr base, unsigned ahead);
    /* The same of one dword for each half strip, with offsets of 0: all of its lanes get it. */
    void (*broadcast_half_strips)(struct wmi_host *host, const uint8_t *d, const uint8_t *mask,
                                  unsigned strips, enum wmi_gpr base);
    void (*store_half_strips)(struct wmi_host *host, const uint8_t *data, const uint8_t *mask,
                              unsigned strips, enum wmi_gpr base, unsigned ahead);
    void (*scatter_half_strips)(struct wmi_host *host, const uint8_t *data, unsigned strips,
                                enum wmi_gpr base);
    /* The same of bytes or words, which `instruction` extends, in an allocation whose size is in RAX and that
     * begins at base. Returns a jump taken if a lane that is off would be outside of it. Changes RAX. */
    size_t (*extend_half_strips)(struct wmi_host *host, uint32_t instruction, const uint8_t *d,
                                 unsigned strips, enum wmi_gpr base, unsigned bytes);
    /* Or NULL: even, odd = the words of {b, a} with even and with odd numbers, where b may be in memory,
     * which is read once; the reverse, {second, first} = the words of low and high in turn; loads of such
     * pairs at base + index in lanes of the mask (others get those at base), and stores, all lanes active. */
    void (*split_pairs)(struct wmi_host *host, unsigned even, unsigned odd, unsigned a,
                        struct wmi_host_operand b);
    void (*join_pairs)(struct wmi_host *host, unsigned first, unsigned second, unsigned low, unsigned high);
    void (*gather_pairs)(struct wmi_host *host, unsigned low, unsigned high, enum wmi_gpr base,
                         unsigned index, unsigned mask);
    void (*scatter_pairs)(struct wmi_host *host, unsigned low, unsigned high, enum wmi_gpr base,
                          unsigned index);
    /* Loads and stores of four words per lane, at base + displacement + index. WMI_NO_INDEX: they follow one
     * another. Lanes that are not in the mask load what is at base + displacement. */
    void (*gather_quads)(struct wmi_host *host, const uint8_t d[4], enum wmi_gpr base, int32_t displacement,
                         int index, unsigned mask);
    void (*scatter_quads)(struct wmi_host *host, const uint8_t data[4], enum wmi_gpr base,
                          int32_t displacement, int index);
    /* Or NULL: the words {high, low} = {a_high, a} + b, of 64 bits; low may be a, and high a_high. */
    void (*add_64)(struct wmi_host *host, unsigned low, unsigned high, unsigned a, unsigned a_high,
                   const struct wmi_host_pair *b);
    /* Or NULL: d = the high words of the products of a and b, with VPMULUDQ or VPMULDQ; d may be one of them.
     */
    void (*high_product)(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a, unsigned b);
    /* Or NULL: the result of an instruction on f64, a (op) b or a * b + c, for a strip whose words are in d.
     * With c, the register `tested`, which is_first clears, gets other bits than 0 if a result is a NaN or,
     * with a mask, if an active one is a NaN or an infinity. */
    void (*compute_f64)(struct wmi_host *host, uint32_t instruction, const uint8_t d[2],
                        const struct wmi_host_pair *a, const struct wmi_host_pair *b,
                        const struct wmi_host_pair *c, unsigned tested, bool is_first, unsigned mask);
    /* Or NULL: k = the lanes of the mask in which f64 compare so: a mask of words. */
    void (*compare_f64)(struct wmi_host *host, uint32_t instruction, unsigned k,
                        const struct wmi_host_pair *a, const struct wmi_host_pair *b, unsigned mask,
                        int predicate);
    /* Or NULL: see wmi_access_find_differences(). */
    void (*find_differences)(struct wmi_host *host, unsigned differs, bool is_new, unsigned first,
                             const uint8_t *reg, unsigned strips, struct wmi_host_operand offsets);
    /* Or NULL: `differs`, which is_new clears, |= the bits in which words of a register differ from its first
     * one, to which the offsets are added if the sign is positive, or from which they are taken if it is
     * negative, in lanes of the mask of k1 to k4, if there is one. */
    void (*differ_from_first)(struct wmi_host *host, unsigned differs, bool is_new, unsigned reg,
                              struct wmi_host_operand offsets, int sign, unsigned mask);
    /* Or NULL: code for one half of a strip at a time (only_half). begin_halves() clears the lanes that
     * failed, collect_nans() adds lanes that are NaNs, in lanes of the mask if there is one, and
     * test_failed() clears ZF if there are some. keep_half() keeps the half of a row's strip, and
     * restore_half() gives it back. */
    void (*begin_halves)(struct wmi_host *host);
    void (*collect_nans)(struct wmi_host *host, unsigned reg, unsigned mask);
    void (*test_failed)(struct wmi_host *host);
    /* d = a + b + the mask `in`, or a - b - in; out, one of the masks of half strips, = the carries in lanes
     * of `mask`. No masks: WMI_NO_MASK. */
    void (*carry_half)(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b, bool adds,
                       unsigned in, unsigned out, unsigned mask);
    /* reg |= the mask that was computed last, of WMI_K_LANES and those that follow, from this bit on. */
    void (*collect_bits)(struct wmi_host *host, enum wmi_gpr reg, unsigned bit);
    void (*keep_half)(struct wmi_host *host, unsigned number, unsigned strip, struct wmi_host_operand row);
    void (*restore_half)(struct wmi_host *host, unsigned number, unsigned strip, struct wmi_host_operand row);
    /* Where code is entered from C functions and leaves for them, or NULL. */
    void (*enter)(struct wmi_host *host);
    void (*leave)(struct wmi_host *host);
    bool gathers;        /* has VPGATHERDD, and it is not slower than load_lanes() */
    bool extends_masked; /* has masked loads that extend bytes and words */
    bool names_memory;   /* an operand in memory can be a source wherever a register can: wmi_host_name() */
};

extern const struct wmi_vector_set wmi_avx512, wmi_avx2;

/* d, a and b in the order of Intel's syntax; instructions with one source have a = 0. d: a zmm, a mask
 * register for compares, or the digit behind / of the opcode, where a is the destination. */
static inline void wmi_evex(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                            struct wmi_host_operand b, unsigned mask, int immediate)
{
    host->vectors->evex(host, instruction, d, a, b, mask, immediate);
}

/* Without a mask and an immediate. */
static inline void wmi_evex_plain(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                                  struct wmi_host_operand b)
{
    wmi_evex(host, instruction, d, a, b, WMI_NO_MASK, WMI_NO_IMMEDIATE);
}

static inline void wmi_evex_from(struct wmi_host *host, uint32_t instruction, unsigned d,
                                 struct wmi_host_operand old, unsigned a, struct wmi_host_operand b,
                                 unsigned mask, int immediate)
{
    host->vectors->evex_from(host, instruction, d, old, a, b, mask, immediate);
}

/* A gather or scatter of the lanes of `mask`, which it clears, at `base` + `displacement` + the index of each
 * lane in bytes. The displacement is a small multiple of the size of the instruction's elements. */
static inline void wmi_evex_indexed(struct wmi_host *host, uint32_t instruction, unsigned reg,
                                    enum wmi_gpr base, unsigned index, unsigned displacement, unsigned mask)
{
    host->vectors->indexed(host, instruction, reg, base, index, displacement, mask);
}

/* d = a word of a in all lanes. number: in memory, the word's number, not 0. */
static inline void wmi_take_word(struct wmi_host *host, unsigned d, unsigned a, unsigned word,
                                 struct wmi_host_operand number)
{
    host->vectors->take_word(host, d, a, word, number);
}

/* d = in all lanes, the word of a in the first lane of the mask, or 0. */
static inline void wmi_take_first(struct wmi_host *host, unsigned d, unsigned a, unsigned mask)
{
    host->vectors->take_first(host, d, a, mask);
}

/* VZEROUPPER: without it, each SSE instruction of the interpreter would wait for the vector instructions that
 * wrote its destination last. */
void wmi_end_vectors(struct wmi_host *host);

/* The number of a register, for sources alone, that stands for 64 bytes in memory, or another register, until
 * host->names becomes 0. */
static inline unsigned wmi_host_name(struct wmi_host *host, struct wmi_host_operand operand)
{
    host->name[host->names] = operand;
    return WMI_FIRST_NAME + host->names++;
}

/* ---- mask registers ---- */

/* 16 bits. */
static inline void wmi_kmov_load(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement)
{
    host->vectors->kmov_load(host, k, base, displacement);
}

/* bytes: 2, 4 or 8. */
static inline void wmi_kmov_store(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement,
                                  unsigned bytes)
{
    host->vectors->kmov_store(host, k, base, displacement, bytes);
}

/* d = the low half of a above that of b, of 16 or of 32 bits each. */
static inline void wmi_kunpack(struct wmi_host *host, unsigned d, unsigned a, unsigned b, unsigned bits)
{
    host->vectors->kunpack(host, d, a, b, bits);
}

/* The 64 bits of a register. */
static inline void wmi_kmov_gpr(struct wmi_host *host, unsigned k, enum wmi_gpr reg)
{
    host->vectors->kmov_gpr(host, k, reg);
}

/* d = a >> count, of 64 bits. */
static inline void wmi_kshift_right(struct wmi_host *host, unsigned d, unsigned a, unsigned count)
{
    host->vectors->kshift_right(host, d, a, count);
}

/* ZF: no bit of the 16 of a and b is set. */
static inline void wmi_kortest(struct wmi_host *host, unsigned a, unsigned b)
{
    host->vectors->kortest(host, a, b);
}

/* ZF: all words of the register are 0. Changes k. */
static inline void wmi_test_words(struct wmi_host *host, unsigned reg, unsigned k)
{
    host->vectors->test_words(host, reg, k);
}

/* ZF: no word of a is above that of b, without sign. Changes k. */
static inline void wmi_test_above(struct wmi_host *host, unsigned a, unsigned b, unsigned k)
{
    host->vectors->test_above(host, a, b, k);
}

/* A jump taken unless all 16 bits are set. */
static inline size_t wmi_jump_unless_full(struct wmi_host *host, unsigned k)
{
    return host->vectors->jump_unless_full(host, k);
}

/* d = a AND b, NOT a AND b, and others, of 16 bits. */
static inline void wmi_mask(struct wmi_host *host, enum wmi_mask_operation operation, unsigned d, unsigned a,
                            unsigned b)
{
    host->vectors->mask(host, operation, d, a, b);
}

/* d = 0xff. */
static inline void wmi_mask_low_8(struct wmi_host *host, unsigned d)
{
    host->vectors->mask_low_8(host, d);
}

/* ---- scalar instructions ---- */

/* An instruction with a register and an operand in memory or a register; opcodes above 0xff start with 0F. */
void wmi_scalar_memory(struct wmi_host *host, unsigned opcode, bool wide, unsigned reg, enum wmi_gpr base,
                       int32_t displacement);
void wmi_scalar_registers(struct wmi_host *host, unsigned opcode, bool wide, unsigned reg, enum wmi_gpr rm);
/* Of the line at `base` + `displacement`. */
void wmi_prefetch(struct wmi_host *host, enum wmi_gpr base, int32_t displacement, bool for_store);
/* Parts of encodings: bytes; ModRM, SIB and displacement of memory at `base`, where a displacement takes 8
 * bits if it is a multiple of 1 << scale and fits; ModRM of two registers; the prefix and the opcode of a
 * scalar instruction. */
void wmi_put_memory(struct wmi_host *host, unsigned reg, unsigned base, int32_t displacement, unsigned scale);
void wmi_put_registers(struct wmi_host *host, unsigned reg, unsigned rm);
void wmi_put_opcode(struct wmi_host *host, unsigned opcode, bool wide, unsigned reg, unsigned rm);
void wmi_put_bytes(struct wmi_host *host, const void *bytes, size_t count);
void wmi_put_8_more(struct wmi_host *host, unsigned value);

static inline void wmi_put_8(struct wmi_host *host, unsigned value)
{
    if (host->count < host->capacity && !host->full)
        host->bytes[host->count++] = (uint8_t)value;
    else
        wmi_put_8_more(host, value);
}

void wmi_put_32(struct wmi_host *host, uint32_t value);
void wmi_put_64(struct wmi_host *host, uint64_t value);
/* Opcodes for these two. */
enum {
    WMI_MOV_LOAD = 0x8b,
    WMI_MOV_STORE = 0x89,
    WMI_LEA = 0x8d,
    WMI_ADD = 0x03,
    WMI_ADD_STORE = 0x01,
    WMI_ADC = 0x13,
    WMI_SUB = 0x2b,
    WMI_SBB = 0x1b,
    WMI_AND = 0x23,
    WMI_OR = 0x0b,
    WMI_XOR = 0x33,
    WMI_TEST = 0x85,
    WMI_CMP = 0x3b,
    WMI_IMUL = 0x1af,
    WMI_MOVZX_8 = 0x1b6,
    WMI_MOVZX_16 = 0x1b7,
    WMI_MOVSX_8 = 0x1be,
    WMI_MOVSX_16 = 0x1bf,
    WMI_CMOV = 0x140, /* + enum wmi_condition */
    WMI_BSF = 0x1bc,
};
enum wmi_condition {
    WMI_IF_OVERFLOW = 0,
    WMI_IF_BELOW = 2,
    WMI_IF_NOT_BELOW = 3,
    WMI_IF_EQUAL = 4,
    WMI_IF_NOT_EQUAL = 5,
    WMI_IF_NOT_ABOVE = 6,
    WMI_IF_ABOVE = 7,
    WMI_IF_NEGATIVE = 8,
    WMI_IF_LESS = 12,
    WMI_IF_NOT_LESS = 13,
    WMI_IF_NOT_GREATER = 14,
    WMI_IF_GREATER = 15,
};
/* reg = condition ? 1 : 0, as 32 bits. */
void wmi_set_if(struct wmi_host *host, enum wmi_condition condition, enum wmi_gpr reg);
void wmi_move_immediate(struct wmi_host *host, enum wmi_gpr reg, uint64_t value);
/* Arithmetic with an immediate: digit 0 add, 1 or, 4 and, 5 sub, 6 xor, 7 cmp. */
void wmi_arithmetic_immediate(struct wmi_host *host, unsigned digit, bool wide, enum wmi_gpr reg,
                              int32_t value);
void wmi_arithmetic_memory(struct wmi_host *host, unsigned digit, bool wide, enum wmi_gpr base,
                           int32_t displacement, int32_t value);
void wmi_store_immediate(struct wmi_host *host, bool wide, enum wmi_gpr base, int32_t displacement,
                         int32_t value);
/* TEST of the low byte of a register, of a byte and of a dword in memory, with an immediate. */
void wmi_test_immediate_8(struct wmi_host *host, enum wmi_gpr reg, unsigned bits);
void wmi_test_memory_8(struct wmi_host *host, enum wmi_gpr base, int32_t displacement, unsigned bits);
void wmi_test_memory_32(struct wmi_host *host, enum wmi_gpr base, int32_t displacement, uint32_t bits);
/* BT (digit 4) or BTS (5) of a quadword in memory. */
void wmi_bit_memory(struct wmi_host *host, unsigned digit, enum wmi_gpr base, int32_t displacement,
                    unsigned bit);
/* Shifts by an immediate: digit 4 left, 5 right, 7 signed. */
void wmi_shift_immediate(struct wmi_host *host, unsigned digit, bool wide, enum wmi_gpr reg, unsigned count);

/* ---- jumps ---- */

/* Jumps to code that is not known yet; the result is for wmi_land(). */
size_t wmi_jump_if(struct wmi_host *host, enum wmi_condition condition);
size_t wmi_jump(struct wmi_host *host);
/* reg = the address of code that is not known yet; the result is for wmi_land(), too. */
size_t wmi_code_address(struct wmi_host *host, enum wmi_gpr reg);
/* Lets the jump lead to the next instruction. */
void wmi_land(struct wmi_host *host, size_t jump);
/* The same, but for 0: there is no jump. */
void wmi_land_if(struct wmi_host *host, size_t jump);
/* Jumps back to code at offset `to`. */
void wmi_jump_back(struct wmi_host *host, size_t to);
void wmi_jump_back_if(struct wmi_host *host, enum wmi_condition condition, size_t to);
/* Calls code at offset `to`, which ends with wmi_return(). */
void wmi_call_back(struct wmi_host *host, size_t to);
void wmi_push(struct wmi_host *host, enum wmi_gpr reg);
void wmi_pop(struct wmi_host *host, enum wmi_gpr reg);
void wmi_call_register(struct wmi_host *host, enum wmi_gpr reg);
void wmi_jump_register(struct wmi_host *host, enum wmi_gpr reg);
void wmi_jump_memory(struct wmi_host *host, enum wmi_gpr base, int32_t displacement);
void wmi_return(struct wmi_host *host);

#endif

/* SPDX-License-Identifier: MIT */
/* What the files host_avx2*.c share: encodings of VEX, and where the registers of AVX-512 are. */
#ifndef WMI_HOST_AVX2_H
#define WMI_HOST_AVX2_H

#include "jit/host.h"

#include <stdalign.h>

enum { T0 = 12, T1, T2, T3 }; /* ymm registers that no zmm register has */
enum { SCRATCH_PLACE = 10 };  /* the ymm registers of WMI_SCRATCH: it and the next one */
enum { HALF = 32, QUARTER = 16 };
enum { LONG = 1 };         /* VEX.L: of 256 bits */
enum { MOST_STRIPS = 4 };  /* of a wave */
enum { FIRST_IN_GPR = 5 }; /* of the mask registers: this one and those that follow it */

/* The registers that the host lacks, on its stack while compiled code runs. R15 points to it. */
struct wmi_avx2_area {
    alignas(64) uint32_t reg[32][16]; /* those that no host register holds */
    alignas(64) uint32_t temporary[3][16];
    alignas(64) uint32_t index[4][16]; /* of a row */
    int32_t run[8];                    /* where the runs of its half strips begin */
    alignas(64) uint32_t lanes[WMI_K_LANES + WMI_LANE_MASKS][16]; /* of masks: ones where a bit is set */
    alignas(64) uint32_t row[WMI_KEPT_ROWS][MOST_STRIPS][16];     /* see keep_half() */
    uint64_t k[FIRST_IN_GPR];                                     /* the bits */
    uint64_t stack; /* RSP where the registers of the caller are */
};
#define AREA_AT(member) wmi_at(WMI_R15, (int32_t)offsetof(struct wmi_avx2_area, member))

/* What code reads. RSI points to it. */
struct wmi_avx2_constants {
    alignas(64) uint32_t bit[16];     /* bit i in word i */
    alignas(64) uint64_t bit_64[8];   /* the same of quadwords */
    alignas(64) uint16_t bit_16[8];   /* and of words */
    alignas(32) uint8_t spread_8[32]; /* the byte of a mask that each byte needs, */
    alignas(32) uint8_t bit_8[32];    /* and its bit in it */
    alignas(32) uint32_t ones[8], low_halves[8];
    uint32_t twice_infinity_64[8]; /* the high word of infinity without its sign */
    /* Words for all lanes: of f32 */
    uint32_t two_16, sign, magnitude, exponent_bits, least_normal, most_finite, two_32, two_31, minus_one,
        zero;
    uint64_t sign_64, magnitude_64, exponent_64, most_finite_64, two_52; /* and of f64 */
};
extern const struct wmi_avx2_constants wmi_avx2_constants;
#define CONSTANT(member) wmi_at(WMI_RSI, (int32_t)offsetof(struct wmi_avx2_constants, member))

/* What tells one instruction from another in an encoding, without the size of its operand in memory. */
#define KIND(instruction) ((uint32_t)(instruction) & 0x7fff)

/* Instructions that stand for others, with the opcodes of VEX. */
enum {
    VMOVAPS = WMI_EVEX(0x28, WMI_MAP_0F, 0, 0),
    VPXOR = WMI_VPXORD,
    VPAND = WMI_VPANDD,
    VPANDN = WMI_VPANDND,
    VPOR = WMI_VPORD,
    VPCMPEQB = WMI_EVEX(0x74, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPCMPEQW = WMI_EVEX(0x75, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPCMPEQD = WMI_EVEX(0x76, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPCMPEQQ = WMI_EVEX(0x29, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPCMPGTB = WMI_EVEX(0x64, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPCMPGTD = WMI_EVEX(0x66, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPCMPGTQ = WMI_EVEX(0x37, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPMAXUB = WMI_EVEX(0xde, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPMINUB = WMI_EVEX(0xda, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPMAXUD = WMI_EVEX(0x3f, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPMINUD = WMI_EVEX(0x3b, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VMOVMSKPS = WMI_EVEX(0x50, WMI_MAP_0F, 0, 0),
    VMOVMSKPD = WMI_EVEX(0x50, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPMOVMSKB = WMI_EVEX(0xd7, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VBLENDVPS = WMI_EVEX(0x4a, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VPBLENDVB = WMI_EVEX(0x4c, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VPMASKMOVD_LOAD = WMI_EVEX(0x8c, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPMASKMOVD_STORE = WMI_EVEX(0x8e, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPBLENDD = WMI_EVEX(0x02, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VPERM2I128 = WMI_EVEX(0x46, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VPERMQ = WMI_EVEX(0x00, WMI_MAP_0F3A, WMI_PREFIX_66, 1),
    VPSHUFD = WMI_EVEX(0x70, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPSHUFB = WMI_EVEX(0x00, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VEXTRACTI128 = WMI_EVEX(0x39, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VINSERTI128 = WMI_EVEX(0x38, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VBROADCASTI128 = WMI_EVEX(0x5a, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPBROADCASTW = WMI_EVEX(0x79, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPBROADCASTQ = WMI_EVEX(0x59, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VMOVD_FROM = WMI_EVEX(0x6e, WMI_MAP_0F, WMI_PREFIX_66, 0), /* from a general register or memory */
    VMOVQ_FROM = WMI_EVEX(0x6e, WMI_MAP_0F, WMI_PREFIX_66, 1),
    VMOVD_TO = WMI_EVEX(0x7e, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VMOVQ_TO = WMI_EVEX(0x7e, WMI_MAP_0F, WMI_PREFIX_66, 1),
    VMOVQ_LOAD = WMI_EVEX(0x7e, WMI_MAP_0F, WMI_PREFIX_F3, 0),
    VPINSRD = WMI_EVEX(0x22, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VPINSRB = WMI_EVEX(0x20, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VPINSRW = WMI_EVEX(0xc4, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPEXTRB = WMI_EVEX(0x14, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VPEXTRW = WMI_EVEX(0x15, WMI_MAP_0F3A, WMI_PREFIX_66, 0),
    VPACKUSDW = WMI_EVEX(0x2b, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VPACKUSWB = WMI_EVEX(0x67, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VPMOVZXDQ = WMI_EVEX(0x35, WMI_MAP_0F38, WMI_PREFIX_66, 0),
    VCVTTPS2DQ = WMI_EVEX(0x5b, WMI_MAP_0F, WMI_PREFIX_F3, 0),
    VSUBPD = WMI_EVEX(0x5c, WMI_MAP_0F, WMI_PREFIX_66, 0),
    VSUBPS = WMI_EVEX(0x5c, WMI_MAP_0F, 0, 0),
    VPTEST = WMI_EVEX(0x17, WMI_MAP_0F38, WMI_PREFIX_66, 0),
};

/* Where the bits of a mask of k1 to k4 are, and the ones in lanes of a half of any mask. */
static inline int32_t wmi_avx2_bits(unsigned k)
{
    return (int32_t)(offsetof(struct wmi_avx2_area, k) + 8 * k);
}

static inline struct wmi_host_operand wmi_avx2_lanes(unsigned k, unsigned half)
{
    return wmi_at(WMI_R15, (int32_t)(offsetof(struct wmi_avx2_area, lanes) + 64 * k + HALF * half));
}

/* The halves of registers that instructions work on. */
static inline unsigned first_half(const struct wmi_host *host)
{
    return host->only_half ? host->only_half - 1u : 0;
}

static inline unsigned end_of_halves(const struct wmi_host *host)
{
    return host->only_half ? host->only_half : 2;
}
#define EACH_HALF(host, half)                                                                                \
    unsigned half = first_half(host);                                                                        \
    half < end_of_halves(host);                                                                              \
    half++

static inline bool is_wide(uint32_t instruction)
{
    return instruction >> 14 & 1;
}

void wmi_vex(struct wmi_host *host, uint32_t instruction, unsigned length, unsigned d, unsigned a,
             struct wmi_host_operand b, int immediate);
/* Of 256 bits, of 128. */
void wmi_vex_256(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                 struct wmi_host_operand b);
void wmi_vex_128(struct wmi_host *host, uint32_t instruction, unsigned d, unsigned a,
                 struct wmi_host_operand b);
/* ModRM and SIB of memory at base + index << scale + displacement. */
void wmi_vex_put_index(struct wmi_host *host, unsigned reg, unsigned base, unsigned index, unsigned scale,
                       int32_t displacement);
void wmi_vex_indexed(struct wmi_host *host, uint32_t instruction, unsigned length, unsigned d, unsigned a,
                     unsigned base, unsigned index, unsigned scale, int32_t displacement);
void wmi_avx2_shift(struct wmi_host *host, enum wmi_shift kind, unsigned d, unsigned a, unsigned count);
/* d = b where the mask's bytes are set, and else a. */
void wmi_avx2_blend(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b, unsigned mask);
void wmi_avx2_swap_parts(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b,
                         unsigned selection);
struct wmi_host_operand wmi_avx2_further(struct wmi_host_operand operand, int32_t bytes);
/* A half of a zmm register: a ymm register, or in memory. */
struct wmi_host_operand wmi_avx2_half(const struct wmi_host *host, unsigned zmm, unsigned half);
/* The register of an operand, or `temporary`, to which it is loaded. */
unsigned wmi_avx2_in_register(struct wmi_host *host, struct wmi_host_operand operand, unsigned temporary);
unsigned wmi_avx2_load(struct wmi_host *host, unsigned zmm, unsigned half, unsigned temporary);
void wmi_avx2_move(struct wmi_host *host, unsigned to, unsigned from);
/* The register to compute a half in: its own one, or `temporary`. */
unsigned wmi_avx2_target(const struct wmi_host *host, unsigned zmm, unsigned half, unsigned temporary);
void wmi_avx2_keep(struct wmi_host *host, unsigned zmm, unsigned half, unsigned reg);
void wmi_avx2_clear(struct wmi_host *host, unsigned reg);
/* An operand of the instruction: b, or a half of its register. Words for all lanes are put into `temporary`.
 */
struct wmi_host_operand wmi_avx2_operand(struct wmi_host *host, uint32_t instruction,
                                         struct wmi_host_operand b, unsigned half, unsigned temporary);
/* A zmm in memory: its own place, or the temporary one. */
struct wmi_host_operand wmi_avx2_in_memory(struct wmi_host *host, unsigned zmm, unsigned temporary);
/* A jump taken if these are the active lanes of a half strip, of a mask of k1 to k4. */
size_t wmi_avx2_jump_if_active(struct wmi_host *host, unsigned mask, unsigned half, uint8_t lanes);
/* WMI_RBX = the word of the row whose bit is the first one that is set in RBP, or 0. There is no jump: it
 * would be hard to foretell. */
void wmi_avx2_take_first_bit(struct wmi_host *host, struct wmi_host_operand row);
/* WMI_RBX = the index of a lane. */
void wmi_avx2_take_index(struct wmi_host *host, struct wmi_host_operand index, unsigned lane);

/* Masks: host_avx2_masks.c. The general register of k5 to k7. */
enum wmi_gpr wmi_avx2_gpr_of(unsigned k);
/* A register with the 16 bits of the mask. */
enum wmi_gpr wmi_avx2_bits_in_gpr(struct wmi_host *host, unsigned k, enum wmi_gpr temporary);
/* Whether wmi_avx2_lanes() are those of the mask. */
bool wmi_avx2_has_lanes_of(const struct wmi_host *host, unsigned k);
/* reg = ones in the lanes of a half whose bit is set in the mask: of words, or of quadwords; of bytes, of a
 * mask of 64 bits. */
void wmi_avx2_expand(struct wmi_host *host, unsigned reg, unsigned k, unsigned half, bool wide);
void wmi_avx2_expand_bytes(struct wmi_host *host, unsigned reg, unsigned k, unsigned half);
void wmi_avx2_forget_mask(struct wmi_host *host, unsigned k);
/* Of struct wmi_vector_set. */
void wmi_avx2_kmov_load(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement);
void wmi_avx2_kmov_store(struct wmi_host *host, unsigned k, enum wmi_gpr base, int32_t displacement,
                         unsigned bytes);
void wmi_avx2_kmov_gpr(struct wmi_host *host, unsigned k, enum wmi_gpr reg);
void wmi_avx2_kunpack(struct wmi_host *host, unsigned d, unsigned a, unsigned b, unsigned bits);
void wmi_avx2_kshift_right(struct wmi_host *host, unsigned d, unsigned a, unsigned count);
void wmi_avx2_kortest(struct wmi_host *host, unsigned a, unsigned b);
size_t wmi_avx2_jump_unless_full(struct wmi_host *host, unsigned k);
void wmi_avx2_mask_registers(struct wmi_host *host, enum wmi_mask_operation operation, unsigned d, unsigned a,
                             unsigned b);
void wmi_avx2_mask_low_8(struct wmi_host *host, unsigned d);
/* k = the lanes of the mask in which a and b compare so, have a bit in common or none, or b is of the
 * classes. False: there is no code for these. */
void wmi_avx2_put_compare(struct wmi_host *host, uint32_t instruction, unsigned k, unsigned a,
                          struct wmi_host_operand b, unsigned predicate, unsigned mask);
void wmi_avx2_put_float_compare(struct wmi_host *host, uint32_t instruction, unsigned k, unsigned a,
                                struct wmi_host_operand b, unsigned mask, int predicate);
void wmi_avx2_compare_f64(struct wmi_host *host, uint32_t instruction, unsigned k,
                          const struct wmi_host_pair *a, const struct wmi_host_pair *b, unsigned mask,
                          int predicate);
void wmi_avx2_put_test(struct wmi_host *host, uint32_t instruction, unsigned k, unsigned a,
                       struct wmi_host_operand b, unsigned mask, unsigned lane_bytes);
bool wmi_avx2_put_class(struct wmi_host *host, unsigned k, struct wmi_host_operand b, unsigned classes,
                        bool wide);

/* Of struct wmi_vector_set: host_avx2_halves.c. */
void wmi_avx2_test_words(struct wmi_host *host, unsigned reg, unsigned k);
void wmi_avx2_test_above(struct wmi_host *host, unsigned a, unsigned b, unsigned k);
void wmi_avx2_test_nans(struct wmi_host *host, const uint8_t *reg, unsigned count);
void wmi_avx2_begin_halves(struct wmi_host *host);
void wmi_avx2_collect_nans(struct wmi_host *host, unsigned reg, unsigned mask);
void wmi_avx2_test_failed(struct wmi_host *host);
void wmi_avx2_carry_half(struct wmi_host *host, unsigned d, unsigned a, struct wmi_host_operand b, bool adds,
                         unsigned in, unsigned out, unsigned mask);
void wmi_avx2_collect_bits(struct wmi_host *host, enum wmi_gpr reg, unsigned bit);
void wmi_avx2_keep_half(struct wmi_host *host, unsigned number, unsigned strip, struct wmi_host_operand row);
void wmi_avx2_restore_half(struct wmi_host *host, unsigned number, unsigned strip,
                           struct wmi_host_operand row);

/* Of struct wmi_vector_set: host_avx2_rows.c. */
void wmi_avx2_find_differences(struct wmi_host *host, unsigned differs, bool is_new, unsigned first,
                               const uint8_t *reg, unsigned strips, struct wmi_host_operand offsets);
void wmi_avx2_differ_from_first(struct wmi_host *host, unsigned differs, bool is_new, unsigned reg,
                                struct wmi_host_operand offsets, int sign, unsigned mask);
size_t wmi_avx2_begin_half_strips(struct wmi_host *host, const uint8_t *index, const uint8_t *mask,
                                  unsigned strips, struct wmi_host_operand offsets);
void wmi_avx2_load_half_strips(struct wmi_host *host, const uint8_t *d, const uint8_t *mask, unsigned strips,
                               enum wmi_gpr base, unsigned ahead);
void wmi_avx2_broadcast_half_strips(struct wmi_host *host, const uint8_t *d, const uint8_t *mask,
                                    unsigned strips, enum wmi_gpr base);
size_t wmi_avx2_extend_half_strips(struct wmi_host *host, uint32_t instruction, const uint8_t *d,
                                   unsigned strips, enum wmi_gpr base, unsigned bytes);
void wmi_avx2_store_half_strips(struct wmi_host *host, const uint8_t *data, const uint8_t *mask,
                                unsigned strips, enum wmi_gpr base, unsigned ahead);
void wmi_avx2_scatter_half_strips(struct wmi_host *host, const uint8_t *data, unsigned strips,
                                  enum wmi_gpr base);
void wmi_avx2_split_pairs(struct wmi_host *host, unsigned even, unsigned odd, unsigned a,
                          struct wmi_host_operand b);
void wmi_avx2_join_pairs(struct wmi_host *host, unsigned first, unsigned second, unsigned low, unsigned high);
void wmi_avx2_compute_f64(struct wmi_host *host, uint32_t instruction, const uint8_t d[2],
                          const struct wmi_host_pair *a, const struct wmi_host_pair *b,
                          const struct wmi_host_pair *c, unsigned tested, bool is_first, unsigned mask);
/* d = ones in the lanes of a half in which a and b compare so. Changes T0, T1 and the scratch registers. */
void wmi_avx2_compare_f64_half(struct wmi_host *host, uint32_t instruction, unsigned d,
                               const struct wmi_host_pair *a, const struct wmi_host_pair *b, unsigned half,
                               int predicate);
void wmi_avx2_gather_pairs(struct wmi_host *host, unsigned low, unsigned high, enum wmi_gpr base,
                           unsigned index, unsigned mask);
void wmi_avx2_scatter_pairs(struct wmi_host *host, unsigned low, unsigned high, enum wmi_gpr base,
                            unsigned index);
void wmi_avx2_gather_quads(struct wmi_host *host, const uint8_t d[4], enum wmi_gpr base, int32_t displacement,
                           int index, unsigned mask);
void wmi_avx2_scatter_quads(struct wmi_host *host, const uint8_t data[4], enum wmi_gpr base,
                            int32_t displacement, int index);

#endif

/* SPDX-License-Identifier: MIT */
/* Instructions of AArch64 hosts. Source: Arm Architecture Reference Manual for A-profile, DDI 0487, C6 and
 * C7. */
#ifndef WMI_ARM64_ENCODE_H
#define WMI_ARM64_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

/* Of registers n and m to d; those of vectors are of four 32-bit elements. */
enum wmi_arm64_three {
    WMI_ARM64_ADD_V = 0x4ea08400,
    WMI_ARM64_SUB_V = 0x6ea08400,
    WMI_ARM64_MUL_V = 0x4ea09c00,
    WMI_ARM64_AND_V = 0x4e201c00,
    WMI_ARM64_ORR_V = 0x4ea01c00,
    WMI_ARM64_EOR_V = 0x6e201c00,
    WMI_ARM64_BSL_V = 0x6e601c00, /* d has bits of n where it was set, and else of m */
    WMI_ARM64_BIT_V = 0x6ea01c00, /* d gets bits of n where those of m are set */
    WMI_ARM64_USHL_V = 0x6ea04400,
    WMI_ARM64_SSHL_V = 0x4ea04400,
    WMI_ARM64_SMIN_V = 0x4ea06c00,
    WMI_ARM64_SMAX_V = 0x4ea06400,
    WMI_ARM64_UMIN_V = 0x6ea06c00,
    WMI_ARM64_UMAX_V = 0x6ea06400,
    WMI_ARM64_CMEQ_V = 0x6ea08c00,
    WMI_ARM64_CMGT_V = 0x4ea03400,
    WMI_ARM64_CMHI_V = 0x6ea03400,
    WMI_ARM64_CMTST_V = 0x4ea08c00,
    WMI_ARM64_UMULL_V = 0x2ea0c000,
    WMI_ARM64_UMULL2_V = 0x6ea0c000,
    WMI_ARM64_SMULL_V = 0x0ea0c000,
    WMI_ARM64_SMULL2_V = 0x4ea0c000,
    WMI_ARM64_UZP2_V = 0x4e805800,
    WMI_ARM64_FADD_V = 0x4e20d400,
    WMI_ARM64_FSUB_V = 0x4ea0d400,
    WMI_ARM64_FMUL_V = 0x6e20dc00,
    WMI_ARM64_FDIV_V = 0x6e20fc00,
    WMI_ARM64_FMLA_V = 0x4e20cc00,
    WMI_ARM64_FMIN_V = 0x4ea0f400,
    WMI_ARM64_FMAX_V = 0x4e20f400,
    WMI_ARM64_FCMEQ_V = 0x4e20e400,
    WMI_ARM64_FCMGE_V = 0x6e20e400,
    WMI_ARM64_FCMGT_V = 0x6ea0e400,
    /* scalars of 32 bits; WMI_ARM64_64 is added for 64 */
    WMI_ARM64_ADD = 0x0b000000,
    WMI_ARM64_SUB = 0x4b000000,
    WMI_ARM64_SUBS = 0x6b000000,
    WMI_ARM64_AND = 0x0a000000,
    WMI_ARM64_ORR = 0x2a000000,
    WMI_ARM64_ORN = 0x2a200000,
    WMI_ARM64_EOR = 0x4a000000,
    WMI_ARM64_MUL = 0x1b007c00,
    WMI_ARM64_LSL = 0x1ac02000,
    WMI_ARM64_LSR = 0x1ac02400,
    WMI_ARM64_ASR = 0x1ac02800,
    WMI_ARM64_UMULL = 0x9ba07c00, /* 64 bits of two words */
    WMI_ARM64_SMULL = 0x9b207c00,
    WMI_ARM64_UMULH = 0x9bc07c00,
    WMI_ARM64_SMULH = 0x9b407c00,
    WMI_ARM64_ORR_HIGH = 0xaa008000, /* m shifted left by 32 */
};
enum { WMI_ARM64_64 = (int)0x80000000 };

/* Of register n to d. */
enum wmi_arm64_two {
    WMI_ARM64_NOT_V = 0x6e205800,
    WMI_ARM64_NEG_V = 0x6ea0b800,
    WMI_ARM64_CLZ_V = 0x6ea04800,
    WMI_ARM64_CNT_V = 0x4e205800,    /* of bytes */
    WMI_ARM64_UADDLP_B = 0x6e202800, /* pairs of bytes */
    WMI_ARM64_UADDLP_H = 0x6e602800,
    WMI_ARM64_RBIT_V = 0x6e605800, /* of bytes */
    WMI_ARM64_REV32_V = 0x6e200800,
    WMI_ARM64_FSQRT_V = 0x6ea1f800,
    WMI_ARM64_FRINTN_V = 0x4e218800,
    WMI_ARM64_FRINTM_V = 0x4e219800,
    WMI_ARM64_FRINTP_V = 0x4ea18800,
    WMI_ARM64_FRINTZ_V = 0x4ea19800,
    WMI_ARM64_SCVTF_V = 0x4e21d800,
    WMI_ARM64_UCVTF_V = 0x6e21d800,
    WMI_ARM64_FCVTZS_V = 0x4ea1b800,
    WMI_ARM64_FCVTZU_V = 0x6ea1b800,
    WMI_ARM64_DUP_V = 0x4e040c00,         /* a word to all elements */
    WMI_ARM64_UMOV = 0x0e043c00,          /* element 0 to a word */
    WMI_ARM64_ADDV = 0x4eb1b800,          /* the sum of the elements */
    WMI_ARM64_UMAXV = 0x6eb0a800,         /* the largest one */
    WMI_ARM64_LSR_32 = (int)0xd360fc00,   /* the upper word */
    WMI_ARM64_FMOV_D_X = (int)0x9e670000, /* 64 bits to the lower half */
    WMI_ARM64_INS_D1_X = 0x4e181c00,      /* and to the upper one */
    WMI_ARM64_BR = (int)0xd61f0000,       /* d is 0 */
    WMI_ARM64_BLR = (int)0xd63f0000,
};

enum {
    WMI_ARM64_MOVI_0 = 0x4f000400, /* d = 0 */
    WMI_ARM64_MVNI_0 = 0x6f000400, /* d = all ones */
    WMI_ARM64_SHL_V = 0x4f005400,  /* the immediate is 32 + count */
    WMI_ARM64_USHR_V = 0x6f000400, /* 64 - count */
    WMI_ARM64_SSHR_V = 0x4f000400,
    WMI_ARM64_RET = (int)0xd65f03c0,
};

/* Registers: */
enum { WMI_ARM64_SP = 31, WMI_ARM64_ZERO = 31, WMI_ARM64_LINK = 30 };
enum wmi_arm64_condition {
    WMI_ARM64_EQ,
    WMI_ARM64_NE,
    WMI_ARM64_HS,
    WMI_ARM64_LO,
    WMI_ARM64_HI = 8,
    WMI_ARM64_LS,
    WMI_ARM64_GE,
    WMI_ARM64_LT,
};

/* Loads and stores, with an offset in multiples of the size. */
enum wmi_arm64_access {
    WMI_ARM64_LDR_W = (int)0xb9400000,
    WMI_ARM64_STR_W = (int)0xb9000000,
    WMI_ARM64_LDR_X = (int)0xf9400000,
    WMI_ARM64_STR_X = (int)0xf9000000,
    WMI_ARM64_LDR_Q = 0x3dc00000,
    WMI_ARM64_STR_Q = 0x3d800000,
};

static inline uint32_t wmi_arm64_three(uint32_t op, unsigned d, unsigned n, unsigned m)
{
    return op | m << 16 | n << 5 | d;
}

static inline uint32_t wmi_arm64_two(uint32_t op, unsigned d, unsigned n)
{
    return op | n << 5 | d;
}

static inline uint32_t wmi_arm64_vector_shift(uint32_t op, unsigned d, unsigned n, unsigned immediate)
{
    return op | immediate << 16 | n << 5 | d;
}

static inline unsigned wmi_arm64_access_shift(uint32_t op)
{
    return op == WMI_ARM64_LDR_Q || op == WMI_ARM64_STR_Q                       ? 4
           : op == (uint32_t)WMI_ARM64_LDR_X || op == (uint32_t)WMI_ARM64_STR_X ? 3
                                                                                : 2;
}

/* offset: a multiple of the size, up to 4095 times that. */
static inline uint32_t wmi_arm64_access(uint32_t op, unsigned t, unsigned base, uint32_t offset)
{
    return op | offset >> wmi_arm64_access_shift(op) << 10 | base << 5 | t;
}

/* immediate: 12 bits, or 12 bits shifted left by 12. */
static inline uint32_t wmi_arm64_add_immediate(unsigned d, unsigned n, uint32_t immediate)
{
    return 0x91000000 | (immediate > 0xfff ? 1u << 22 | immediate >> 12 << 10 : immediate << 10) | n << 5 | d;
}

static inline uint32_t wmi_arm64_subtract_immediate(unsigned d, unsigned n, uint32_t immediate)
{
    return wmi_arm64_add_immediate(d, n, immediate) | 1u << 30;
}

/* Compares 64 bits with 12. */
static inline uint32_t wmi_arm64_compare_immediate(unsigned n, uint32_t immediate)
{
    return 0xf100001f | immediate << 10 | n << 5;
}

/* 16 bits of d, which keeps the others if keeps is 1 and gets zeros if it is 0. */
static inline uint32_t wmi_arm64_move_immediate(unsigned d, unsigned bits, unsigned quarter, unsigned keeps)
{
    return (keeps ? 0xf2800000 : 0xd2800000) | quarter << 21 | bits << 5 | d;
}

static inline uint32_t wmi_arm64_select(uint32_t wide, unsigned d, unsigned n, unsigned m, unsigned condition)
{
    return 0x1a800000 | wide | m << 16 | condition << 12 | n << 5 | d;
}

/* d = 1 if the condition holds, else 0. */
static inline uint32_t wmi_arm64_set(unsigned d, unsigned condition)
{
    return 0x1a9f07e0 | (condition ^ 1) << 12 | d;
}

/* Branches by so many instructions. */
static inline uint32_t wmi_arm64_branch(int32_t distance)
{
    return 0x14000000 | ((uint32_t)distance & 0x3ffffff);
}

static inline uint32_t wmi_arm64_call(int32_t distance)
{
    return 0x94000000 | ((uint32_t)distance & 0x3ffffff);
}

static inline uint32_t wmi_arm64_branch_if(unsigned condition, int32_t distance)
{
    return 0x54000000 | ((uint32_t)distance & 0x7ffff) << 5 | condition;
}

/* If register t is 0, or is not: 64 bits. */
static inline uint32_t wmi_arm64_branch_zero(unsigned t, bool if_zero, int32_t distance)
{
    return (if_zero ? 0xb4000000 : 0xb5000000) | ((uint32_t)distance & 0x7ffff) << 5 | t;
}

/* The address of a place so many bytes away. */
static inline uint32_t wmi_arm64_address_near(unsigned d, int32_t bytes)
{
    return 0x10000000 | ((uint32_t)bytes & 3) << 29 | ((uint32_t)bytes >> 2 & 0x7ffff) << 5 | d;
}

#endif

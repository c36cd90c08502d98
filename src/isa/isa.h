/* SPDX-License-Identifier: MIT */
/* The instruction set: targets, rows, decoding words into operands, printing LLVM's text.
 *
 * Everything comes from the tables in isa/ through the generator; this header names no instruction. */
#ifndef WMI_ISA_H
#define WMI_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WMI_INSTRUCTION_DWORDS = 5, /* MIMG with NSA dwords, the longest on any target */
    WMI_OPERANDS = 12,          /* most operands that an instruction prints */
};

/* Instruction ids: WMI_INSN_v_add_f32, ... The id is the row's first name, made unique. */
enum wmi_insn_id {
    WMI_INSN_NONE,
#define INSN(id, ...) WMI_INSN_##id,
#include "insn.def"
    WMI_INSN_COUNT
};

/* Additional bodies, for instructions whose operation changes from a generation on. */
enum wmi_body_number {
    WMI_BODY_LAST_OF_ROWS = WMI_INSN_COUNT - 1, /* up to here, a row's number is also its body's */
#define INSN(...)
#define BODY(id, ...) WMI_BODY_##id,
#include "insn.def"
    WMI_BODY_COUNT
};

/* The unit that executes the instruction; from the row's encoding. */
enum wmi_class {
    WMI_CLASS_SALU,    /* SOP1, SOP2, SOPC, SOPK: a body in src/sem */
    WMI_CLASS_VALU,    /* VOP*: a body in src/sem, compiled per CPU level and wave size */
    WMI_CLASS_CONTROL, /* SOPP, and SOP1/SOPK that change the program counter or machine state: src/exec */
    WMI_CLASS_SMEM,
    WMI_CLASS_BUFFER,  /* MUBUF, VBUFFER */
    WMI_CLASS_TBUFFER, /* MTBUF */
    WMI_CLASS_IMAGE,
    WMI_CLASS_FLAT,
    WMI_CLASS_GLOBAL,
    WMI_CLASS_SCRATCH,
    WMI_CLASS_DS,
    WMI_CLASS_EXPORT, /* EXP, VINTRP, VINTERP, LDSDIR */
};

/* What a memory instruction does. */
enum wmi_memory_kind {
    WMI_MEMORY_NONE,
    WMI_MEMORY_LOAD,
    WMI_MEMORY_STORE,
    WMI_MEMORY_ATOMIC,  /* the body's name gives the operation */
    WMI_MEMORY_CONTROL, /* cache write-back, invalidate, clocks, barriers, semaphores */
};

/* Wait counters. Before gfx12, LOAD is vmcnt, STORE is vscnt (or vmcnt), DS is lgkmcnt, which includes KM. */
enum wmi_counter {
    WMI_COUNTER_LOAD,
    WMI_COUNTER_STORE,
    WMI_COUNTER_SAMPLE,
    WMI_COUNTER_BVH,
    WMI_COUNTER_DS,
    WMI_COUNTER_KM,
    WMI_COUNTER_EXP,
    WMI_COUNTER_COUNT,
    /* gfx12.5, which has neither samples nor rays. */
    WMI_COUNTER_ASYNC = WMI_COUNTER_SAMPLE,
    WMI_COUNTER_TENSOR = WMI_COUNTER_BVH,
};

/* How an instruction is counted until it finishes; src/isa/rules/wait.c maps this to counters. */
enum wmi_counted_as {
    WMI_COUNTS_NONE,
    WMI_COUNTS_LOAD,
    WMI_COUNTS_STORE,
    WMI_COUNTS_ATOMIC, /* a load if it returns a value, else a store */
    WMI_COUNTS_SAMPLE,
    WMI_COUNTS_RAY,
    WMI_COUNTS_LDS,
    WMI_COUNTS_SCALAR,
    WMI_COUNTS_MESSAGE,
    WMI_COUNTS_EXPORT,
    WMI_COUNTS_LDSDIR,
    WMI_COUNTS_ASYNC, /* copies between memory and LDS, and the arrivals that follow them */
    WMI_COUNTS_TENSOR,
};

/* Groups that hazards, the assembler or observers treat alike. */
enum wmi_group {
    WMI_GROUP_NONE,
    WMI_GROUP_IDLE,       /* s_nop */
    WMI_GROUP_VECTOR_NOP, /* v_nop */
    WMI_GROUP_PERMLANE,
    WMI_GROUP_READLANE, /* v_readlane, v_readfirstlane */
    WMI_GROUP_WRITELANE,
    WMI_GROUP_DIV_FMAS,
    WMI_GROUP_SETREG,
    WMI_GROUP_GETREG,
    WMI_GROUP_DENORM_MODE,
    WMI_GROUP_RFE,
    WMI_GROUP_MOVREL, /* scalar */
    WMI_GROUP_BRANCH,
    WMI_GROUP_SENDMSG,
    WMI_GROUP_DEPCTR,
    WMI_GROUP_DOT,
    WMI_GROUP_FMA64,
    WMI_GROUP_MAD64,
    WMI_GROUP_ACC_READ, /* v_accvgpr_read and _write */
    WMI_GROUP_ACC_WRITE,
    WMI_GROUP_LDS_DMA, /* moves data between memory and LDS, given by the opcode */
    WMI_GROUP_SCRATCH, /* s_scratch: a register offset is in units of 64 bytes */
    WMI_GROUP_GWS,
    WMI_GROUP_CMPSWAP, /* compare and swap, in memory or LDS */
    WMI_GROUP_MSAA,
    WMI_GROUP_PCK,         /* images: raw texels, without format conversion */
    WMI_GROUP_MADMK,       /* B is the addend, and the literal a factor */
    WMI_GROUP_MASK,        /* combines lane masks, as code does with those that leave a loop */
    WMI_GROUP_SWAP,        /* v_permlane16_swap, v_permlane32_swap */
    WMI_GROUP_PART,        /* gfx950: a later read waits if op_sel picks the high half of the result, */
    WMI_GROUP_PART_ALWAYS, /* or always */
};

/* The unit that executes an instruction, and for vector instructions the rate. Matters to profiles only. */
enum wmi_work {
    WMI_WORK_INTERNAL, /* s_waitcnt, s_barrier, s_nop, s_endpgm and the like: no unit */
    WMI_WORK_SALU,
    WMI_WORK_BRANCH,
    WMI_WORK_MESSAGE,
    WMI_WORK_SMEM,
    WMI_WORK_VECTOR_MEMORY,
    WMI_WORK_LDS,
    WMI_WORK_GDS,
    WMI_WORK_EXPORT,
    WMI_WORK_FULL,     /* from here on the VALU: at full rate */
    WMI_WORK_MULTIPLY, /* 32-bit integer products, and sums of absolute differences of 64 bits */
    WMI_WORK_DIVIDE,   /* v_div_scale_f32, v_div_fmas_f32 */
    WMI_WORK_WIDE,     /* 64-bit shifts and integer comparisons */
    WMI_WORK_TRANS,    /* f32 and f16 */
    WMI_WORK_DOUBLE,   /* f64: additions, comparisons, conversions, rounding */
    WMI_WORK_DOUBLE_MUL,
    WMI_WORK_DOUBLE_TRANS,
    WMI_WORK_MATRIX,
    WMI_WORK_KINDS,
};

/* What LLVM's assembler rejects although it can be encoded. The name says what A, B, C or IMM must be. */
enum wmi_rule {
    WMI_RULE_A_SGPR = 1 << 0,      /* one dword, no aperture */
    WMI_RULE_A_SGPR_PAIR = 1 << 1, /* no one-dword special register */
    WMI_RULE_A_VGPR = 1 << 2,
    WMI_RULE_A_NULL = 1 << 3,    /* if the limit waits_of_null is set */
    WMI_RULE_A_BARRIER = 1 << 4, /* m0 or an inline constant */
    WMI_RULE_B_NO_LITERAL = 1 << 5,
    WMI_RULE_C_VGPR = 1 << 6,
    WMI_RULE_C_VGPR_DPP = 1 << 7, /* with DPP */
    WMI_RULE_IMM_UNSIGNED = 1 << 8,
    WMI_RULE_NO_LITERAL = 1 << 9,
    WMI_RULE_NO_DPP = 1 << 10,     /* unless the limit pk_fmac_dpp is set */
    WMI_RULE_HALVES_E64 = 1 << 11, /* the long encoding exists only in text that names halves */
    WMI_RULE_ONE_SCALAR = 1 << 12, /* reads one scalar value, regardless of the constant bus limit */
    WMI_RULE_NO_LDS_DIRECT = 1 << 13,
    WMI_RULE_NO_GDS = 1 << 14,
    WMI_RULE_GDS = 1 << 15, /* requires gds */
    WMI_RULE_NO_D16 = 1 << 16,
    WMI_RULE_LOW_MASK = 1 << 17,   /* B is v0 to v127 in short encodings on targets with true16 modes */
    WMI_RULE_SDWA_DWORD = 1 << 18, /* SDWA writes whole registers */
    WMI_RULE_M0_LANE = 1 << 19,    /* B in m0 does not count for the constant bus */
    WMI_RULE_HALF_A =
        1 << 20, /* hardware takes A from a half of a VGPR where it does so with 16-bit operands */
    WMI_RULE_HALF_C = 1 << 21, /* the same for C */
    WMI_RULE_ODD_RESULT =
        1 << 22, /* the result may begin at an odd register, whatever the limit even_tuples says */
    WMI_RULE_REPEATS =
        1 << 23, /* an inline constant is in both halves of A and B if the limit repeats_constants is set */
};

/* What an instruction does to a cache. */
enum wmi_cache_operation {
    WMI_CACHE_INVALIDATE = 1,
    WMI_CACHE_WRITE_BACK = 2,
    WMI_CACHE_DISCARD = 4,
    WMI_CACHE_PREFETCH = 8,
};
enum wmi_cache_level {
    WMI_CACHE_LEVEL_VECTOR,
    WMI_CACHE_LEVEL_GL1,
    WMI_CACHE_LEVEL_L2,
    WMI_CACHE_LEVEL_SCALAR,
    WMI_CACHE_LEVEL_INSTRUCTION
};
/* Which lines, and which caches on the path to memory. */
enum wmi_cache_scope {
    WMI_CACHE_SCOPE_ALL,
    WMI_CACHE_SCOPE_VOLATILE, /* lines loaded as volatile */
    WMI_CACHE_SCOPE_SYSTEM,
    WMI_CACHE_SCOPE_WORKGROUP, /* the workgroup: this alone does not show what other workgroups wrote */
    WMI_CACHE_SCOPE_FIELD,     /* given by sc0 and sc1, or scope */
};

/* Element types of matrices. */
enum wmi_matrix_element {
    WMI_ELEMENT_NONE,
#define ELEMENT(name, bits) WMI_ELEMENT_##name,
#include "elements.def"
    WMI_ELEMENT_COUNT
};

/* D += A * B, or D = A * B + C: A has m rows, B n columns, k is their common dimension. */
struct wmi_matrix {
    uint8_t m, n, k;
    uint8_t blocks;  /* number of independent products */
    uint8_t d, a, b; /* enum wmi_matrix_element */
    bool sparse;     /* of each four elements of A along k two are stored, and C gives their positions */
};

/* Data type of an operand; wmi_type_bits() gives its width. */
enum wmi_type {
    WMI_TYPE_NONE,
#define TYPE(name, bits, ...) WMI_TYPE_##name,
#include "types.def"
    WMI_TYPE_COUNT
};

/* The role of an operand in its instruction. Every encoding maps its fields to these. */
enum wmi_role {
    WMI_ROLE_NONE,
    WMI_ROLE_D,      /* result: vdst, sdst, vdata of a load */
    WMI_ROLE_SDST,   /* second, scalar result of VOP3B and of v_add_co_u32 (vcc in VOP2) */
    WMI_ROLE_A,      /* src0, ssrc0 */
    WMI_ROLE_B,      /* src1 */
    WMI_ROLE_C,      /* src2, carry in, VGPR accumulator */
    WMI_ROLE_IMM,    /* simm16, simm32 of madmk/madak, label, hwreg, sendmsg, waitcnt, attr */
    WMI_ROLE_IMM2,   /* second immediate: s_setreg_imm32, attribute channel */
    WMI_ROLE_ADDR,   /* vaddr, DS address, SBASE */
    WMI_ROLE_DATA,   /* store or atomic data */
    WMI_ROLE_DATA2,  /* second data: ds_write2, ds_cmpst */
    WMI_ROLE_RSRC,   /* V#, T# */
    WMI_ROLE_SAMP,   /* S# */
    WMI_ROLE_OFFSET, /* soffset: SGPR, or constant; SMEM's offset operand */
    WMI_ROLE_SADDR,  /* FLAT family scalar base */
    WMI_ROLE_FORMAT, /* MTBUF dfmt/nfmt */
    WMI_ROLE_COUNT
};

enum wmi_operand_kind {
    WMI_OPERAND_NONE,
    WMI_OPERAND_SGPR,      /* reg: 0..105 */
    WMI_OPERAND_VGPR,      /* reg: 0..255 */
    WMI_OPERAND_AGPR,      /* reg: 0..255 */
    WMI_OPERAND_TTMP,      /* reg: 0..15 */
    WMI_OPERAND_SPECIAL,   /* reg: enum wmi_special */
    WMI_OPERAND_CONSTANT,  /* inline constant; value: its bits as read by an operand of this type (f16 in f16,
                              i64  sign-extended) */
    WMI_OPERAND_LITERAL,   /* value: as read by the operand (a 64-bit float literal is the high dword) */
    WMI_OPERAND_IMMEDIATE, /* value: the field, sign-extended if the row says so */
    WMI_OPERAND_LABEL,     /* value: signed dwords from the end of the instruction */
    WMI_OPERAND_OFF,       /* "off", no register */
};

enum wmi_special {
    WMI_SPECIAL_VCC,
    WMI_SPECIAL_VCC_LO,
    WMI_SPECIAL_VCC_HI,
    WMI_SPECIAL_EXEC,
    WMI_SPECIAL_EXEC_LO,
    WMI_SPECIAL_EXEC_HI,
    WMI_SPECIAL_M0,
    WMI_SPECIAL_NULL,
    WMI_SPECIAL_SCC,
    WMI_SPECIAL_VCCZ,
    WMI_SPECIAL_EXECZ,
    WMI_SPECIAL_FLAT_SCRATCH,
    WMI_SPECIAL_FLAT_SCRATCH_LO,
    WMI_SPECIAL_FLAT_SCRATCH_HI,
    WMI_SPECIAL_XNACK_MASK,
    WMI_SPECIAL_XNACK_MASK_LO,
    WMI_SPECIAL_XNACK_MASK_HI,
    WMI_SPECIAL_SHARED_BASE,
    WMI_SPECIAL_SHARED_LIMIT,
    WMI_SPECIAL_PRIVATE_BASE,
    WMI_SPECIAL_PRIVATE_LIMIT,
    WMI_SPECIAL_POPS_EXITING_WAVE_ID,
    WMI_SPECIAL_LDS_DIRECT,
    WMI_SPECIAL_FLAT_SCRATCH_BASE_LO,
    WMI_SPECIAL_FLAT_SCRATCH_BASE_HI,
    WMI_SPECIAL_TBA,
    WMI_SPECIAL_TBA_LO,
    WMI_SPECIAL_TBA_HI,
    WMI_SPECIAL_TMA,
    WMI_SPECIAL_TMA_LO,
    WMI_SPECIAL_TMA_HI,
    WMI_SPECIAL_COUNT
};

/* The half of its VGPR that a 16-bit operand uses. */
enum wmi_part { WMI_PART_WHOLE, WMI_PART_LOW, WMI_PART_HIGH };

struct wmi_operand {
    uint8_t kind;   /* enum wmi_operand_kind */
    uint8_t role;   /* enum wmi_role */
    uint8_t type;   /* enum wmi_type */
    uint8_t dwords; /* number of registers, 1..16 (32 for MFMA) */
    uint16_t reg;   /* register number; special register: enum wmi_special; inline constant: operand code */
    uint8_t written : 1, read : 1;
    uint8_t implied : 1; /* fixed by the row (vcc of VOP2's carry), not a field */
    uint8_t neg : 1, abs : 1, sext : 1;
    uint8_t part : 2; /* enum wmi_part */
    uint8_t wide : 1; /* a literal of two dwords */
    uint64_t value;
};

/* Extension of a vector instruction's base encoding. */
enum wmi_extension { WMI_EXT_NONE, WMI_EXT_LITERAL, WMI_EXT_DPP, WMI_EXT_DPP8, WMI_EXT_SDWA };

/* Modifiers and other fields besides operands: WMI_FIELD_offset, WMI_FIELD_glc, WMI_FIELD_clamp,
 * WMI_FIELD_dpp_ctrl, ..., from the layouts in isa/. */
enum wmi_field {
#define FIELD(name, ...) WMI_FIELD_##name,
#include "fields.def"
    WMI_FIELD_COUNT
};

struct wmi_instruction {
    uint32_t words[WMI_INSTRUCTION_DWORDS];
    uint8_t dwords;                  /* length; 0: not an instruction of the target */
    uint8_t extension;               /* enum wmi_extension */
    uint8_t layout;                  /* enum wmi_layout_id: the encoding in which it was found */
    uint8_t operands;                /* number of operands, in printing order; absent ones have kind NONE */
    uint16_t id;                     /* enum wmi_insn_id */
    uint16_t body;                   /* its body on the target, for wmi_sem_body() */
    uint16_t form;                   /* which of the row's encodings; for wmi_print */
    uint16_t second_id, second_form; /* the other half of a VOPD pair, else 0 */
    uint16_t second_body;
    uint8_t second_operands; /* operands of the second half; they follow those of the first */
    struct wmi_operand operand[WMI_OPERANDS];
    int32_t
        field[WMI_FIELD_COUNT]; /* raw; signed fields are sign-extended; 0 if the encoding lacks the field */
};

/* A row, as needed by execution and reports. */
struct wmi_row {
    const char *name;                 /* identity */
    uint8_t class;                    /* enum wmi_class */
    uint8_t memory;                   /* enum wmi_memory_kind */
    uint8_t elements;                 /* memory: elements per lane (x4: 4, read2: 2) */
    uint8_t bytes;                    /* memory: bytes per element */
    uint32_t flags;                   /* WMI_ROW_* */
    uint32_t rules;                   /* enum wmi_rule */
    uint8_t counts;                   /* enum wmi_counted_as */
    uint8_t waits;                    /* 1 << enum wmi_counter: counters that it waits for */
    uint8_t group;                    /* enum wmi_group */
    uint8_t work;                     /* enum wmi_work */
    uint8_t cache;                    /* enum wmi_cache_operation; 0: none */
    uint8_t cache_level, cache_scope; /* enum wmi_cache_level, enum wmi_cache_scope */
    uint8_t matrix;                   /* index in wmi_matrices; 0: none */
};

enum {
    WMI_ROW_TODO = 1 << 0, /* decodes and prints, but has no body yet */
    WMI_ROW_READS_SCC = 1 << 1,
    WMI_ROW_WRITES_SCC = 1 << 2,
    WMI_ROW_READS_EXEC = 1 << 3,  /* other than as the lane mask */
    WMI_ROW_WRITES_EXEC = 1 << 4, /* implicitly: v_cmpx, s_*_saveexec, s_wrexec */
    WMI_ROW_WRITES_VCC = 1 << 5,  /* implicitly */
    WMI_ROW_READS_VCC = 1 << 6,   /* implicitly */
    WMI_ROW_READS_M0 = 1 << 7,
    WMI_ROW_IGNORES_EXEC = 1 << 8, /* v_readlane, v_readfirstlane, v_writelane */
    WMI_ROW_SIGNED = 1 << 9,       /* memory: sign-extends (sbyte, sshort) */
    WMI_ROW_D16 = 1 << 10,         /* memory: writes half a VGPR and keeps the other */
    WMI_ROW_D16_HI = 1 << 11,      /* memory: D16 uses the high half */
    WMI_ROW_FORMAT = 1 << 12,      /* memory: converts through a format */
    WMI_ROW_CROSS_LANE = 1 << 13, /* reads other lanes: v_readlane, ds_bpermute; not set for v_mov with DPP */
    WMI_ROW_ENDS = 1 << 14,       /* s_endpgm and the like */
    WMI_ROW_APPROX = 1 << 15,     /* no document specifies the result bit by bit */
    WMI_ROW_TRANS = 1 << 16,      /* transcendental rate */
    WMI_ROW_STRIDE64 = 1 << 17,   /* ds_*2st64 */
    WMI_ROW_RETURNS = 1 << 18,    /* an atomic that returns, given by the opcode (DS *_rtn) */
    WMI_ROW_FLOAT_CLAMP = 1 << 19, /* clamp is to [0, 1]; otherwise an integer instruction saturates */
    WMI_ROW_VOP3_OPSEL = 1 << 20,  /* op_sel picks 16-bit halves */
    WMI_ROW_MACC = 1 << 21,        /* also reads d: v_mac, v_fmac, accumulating dot products */
    WMI_ROW_TRUE16 = 1 << 22,      /* names halves of VGPRs on targets that do (wmi_target_variant) */
    WMI_ROW_ALWAYS16 = 1 << 23,    /* names halves of VGPRs on all targets */
    WMI_ROW_LOD = 1 << 24,         /* images: the address includes a LOD, LOD clamp or mip level */
    WMI_ROW_GRADIENTS = 1 << 25,   /* images: the address includes gradients */
    WMI_ROW_G16 = 1 << 26,         /* images: gradients have 16 bits */
    WMI_ROW_KEEPS_HALF =
        1 << 27,                /* had op_sel from its first encoding on: keeps the other half on gfx9, too */
    WMI_ROW_PACKED = 1 << 28,   /* VOP3P: has op_sel_hi as well */
    WMI_ROW_ONE_LANE = 1 << 29, /* scalar floats: run the vector body in one lane */
    WMI_ROW_FLOAT = 1 << 30,    /* memory: a float atomic */
};

/* Fidelity of a row; from isa/fidelity. */
enum wmi_grade { WMI_GRADE_EXACT, WMI_GRADE_APPROX, WMI_GRADE_UNVERIFIED };

struct wmi_fidelity {
    uint16_t id;        /* enum wmi_insn_id */
    uint8_t grade;      /* enum wmi_grade */
    uint8_t field;      /* applies only if this field (enum wmi_field) is not 0; WMI_FIELD_COUNT: always */
    uint64_t nodes;     /* applies to targets whose generation's bit is set */
    const char *remark; /* the bound and its source, or what is unverified */
};

/* Sorted by row, conditional entries first within a row. Ends with id 0. */
extern const struct wmi_fidelity wmi_fidelities[];
/* Open questions that affect many rows; ends with NULL. */
extern const char *const wmi_fidelity_general[];

struct wmi_target; /* one gfx target with its decode tables; static, shared, immutable */

/* The entry that applies to row `id` of an instruction of the target, of which a VOPD pair has two; NULL:
 * exact. A linear search, for reports and predecoding. */
const struct wmi_fidelity *wmi_fidelity_of(const struct wmi_target *target,
                                           const struct wmi_instruction *insn, unsigned id);

/* The target called `name` ("gfx900", also "gfx906:xnack+" style ids), or NULL; NULL for
 * NULL and unknown features. "gfx1030:wave64" selects
 * waves of 64, "gfx1100:real-true16" the mode that names halves of VGPRs (wmi_target_variant). */
const struct wmi_target *wmi_target_find(const char *name);
/* The name of the generic target whose code the target executes, too, such as "gfx11-generic"; NULL: none. */
const char *wmi_target_generic(const struct wmi_target *target);
/* Whether the target executes code for the target `name`: itself, or its generic one. */
bool wmi_target_executes(const struct wmi_target *target, const char *name);
/* The target of an ELF header's e_flags (EF_AMDGPU_MACH), or NULL. Source: LLVM AMDGPUUsage, "ELF Code
 * Object". */
const struct wmi_target *wmi_target_of_mach(uint32_t e_flags);
/* The target with waves of `lanes`, 32 or 64, and with or without LLVM's "real" true16 mode, in which 16-bit
 * operands name halves of VGPRs (gfx11 and later); NULL if the target has no such variant. Lane masks,
 * matrices and VOPD depend on the wave size. wmi_target_find() and wmi_target_of_mach() return the default
 * variant, which is that of LLVM's tools: waves of 32 from gfx10 on, no halves. */
const struct wmi_target *wmi_target_variant(const struct wmi_target *target, unsigned lanes,
                                            bool real_true16);
const char *wmi_target_name(const struct wmi_target *target);
/* EF_AMDGPU_MACH of its ELF headers. */
uint32_t wmi_target_mach(const struct wmi_target *target);
/* A number of the target: limits and granules, from isa/targets. */
enum wmi_limit {
#define LIMIT(name) WMI_LIMIT_##name,
#include "limits.def"
    WMI_LIMIT_COUNT
};
uint32_t wmi_target_limit(const struct wmi_target *target, enum wmi_limit limit);

/* What a target id such as "gfx906:sramecc+" says of SRAM-ECC, if its target has that. */
enum wmi_sramecc { WMI_SRAMECC_UNSAID, WMI_SRAMECC_OFF, WMI_SRAMECC_ON };
enum wmi_sramecc wmi_sramecc_of(const char *target_id);

/* Names for reports, "" if the target has none: of an export's target, of a message and its operation, from
 * the immediate of s_sendmsg or the source of s_sendmsg_rtn. */
const char *wmi_export_target_name(const struct wmi_target *target, uint32_t number);
const char *wmi_message_name(const struct wmi_target *target, uint32_t message);
const char *wmi_message_operation_name(const struct wmi_target *target, uint32_t message);

extern const struct wmi_row wmi_rows[WMI_INSN_COUNT];
extern const struct wmi_matrix wmi_matrices[];

/* The shape of a matrix instruction; NULL: not a matrix instruction. */
static inline const struct wmi_matrix *wmi_matrix_of(unsigned id)
{
    return wmi_rows[id].matrix ? &wmi_matrices[wmi_rows[id].matrix] : NULL;
}

unsigned wmi_type_bits(enum wmi_type type);

/* Decodes the instruction at `words`, reading at most `available` dwords.
 * Returns its length in dwords, or 0 if it is not an instruction of the target or is truncated. */
unsigned wmi_decode(const struct wmi_target *target, const uint32_t *words, size_t available,
                    struct wmi_instruction *out);

/* The same as hardware decodes it, in whatever mode LLVM prints the target: on gfx11 and later all 16-bit
 * operands are halves of VGPRs, from gfx10 on op_sel of VOP3 chooses them, and unused bits are ignored. */
unsigned wmi_decode_executed(const struct wmi_target *target, const uint32_t *words, size_t available,
                             struct wmi_instruction *out);

/* The operand in `role`, or NULL. */
const struct wmi_operand *wmi_operand(const struct wmi_instruction *insn, enum wmi_role role);

/* The VGPRs, one per dword, of an address given as a register list; `index` is its operand. Stores up to
 * `size` and returns their number; 0: the address is one tuple. */
unsigned wmi_image_address(const struct wmi_target *target, const struct wmi_instruction *insn,
                           unsigned index, uint8_t *registers, unsigned size);

/* Writes LLVM's text of the instruction, NUL-terminated and truncated to `size`; returns the full length. */
size_t wmi_print(const struct wmi_target *target, const struct wmi_instruction *insn, char *text,
                 size_t size);

/* Writes operand `index` alone, NUL-terminated; an empty string if there is none. */
void wmi_print_operand(const struct wmi_target *target, const struct wmi_instruction *insn, unsigned index,
                       char *text, size_t size);

#endif

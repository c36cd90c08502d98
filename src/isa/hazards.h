/* SPDX-License-Identifier: MIT */
/* Hazards: pairs of instructions that code must keep apart, because the hardware does not look. */
#ifndef WMI_HAZARDS_H
#define WMI_HAZARDS_H

#include "isa/registers.h"

/* What the first instruction does, and what the second one must not do too soon. */
enum wmi_hazard_kind {
    WMI_HAZARD_VALU_SGPR_SMEM,
    WMI_HAZARD_SALU_SGPR_SBUFFER,
    WMI_HAZARD_VALU_SGPR_VMEM,
    WMI_HAZARD_SALU_M0_USE,
    WMI_HAZARD_SALU_M0_SENDMSG,
    WMI_HAZARD_STORE_DATA,
    WMI_HAZARD_VGPR_DPP,
    WMI_HAZARD_EXEC_DPP,
    WMI_HAZARD_VCC_DIV_FMAS,
    WMI_HAZARD_VALU_LANE_SELECT,
    WMI_HAZARD_VALU_VCCZ,
    WMI_HAZARD_SETREG_GETREG,
    WMI_HAZARD_SETREG_SETREG,
    WMI_HAZARD_SETREG_RFE,
    WMI_HAZARD_FP_ATOMIC_DENORM,
    WMI_HAZARD_TRANS_FORWARD,
    WMI_HAZARD_VALU_SGPR_VALU,
    WMI_HAZARD_VGPR_READLANE,
    WMI_HAZARD_EXEC_RWLANE,
    /* Of matrix instructions: wmi_matrix_states() says for how long. */
    WMI_HAZARD_VALU_MATRIX,
    WMI_HAZARD_EXEC_MATRIX,
    WMI_HAZARD_MATRIX_READ,
    WMI_HAZARD_MATRIX_OVERWRITE,
    WMI_HAZARD_MATRIX_C_OVERWRITE,
    WMI_HAZARD_DOT_RESULT,
    WMI_HAZARD_DGEMM_FMA,
    WMI_HAZARD_DGEMM_VMEM,
    /* Not by distance: until something else has been executed. */
    WMI_HAZARD_VMEM_SCALAR_WRITE,
    WMI_HAZARD_SMEM_VECTOR_WRITE,
    WMI_HAZARD_LDS_BRANCH_VMEM,
    WMI_HAZARD_VCMPX_PERMLANE,
    WMI_HAZARD_VCMPX_EXEC,
    WMI_HAZARD_TRANS_USE,
    WMI_HAZARD_PARTIAL_FORWARD,
    WMI_HAZARD_MASK_WRITE,
    WMI_HAZARD_LDSDIR_VALU,
    WMI_HAZARD_LDSDIR_VMEM,
    WMI_HAZARD_WMMA,
    WMI_HAZARD_VALU_READ_SGPR,
    WMI_HAZARD_COUNT
};

struct wmi_hazard {
    const char *name; /* for reports and JSON: "valu-sgpr-vmem" */
    const char *what; /* follows the register's name: "was written by the VALU and is read by ..." */
    const char *remedy;
    const char *source;
};

extern const struct wmi_hazard wmi_hazards[WMI_HAZARD_COUNT];

/* Wait states that must lie between the two on the target; 0: there is no such hazard. */
unsigned wmi_hazard_states(const struct wmi_target *target, enum wmi_hazard_kind kind);

/* What a matrix instruction, or another that shares its registers, is to hazards. */
struct wmi_matrix_facts {
    uint8_t passes; /* of MFMA and SMFMAC: 2, 4, 8 or 16; else 0 */
    bool mai;       /* those, and acc_read and acc_write */
    bool dgemm;     /* of doubles */
    bool small;     /* of doubles, 4 by 4 */
    bool xdl;       /* not of single-precision floats, from gfx940 on; before it all but doubles */
    bool sparse;    /* SMFMAC: the result is C as well */
    bool unified;   /* AccVGPRs and VGPRs are one file */
    bool dot, fma64;
    bool acc_read, acc_write; /* where they are not: v_accvgpr_read, v_accvgpr_write */
    uint16_t id;
};

/* What the second instruction does with the register of the first. */
enum wmi_matrix_use {
    WMI_MATRIX_SOURCE,     /* reads it as A or B, or as an index */
    WMI_MATRIX_C,          /* reads it as C */
    WMI_MATRIX_VALU,       /* another vector instruction reads it */
    WMI_MATRIX_MEMORY,     /* memory, LDS or an export does */
    WMI_MATRIX_WRITE,      /* writes it */
    WMI_MATRIX_C_WRITTEN,  /* writes it; to the first instruction it was C */
    WMI_MATRIX_ACC_SOURCE, /* the first is v_accvgpr_write: reads it as A or B, by v_accvgpr_read, or writes
                              it */
    WMI_MATRIX_ACC_C,      /* the same: as C */
};

/* Wait states between a matrix instruction, or v_accvgpr_write, and a second one that uses the same register.
 * `same`: both name the same tuple. */
unsigned wmi_matrix_states(const struct wmi_target *target, const struct wmi_matrix_facts *first,
                           enum wmi_matrix_use use, const struct wmi_matrix_facts *second, bool same);
struct wmi_matrix_facts wmi_matrix_facts_of(const struct wmi_target *target,
                                            const struct wmi_instruction *insn);

/* What hazards ask of an instruction. */
struct wmi_hazard_facts {
    uint8_t states; /* wait states that it takes */
    bool valu, salu, sopp, smem, s_buffer, vmem, flat, ds, branch;
    bool uses_m0;    /* LDS with an address from M0, GDS, loads to LDS, s_movrel: M0 written just before */
    bool sends;      /* s_sendmsg */
    bool wide_store; /* data of more than 64 bits that is read late */
    bool dpp, div_fmas, reads_vccz;
    bool waits_vm_vsrc;        /* s_waitcnt_depctr vm_vsrc(0), s_waitcnt of all to 0 */
    bool waits_lgkm, waits_vs; /* to 0 */
    int16_t setreg, getreg;    /* number of the hardware register, or -1 */
    int16_t lane_select;       /* SGPR, or -1 */
    bool trans, permlane, vcmpx, nop, export, fp_atomic, waits, denorm_mode, rfe;
    bool readlane, writelane; /* v_readlane and v_readfirstlane; v_writelane */
    bool wmma, sparse;        /* of gfx11 and later; its C is an index */
    bool wave64;
    bool sa_sdst, va_vcc, va_sdst, va_vdst; /* waited for until 0, by s_waitcnt_depctr */
    bool literal;                           /* has one */
    int8_t mask_role;                       /* of the operand that is a mask of lanes, or -1; VCC: implied */
    int8_t ldsdir_vdst, ldsdir_vsrc;        /* LDSDIR: its wait_vdst and wait_vm_vsrc; else -1 */
    bool ldsdir_has_vsrc;                   /* the target's LDSDIR has the latter */
    struct wmi_matrix_facts matrix;
};

struct wmi_hazard_facts wmi_hazard_facts_of(const struct wmi_target *target,
                                            const struct wmi_instruction *insn);

#endif

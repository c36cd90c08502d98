/* SPDX-License-Identifier: MIT */
/* Hazards: pairs of instructions that software must separate, because the hardware has no interlock. */
#ifndef WMI_HAZARDS_H
#define WMI_HAZARDS_H

#include "isa/rules/registers.h"

/* Named after what the first instruction does and what the second must not do too soon. */
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
    WMI_HAZARD_VALU_SWAP,
    WMI_HAZARD_PART_FORWARD,
    /* Matrix instructions; wmi_matrix_states() gives the wait states. */
    WMI_HAZARD_VALU_MATRIX,
    WMI_HAZARD_EXEC_MATRIX,
    WMI_HAZARD_MATRIX_READ,
    WMI_HAZARD_MATRIX_OVERWRITE,
    WMI_HAZARD_MATRIX_C_OVERWRITE,
    WMI_HAZARD_DOT_RESULT,
    WMI_HAZARD_DGEMM_FMA,
    WMI_HAZARD_DGEMM_VMEM,
    /* Not distances: these last until some other instruction has been executed. */
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
    WMI_HAZARD_VGPR_DEALLOCATED,
    WMI_HAZARD_MAD_OVERLAP,
    WMI_HAZARD_WMMA_BUSY,
    WMI_HAZARD_COUNT
};

struct wmi_hazard {
    const char *name;   /* for reports and JSON: "valu-sgpr-vmem" */
    const char *what;   /* follows the register's name: "was written by the VALU and is read by ..." */
    const char *remedy; /* what is missing between the two; NULL: the first one is wrong in itself */
    const char *source;
    bool is_new; /* compilers that are in use do not avoid it: clang before 20 */
};

extern const struct wmi_hazard wmi_hazards[WMI_HAZARD_COUNT];

/* Wait states required between the two instructions on the target; 0: the hazard does not exist. */
unsigned wmi_hazard_states(const struct wmi_target *target, enum wmi_hazard_kind kind);

/* Properties of a matrix instruction, or of one that shares its registers. */
struct wmi_matrix_facts {
    uint8_t passes; /* MFMA and SMFMAC: 2, 4, 8 or 16; else 0 */
    bool mai;       /* MFMA, SMFMAC, acc_read or acc_write */
    bool dgemm;     /* double precision */
    bool small;     /* double precision, 4x4 */
    bool xdl;       /* all but f64, and from gfx940 on not f32 */
    bool sparse;    /* SMFMAC: the result is also C */
    bool unified;   /* AccVGPRs and VGPRs share one register file */
    bool dot, fma64;
    bool acc_read, acc_write; /* v_accvgpr_read, v_accvgpr_write with separate register files */
    uint16_t id;
};

/* How the second instruction uses the first one's register. */
enum wmi_matrix_dependence {
    WMI_MATRIX_SOURCE,     /* reads it as A or B, or as an index */
    WMI_MATRIX_C,          /* reads it as C */
    WMI_MATRIX_VALU,       /* another vector instruction reads it */
    WMI_MATRIX_MEMORY,     /* a memory, LDS or export instruction reads it */
    WMI_MATRIX_WRITE,      /* writes it */
    WMI_MATRIX_C_WRITTEN,  /* writes it; the first instruction read it as C */
    WMI_MATRIX_ACC_SOURCE, /* the first is v_accvgpr_write: reads it as A or B or by v_accvgpr_read, or writes
                              it */
    WMI_MATRIX_ACC_C,      /* the first is v_accvgpr_write: reads it as C */
};

/* Wait states between a matrix instruction, or v_accvgpr_write, and a second one that uses the same register.
 * `same`: both operands are the same tuple. */
unsigned wmi_matrix_states(const struct wmi_target *target, const struct wmi_matrix_facts *first,
                           enum wmi_matrix_dependence use, const struct wmi_matrix_facts *second, bool same);
struct wmi_matrix_facts wmi_matrix_facts_of(const struct wmi_target *target,
                                            const struct wmi_instruction *insn);

/* Properties of an instruction that hazards depend on. */
struct wmi_hazard_facts {
    uint8_t states; /* wait states that it provides */
    bool valu, salu, sopp, smem, s_buffer, vmem, flat, ds, branch;
    bool uses_m0;    /* uses M0: LDS with an address from M0, GDS, loads to LDS, s_movrel */
    bool sends;      /* s_sendmsg, or LDS instruction with gds */
    bool wide_store; /* more than 64 bits of data, read after issue */
    bool dpp, div_fmas, reads_vccz;
    bool waits_vm_vsrc;        /* s_waitcnt_depctr vm_vsrc(0), or s_waitcnt 0 */
    bool waits_lgkm, waits_vs; /* waits for 0 */
    int16_t setreg, getreg;    /* number of the hardware register, or -1 */
    int16_t lane_select;       /* SGPR, or -1 */
    bool trans, permlane, vcmpx, nop, export, fp_atomic, waits, denorm_mode, rfe;
    bool readlane, writelane; /* v_readlane and v_readfirstlane; v_writelane */
    bool swap;                /* v_permlane16_swap, v_permlane32_swap */
    bool deallocates_vgprs;   /* s_sendmsg MSG_DEALLOC_VGPRS */
    bool mad64;               /* v_mad_u64_u32, v_mad_i64_i32 */
    bool part;                /* of gfx950: writes part of a VGPR */
    bool wmma, sparse;        /* of gfx11 and later; sparse: C is an index */
    /* Vector instructions between a WMMA and one that must not overlap it: another vector instruction, a
     * WMMA. */
    uint8_t busy_valu, busy_wmma;
    bool wave64;
    bool sa_sdst, va_vcc, va_sdst, va_vdst; /* s_waitcnt_depctr waits for 0 */
    bool literal;
    int8_t mask_role;                /* role of the lane mask; NONE: implied VCC; -1: none */
    int8_t ldsdir_vdst, ldsdir_vsrc; /* LDSDIR: wait_vdst and wait_vm_vsrc; else -1 */
    bool ldsdir_has_vsrc;            /* the target's LDSDIR has wait_vm_vsrc */
    struct wmi_matrix_facts matrix;
};

struct wmi_hazard_facts wmi_hazard_facts_of(const struct wmi_target *target,
                                            const struct wmi_instruction *insn);

#endif

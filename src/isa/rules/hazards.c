/* SPDX-License-Identifier: MIT */
/* Hazards: required wait states per generation, and what instructions contribute to them.
 *
 * Sources: Vega ISA and CDNA3 ISA, "Manually Inserted Wait States (NOPs)"; LLVM, GCNHazardRecognizer.cpp; for
 * V# and S_BUFFER on gfx8 GcnInstrsSmem. Where LLVM and AMD's tables disagree about the generations, LLVM's
 * are used. Hazards of matrix instructions are in hazards_matrix.c. Not modelled: v_interp and LDS_DIRECT
 * after M0, NSA images before buffers on gfx10.1, and forwarding of 16-bit results by SDWA and op_sel on
 * gfx940. */
#include "isa/rules/hazards.h"

#include "isa/rules/wait.h"

const struct wmi_hazard wmi_hazards[WMI_HAZARD_COUNT] = {
    [WMI_HAZARD_VALU_SGPR_SMEM] = {"valu-sgpr-smem",
                                   "was written by a vector instruction and is read by scalar memory",
                                   "s_nop", "LLVM, checkSMRDHazards"},
    [WMI_HAZARD_SALU_SGPR_SBUFFER] = {"salu-sgpr-sbuffer", "is part of a V# that was just written", "s_nop",
                                      "LLVM, checkSMRDHazards; GcnInstrsSmem"},
    [WMI_HAZARD_VALU_SGPR_VMEM] = {"valu-sgpr-vmem",
                                   "was written by a vector instruction and is read by vector memory",
                                   "s_nop", "CDNA3 ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_SALU_M0_USE] = {"salu-m0-use", "was just written and makes an address", "s_nop",
                                "CDNA3 ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_SALU_M0_SENDMSG] = {"salu-m0-sendmsg", "was just written and is read by s_sendmsg or GDS",
                                    "s_nop", "Vega ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_STORE_DATA] = {"store-data", "is overwritten before a store of more than 64 bits has read it",
                               "s_nop", "CDNA3 ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_VGPR_DPP] = {"vgpr-dpp", "was just written and is read by DPP", "s_nop",
                             "Vega ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_EXEC_DPP] = {"exec-dpp", "was written by a vector instruction just before DPP", "s_nop",
                             "Vega ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_VCC_DIV_FMAS] = {"vcc-div-fmas", "was written by a vector instruction just before v_div_fmas",
                                 "s_nop", "Vega ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_VALU_LANE_SELECT] =
        {"valu-lane-select",
         "was written by a vector instruction and selects the lane of v_readlane or "
         "v_writelane",
         "s_nop", "Vega ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_VALU_VCCZ] = {"valu-vccz",
                              "was written by a vector instruction just before VCCZ or EXECZ is data",
                              "s_nop", "Vega ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_SETREG_GETREG] = {"setreg-getreg", "was just written by s_setreg and is read by s_getreg",
                                  "s_nop", "Vega ISA, \"Manually Inserted Wait States\""},
    [WMI_HAZARD_SETREG_SETREG] = {"setreg-setreg", "was just written by s_setreg and is written again",
                                  "s_nop", "LLVM, checkSetRegHazards"},
    [WMI_HAZARD_VMEM_SCALAR_WRITE] =
        {"vmem-scalar-write", "is overwritten by scalar code while vector memory or LDS may still read it",
         "s_waitcnt_depctr depctr_vm_vsrc(0)", "LLVM, fixVMEMtoScalarWriteHazards"},
    [WMI_HAZARD_SMEM_VECTOR_WRITE] =
        {"smem-vector-write", "is overwritten by a vector instruction while scalar memory may still read it",
         "s_mov_b32 null, 0", "LLVM, fixSMEMtoVectorWriteHazards"},
    [WMI_HAZARD_SETREG_RFE] = {"setreg-rfe", "TRAPSTS was just written by s_setreg before s_rfe", "s_nop",
                               "LLVM, checkRFEHazards"},
    [WMI_HAZARD_FP_ATOMIC_DENORM] = {"fp-atomic-denorm", "s_denorm_mode just behind an atomic of floats",
                                     "s_nop", "LLVM, checkFPAtomicToDenormModeHazard"},
    [WMI_HAZARD_TRANS_FORWARD] = {"trans-forward", "is the result of a transcendental just before it is read",
                                  "s_nop", "LLVM, checkVALUHazards"},
    [WMI_HAZARD_VALU_SGPR_VALU] = {"valu-sgpr-valu",
                                   "was written by a vector instruction and is read by another", "s_nop",
                                   "LLVM, checkVALUHazards"},
    [WMI_HAZARD_VGPR_READLANE] = {"vgpr-readlane", "was just written and is read by v_readlane", "s_nop",
                                  "LLVM, checkVALUHazards"},
    [WMI_HAZARD_EXEC_RWLANE] = {"exec-rwlane",
                                "was written by a vector instruction just before v_readlane or v_writelane",
                                "s_nop", "LLVM, checkVALUHazards"},
    [WMI_HAZARD_VALU_MATRIX] = {"valu-matrix",
                                "was written by a vector instruction and is read by a matrix instruction",
                                "s_nop", "LLVM, checkMAIHazards"},
    [WMI_HAZARD_EXEC_MATRIX] = {"exec-matrix",
                                "was written by a vector instruction just before a matrix instruction",
                                "s_nop", "LLVM, checkMAIHazards"},
    [WMI_HAZARD_MATRIX_READ] = {"matrix-read",
                                "is read before a matrix instruction or v_accvgpr has written it", "s_nop",
                                "LLVM, checkMAIHazards, checkMAIVALUHazards, checkMAILdStHazards"},
    [WMI_HAZARD_MATRIX_OVERWRITE] = {"matrix-overwrite",
                                     "is overwritten before a matrix instruction has written it", "s_nop",
                                     "LLVM, checkMAIHazards, checkMAIVALUHazards"},
    [WMI_HAZARD_MATRIX_C_OVERWRITE] = {"matrix-c-overwrite",
                                       "is overwritten before a matrix instruction has read it as C", "s_nop",
                                       "LLVM, checkMAIHazards, checkMAIVALUHazards"},
    [WMI_HAZARD_DOT_RESULT] = {"dot-result", "is the result of a dot product just before it is used", "s_nop",
                               "LLVM, checkMAIVALUHazards"},
    [WMI_HAZARD_DGEMM_FMA] = {"dgemm-fma", "v_fma_f64 just behind a matrix instruction of doubles", "s_nop",
                              "LLVM, checkMAIVALUHazards"},
    [WMI_HAZARD_DGEMM_VMEM] = {"dgemm-vmem",
                               "is read by memory while a matrix instruction of doubles stands behind the "
                               "instruction that wrote it",
                               "s_nop", "LLVM, checkMAIVALUHazards"},
    [WMI_HAZARD_VCMPX_PERMLANE] = {"vcmpx-permlane", "v_permlane behind a v_cmpx that writes EXEC",
                                   "v_mov_b32 v0, v0", "LLVM, fixVcmpxPermlaneHazards"},
    [WMI_HAZARD_VCMPX_EXEC] = {"vcmpx-exec",
                               "is written by v_cmpx while it may still be read by others than "
                               "vector instructions",
                               "s_waitcnt_depctr depctr_sa_sdst(0)", "LLVM, fixVcmpxExecWARHazard"},
    [WMI_HAZARD_TRANS_USE] = {"trans-use", "is the result of a transcendental that is used too soon",
                              "s_waitcnt_depctr depctr_va_vdst(0)", "LLVM, fixVALUTransUseHazard"},
    [WMI_HAZARD_PARTIAL_FORWARD] = {"partial-forward",
                                    "and another source were written on both sides of a write of EXEC",
                                    "s_waitcnt_depctr depctr_va_vdst(0)",
                                    "LLVM, fixVALUPartialForwardingHazard"},
    [WMI_HAZARD_MASK_WRITE] =
        {"mask-write",
         "was overwritten by scalar code while a vector instruction may still read it as "
         "a mask, and is read",
         "s_waitcnt_depctr depctr_sa_sdst(0)", "LLVM, fixVALUMaskWriteHazard"},
    [WMI_HAZARD_LDSDIR_VALU] = {"ldsdir-valu", "is written while a vector instruction may still use it",
                                "wait_vdst of the instruction", "LLVM, fixLdsDirectVALUHazard"},
    [WMI_HAZARD_LDSDIR_VMEM] = {"ldsdir-vmem", "is written while memory may still use it",
                                "s_waitcnt_depctr depctr_vm_vsrc(0)", "LLVM, fixLdsDirectVMEMHazard"},
    [WMI_HAZARD_WMMA] = {"wmma", "is the result of the WMMA just before and read as A, B or index", "v_nop",
                         "LLVM, fixWMMAHazards"},
    [WMI_HAZARD_VALU_READ_SGPR] =
        {"valu-read-sgpr", "was read by a vector instruction, then written, and is read without a wait",
         "s_wait_alu", "RDNA4 ISA; LLVM 20, AMDGPUWaitSGPRHazards", .is_new = true},
    [WMI_HAZARD_VGPR_DEALLOCATED] = {"vgpr-after-dealloc", "is used after the wave has deallocated its VGPRs",
                                     "s_endpgm", "RDNA3 ISA, S_SENDMSG, \"DEALLOC_VGPRS\""},
    [WMI_HAZARD_MAD_OVERLAP] = {"mad-overlap",
                                "is the upper half of a 64-bit multiply-add whose lower half overwrites a "
                                "source of it, and is read",
                                NULL, "LLVM, FeatureMADIntraFwdBug"},
    [WMI_HAZARD_VALU_SWAP] = {"valu-swap",
                              "was just written and is exchanged by v_permlane16_swap or v_permlane32_swap",
                              "s_nop", "LLVM 22, checkPermlaneHazards"},
    [WMI_HAZARD_PART_FORWARD] = {"part-forward", "was just written in part and is used", "s_nop",
                                 "LLVM 22, checkVALUHazards"},
    [WMI_HAZARD_WMMA_BUSY] = {"wmma-busy",
                              "is the result of a WMMA and used too soon, or is overwritten while it may "
                              "still be read by one",
                              "v_nop or other vector instructions", "LLVM, checkWMMACoexecutionHazards"},
    [WMI_HAZARD_LDS_BRANCH_VMEM] =
        {"lds-branch-vmem", "LDS and vector memory on both sides of a branch without a wait for stores",
         "s_waitcnt_vscnt null, 0x0", "LLVM, fixLdsBranchVmemWARHazard"},
};

/* Common to gfx8 and all of gfx9. */
#define SINCE_8                                                                                              \
    [WMI_HAZARD_VALU_SGPR_VMEM] = 5, [WMI_HAZARD_SALU_M0_SENDMSG] = 1, [WMI_HAZARD_VGPR_DPP] = 2,            \
    [WMI_HAZARD_EXEC_DPP] = 5, [WMI_HAZARD_VCC_DIV_FMAS] = 4, [WMI_HAZARD_VALU_LANE_SELECT] = 4,             \
    [WMI_HAZARD_VALU_VCCZ] = 5, [WMI_HAZARD_SETREG_GETREG] = 2, [WMI_HAZARD_SETREG_SETREG] = 2,              \
    [WMI_HAZARD_SETREG_RFE] = 1
#define SINCE_9 SINCE_8, [WMI_HAZARD_SALU_M0_USE] = 1
#define SINCE_908                                                                                            \
    SINCE_9, [WMI_HAZARD_VALU_MATRIX] = 2, [WMI_HAZARD_EXEC_MATRIX] = 4, [WMI_HAZARD_MATRIX_READ] = 1,       \
             [WMI_HAZARD_MATRIX_OVERWRITE] = 1, [WMI_HAZARD_MATRIX_C_OVERWRITE] = 1
#define SINCE_90A SINCE_908, [WMI_HAZARD_DOT_RESULT] = 3, [WMI_HAZARD_DGEMM_FMA] = 2
#define SINCE_940                                                                                            \
    [WMI_HAZARD_STORE_DATA] = 2, [WMI_HAZARD_TRANS_FORWARD] = 1, [WMI_HAZARD_VALU_SGPR_VALU] = 2,            \
    [WMI_HAZARD_VGPR_READLANE] = 1, [WMI_HAZARD_EXEC_RWLANE] = 4
#define SINCE_11_ANY                                                                                         \
    [WMI_HAZARD_VCMPX_PERMLANE] = 1, [WMI_HAZARD_LDSDIR_VALU] = 1, [WMI_HAZARD_LDSDIR_VMEM] = 1,             \
    [WMI_HAZARD_VGPR_DEALLOCATED] = 1
#define SINCE_11 SINCE_11_ANY, [WMI_HAZARD_WMMA] = 1

/* Indexed by the limit `hazards`: gfx6, 7, 8, 9, 940, 10.1, 10.3, 908, 90a, 11, 11.5, 12, 950, 12.5. Hazards
 * that are not distances, or whose distance depends on the instructions, have 1 where they exist. */
static const uint8_t states[][WMI_HAZARD_COUNT] = {
    {[WMI_HAZARD_VALU_SGPR_SMEM] = 4,
     [WMI_HAZARD_SALU_SGPR_SBUFFER] = 4,
     [WMI_HAZARD_VCC_DIV_FMAS] = 4,
     [WMI_HAZARD_VALU_LANE_SELECT] = 4,
     [WMI_HAZARD_VALU_VCCZ] = 5,
     [WMI_HAZARD_SETREG_GETREG] = 2,
     [WMI_HAZARD_SETREG_SETREG] = 1},
    {[WMI_HAZARD_STORE_DATA] = 1,
     [WMI_HAZARD_VCC_DIV_FMAS] = 4,
     [WMI_HAZARD_VALU_LANE_SELECT] = 4,
     [WMI_HAZARD_VALU_VCCZ] = 5,
     [WMI_HAZARD_SETREG_GETREG] = 2,
     [WMI_HAZARD_SETREG_SETREG] = 1},
    {SINCE_8, [WMI_HAZARD_SALU_SGPR_SBUFFER] = 1, [WMI_HAZARD_STORE_DATA] = 1},
    {SINCE_9, [WMI_HAZARD_STORE_DATA] = 1},
    {SINCE_90A, SINCE_940},
    {[WMI_HAZARD_VMEM_SCALAR_WRITE] = 1,
     [WMI_HAZARD_SMEM_VECTOR_WRITE] = 1,
     [WMI_HAZARD_LDS_BRANCH_VMEM] = 1,
     [WMI_HAZARD_VCMPX_PERMLANE] = 1,
     [WMI_HAZARD_VCMPX_EXEC] = 1,
     [WMI_HAZARD_FP_ATOMIC_DENORM] = 3},
    {[WMI_HAZARD_FP_ATOMIC_DENORM] = 3},
    {SINCE_908, [WMI_HAZARD_STORE_DATA] = 1},
    {SINCE_90A, [WMI_HAZARD_STORE_DATA] = 1, [WMI_HAZARD_DGEMM_VMEM] = 2},
    {SINCE_11, [WMI_HAZARD_TRANS_USE] = 1, [WMI_HAZARD_PARTIAL_FORWARD] = 1, [WMI_HAZARD_MASK_WRITE] = 1,
     [WMI_HAZARD_MAD_OVERLAP] = 1},
    {SINCE_11, [WMI_HAZARD_PARTIAL_FORWARD] = 1, [WMI_HAZARD_MASK_WRITE] = 1},
    {SINCE_11, [WMI_HAZARD_VALU_READ_SGPR] = 1},
    {SINCE_90A, SINCE_940, [WMI_HAZARD_VALU_SWAP] = 2, [WMI_HAZARD_PART_FORWARD] = 1},
    {SINCE_11_ANY, [WMI_HAZARD_WMMA_BUSY] = 1},
};

unsigned wmi_hazard_states(const struct wmi_target *target, enum wmi_hazard_kind kind)
{
    return states[wmi_target_limit(target, WMI_LIMIT_hazards)][kind];
}

/* ---- instructions ---- */

/* Stores that read their data after issue: more than 64 bits, and for buffers only if SOFFSET is not a
 * register. */
static bool is_wide_store(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
    const bool buffer = row->class == WMI_CLASS_BUFFER || row->class == WMI_CLASS_TBUFFER;
    const bool flat =
        row->class == WMI_CLASS_FLAT || row->class == WMI_CLASS_GLOBAL || row->class == WMI_CLASS_SCRATCH;
    if ((!buffer && !flat) || !data || data->dwords <= 2 ||
        (row->memory != WMI_MEMORY_STORE && row->memory != WMI_MEMORY_ATOMIC))
        return false;
    return flat || !offset || (offset->kind != WMI_OPERAND_SGPR && offset->kind != WMI_OPERAND_SPECIAL);
}

static bool reads_zero_flag(const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].kind == WMI_OPERAND_SPECIAL &&
            (insn->operand[i].reg == WMI_SPECIAL_VCCZ || insn->operand[i].reg == WMI_SPECIAL_EXECZ))
            return true;
    return false;
}

static void find_waits(const struct wmi_target *target, const struct wmi_instruction *insn,
                       struct wmi_hazard_facts *facts)
{
    const struct wmi_wait_facts wait = wmi_wait_facts_of(target, insn);
    const struct wmi_operand *immediate = wmi_operand(insn, WMI_ROLE_IMM);
    const uint32_t value = immediate ? (uint32_t)immediate->value & 0xffff : 0;
    facts->waits_lgkm = wait.waits && wait.limit[WMI_COUNTER_DS] == 0;
    facts->waits_vs = wait.waits && wait.limit[WMI_COUNTER_STORE] == 0;
    /* vm_vsrc is bits 4:2 of s_waitcnt_depctr. Source: LLVM, AMDGPUBaseInfo.cpp, DepCtr. */
    const bool depctr = wmi_rows[insn->id].group == WMI_GROUP_DEPCTR;
    facts->waits_vm_vsrc = (insn->id == WMI_INSN_s_waitcnt && value == 0) || (depctr && !(value >> 2 & 7));
    facts->waits = wait.waits;
    facts->sa_sdst = depctr && !(value & 1);
    facts->va_vcc = depctr && !(value >> 1 & 1);
    facts->va_sdst = depctr && !(value >> 9 & 7);
    facts->va_vdst = depctr && !(value >> 12 & 15);
}

/* The role of the operand that is a lane mask; NONE: implied VCC; -1: none. */
static int8_t mask_role(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].type == WMI_TYPE_mask && insn->operand[i].read)
            return (int8_t)insn->operand[i].role;
    return row->class == WMI_CLASS_VALU && row->flags & WMI_ROW_READS_VCC ? WMI_ROLE_NONE : -1;
}

/* How long a WMMA keeps its registers. Source: LLVM, checkWMMACoexecutionHazards, after LLVM 22, which has
 * shorter times for fp8 and fp4 than LLVM 22 itself; the numbers are those of its latencies of 4, 8 and 16
 * clocks. f32 and f64 have no such times. */
static void find_busy(const struct wmi_target *target, const struct wmi_instruction *insn,
                      const struct wmi_matrix *matrix, struct wmi_hazard_facts *facts)
{
    enum { FP4 = 4 }; /* of matrix_a_fmt and matrix_b_fmt */
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A);
    const bool integers = matrix && matrix->a == WMI_ELEMENT_iu8,
               short_f8 = matrix && !matrix->sparse && a && matrix->k == 64 && !integers,
               both_fp4 =
                   insn->field[WMI_FIELD_matrix_a_fmt] == FP4 && insn->field[WMI_FIELD_matrix_b_fmt] == FP4;
    if (!facts->wmma || !wmi_hazard_states(target, WMI_HAZARD_WMMA_BUSY) || matrix->k <= 4)
        return;
    facts->busy_valu = matrix->sparse ? (integers ? 4 : 2) : integers ? 8 : short_f8 || both_fp4 ? 1 : 4;
    facts->busy_wmma = facts->busy_valu + 1;
}

static void find_later(const struct wmi_target *target, const struct wmi_instruction *insn,
                       struct wmi_hazard_facts *facts)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const struct wmi_matrix *matrix = wmi_matrix_of(insn->id);
    const bool ldsdir = row->counts == WMI_COUNTS_LDSDIR;
    const struct wmi_operand *message = wmi_operand(insn, WMI_ROLE_IMM);
    enum { DEALLOC_VGPRS = 3 }; /* the message; isa/names */
    facts->trans = row->flags & WMI_ROW_TRANS;
    facts->permlane = row->group == WMI_GROUP_PERMLANE;
    facts->vcmpx = facts->valu && row->flags & WMI_ROW_WRITES_EXEC;
    facts->nop = row->group == WMI_GROUP_VECTOR_NOP;
    facts->export = row->counts == WMI_COUNTS_EXPORT;
    facts->fp_atomic = facts->vmem && row->flags & WMI_ROW_FLOAT;
    facts->denorm_mode = row->group == WMI_GROUP_DENORM_MODE;
    facts->rfe = row->group == WMI_GROUP_RFE;
    facts->readlane = row->group == WMI_GROUP_READLANE;
    facts->writelane = row->group == WMI_GROUP_WRITELANE;
    facts->swap = row->group == WMI_GROUP_SWAP;
    facts->deallocates_vgprs = insn->id == WMI_INSN_s_sendmsg && message && message->value == DEALLOC_VGPRS &&
                               wmi_hazard_states(target, WMI_HAZARD_VGPR_DEALLOCATED);
    facts->mad64 = row->group == WMI_GROUP_MAD64;
    facts->part = row->group == WMI_GROUP_PART_ALWAYS ||
                  (row->group == WMI_GROUP_PART && insn->field[WMI_FIELD_op_sel] & 8);
    facts->wmma = matrix && !wmi_target_limit(target, WMI_LIMIT_matrix_hazards);
    facts->sparse = facts->wmma && matrix->sparse;
    find_busy(target, insn, matrix, facts);
    facts->wave64 = wmi_target_limit(target, WMI_LIMIT_wave) == 64;
    facts->mask_role = mask_role(insn);
    facts->ldsdir_vdst =
        ldsdir ? (int8_t)(insn->field[WMI_FIELD_wait_vdst] | insn->field[WMI_FIELD_wait_va_vdst]) : -1;
    facts->ldsdir_vsrc = ldsdir ? (int8_t)insn->field[WMI_FIELD_wait_vm_vsrc] : -1;
    facts->ldsdir_has_vsrc = wmi_target_limit(target, WMI_LIMIT_ldsdir_vsrc);
    for (unsigned i = 0; i < insn->operands; i++)
        facts->literal |= insn->operand[i].kind == WMI_OPERAND_LITERAL;
    facts->matrix = wmi_matrix_facts_of(target, insn);
}

struct wmi_hazard_facts wmi_hazard_facts_of(const struct wmi_target *target,
                                            const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool control = row->class == WMI_CLASS_CONTROL, ds = row->class == WMI_CLASS_DS;
    const struct wmi_operand *immediate = wmi_operand(insn, WMI_ROLE_IMM);
    const int value = immediate ? (int)(immediate->value & 0xffff) : 0;
    const int nops = 1 << wmi_target_limit(target, WMI_LIMIT_snop_bits);
    struct wmi_hazard_facts facts = {
        .states = row->group == WMI_GROUP_IDLE ? (uint8_t)(value % nops + 1) : 1,
        .valu = row->class == WMI_CLASS_VALU,
        .salu = row->class == WMI_CLASS_SALU || control,
        .sopp = control && insn->operands <= 1 && !wmi_operand(insn, WMI_ROLE_D) &&
                !wmi_operand(insn, WMI_ROLE_A),
        .smem = row->class == WMI_CLASS_SMEM,
        .s_buffer = row->class == WMI_CLASS_SMEM && wmi_operand(insn, WMI_ROLE_RSRC),
        .vmem = (row->class >= WMI_CLASS_BUFFER && row->class <= WMI_CLASS_SCRATCH),
        .flat = row->class == WMI_CLASS_FLAT,
        .ds = ds,
        .branch = row->group == WMI_GROUP_BRANCH,
        .uses_m0 = (ds && row->flags & WMI_ROW_READS_M0) || insn->field[WMI_FIELD_lds] ||
                   row->group == WMI_GROUP_LDS_DMA || row->group == WMI_GROUP_MOVREL,
        .sends = row->group == WMI_GROUP_SENDMSG || (ds && insn->field[WMI_FIELD_gds]),
        .wide_store = is_wide_store(insn),
        .dpp = insn->extension == WMI_EXT_DPP || insn->extension == WMI_EXT_DPP8,
        .div_fmas = row->group == WMI_GROUP_DIV_FMAS,
        .reads_vccz = reads_zero_flag(insn),
        .setreg = -1,
        .getreg = -1,
        .lane_select = -1,
    };
    if (row->group == WMI_GROUP_SETREG)
        facts.setreg = value & 63;
    if (row->group == WMI_GROUP_GETREG)
        facts.getreg = value & 63;
    const struct wmi_operand *lane = wmi_operand(insn, WMI_ROLE_B);
    if ((row->group == WMI_GROUP_READLANE || row->group == WMI_GROUP_WRITELANE) && lane &&
        lane->kind == WMI_OPERAND_SGPR)
        facts.lane_select = (int16_t)lane->reg;
    find_waits(target, insn, &facts);
    find_later(target, insn, &facts);
    return facts;
}

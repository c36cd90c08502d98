/* SPDX-License-Identifier: MIT */
/* Hazards by generation: how many wait states each asks for, and what instructions have to do with them.
 *
 * Sources: Vega ISA and CDNA3 ISA, "Manually Inserted Wait States (NOPs)"; LLVM, GCNHazardRecognizer.cpp; for
 * V# and S_BUFFER on gfx8 GcnInstrsSmem. Where LLVM and AMD's tables differ in the generations, LLVM's. Left
 * out: hazards of MFMA, of v_interp and LDS_DIRECT after M0, of TRAPSTS and of gfx11 and gfx12. */
#include "isa/hazards.h"

#include "isa/wait.h"

#include <string.h>

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
    [WMI_HAZARD_LDS_BRANCH_VMEM] =
        {"lds-branch-vmem", "LDS and vector memory on both sides of a branch without a wait for stores",
         "s_waitcnt_vscnt null, 0x0", "LLVM, fixLdsBranchVmemWARHazard"},
};

/* By the limit hazards: gfx6, 7, 8, 9, 940, 10.1; from 10.3 on none of these. */
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
    {[WMI_HAZARD_SALU_SGPR_SBUFFER] = 1,
     [WMI_HAZARD_VALU_SGPR_VMEM] = 5,
     [WMI_HAZARD_SALU_M0_SENDMSG] = 1,
     [WMI_HAZARD_STORE_DATA] = 1,
     [WMI_HAZARD_VGPR_DPP] = 2,
     [WMI_HAZARD_EXEC_DPP] = 5,
     [WMI_HAZARD_VCC_DIV_FMAS] = 4,
     [WMI_HAZARD_VALU_LANE_SELECT] = 4,
     [WMI_HAZARD_VALU_VCCZ] = 5,
     [WMI_HAZARD_SETREG_GETREG] = 2,
     [WMI_HAZARD_SETREG_SETREG] = 2},
    {[WMI_HAZARD_VALU_SGPR_VMEM] = 5,
     [WMI_HAZARD_SALU_M0_USE] = 1,
     [WMI_HAZARD_SALU_M0_SENDMSG] = 1,
     [WMI_HAZARD_STORE_DATA] = 1,
     [WMI_HAZARD_VGPR_DPP] = 2,
     [WMI_HAZARD_EXEC_DPP] = 5,
     [WMI_HAZARD_VCC_DIV_FMAS] = 4,
     [WMI_HAZARD_VALU_LANE_SELECT] = 4,
     [WMI_HAZARD_VALU_VCCZ] = 5,
     [WMI_HAZARD_SETREG_GETREG] = 2,
     [WMI_HAZARD_SETREG_SETREG] = 2},
    {[WMI_HAZARD_VALU_SGPR_VMEM] = 5,
     [WMI_HAZARD_SALU_M0_USE] = 1,
     [WMI_HAZARD_SALU_M0_SENDMSG] = 1,
     [WMI_HAZARD_STORE_DATA] = 2,
     [WMI_HAZARD_VGPR_DPP] = 2,
     [WMI_HAZARD_EXEC_DPP] = 5,
     [WMI_HAZARD_VCC_DIV_FMAS] = 4,
     [WMI_HAZARD_VALU_LANE_SELECT] = 4,
     [WMI_HAZARD_VALU_VCCZ] = 5,
     [WMI_HAZARD_SETREG_GETREG] = 2,
     [WMI_HAZARD_SETREG_SETREG] = 2},
    {[WMI_HAZARD_VMEM_SCALAR_WRITE] = 1,
     [WMI_HAZARD_SMEM_VECTOR_WRITE] = 1,
     [WMI_HAZARD_LDS_BRANCH_VMEM] = 1},
    {0},
};

unsigned wmi_hazard_states(const struct wmi_target *target, enum wmi_hazard_kind kind)
{
    return states[wmi_target_limit(target, WMI_LIMIT_hazards)][kind];
}

/* ---- instructions ---- */

/* Stores whose data is read after the instruction was issued: more than 64 bits of it, and for buffers only
 * if SOFFSET is no register. */
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

static bool is_one_of(unsigned id, const uint16_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}
#define IS_ONE_OF(id, ...)                                                                                   \
    is_one_of(id, (const uint16_t[]){__VA_ARGS__}, sizeof((const uint16_t[]){__VA_ARGS__}) / 2)

static void find_waits(const struct wmi_target *target, const struct wmi_instruction *insn,
                       struct wmi_hazard_facts *facts)
{
    const struct wmi_wait_facts wait = wmi_wait_facts_of(target, insn);
    const struct wmi_operand *immediate = wmi_operand(insn, WMI_ROLE_IMM);
    const uint32_t value = immediate ? (uint32_t)immediate->value & 0xffff : 0;
    facts->waits_lgkm = wait.waits && wait.limit[WMI_COUNTER_DS] == 0;
    facts->waits_vs = wait.waits && wait.limit[WMI_COUNTER_STORE] == 0;
    /* vm_vsrc is bits 4:2 of s_waitcnt_depctr. Source: LLVM, AMDGPUBaseInfo.cpp, DepCtr. */
    facts->waits_vm_vsrc = (insn->id == WMI_INSN_s_waitcnt && value == 0) ||
                           (insn->id == WMI_INSN_s_waitcnt_depctr && !(value >> 2 & 7));
}

struct wmi_hazard_facts wmi_hazard_facts_of(const struct wmi_target *target,
                                            const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool control = row->class == WMI_CLASS_CONTROL, ds = row->class == WMI_CLASS_DS;
    const struct wmi_operand *immediate = wmi_operand(insn, WMI_ROLE_IMM);
    const int value = immediate ? (int)(immediate->value & 0xffff) : 0;
    /* s_nop has 3 bits on gfx6 and gfx7, then 4. Source: LLVM, getSNopBits. */
    const int nops = wmi_target_limit(target, WMI_LIMIT_hazards) < 2 ? 8 : 16;
    struct wmi_hazard_facts facts = {
        .states = insn->id == WMI_INSN_s_nop ? (uint8_t)(value % nops + 1) : 1,
        .valu = row->class == WMI_CLASS_VALU,
        .salu = row->class == WMI_CLASS_SALU || control,
        .sopp = control && insn->operands <= 1 && !wmi_operand(insn, WMI_ROLE_D) &&
                !wmi_operand(insn, WMI_ROLE_A),
        .smem = row->class == WMI_CLASS_SMEM,
        .s_buffer = row->class == WMI_CLASS_SMEM && wmi_operand(insn, WMI_ROLE_RSRC),
        .vmem = (row->class >= WMI_CLASS_BUFFER && row->class <= WMI_CLASS_SCRATCH),
        .flat = row->class == WMI_CLASS_FLAT,
        .ds = ds,
        .branch = control && (!strncmp(row->name, "s_branch", 8) || !strncmp(row->name, "s_cbranch", 9)),
        .uses_m0 = (ds && row->flags & WMI_ROW_READS_M0) || insn->field[WMI_FIELD_lds] ||
                   strstr(row->name, "_load_lds") || !strncmp(row->name, "s_movrel", 8),
        .sends = !strncmp(row->name, "s_sendmsg", 9) || (ds && insn->field[WMI_FIELD_gds]),
        .wide_store = is_wide_store(insn),
        .dpp = insn->extension == WMI_EXT_DPP || insn->extension == WMI_EXT_DPP8,
        .div_fmas = !strncmp(row->name, "v_div_fmas", 10),
        .reads_vccz = reads_zero_flag(insn),
        .setreg = -1,
        .getreg = -1,
        .lane_select = -1,
    };
    if (IS_ONE_OF(insn->id, WMI_INSN_s_setreg_b32, WMI_INSN_s_setreg_imm32_b32))
        facts.setreg = value & 63;
    if (insn->id == WMI_INSN_s_getreg_b32)
        facts.getreg = value & 63;
    const struct wmi_operand *lane = wmi_operand(insn, WMI_ROLE_B);
    if (IS_ONE_OF(insn->id, WMI_INSN_v_readlane_b32, WMI_INSN_v_writelane_b32) && lane &&
        lane->kind == WMI_OPERAND_SGPR)
        facts.lane_select = (int16_t)lane->reg;
    find_waits(target, insn, &facts);
    return facts;
}

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
    /* Not by distance: until something else has been executed. */
    WMI_HAZARD_VMEM_SCALAR_WRITE,
    WMI_HAZARD_SMEM_VECTOR_WRITE,
    WMI_HAZARD_LDS_BRANCH_VMEM,
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
};

struct wmi_hazard_facts wmi_hazard_facts_of(const struct wmi_target *target,
                                            const struct wmi_instruction *insn);

#endif

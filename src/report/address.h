/* SPDX-License-Identifier: MIT */
/* Explains the addresses of one memory instruction for given registers. */
#ifndef WMI_REPORT_ADDRESS_H
#define WMI_REPORT_ADDRESS_H

#include "exec/run/dispatch.h"
#include "isa/isa.h"
#include "wavemem/wavemem.h"

/* Inputs and outputs of the explanation. */
struct wmi_explained {
    const struct wmi_target *target;
    const struct wmi_instruction *insn;
    const struct wmi_frame *frame;   /* registers before the instruction */
    uint32_t vgpr_offset, row_bytes; /* offset of v0 in the frame; bytes of a row */
    uint32_t lds_bytes;
    unsigned lane;
    struct wm_address_answer *answer;      /* out: steps */
    uint64_t address[WM_ADDRESS_ELEMENTS]; /* out: addresses by the formulas, per element */
    unsigned addresses;                    /* out: number of addresses */
};

/* Writes the steps that compute the lane's addresses. */
void wmi_explain_steps(struct wmi_explained *e);

#endif

/* SPDX-License-Identifier: MIT */
/* Explains the addresses of one memory instruction for given registers. */
#ifndef WMI_REPORT_ADDRESS_H
#define WMI_REPORT_ADDRESS_H

#include "exec/dispatch.h"
#include "isa/isa.h"
#include "wavemem/wavemem.h"

/* Inputs and outputs of the explanation. */
struct wmi_explained {
    const struct wmi_target *target;
    const struct wmi_instruction *insn;
    const struct wmi_frame *frame;   /* registers before the instruction */
    uint32_t vgpr_offset, row_bytes; /* of v0 in the frame, and of a row */
    uint32_t lds_bytes;
    unsigned lane;
    struct wm_address_answer *answer;      /* gets the steps */
    uint64_t address[WM_ADDRESS_ELEMENTS]; /* gets what the formulas give, element by element ... */
    unsigned addresses;                    /* ... so many of them */
};

/* Writes the steps that compute the lane's addresses. */
void wmi_explain_steps(struct wmi_explained *e);

#endif

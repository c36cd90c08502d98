/* SPDX-License-Identifier: MIT */
/* Control flow: where an instruction may go on, and the steps that go there. */
#ifndef WMI_CONTROL_H
#define WMI_CONTROL_H

#include "exec/lower.h"

struct wmi_flow {
    bool branches;        /* may go on at `distance` */
    bool ends;            /* never goes on at the next instruction */
    bool wave_ends;       /* no register is read any more */
    bool nothing;         /* changes and reads no state */
    int64_t distance;     /* dwords from the end of the instruction */
    uint8_t sets, clears; /* of enum wmi_state, for the next instruction */
};

struct wmi_flow wmi_control_flow(const struct wmi_instruction *insn);

/* op->c counts instructions down in all of these. */
const struct wmi_op *wmi_step_branch(char *restrict frame, const struct wmi_op *op);
const struct wmi_op *wmi_step_count(char *restrict frame, const struct wmi_op *op);
/* Returns to who called the first of the steps before it, which is where run loops go on. */
const struct wmi_op *wmi_step_return(char *restrict frame, const struct wmi_op *op);
/* Faults: op->x is the wm_fault_kind, op->value the pc. */
const struct wmi_op *wmi_step_fault(char *restrict frame, const struct wmi_op *op);
/* The 64-bit scalar at d becomes op->value. */
const struct wmi_op *wmi_step_constant(char *restrict frame, const struct wmi_op *op);
/* VCCZ and EXECZ become what VCC and EXEC say. */
const struct wmi_op *wmi_step_mask_zero(char *restrict frame, const struct wmi_op *op);

/* Where a branch step goes: a place, found among the program's steps when it is first taken. */
void wmi_step_set_target(struct wmi_op *op, uint64_t place);

/* Sets the frame's MODE and what follows from it, and loads the host's float control word. */
void wmi_frame_set_mode(struct wmi_frame *frame, uint32_t mode);

#endif

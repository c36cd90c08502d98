/* SPDX-License-Identifier: MIT */
/* Registers that an instruction names and the kernel does not have. */
#ifndef WMI_ALLOCATED_H
#define WMI_ALLOCATED_H

#include "isa/isa.h"
#include "lower/code.h"

/* The last register of an operand that reaches beyond what the kernel descriptor allocates. */
struct wmi_unallocated {
    const char *file; /* "VGPR", "AccVGPR" or "SGPR" */
    char letter;      /* of the register's name */
    unsigned number, allocated;
};

/* Finds the first operand of the instruction, as decoded for execution, with such a register. */
bool wmi_find_unallocated(const struct wmi_code *code, const struct wmi_instruction *insn,
                          struct wmi_unallocated *found);

/* The row of `number`, which counts VGPRs and then AccVGPRs, as such a register. */
struct wmi_unallocated wmi_unallocated_row(const struct wmi_code *code, unsigned number);

#endif

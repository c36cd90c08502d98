/* SPDX-License-Identifier: MIT */
/* The disassembler of the public API, and what it asks of an instruction. */
#ifndef WMI_ISA_DISASSEMBLE_H
#define WMI_ISA_DISASSEMBLE_H

#include "isa/isa.h"
#include "wavemem/wavemem.h"

/* NULL: no memory. free() destroys it. */
struct wm_disassembler *wmi_disassembler_create(const struct wmi_target *target, unsigned flags);

/* Whether LLVM 19's assembler makes the same words of the instruction's text. */
bool wmi_reassembles(const struct wmi_target *target, const struct wmi_instruction *insn);

#endif

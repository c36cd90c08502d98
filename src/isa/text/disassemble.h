/* SPDX-License-Identifier: MIT */
/* The disassembler of the public API, and its check for texts that reassemble. */
#ifndef WMI_ISA_DISASSEMBLE_H
#define WMI_ISA_DISASSEMBLE_H

#include "isa/isa.h"
#include "wavemem/wavemem.h"

/* Returns NULL if out of memory. Free with free(). */
struct wm_disassembler *wmi_disassembler_create(const struct wmi_target *target, unsigned flags);

/* Whether LLVM 19's assembler produces the same words from the instruction's text. */
bool wmi_reassembles(const struct wmi_target *target, const struct wmi_instruction *insn);

#endif

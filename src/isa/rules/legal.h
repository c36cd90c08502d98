/* SPDX-License-Identifier: MIT */
/* What LLVM's assembler rejects although it can be encoded; internal to src/isa. */
#ifndef WMI_LEGAL_H
#define WMI_LEGAL_H

#include "isa/text/parsed.h"

/* Whether the form accepts the operands; if not, other forms of the mnemonic are tried. */
bool wmi_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn);

/* Checks the rules that apply to an instruction whatever its form; no other form is tried on failure. Rules
 * that depend on register numbers must also be handled in pattern.c. */
bool wmi_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn);

/* Number of scalar values that a vector instruction may read. */
unsigned wmi_constant_bus(const struct wmi_target *target, const struct wmi_instruction *insn);

/* The same for memory instructions; in src/isa/rules/legal_memory.c. */
bool wmi_memory_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn);
bool wmi_memory_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn);

/* Record what was expected of an operand or a modifier; return false. */
bool wmi_wrong_operand(struct wmi_encoder *e, unsigned index, const char *what);
bool wmi_wrong_field(struct wmi_encoder *e, enum wmi_field field, const char *what);

#endif

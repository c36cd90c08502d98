/* SPDX-License-Identifier: MIT */
/* What LLVM's assembler refuses although words could say it; only src/isa reads it. */
#ifndef WMI_LEGAL_H
#define WMI_LEGAL_H

#include "isa/parsed.h"

/* Whether the operands are such that the form takes them; else another form of the mnemonic may. */
bool wmi_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn);

/* Whether the instruction keeps the rules that hold besides; another form is not tried. Rules that look at
 * the numbers of registers must also be known to pattern.c. */
bool wmi_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn);

/* How many scalar values a vector instruction may read. */
unsigned wmi_constant_bus(const struct wmi_target *target, const struct wmi_instruction *insn);

/* src/isa/legal_memory.c: the same of instructions that go to memory. */
bool wmi_memory_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn);
bool wmi_memory_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn);

/* Note what was expected of an operand or a modifier; return false. */
bool wmi_wrong_operand(struct wmi_encoder *e, unsigned index, const char *what);
bool wmi_wrong_field(struct wmi_encoder *e, enum wmi_field field, const char *what);

#endif

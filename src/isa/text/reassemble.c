/* SPDX-License-Identifier: MIT */
/* Finds instructions that LLVM's assembler would not reproduce from their text.
 *
 * Our assembler chooses the same encodings as LLVM's and rejects the same text (legal.c), so the text is
 * assembled and compared. Instructions that LLVM accepts but encodes differently are listed here (found by
 * tests/oracle/reassembled.py). */
#include "isa/tables.h"
#include "isa/text/assemble.h"
#include "isa/text/disassemble.h"

#include <string.h>

enum { TEXT = 1024 };

/* Whether LLVM encodes the instruction's text as our assembler does. */
static bool llvm_agrees(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A), *imm = wmi_operand(insn, WMI_ROLE_IMM);
    switch (insn->id) {
    case WMI_INSN_s_atc_probe:
    case WMI_INSN_s_atc_probe_buffer:
        return !imm || !(imm->value >> target->limits[WMI_LIMIT_probe_bits]);
    case WMI_INSN_v_fmac_f16:
        return !insn->field[WMI_FIELD_op_sel];
    case WMI_INSN_s_get_barrier_state:
        return !a || a->kind != WMI_OPERAND_SPECIAL || a->reg != WMI_SPECIAL_SCC;
    case WMI_INSN_s_barrier_signal_isfirst:
        return !a || a->kind != WMI_OPERAND_SPECIAL || a->reg != WMI_SPECIAL_NULL;
    default:
        return row->memory != WMI_MEMORY_ATOMIC || !insn->field[WMI_FIELD_scc];
    }
}

bool wmi_reassembles(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    char text[TEXT];
    struct wmi_instruction again;
    if (!llvm_agrees(target, insn))
        return false;
    const size_t length = wmi_print(target, insn, text, sizeof(text));
    struct wmi_cursor cursor = {.at = text, .end = text + length};
    return wmi_assemble(target, &cursor, &again, NULL) == insn->dwords &&
           memcmp(again.words, insn->words, 4u * insn->dwords) == 0;
}

/* SPDX-License-Identifier: MIT */
/* Compares the registers of instructions with those that the kernel descriptor allocates. */
#include "lower/allocated.h"

#include "isa/isa.h"

/* Number of VGPRs that a kernel needs to have those of the operand. For block operands, whose registers M0
 * selects, only the first counts. */
static unsigned end_of_operand(const struct wmi_code *code, const struct wmi_instruction *insn,
                               unsigned index)
{
    enum { BLOCK = 32, LIST = 16 };
    const struct wmi_operand *operand = &insn->operand[index];
    const bool block = wmi_rows[insn->id].memory && wmi_rows[insn->id].elements == BLOCK;
    uint8_t list[LIST];
    unsigned listed = 0, end = 0;
    if (operand->role == WMI_ROLE_ADDR)
        listed = wmi_image_address(code->options.target, insn, index, list, LIST);
    for (unsigned i = 0; i < listed && i < LIST; i++)
        end = list[i] >= end ? list[i] + 1u : end;
    return listed ? end : operand->reg + (block && operand->dwords == BLOCK ? 1u : operand->dwords);
}

bool wmi_find_unallocated(const struct wmi_code *code, const struct wmi_instruction *insn,
                          struct wmi_unallocated *found)
{
    const struct wmi_code_options *options = &code->options;
    const unsigned operands = insn->operands + (insn->second_id ? insn->second_operands : 0u);
    const unsigned sgprs =
        options->sgprs == WMI_S_VCC ? WMI_S_VCC + 2 : options->sgprs; /* tuples include VCC */
    for (unsigned i = 0; i < operands; i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        const unsigned end = end_of_operand(code, insn, i);
        if (operand->kind == WMI_OPERAND_VGPR && end > options->vgprs)
            *found = (struct wmi_unallocated){"VGPR", 'v', end - 1, options->vgprs};
        else if (operand->kind == WMI_OPERAND_AGPR && end > options->agprs)
            *found = (struct wmi_unallocated){"AccVGPR", 'a', end - 1, options->agprs};
        else if (operand->kind == WMI_OPERAND_SGPR && sgprs && end > sgprs)
            *found = (struct wmi_unallocated){"SGPR", 's', end - 1, options->sgprs};
        else
            continue;
        return true;
    }
    return false;
}

struct wmi_unallocated wmi_unallocated_row(const struct wmi_code *code, unsigned number)
{
    const struct wmi_code_options *options = &code->options;
    if (!options->agprs)
        return (struct wmi_unallocated){"VGPR", 'v', number, options->vgprs};
    return (struct wmi_unallocated){"AccVGPR", 'a', number - options->vgprs, options->agprs};
}

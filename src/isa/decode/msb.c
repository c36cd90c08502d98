/* SPDX-License-Identifier: MIT */
/* VGPRs above v255. Source: CDNA 5 ISA, "Waves with up to 1024 VGPRs" and S_SET_VGPR_MSB, whose tables say
 * which two bits belong to which operand. */
#include "isa/decode/msb.h"

/* Positions of the bits. */
enum { FIRST = 0, SECOND = 2, THIRD = 4, DESTINATION = 6, NONE = 8 };

static unsigned place_of(const struct wmi_row *row, const struct wmi_operand *operand)
{
    const bool alu = row->class == WMI_CLASS_VALU, buffer = row->class == WMI_CLASS_BUFFER,
               ds = row->class == WMI_CLASS_DS;
    switch (operand->role) {
    case WMI_ROLE_A:
    case WMI_ROLE_ADDR:
        return FIRST;
    case WMI_ROLE_B: /* the addend of v_fmamk is its third source */
        return row->group == WMI_GROUP_MADMK ? THIRD : SECOND;
    case WMI_ROLE_C: /* of v_fmac it is the destination */
        return operand->implied ? DESTINATION : THIRD;
    case WMI_ROLE_DATA: /* scales of a matrix product have none: "V_WMMA_LD_SCALE ignores VGPR-MSB" */
        return alu ? NONE : buffer ? DESTINATION : SECOND;
    case WMI_ROLE_DATA2: /* of DS; elsewhere an LDS address in the field of the result */
        return alu ? NONE : ds ? THIRD : DESTINATION;
    default:
        return DESTINATION;
    }
}

static void extend(const struct wmi_row *row, struct wmi_operand *operand, unsigned msb)
{
    const unsigned place = place_of(row, operand);
    if (operand->kind == WMI_OPERAND_VGPR && place != NONE)
        operand->reg = (uint16_t)(operand->reg | (msb >> place & 3) << 8);
}

void wmi_extend_vgprs(struct wmi_instruction *insn, unsigned msb)
{
    if (!msb || insn->id == WMI_INSN_v_wmma_ld_scale_paired_b32 ||
        insn->id == WMI_INSN_v_wmma_ld_scale16_paired_b64)
        return;
    for (unsigned i = 0; i < insn->operands; i++)
        extend(&wmi_rows[insn->id], &insn->operand[i], msb);
    for (unsigned i = 0; insn->second_id && i < insn->second_operands; i++)
        extend(&wmi_rows[insn->second_id], &insn->operand[insn->operands + i], msb);
}

/* SPDX-License-Identifier: MIT */
/* Lowers WMMA and SWMMAC: one step, which reads and writes whole tuples of VGPRs whatever EXEC is. */
#include "sem/wmma.h"
#include "lower/classes.h"

/* C as a constant: the decoder gives floats as f32. */
static uint32_t constant_of(const struct wmi_operand *c, unsigned element)
{
    const uint32_t value = (uint32_t)c->value;
    const int32_t number = (int32_t)value;
    if ((number >= -16 && number <= 64) || element == WMI_ELEMENT_f32 || element == WMI_ELEMENT_i32)
        return value;
    if (element == WMI_ELEMENT_bf16)
        return value >> 16;
    return (value >> 16 & 0x8000) | (((value >> 23 & 0xff) - 112) << 10 | (value >> 13 & 0x3ff));
}

bool wmi_lower_wmma(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    static const struct {
        enum wmi_field field;
        enum wmi_wmma_modifier at;
    } modifiers[] = {{WMI_FIELD_clamp, WMI_WMMA_CLAMP},
                     {WMI_FIELD_op_sel, WMI_WMMA_OP_SEL},
                     {WMI_FIELD_neg_lo, WMI_WMMA_NEG_LO},
                     {WMI_FIELD_neg_hi, WMI_WMMA_NEG_HI},
                     {WMI_FIELD_index_key, WMI_WMMA_INDEX_KEY}};
    enum { D, A, B, C, OPERANDS };
    static const enum wmi_role roles[OPERANDS] = {WMI_ROLE_D, WMI_ROLE_A, WMI_ROLE_B, WMI_ROLE_C};
    const struct wmi_operand *operand[OPERANDS];
    uint32_t place[OPERANDS], y = 0;
    bool ok = true;
    for (unsigned i = 0; i < OPERANDS && ok; i++) {
        operand[i] = wmi_operand(insn, roles[i]);
        if (operand[i]->kind == WMI_OPERAND_VGPR)
            place[i] = wmi_lower_vgpr(b, operand[i]->reg, operand[i]->dwords, &ok);
        else
            ok = i == C && operand[C]->kind == WMI_OPERAND_CONSTANT;
    }
    if (!ok)
        return false;
    const bool is_constant = operand[C]->kind == WMI_OPERAND_CONSTANT;
    if (is_constant && wmi_matrix_of(insn->id)->sparse)
        return false;
    if (is_constant)
        place[C] = wmi_lower_vector_constant(b, constant_of(operand[C], wmi_matrix_of(insn->id)->d), 1);
    /* Of factors of 8 bits there is no NEG: the fields are those of C alone. */
    const unsigned element = wmi_matrix_of(insn->id)->a;
    const bool c_alone = element == WMI_ELEMENT_fp8 || element == WMI_ELEMENT_bf8;
    for (unsigned i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
        const bool sign = modifiers[i].field == WMI_FIELD_neg_lo || modifiers[i].field == WMI_FIELD_neg_hi;
        y |= (uint32_t)insn->field[modifiers[i].field] << (modifiers[i].at + (sign && c_alone ? C - A : 0));
    }
    struct wmi_step *step = wmi_emit(b, wmi_step_of_body(insn->body));
    step->d = place[D];
    step->a = place[A];
    step->b = place[B];
    step->c = place[C];
    step->x = insn->id | wmi_builder_limit(b, WMI_LIMIT_wmma_rules) << WMI_WMMA_RULES_AT;
    step->y = y | (is_constant ? 1u << WMI_WMMA_C_CONSTANT : 0);
    /* Packed results of gfx11 keep the other half. */
    step->use[WMI_OP_D] = (uint8_t)(WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | operand[D]->dwords);
    step->use[WMI_OP_A] = (uint8_t)(WMI_USE_READ | WMI_USE_ROWS | operand[A]->dwords);
    step->use[WMI_OP_B] = (uint8_t)(WMI_USE_READ | WMI_USE_ROWS | operand[B]->dwords);
    step->use[WMI_OP_C] = (uint8_t)(WMI_USE_READ | WMI_USE_ROWS | (is_constant ? 1u : operand[C]->dwords));
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Lowers MFMA and SMFMAC to one step, whose operands are the rows of the registers. */
#include "sem/matrix.h"
#include "lower/classes.h"

static uint8_t rows(unsigned access, unsigned dwords)
{
    /* A use counts up to 14 rows. */
    return (uint8_t)(access | WMI_USE_ROWS | (dwords < 15 ? dwords : WMI_USE_MANY));
}

/* An inline constant of f64. The decoder knows the operand's width only, and gives floats as f32. */
static uint64_t as_double(uint64_t value)
{
    const uint32_t inverse_pi_twice = 0x3e22f983;
    const uint32_t word = (uint32_t)value;
    const int64_t number = (int64_t)value;
    float single;
    double wide;
    uint64_t bits;
    if ((number >= -16 && number <= 64) || value >> 32)
        return value;
    memcpy(&single, &word, sizeof single);
    wide = single;
    memcpy(&bits, &wide, sizeof bits);
    return word == inverse_pi_twice ? UINT64_C(0x3fc45f306dc9c882) : bits;
}

/* The rows of C: registers, or a constant that all elements share. */
static uint32_t place_c(struct wmi_builder *b, const struct wmi_operand *c, bool is_double, bool *ok)
{
    if (c->kind == WMI_OPERAND_VGPR)
        return wmi_lower_vgpr(b, c->reg, c->dwords, ok);
    return wmi_lower_vector_constant(b, is_double ? as_double(c->value) : c->value, is_double ? 2 : 1);
}

/* The byte that op_sel and op_sel_hi choose of the scale of A (0) or B (1). Source: LLVM 22, SIISelLowering
 * and VOP3PInstructions.td, the operands of llvm.amdgcn.mfma.scale. */
static unsigned scale_byte(const struct wmi_instruction *insn, unsigned of)
{
    const uint32_t low = (uint32_t)insn->field[WMI_FIELD_op_sel],
                   high = (uint32_t)insn->field[WMI_FIELD_op_sel_hi];
    return (low >> of & 1) | (high >> of & 1) << 1;
}

/* The scales of f8f6f4, if the instruction has them. */
static bool place_scales(struct wmi_builder *b, const struct wmi_instruction *insn, struct wmi_step *step)
{
    const struct wmi_operand *of_a = wmi_operand(insn, WMI_ROLE_DATA),
                             *of_b = wmi_operand(insn, WMI_ROLE_DATA2);
    bool ok = true;
    if (!of_a || !of_b)
        return true;
    step->e = wmi_lower_vgpr(b, of_a->reg, 1, &ok);
    step->x = wmi_lower_vgpr(b, of_b->reg, 1, &ok);
    step->use[WMI_OP_E] = step->use[WMI_OP_X] = rows(WMI_USE_READ, 1);
    return ok;
}

bool wmi_lower_matrix(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_matrix *matrix = wmi_matrix_of(insn->id);
    const struct wmi_operand *d = wmi_operand(insn, WMI_ROLE_D), *a = wmi_operand(insn, WMI_ROLE_A),
                             *f = wmi_operand(insn, WMI_ROLE_B), *c = wmi_operand(insn, WMI_ROLE_C);
    const bool is_double = matrix->d == WMI_ELEMENT_f64;
    bool ok = true;
    if (d->kind != WMI_OPERAND_VGPR || a->kind != WMI_OPERAND_VGPR || f->kind != WMI_OPERAND_VGPR ||
        (c->kind != WMI_OPERAND_VGPR && c->kind != WMI_OPERAND_CONSTANT))
        return false;
    struct wmi_matrix_use use = {
        .matrix = wmi_rows[insn->id].matrix,
        .rules = (uint8_t)wmi_builder_limit(b, WMI_LIMIT_matrix_rules),
        .cbsz = (uint8_t)insn->field[WMI_FIELD_cbsz],
        .abid = (uint8_t)insn->field[WMI_FIELD_abid],
        .blgp = (uint8_t)insn->field[WMI_FIELD_blgp],
        .neg = (uint8_t)((a->neg ? 1 : 0) | (f->neg ? 2 : 0) | (c->neg ? 4 : 0) | insn->field[WMI_FIELD_neg]),
        .ocp = (uint8_t)wmi_builder_limit(b, WMI_LIMIT_fp8_ocp),
        .constant = c->kind == WMI_OPERAND_CONSTANT,
    };
    if (wmi_operand(insn, WMI_ROLE_DATA))
        use.abid = (uint8_t)(WMI_MATRIX_SCALED | scale_byte(insn, 0) << WMI_MATRIX_SCALE_A |
                             scale_byte(insn, 1) << WMI_MATRIX_SCALE_B);
    const uint32_t from_c = place_c(b, c, is_double, &ok);
    struct wmi_step *step = wmi_emit(b, wmi_step_of_body(insn->body));
    step->d = wmi_lower_vgpr(b, d->reg, d->dwords, &ok);
    step->a = wmi_lower_vgpr(b, a->reg, a->dwords, &ok);
    step->b = wmi_lower_vgpr(b, f->reg, f->dwords, &ok);
    step->c = from_c;
    step->use[WMI_OP_D] = rows(WMI_USE_WRITE | (matrix->sparse ? WMI_USE_READ : 0u), d->dwords);
    step->use[WMI_OP_A] = rows(WMI_USE_READ, a->dwords);
    step->use[WMI_OP_B] = rows(WMI_USE_READ, f->dwords);
    step->use[WMI_OP_C] = rows(WMI_USE_READ, use.constant ? (is_double ? 2 : 1) : c->dwords);
    step->value = wmi_matrix_pack(use);
    return ok && place_scales(b, insn, step);
}

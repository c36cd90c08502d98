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

static uint8_t rows(unsigned access, unsigned dwords)
{
    /* A use counts up to 14 rows. */
    return (uint8_t)(access | WMI_USE_ROWS | (dwords < 15 ? dwords : WMI_USE_MANY));
}

/* gfx12.5 still decodes shapes of gfx12.0 with less than 512 bits of a row of A or B in all; its document
 * does not list them (unverified). */
static unsigned rules_of(const struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_matrix *m = wmi_matrix_of(insn->id);
    const unsigned rules = wmi_builder_limit(b, WMI_LIMIT_wmma_rules);
    const struct wmi_operand *f = wmi_operand(insn, WMI_ROLE_B);
    const bool small = m->a != WMI_ELEMENT_f32 && f->dwords < (m->sparse ? 16u : 8u);
    return rules == WMI_WMMA_CDNA5 && small ? WMI_WMMA_RDNA4 : rules;
}

/* ---- scales ---- */

struct scale {
    const struct wmi_operand *operand;
    uint32_t place;
    bool one_byte;
};

/* Registers; or one scale for all, of an SGPR the lowest byte, 1.0 for the constant 0. Source: CDNA 5 ISA,
 * "Matrix Scale Values"; other constants are unverified. */
static bool place_scale(struct wmi_builder *b, struct scale *scale)
{
    enum { ONE = 0x7f };
    const struct wmi_operand *o = scale->operand;
    bool ok = true;
    scale->one_byte = o->kind != WMI_OPERAND_VGPR;
    if (o->kind == WMI_OPERAND_VGPR)
        scale->place = wmi_lower_vgpr(b, o->reg, o->dwords, &ok);
    else if (o->kind == WMI_OPERAND_CONSTANT)
        scale->place = wmi_lower_vector_constant(b, o->value ? o->value : ONE, 1);
    else {
        struct wmi_operand word = *o;
        word.dwords = 1;
        scale->place = wmi_lower_vector(b, &word);
    }
    return ok;
}

static bool use_scales(const struct scale scales[2], struct wmi_step *step)
{
    const unsigned dwords = scales[0].operand->type == WMI_TYPE_b64 ? 2 : 1;
    const enum wmi_wmma_block block = dwords == 2 ? WMI_WMMA_BLOCK_16 : WMI_WMMA_BLOCK_32;
    step->e = scales[0].place;
    step->x = scales[1].place;
    step->use[WMI_OP_E] = rows(WMI_USE_READ, scales[0].one_byte ? 1 : dwords);
    step->use[WMI_OP_X] = rows(WMI_USE_READ, scales[1].one_byte ? 1 : dwords);
    step->y |= (uint32_t)block << WMI_WMMA_BLOCK | (uint32_t)scales[0].one_byte << WMI_WMMA_A_SCALE_BYTE |
               (uint32_t)scales[1].one_byte << WMI_WMMA_B_SCALE_BYTE;
    return true;
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
                     {WMI_FIELD_index_key, WMI_WMMA_INDEX_KEY},
                     {WMI_FIELD_matrix_a_fmt, WMI_WMMA_A_FORMAT},
                     {WMI_FIELD_matrix_b_fmt, WMI_WMMA_B_FORMAT},
                     {WMI_FIELD_matrix_a_scale_fmt, WMI_WMMA_A_SCALE_FORMAT},
                     {WMI_FIELD_matrix_b_scale_fmt, WMI_WMMA_B_SCALE_FORMAT},
                     {WMI_FIELD_matrix_a_scale, WMI_WMMA_A_SCALE_HIGH},
                     {WMI_FIELD_matrix_b_scale, WMI_WMMA_B_SCALE_HIGH}};
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
    const bool c_alone = element == WMI_ELEMENT_fp8 || element == WMI_ELEMENT_bf8 ||
                         element == WMI_ELEMENT_f8f6f4 || element == WMI_ELEMENT_fp4;
    for (unsigned i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
        const bool sign = modifiers[i].field == WMI_FIELD_neg_lo || modifiers[i].field == WMI_FIELD_neg_hi;
        const bool of_c =
            sign && (c_alone || (element == WMI_ELEMENT_f32 && modifiers[i].at == WMI_WMMA_NEG_HI));
        y |= (uint32_t)insn->field[modifiers[i].field] << (modifiers[i].at + (of_c ? C - A : 0));
    }
    struct scale scales[2] = {{.operand = wmi_operand(insn, WMI_ROLE_DATA)},
                              {.operand = wmi_operand(insn, WMI_ROLE_DATA2)}};
    if (scales[0].operand && !(place_scale(b, &scales[0]) && place_scale(b, &scales[1])))
        return false;
    struct wmi_step *step = wmi_emit(b, wmi_step_of_body(insn->body));
    step->d = place[D];
    step->a = place[A];
    step->b = place[B];
    step->c = place[C];
    step->value = insn->id | (uint64_t)rules_of(b, insn) << WMI_WMMA_RULES_AT;
    step->y = y | (is_constant ? 1u << WMI_WMMA_C_CONSTANT : 0);
    /* Packed results of gfx11 keep the other half. */
    step->use[WMI_OP_D] = rows(WMI_USE_READ | WMI_USE_WRITE, operand[D]->dwords);
    step->use[WMI_OP_A] = rows(WMI_USE_READ, operand[A]->dwords);
    step->use[WMI_OP_B] = rows(WMI_USE_READ, operand[B]->dwords);
    step->use[WMI_OP_C] = rows(WMI_USE_READ, is_constant ? 1u : operand[C]->dwords);
    return !scales[0].operand || use_scales(scales, step);
}

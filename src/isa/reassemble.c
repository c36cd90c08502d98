/* SPDX-License-Identifier: MIT */
/* Which instructions LLVM's assembler would not bring back from their text.
 *
 * Our assembler chooses encodings as LLVM's does, so it is asked. What LLVM's disassembler shows, but its
 * assembler refuses or encodes otherwise, is listed here (found by tests/oracle/reassembled.py); a rule may
 * take in more than LLVM refuses, since .long is right always. */
#include "isa/assemble.h"
#include "isa/disassemble.h"
#include "isa/tables.h"

#include <string.h>

enum {
    TEXT = 1024,
    ATTRIBUTES = 33,     /* of pixels */
    FLAT_OFFSETS = 4096, /* where the field has 13 bits, LLVM's assembler takes 12 */
    GPR_INDEX_MODES = 16,
    ATC_PROBES = 32, /* gfx12's assembler takes 5 bits */
    FIRST_MSAA_DIM = 6,
    TH_RETURN = 1,
    SCOPE_SYS = 3,
};

/* Registers that not all targets have that show them. */
static bool is_rare(const struct wmi_target *target, unsigned special)
{
    switch (special) {
    case WMI_SPECIAL_NULL:
        return !target->limits[WMI_LIMIT_null_saddr];
    case WMI_SPECIAL_VCCZ:
    case WMI_SPECIAL_EXECZ:
    case WMI_SPECIAL_POPS_EXITING_WAVE_ID:
    case WMI_SPECIAL_LDS_DIRECT:
    case WMI_SPECIAL_XNACK_MASK:
    case WMI_SPECIAL_XNACK_MASK_LO:
    case WMI_SPECIAL_XNACK_MASK_HI:
        return true;
    default:
        return false;
    }
}

static bool operand_comes_back(const struct wmi_target *target, const struct wmi_instruction *insn,
                               const struct wmi_operand *o)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool scalar_tuple = o->kind == WMI_OPERAND_SGPR && o->dwords > 1;
    if (o->kind == WMI_OPERAND_SPECIAL && is_rare(target, o->reg))
        return false;
    if (scalar_tuple && (o->reg % 2 || o->reg + o->dwords > target->limits[WMI_LIMIT_sgprs]))
        return false;
    if (o->role == WMI_ROLE_RSRC && o->kind == WMI_OPERAND_SPECIAL)
        return false;
    if (o->kind == WMI_OPERAND_TTMP && o->dwords == 3) /* LLVM's assembler has no such tuple */
        return false;
    if ((insn->id == WMI_INSN_s_atc_probe || insn->id == WMI_INSN_s_atc_probe_buffer) &&
        o->kind == WMI_OPERAND_IMMEDIATE && o->value >= ATC_PROBES)
        return false;
    if (o->type == WMI_TYPE_mask && o->kind != WMI_OPERAND_SGPR && o->kind != WMI_OPERAND_SPECIAL &&
        o->kind != WMI_OPERAND_TTMP)
        return false;
    if (o->kind == WMI_OPERAND_LITERAL && (o->neg || o->abs) && o->dwords > 1)
        return false;
    if (row->class == WMI_CLASS_SMEM && (o->role == WMI_ROLE_DATA || o->role == WMI_ROLE_D) &&
        o->kind == WMI_OPERAND_SPECIAL && o->reg >= WMI_SPECIAL_EXEC)
        return false;
    const bool constant = o->kind == WMI_OPERAND_CONSTANT || o->kind == WMI_OPERAND_LITERAL;
    if (row->class == WMI_CLASS_CONTROL && constant && (o->role == WMI_ROLE_A || o->role == WMI_ROLE_B))
        return false;
    /* VCC is read besides */
    return !(row->class == WMI_CLASS_VALU && row->flags & WMI_ROW_READS_VCC && o->read && !o->implied &&
             (o->kind == WMI_OPERAND_SGPR || o->kind == WMI_OPERAND_SPECIAL || o->kind == WMI_OPERAND_TTMP));
}

static bool immediates_come_back(const struct wmi_instruction *insn)
{
    const struct wmi_form *form = &wmi_forms[insn->form];
    for (unsigned i = 0; i < form->specs; i++) {
        const unsigned kind = wmi_specs[form->spec + i].kind;
        const uint64_t value = insn->operand[i].value;
        if ((kind == WMI_KIND_attr && value >= ATTRIBUTES) ||
            (insn->operand[i].kind == WMI_OPERAND_IMMEDIATE && kind == WMI_KIND_gpr_idx &&
             value >= GPR_INDEX_MODES))
            return false;
    }
    return true;
}

static bool memory_comes_back(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const int32_t *field = insn->field;
    const bool image = row->class == WMI_CLASS_IMAGE;
    if (row->memory == WMI_MEMORY_STORE && field[WMI_FIELD_tfe])
        return false;
    if (row->memory == WMI_MEMORY_ATOMIC && (field[WMI_FIELD_scc] || (image && field[WMI_FIELD_d16])))
        return false;
    if (row->memory == WMI_MEMORY_ATOMIC && field[WMI_FIELD_th] > TH_RETURN &&
        field[WMI_FIELD_scope] == SCOPE_SYS)
        return false;
    if (row->class == WMI_CLASS_SMEM && field[WMI_FIELD_simm] < 0 && wmi_operand(insn, WMI_ROLE_RSRC))
        return false;
    if (row->class == WMI_CLASS_FLAT && insn->dwords == 2 && field[WMI_FIELD_offset] >= FLAT_OFFSETS)
        return false;
    if (image && strstr(row->name, "gather4") && __builtin_popcount((unsigned)field[WMI_FIELD_dmask]) != 1)
        return false;
    if (image && field[WMI_FIELD_d16] && (strstr(row->name, "_pck") || strstr(row->name, "image_get")))
        return false;
    if (strstr(row->name, "image_msaa") &&
        (field[WMI_FIELD_dim] < FIRST_MSAA_DIM || __builtin_popcount((unsigned)field[WMI_FIELD_dmask]) != 1))
        return false;
    if (field[WMI_FIELD_addr64] && (field[WMI_FIELD_idxen] || field[WMI_FIELD_offen]))
        return false;
    if (field[WMI_FIELD_gds] && (!strcmp(row->name, "ds_nop") || strstr(row->name, "permute")))
        return false;
    if (field[WMI_FIELD_glc] && !target->limits[WMI_LIMIT_even_tuples] &&
        (strstr(row->name, "_add_f32") || strstr(row->name, "_pk_add_f16")))
        return false;
    if (strstr(row->name, "store_lds") && !field[WMI_FIELD_lds])
        return false;
    for (unsigned i = 0; i < insn->operands; i++)
        if (strstr(row->name, "ds_gws") && target->limits[WMI_LIMIT_even_tuples] &&
            insn->operand[i].kind == WMI_OPERAND_VGPR && insn->operand[i].reg % 2)
            return false;
    return true;
}

static bool is_register_or_constant(const struct wmi_operand *o, bool constants)
{
    return o->kind == WMI_OPERAND_VGPR || o->kind == WMI_OPERAND_AGPR ||
           (constants && o->kind == WMI_OPERAND_CONSTANT);
}

/* Matrices: registers, and where the target takes one a constant as C, which may not overlap a part of D. */
static bool matrix_comes_back(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A), *b = wmi_operand(insn, WMI_ROLE_B);
    const struct wmi_operand *c = wmi_operand(insn, WMI_ROLE_C), *d = wmi_operand(insn, WMI_ROLE_D);
    const bool mfma = strstr(wmi_rows[insn->id].name, "v_mfma") != NULL;
    const bool constants = !mfma || target->limits[WMI_LIMIT_even_tuples];
    if (!a || !b || !d || !is_register_or_constant(a, false) || !is_register_or_constant(b, false))
        return false;
    if (!c || !is_register_or_constant(c, constants))
        return !c;
    return c->kind != d->kind || c->reg == d->reg || c->reg + c->dwords <= d->reg ||
           d->reg + d->dwords <= c->reg;
}

/* VCC as the mask and a half of it as another source are two on the constant bus. */
static bool names_vcc_twice(const struct wmi_instruction *insn)
{
    bool whole = false, half = false;
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].kind == WMI_OPERAND_SPECIAL && insn->operand[i].read) {
            whole |= insn->operand[i].reg == WMI_SPECIAL_VCC;
            half |= insn->operand[i].reg == WMI_SPECIAL_VCC_LO || insn->operand[i].reg == WMI_SPECIAL_VCC_HI;
        }
    return whole && half;
}

static bool vector_comes_back(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const int32_t *field = insn->field;
    const bool dpp = insn->extension == WMI_EXT_DPP || insn->extension == WMI_EXT_DPP8;
    const bool integer_clamp = field[WMI_FIELD_clamp] && !(row->flags & WMI_ROW_FLOAT_CLAMP);
    if (integer_clamp && (!target->limits[WMI_LIMIT_integer_clamp] || !strncmp(row->name, "v_cmp", 5)))
        return false;
    if (field[WMI_FIELD_omod] && insn->extension == WMI_EXT_SDWA)
        return false;
    if (field[WMI_FIELD_op_sel] && strstr(row->name, "v_fmac_f16"))
        return false;
    if (strstr(row->name, "v_dot") &&
        (dpp || (field[WMI_FIELD_op_sel_hi] && field[WMI_FIELD_op_sel_hi] != 7)))
        return false;
    if (strstr(row->name, "v_dot") && wmi_operand(insn, WMI_ROLE_C) && insn->layout == WMI_LAYOUT_vop3p &&
        field[WMI_FIELD_op_sel_hi] != 7)
        return false;
    if (strstr(row->name, "qsad") && insn->extension == WMI_EXT_LITERAL)
        return false;
    if ((strstr(row->name, "mfma") || strstr(row->name, "smfmac") || strstr(row->name, "wmma")) &&
        !matrix_comes_back(target, insn))
        return false;
    return !names_vcc_twice(insn);
}

/* What an instruction of one name takes in LLVM's assembler. */
static bool name_comes_back(const struct wmi_instruction *insn)
{
    const char *name = wmi_rows[insn->id].name;
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A);
    const bool dpp = insn->extension == WMI_EXT_DPP || insn->extension == WMI_EXT_DPP8;
    if (strstr(name, "_movrel") && a && a->kind != (*name == 's' ? WMI_OPERAND_SGPR : WMI_OPERAND_VGPR))
        return false;
    if (!strncmp(name, "s_waitcnt_", 10)) /* the register must be null */
        for (const struct wmi_operand *o = insn->operand; o < insn->operand + insn->operands; o++)
            if (o->kind != WMI_OPERAND_IMMEDIATE &&
                (o->kind != WMI_OPERAND_SPECIAL || o->reg != WMI_SPECIAL_NULL))
                return false;
    if (strstr(name, "_class_f16") && (dpp || insn->dwords == 1 || insn->extension == WMI_EXT_LITERAL))
        return false;
    if (a && a->kind != WMI_OPERAND_CONSTANT &&
        (a->kind != WMI_OPERAND_SPECIAL || a->reg != WMI_SPECIAL_M0) && *name == 's' &&
        strstr(name, "_barrier"))
        return false;
    if (!strncmp(name, "s_rfe", 5) && a && a->kind != WMI_OPERAND_SGPR)
        return false;
    return insn->extension != WMI_EXT_SDWA || strncmp(name, "v_mac_", 6) != 0;
}

/* The banks of VGPRs that the halves of a pair read: different ones for each source. */
static bool pair_comes_back(const struct wmi_instruction *insn)
{
    const struct wmi_operand *x = insn->operand, *y = insn->operand + insn->operands;
    for (unsigned i = 0; i < insn->operands; i++)
        for (unsigned j = 0; j < insn->second_operands; j++) {
            if (x[i].kind != WMI_OPERAND_VGPR || y[j].kind != WMI_OPERAND_VGPR)
                continue;
            const bool third_x = x[i].role == WMI_ROLE_C ||
                                 (x[i].role == WMI_ROLE_D && wmi_rows[insn->id].flags & WMI_ROW_MACC) ||
                                 (x[i].role == WMI_ROLE_B && strstr(wmi_forms[insn->form].name, "mk_f32"));
            const bool third_y =
                y[j].role == WMI_ROLE_C ||
                (y[j].role == WMI_ROLE_D && wmi_rows[insn->second_id].flags & WMI_ROW_MACC) ||
                (y[j].role == WMI_ROLE_B && strstr(wmi_forms[insn->second_form].name, "mk_f32"));
            if (third_x && third_y && x[i].reg % 2 == y[j].reg % 2)
                return false;
            if (x[i].role == y[j].role && x[i].role != WMI_ROLE_D && x[i].reg % 4 == y[j].reg % 4)
                return false;
        }
    return true;
}

bool wmi_reassembles(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    char text[TEXT];
    struct wmi_instruction again;
    for (unsigned i = 0; i < insn->operands + insn->second_operands; i++)
        if (!operand_comes_back(target, insn, &insn->operand[i]))
            return false;
    if (!immediates_come_back(insn) || !memory_comes_back(target, insn) ||
        (wmi_rows[insn->id].class == WMI_CLASS_VALU && !vector_comes_back(target, insn)) ||
        !name_comes_back(insn) || (insn->second_id && !pair_comes_back(insn)))
        return false;
    const size_t length = wmi_print(target, insn, text, sizeof(text));
    if (strstr(text, "invalid_") || strstr(text, "th:0x") || strstr(text, "TH_ATOMIC_0x"))
        return false;
    struct wmi_cursor cursor = {.at = text, .end = text + length};
    return wmi_assemble(target, &cursor, &again, NULL) == insn->dwords &&
           memcmp(again.words, insn->words, 4u * insn->dwords) == 0;
}

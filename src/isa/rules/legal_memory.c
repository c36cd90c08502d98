/* SPDX-License-Identifier: MIT */
/* What LLVM's assembler rejects in memory instructions although it can be encoded.
 *
 * Source: LLVM 19, AMDGPUAsmParser.cpp, validateMIMG*, validateFlatOffset, validateSMEMOffset, validateDS,
 * validateTFE, validateTHAndScopeBits, and the operands and modifiers of the instruction definitions. */
#include "isa/rules/legal.h"

#include <string.h>

enum {
    DIM_2D_MSAA = 6,
    DIM_2D_MSAA_ARRAY = 7,
    TUPLE_OF_ALL = 8, /* LLVM also accepts this tuple size where fewer registers suffice */
    TH_BYPASS = 3,
    SCOPE_SYS = 3,
};

static unsigned index_of(const struct wmi_instruction *insn, enum wmi_role role)
{
    unsigned i = 0;
    while (i < insn->operands && insn->operand[i].role != role)
        i++;
    return i;
}

static bool keeps(const struct wmi_instruction *insn, enum wmi_rule rule)
{
    return wmi_rows[insn->id].rules & rule;
}

static bool is_of(const struct wmi_instruction *insn, enum wmi_group group)
{
    return wmi_rows[insn->id].group == group;
}

/* On some targets float atomics cannot return. */
static bool returns_as_requested(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    return !insn->field[WMI_FIELD_glc] || !(wmi_rows[insn->id].flags & WMI_ROW_FLOAT) ||
           e->target->limits[WMI_LIMIT_float_atomics_return] ||
           wmi_wrong_field(e, WMI_FIELD_glc, "no glc: this atomic returns nothing");
}

/* Whether the instruction is a gather4, which reads four values of one component. */
static bool gathers(const struct wmi_encoder *e)
{
    return wmi_specs[e->form->spec].kind == WMI_KIND_gather_data;
}

/* ---- forms ---- */

/* Data must not be EXEC, M0 or null; resources must be SGPRs. */
static bool scalar_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++) {
        const struct wmi_operand *o = &insn->operand[i];
        const bool data = o->role == WMI_ROLE_D || o->role == WMI_ROLE_DATA;
        const bool null = o->reg == WMI_SPECIAL_NULL && o->dwords > 2;
        if (o->kind == WMI_OPERAND_SPECIAL && data &&
            (null || (o->reg >= WMI_SPECIAL_EXEC && o->reg <= WMI_SPECIAL_M0)))
            return wmi_wrong_operand(e, i, "SGPRs or vcc");
        if (o->kind == WMI_OPERAND_SPECIAL && o->role == WMI_ROLE_RSRC)
            return wmi_wrong_operand(e, i, "SGPRs");
    }
    return true;
}

static bool buffer_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const int32_t *field = insn->field;
    const unsigned offset = index_of(insn, WMI_ROLE_OFFSET), rsrc = index_of(insn, WMI_ROLE_RSRC);
    if (offset < insn->operands && insn->operand[offset].kind == WMI_OPERAND_LITERAL)
        return wmi_wrong_operand(e, offset, "an SGPR or an inline constant");
    if (rsrc < insn->operands && insn->operand[rsrc].kind == WMI_OPERAND_SPECIAL)
        return wmi_wrong_operand(e, rsrc, "four SGPRs");
    if (field[WMI_FIELD_addr64] && (field[WMI_FIELD_idxen] || field[WMI_FIELD_offen]))
        return wmi_wrong_field(e, WMI_FIELD_addr64, "no addr64 beside idxen or offen");
    if (!returns_as_requested(e, insn))
        return false;
    if (field[WMI_FIELD_lds] && field[WMI_FIELD_tfe])
        return wmi_wrong_field(e, WMI_FIELD_tfe, "no tfe beside lds");
    if (is_of(insn, WMI_GROUP_LDS_DMA) && wmi_rows[insn->id].memory == WMI_MEMORY_STORE &&
        !field[WMI_FIELD_lds])
        return wmi_wrong_field(e, WMI_FIELD_lds, "lds");
    return true;
}

static bool ds_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const bool gds = insn->field[WMI_FIELD_gds];
    if (insn->id == WMI_INSN_ds_nop && e->field_at[WMI_FIELD_offset])
        return wmi_wrong_field(e, WMI_FIELD_offset, "no offset of this instruction");
    if (gds && keeps(insn, WMI_RULE_NO_GDS))
        return wmi_wrong_field(e, WMI_FIELD_gds, "no gds of this instruction");
    if (!e->field_at[WMI_FIELD_gds] && keeps(insn, WMI_RULE_GDS))
        return wmi_wrong_field(e, WMI_FIELD_gds, "gds");
    return true;
}

static void put_field(struct wmi_encoder *e, enum wmi_field field, uint32_t *words, uint32_t value)
{
    const struct wmi_instruction_layout *layout = &wmi_layouts[e->form->layout];
    for (unsigned i = 0; i < layout->fields; i++) {
        const struct wmi_field_spec *spec = &wmi_field_specs[layout->field + i];
        if (spec->field == field)
            words[spec->pos / 32] = (words[spec->pos / 32] & ~(((1u << spec->width) - 1) << spec->pos % 32)) |
                                    value << spec->pos % 32;
    }
}

/* LLVM distinguishes sampling instructions by their number of address registers. So it accepts 2D_MSAA_ARRAY,
 * which cannot be sampled, if another dimension has the same number, or if eight are given and it needs more
 * than four. */
static bool address_is_known(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const unsigned addr = index_of(insn, WMI_ROLE_ADDR), dwords = e->parsed[addr].dwords;
    for (unsigned dim = 0; dim < DIM_2D_MSAA_ARRAY; dim++)
        for (unsigned a16 = 0; a16 < 2; a16++) {
            uint32_t words[WMI_INSTRUCTION_DWORDS];
            struct wmi_instruction other;
            memcpy(words, insn->words, sizeof words);
            put_field(e, WMI_FIELD_dim, words, dim);
            put_field(e, WMI_FIELD_a16, words, a16);
            if (!wmi_decode(e->target, words, WMI_INSTRUCTION_DWORDS, &other))
                continue;
            const unsigned has = other.operand[addr].dwords;
            if (has == dwords || (dwords >= TUPLE_OF_ALL && has > 4))
                return true;
        }
    return false;
}

static bool image_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const int32_t *field = insn->field;
    const unsigned rsrc = index_of(insn, WMI_ROLE_RSRC), samp = index_of(insn, WMI_ROLE_SAMP);
    if (insn->operand[rsrc].kind == WMI_OPERAND_SPECIAL)
        return wmi_wrong_operand(e, rsrc, "eight SGPRs");
    if (samp < insn->operands && insn->operand[samp].kind == WMI_OPERAND_SPECIAL)
        return wmi_wrong_operand(e, samp, "four SGPRs");
    if (field[WMI_FIELD_d16] && keeps(insn, WMI_RULE_NO_D16))
        return wmi_wrong_field(e, WMI_FIELD_d16, "no d16 of this instruction");
    if (gathers(e) && field[WMI_FIELD_d16] && field[WMI_FIELD_tfe])
        return wmi_wrong_field(e, WMI_FIELD_tfe, "no tfe beside d16 of this instruction");
    return field[WMI_FIELD_dim] != DIM_2D_MSAA_ARRAY || samp == insn->operands || address_is_known(e, insn) ||
           wmi_wrong_field(e, WMI_FIELD_dim, "a dimension that can be sampled");
}

bool wmi_memory_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    switch (wmi_rows[insn->id].class) {
    case WMI_CLASS_SMEM:
        return scalar_form_takes(e, insn);
    case WMI_CLASS_BUFFER:
    case WMI_CLASS_TBUFFER:
        return buffer_form_takes(e, insn);
    case WMI_CLASS_IMAGE:
        return image_form_takes(e, insn);
    case WMI_CLASS_GLOBAL:
        return returns_as_requested(e, insn);
    case WMI_CLASS_DS:
        return ds_form_takes(e, insn);
    default:
        return true;
    }
}

/* ---- rules ---- */

/* The immediate offset of a prefetch, or the number of operands. */
static unsigned index_of_offset(const struct wmi_instruction *insn)
{
    unsigned i = 0;
    while (i < insn->operands && insn->operand[i].role != WMI_ROLE_IMM)
        i++;
    return i;
}

static bool scalar_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const bool buffer = wmi_operand(insn, WMI_ROLE_RSRC) != NULL;
    if (insn->field[WMI_FIELD_simm] < 0 && buffer && !e->target->limits[WMI_LIMIT_smem_buffer_signed])
        return wmi_wrong_field(e, WMI_FIELD_simm, "an offset of 20 bits that is not negative");
    const unsigned imm = index_of_offset(insn);
    if (imm < insn->operands && (int64_t)insn->operand[imm].value < 0 && buffer &&
        !e->target->limits[WMI_LIMIT_buffer_signed])
        return wmi_wrong_operand(e, imm, "an offset that is not negative");
    return true;
}

static bool buffer_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->memory == WMI_MEMORY_STORE && insn->field[WMI_FIELD_tfe])
        return wmi_wrong_field(e, WMI_FIELD_tfe, "no tfe of a store");
    if (insn->field[WMI_FIELD_offset] < 0 && !e->target->limits[WMI_LIMIT_buffer_signed])
        return wmi_wrong_field(e, WMI_FIELD_offset, "an offset that is not negative");
    return true;
}

/* A tensor has two or four groups of SGPRs. */
static bool tensor_is_whole(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    return insn->layout != WMI_LAYOUT_tensor ||
           !wmi_operand(insn, WMI_ROLE_C) == !wmi_operand(insn, WMI_ROLE_IMM) ||
           wmi_wrong_operand(e, 2, "two or four groups of SGPRs");
}

/* FLAT offsets are never negative, although the field has a sign bit. */
static bool flat_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const uint32_t limit = e->target->limits[WMI_LIMIT_flat_offsets];
    e->cursor->number = limit - 1;
    return !limit || (uint32_t)insn->field[WMI_FIELD_offset] < limit ||
           wmi_wrong_field(e, WMI_FIELD_offset, "an offset of 0 to %u");
}

/* The dmask of an atomic gives its data size: one or two dwords, twice as many with a compare value. */
static bool atomic_dmask_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const int32_t dmask = insn->field[WMI_FIELD_dmask];
    if (is_of(insn, WMI_GROUP_CMPSWAP))
        return dmask == 3 || dmask == 15 || wmi_wrong_field(e, WMI_FIELD_dmask, "dmask:0x3 or dmask:0xf");
    return dmask == 1 || dmask == 3 || wmi_wrong_field(e, WMI_FIELD_dmask, "dmask:0x1 or dmask:0x3");
}

static bool image_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const int32_t dmask = insn->field[WMI_FIELD_dmask], dim = insn->field[WMI_FIELD_dim];
    const bool msaa = is_of(insn, WMI_GROUP_MSAA);
    if (wmi_rows[insn->id].memory == WMI_MEMORY_ATOMIC)
        return atomic_dmask_is_legal(e, insn);
    if (msaa && dim != DIM_2D_MSAA && dim != DIM_2D_MSAA_ARRAY)
        return wmi_wrong_field(e, WMI_FIELD_dim, "a multisampled dimension");
    return !gathers(e) || __builtin_popcount((unsigned)dmask) == 1 ||
           wmi_wrong_field(e, WMI_FIELD_dmask, "a dmask of one bit: the component that is gathered");
}

/* gfx12: the same value of th is BYPASS with SCOPE_SYS and another hint in other scopes. */
static bool hint_fits_scope(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    static const char *const bypasses[] = {"th:TH_LOAD_BYPASS", "th:TH_STORE_BYPASS"};
    const char *at = e->field_at[WMI_FIELD_th];
    bool bypass = false;
    if (insn->field[WMI_FIELD_th] != TH_BYPASS || !at)
        return true;
    for (unsigned i = 0; i < 2; i++)
        bypass |= (size_t)(e->cursor->end - at) >= strlen(bypasses[i]) &&
                  !memcmp(at, bypasses[i], strlen(bypasses[i]));
    return bypass == (insn->field[WMI_FIELD_scope] == SCOPE_SYS) ||
           wmi_wrong_field(e, WMI_FIELD_th,
                           bypass ? "scope:SCOPE_SYS with this hint" : "another hint in SCOPE_SYS");
}

/* An undocumented rule of gfx90a: GWS data must be an even register. */
static bool gws_is_even(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const unsigned i = index_of(insn, WMI_ROLE_DATA);
    return !e->target->limits[WMI_LIMIT_even_tuples] || i == insn->operands || !is_of(insn, WMI_GROUP_GWS) ||
           insn->operand[i].reg % 2 == 0 || wmi_wrong_operand(e, i, "an even register");
}

/* scale_offset multiplies the offset in a VGPR, or of s_load in an SGPR or the instruction, by the size of
 * the data: there must be one, and beside it an address in SGPRs. */
static bool has_offset_to_scale(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR),
                             *saddr = wmi_operand(insn, WMI_ROLE_SADDR);
    const enum wmi_class class = (enum wmi_class)wmi_rows[insn->id].class;
    const bool has_addr = addr && addr->kind != WMI_OPERAND_OFF;
    const bool has_saddr =
        class == WMI_CLASS_SCRATCH || class == WMI_CLASS_SMEM || (saddr && saddr->kind != WMI_OPERAND_OFF);
    return !insn->field[WMI_FIELD_scale_offset] || (has_addr && has_saddr) ||
           wmi_wrong_field(e, WMI_FIELD_scale_offset,
                           "scale_offset with an address in SGPRs and an offset only");
}

bool wmi_memory_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    if (!has_offset_to_scale(e, insn))
        return false;
    switch (wmi_rows[insn->id].class) {
    case WMI_CLASS_SMEM:
        return scalar_is_legal(e, insn) && hint_fits_scope(e, insn);
    case WMI_CLASS_BUFFER:
    case WMI_CLASS_TBUFFER:
        return buffer_is_legal(e, insn) && hint_fits_scope(e, insn);
    case WMI_CLASS_IMAGE:
        return tensor_is_whole(e, insn) && image_is_legal(e, insn) && hint_fits_scope(e, insn);
    case WMI_CLASS_FLAT:
        return flat_is_legal(e, insn) && hint_fits_scope(e, insn);
    case WMI_CLASS_GLOBAL:
    case WMI_CLASS_SCRATCH:
        return hint_fits_scope(e, insn);
    case WMI_CLASS_DS:
        return gws_is_even(e, insn);
    default:
        return true;
    }
}

/* SPDX-License-Identifier: MIT */
/* Encodes parsed operands and modifiers: the inverse of decode.c, with the same tables. */
#include "isa/text/encode_constant.h"

#include <string.h>

enum {
    CODE_VGPR_0 = 256,
    CODES = 256,
    HALF_BIT = 128,
    SADDR_OFF = 0x7f,
};

static void put(struct wmi_encoder *e, unsigned pos, unsigned width, uint32_t value)
{
    const uint32_t mask = (uint32_t)((UINT64_C(1) << width) - 1) << pos % 32;
    e->words[pos / 32] = (e->words[pos / 32] & ~mask) | (value << pos % 32 & mask);
}

/* ---- registers ---- */

/* The scalar code 0..255 of a register; false if the target does not have the register. */
static bool scalar_code(const struct wmi_encoder *e, const struct wmi_parsed *p, unsigned *code)
{
    const struct wmi_operand_meaning *codes = e->target->codes;
    if (p->what != WMI_PARSED_REGISTER)
        return false;
    if (p->file == WMI_OPERAND_SGPR) {
        *code = p->reg;
        return p->reg < WMI_CODE_INT_0 && codes[p->reg].kind == WMI_OPERAND_SGPR;
    }
    for (unsigned i = 0; i < CODES; i++) {
        if (codes[i].kind != p->file)
            continue;
        *code = i;
        if (codes[i].reg == p->reg)
            return true;
        /* in enum wmi_special, a pair precedes its low half */
        if (p->file == WMI_OPERAND_SPECIAL && p->dwords == 2 && codes[i].reg == p->reg + 1)
            return true;
    }
    return false;
}

/* Whether a list is a tuple: [v1, v2] is v[1:2]. */
static bool is_tuple(const struct wmi_parsed *p)
{
    for (unsigned i = 1; i < p->count; i++)
        if (p->list[i] != p->list[i - 1] + p->list_dwords[i - 1])
            return false;
    return p->what == WMI_PARSED_LIST;
}

static bool is_vgpr(const struct wmi_parsed *p)
{
    return p->file == WMI_OPERAND_VGPR && (p->what == WMI_PARSED_REGISTER || is_tuple(p));
}

static bool is_agpr(const struct wmi_parsed *p)
{
    return p->what == WMI_PARSED_REGISTER && p->file == WMI_OPERAND_AGPR;
}

/* Reports a scalar register that the target does not have. */
static bool no_scalar(struct wmi_encoder *e, const struct wmi_parsed *p, bool constants)
{
    const uint32_t *limits = e->target->limits;
    if (p->file == WMI_OPERAND_SPECIAL)
        return wmi_refuse(e, p, "a register that this target has here");
    if (p->file != WMI_OPERAND_SGPR && p->file != WMI_OPERAND_TTMP)
        return wmi_refuse(e, p, constants ? "a scalar register or a constant" : "a scalar register");
    const bool sgpr = p->file == WMI_OPERAND_SGPR;
    e->cursor->number = limits[sgpr ? WMI_LIMIT_sgprs : WMI_LIMIT_ttmps] - 1;
    return wmi_refuse(e, p, sgpr ? "SGPRs up to s%u" : "trap registers up to ttmp%u");
}

/* A scalar register or a constant. */
static bool scalar(struct wmi_encoder *e, const struct wmi_spec *spec, const struct wmi_parsed *p,
                   bool constants, bool literals, unsigned *code)
{
    if (p->what == WMI_PARSED_REGISTER)
        return scalar_code(e, p, code) || no_scalar(e, p, constants);
    if (!constants || (p->what != WMI_PARSED_NUMBER && p->what != WMI_PARSED_REAL))
        return wmi_refuse(e, p, constants ? "a register or a constant" : "a scalar register");
    const enum wmi_number_class class = wmi_number_class_of_spec(e, spec);
    uint64_t wide;
    uint32_t literal;
    if (wmi_inline_code(e, p, class, code))
        return true;
    if (literals && wmi_needs_wide_literal(e, p, class, &wide)) {
        *code = WMI_CODE_LITERAL_64;
        return wmi_set_literal(e, p, wide, true);
    }
    if (!literals)
        return wmi_refuse(e, p, "an inline constant: -16 to 64, or 0.5, 1.0, 2.0, 4.0 with either sign");
    *code = WMI_CODE_LITERAL;
    return wmi_literal_of(e, p, class, &literal) && wmi_set_literal(e, p, literal, false);
}

static bool vgpr(struct wmi_encoder *e, const struct wmi_parsed *p, unsigned *value)
{
    *value = p->reg;
    return is_vgpr(p) || wmi_refuse(e, p, "a VGPR");
}

static bool vgpr_half(struct wmi_encoder *e, const struct wmi_spec *spec, const struct wmi_parsed *p,
                      unsigned *value)
{
    if (wmi_type_bits(spec->type) != 16)
        return vgpr(e, p, value);
    *value = p->reg | (p->part == WMI_PART_HIGH ? HALF_BIT : 0);
    return is_vgpr(p) && p->reg < HALF_BIT ? true : wmi_refuse(e, p, "one of v0 to v127");
}

static bool vgpr_or_agpr(struct wmi_encoder *e, const struct wmi_spec *spec, const struct wmi_parsed *p,
                         unsigned *value)
{
    *value = p->reg;
    if (spec->alt && is_agpr(p)) {
        put(e, spec->alt, 1, 1);
        return true;
    }
    return is_vgpr(p) || wmi_refuse(e, p, "a vector register");
}

static bool is_number(struct wmi_encoder *e, const struct wmi_parsed *p)
{
    return (p->what == WMI_PARSED_NUMBER && !p->value.base) || wmi_refuse(e, p, "a number");
}

/* ---- operands by kind ---- */

static bool unsigned_of(struct wmi_encoder *e, const struct wmi_parsed *p, unsigned width, unsigned *value)
{
    *value = (unsigned)p->value.number;
    if (!is_number(e, p))
        return false;
    e->cursor->number = width;
    return p->value.late || (p->value.number >= 0 && p->value.number >> width == 0) ||
           wmi_refuse(e, p, "an unsigned number of %u bits");
}

static bool either_of(struct wmi_encoder *e, const struct wmi_parsed *p, unsigned width, unsigned *value)
{
    *value = (unsigned)p->value.number;
    if (!is_number(e, p))
        return false;
    e->cursor->number = width;
    return p->value.late || wmi_fits(p->value.number, width) || wmi_refuse(e, p, "a number of %u bits");
}

/* A branch target, in dwords from the next instruction; a plain number is used unchanged. */
static bool label(struct wmi_encoder *e, const struct wmi_parsed *p, unsigned *value)
{
    const struct wmi_symbols *symbols = e->cursor->symbols;
    *value = (unsigned)p->value.number;
    if (p->what != WMI_PARSED_NUMBER)
        return wmi_refuse(e, p, "a label or a number");
    if (p->value.late)
        return true;
    if (!p->value.base)
        return wmi_fits(p->value.number, 16) || wmi_refuse(e, p, "a number of 16 bits");
    if (p->value.base != symbols->here.base) {
        e->relocation = (struct wmi_relocation){p->value, 0, true};
        *value = 0;
        return true;
    }
    const int64_t bytes = p->value.number - symbols->here.number - 4;
    *value = (unsigned)(bytes / 4);
    if (bytes % 4)
        return wmi_refuse(e, p, "a label at a multiple of 4 bytes");
    return (bytes / 4 >= INT16_MIN && bytes / 4 <= INT16_MAX) ||
           wmi_refuse(e, p, "a label within 16 bits of dwords");
}

static unsigned null_code(const struct wmi_encoder *e)
{
    for (unsigned i = 0; i < WMI_CODE_INT_0; i++)
        if (e->target->codes[i].kind == WMI_OPERAND_SPECIAL && e->target->codes[i].reg == WMI_SPECIAL_NULL)
            return i;
    return SADDR_OFF;
}

/* gfx8: an SGPR or a 20-bit offset; gfx9: an SGPR in the same bits, or, with an offset, in its own field. */
static bool smem_offset(struct wmi_encoder *e, const struct wmi_parsed *p)
{
    unsigned code;
    if (p->what == WMI_PARSED_NUMBER) {
        if (e->field_at[WMI_FIELD_simm])
            return wmi_expected(e->cursor, e->field_at[WMI_FIELD_simm], "an SGPR before offset:");
        e->field[WMI_FIELD_imm] = 1;
        e->field[WMI_FIELD_simm] = (int32_t)p->value.number;
        e->field_at[WMI_FIELD_simm] = p->at;
        return is_number(e, p) && (wmi_fits(p->value.number, 32) || wmi_refuse(e, p, "an offset of 32 bits"));
    }
    if (!scalar_code(e, p, &code))
        return wmi_refuse(e, p, "an SGPR or an offset");
    if (e->field_at[WMI_FIELD_simm]) {
        e->field[WMI_FIELD_imm] = e->field[WMI_FIELD_soe] = 1;
        e->field[WMI_FIELD_soffset] = (int32_t)code;
    } else {
        e->field[WMI_FIELD_simm] = (int32_t)code;
    }
    return true;
}

static bool smem_soffset(struct wmi_encoder *e, const struct wmi_parsed *p, unsigned *value)
{
    if (p->what == WMI_PARSED_NUMBER) {
        if (e->field_at[WMI_FIELD_simm])
            return wmi_expected(e->cursor, e->field_at[WMI_FIELD_simm], "an SGPR before offset:");
        *value = null_code(e);
        e->field[WMI_FIELD_simm] = (int32_t)p->value.number;
        e->field_at[WMI_FIELD_simm] = p->at;
        return is_number(e, p) && (wmi_fits(p->value.number, 32) || wmi_refuse(e, p, "an offset of 32 bits"));
    }
    return scalar_code(e, p, value) || wmi_refuse(e, p, "an SGPR or an offset");
}

static bool smrd_offset(struct wmi_encoder *e, const struct wmi_parsed *p, bool literals, unsigned *value)
{
    if (p->what != WMI_PARSED_NUMBER)
        return scalar_code(e, p, value) || wmi_refuse(e, p, "an SGPR or an offset");
    *value = (unsigned)p->value.number;
    if (!p->value.base && p->value.number >= 0 && p->value.number <= UINT8_MAX) {
        e->field[WMI_FIELD_imm] = 1;
        return true;
    }
    if (!literals || !wmi_fits(p->value.number, 32))
        return wmi_refuse(e, p, literals ? "an offset of 32 bits" : "an offset of 8 bits, in dwords");
    *value = WMI_CODE_LITERAL;
    return wmi_set_literal(e, p, (uint32_t)p->value.number, false);
}

/* Whether SCRATCH has an offset but no address register, in layouts without the bit SVE (gfx10.3). */
static bool has_only_offset(const struct wmi_encoder *e)
{
    const struct wmi_instruction_layout *layout = &wmi_layouts[e->form->layout];
    for (unsigned i = 0; i < layout->fields; i++)
        if (wmi_field_specs[layout->field + i].field == WMI_FIELD_sve)
            return false;
    for (unsigned i = 0; i < e->form->specs; i++)
        if (wmi_specs[e->form->spec + i].role == WMI_ROLE_ADDR && e->parsed[i].what == WMI_PARSED_OFF)
            return true;
    return false;
}

static bool saddr(struct wmi_encoder *e, const struct wmi_parsed *p, unsigned *value)
{
    const bool null =
        p->what == WMI_PARSED_REGISTER && p->file == WMI_OPERAND_SPECIAL && p->reg == WMI_SPECIAL_NULL;
    if (p->what == WMI_PARSED_OFF || null) {
        const bool off = !null && has_only_offset(e);
        *value = e->target->limits[WMI_LIMIT_null_saddr] && !off ? null_code(e) : SADDR_OFF;
        return true;
    }
    return scalar_code(e, p, value) || wmi_refuse(e, p, "SGPRs or off");
}

/* An image address: one tuple, or a list whose further registers are in the bytes that follow. */
static bool image_address(struct wmi_encoder *e, const struct wmi_parsed *p, unsigned *value)
{
    const unsigned dwords = wmi_layouts[e->form->layout].dwords;
    const bool third_dword = dwords == 3;
    if (p->what != WMI_PARSED_LIST)
        return third_dword && p->dwords > 1 ? wmi_refuse(e, p, "a list of registers such as [v4, v5]")
                                            : vgpr(e, p, value);
    if (p->file != WMI_OPERAND_VGPR)
        return wmi_refuse(e, p, "a list of VGPRs");
    *value = p->list[0];
    if (third_dword) {
        for (unsigned n = 1; n < p->count && n < 5; n++)
            put(e, n == 4 ? 56 : 64 + 8 * n, 8, p->list[n]);
        return p->count <= 5 || wmi_refuse(e, p, "at most 5 addresses");
    }
    if (p->count - 1u > 4 * (WMI_INSTRUCTION_DWORDS - 2))
        return wmi_refuse(e, p, "fewer addresses");
    e->field[WMI_FIELD_nsa] = (p->count + 2) / 4;
    for (unsigned n = 1; n < p->count; n++)
        put(e, 64 + 8 * (n - 1), 8, p->list[n]);
    e->dwords = dwords + (unsigned)e->field[WMI_FIELD_nsa];
    return true;
}

static bool sdwa_sdst(struct wmi_encoder *e, const struct wmi_spec *spec, const struct wmi_parsed *p,
                      unsigned *value)
{
    if (!scalar(e, spec, p, false, false, value))
        return false;
    if (p->file == WMI_OPERAND_SPECIAL && (p->reg == WMI_SPECIAL_VCC || p->reg == WMI_SPECIAL_VCC_LO))
        *value = 0;
    else
        put(e, spec->alt, 1, 1);
    return true;
}

static bool literal(struct wmi_encoder *e, const struct wmi_spec *spec, const struct wmi_parsed *p,
                    unsigned *value)
{
    uint32_t word = 0;
    if (p->what != WMI_PARSED_NUMBER && p->what != WMI_PARSED_REAL)
        return wmi_refuse(e, p, "a constant");
    uint64_t wide;
    *value = 0;
    if (spec->kind == WMI_KIND_shared_literal &&
        wmi_needs_wide_literal(e, p, wmi_number_class_of(spec->type), &wide))
        return wmi_set_literal(e, p, wide, true);
    if (!wmi_literal_of(e, p, wmi_number_class_of_spec(e, spec), &word))
        return false;
    *value = word;
    if (spec->kind == WMI_KIND_shared_literal)
        return wmi_set_literal(e, p, word, false);
    if (p->value.base || p->value.late)
        e->relocation = (struct wmi_relocation){p->value, spec->pos / 32, false};
    return true;
}

/* A source of an export; sets its bit of EN. */
static bool export_source(struct wmi_encoder *e, const struct wmi_spec *spec, const struct wmi_parsed *p,
                          unsigned *value)
{
    const unsigned i = spec->role == WMI_ROLE_D ? 3u : spec->role - (unsigned)WMI_ROLE_A;
    *value = 0;
    if (p->what == WMI_PARSED_OFF)
        return true;
    if (!vgpr(e, p, value))
        return false;
    if (e->field[WMI_FIELD_compr]) { /* two VGPRs, each named twice; LLVM reads the first of each two */
        if (i % 2 == 0) {
            put(e, 32 + 8 * (i / 2), 8, *value);
            e->field[WMI_FIELD_en] |= 3 << i;
        }
        *value = i == 0 ? p->reg : i == 1 ? e->words[1] >> 8 & 0xff : 0;
    } else {
        e->field[WMI_FIELD_en] |= 1 << i;
    }
    return true;
}

static bool encode_kind(struct wmi_encoder *e, const struct wmi_spec *spec, const struct wmi_parsed *p,
                        unsigned *value)
{
    switch (spec->kind) {
    case WMI_KIND_vgpr:
    case WMI_KIND_image_addr:
        return vgpr(e, p, value);
    case WMI_KIND_vgpr_t16:
        return vgpr_half(e, spec, p, value);
    case WMI_KIND_vgpr9:
    case WMI_KIND_wmma_f8f6f4_a:
    case WMI_KIND_wmma_f8f6f4_b:
        if (!vgpr(e, p, value))
            return false;
        *value += CODE_VGPR_0;
        return true;
    case WMI_KIND_src_t16:
        if (!is_vgpr(p))
            return scalar(e, spec, p, true, true, value);
        if (!vgpr_half(e, spec, p, value))
            return false;
        *value += CODE_VGPR_0;
        return true;
    case WMI_KIND_src:
    case WMI_KIND_src_nolit:
    case WMI_KIND_scale_src:
        *value = CODE_VGPR_0 + p->reg;
        return is_vgpr(p) || scalar(e, spec, p, true, spec->kind == WMI_KIND_src, value);
    case WMI_KIND_ssrc:
    case WMI_KIND_ssrc_nolit:
        return scalar(e, spec, p, true, spec->kind == WMI_KIND_ssrc, value);
    case WMI_KIND_sdst:
    case WMI_KIND_sgpr9:
    case WMI_KIND_sgpr_group:
        return scalar(e, spec, p, false, false, value);
    case WMI_KIND_sbase:
        if (!scalar(e, spec, p, false, false, value))
            return false;
        *value /= 2;
        return true;
    case WMI_KIND_srsrc:
    case WMI_KIND_image_rsrc:
        if (!scalar(e, spec, p, false, false, value))
            return false;
        *value /= 4;
        return true;
    case WMI_KIND_vcc:
        *value = 0;
        return p->what == WMI_PARSED_REGISTER || wmi_refuse(e, p, "vcc");
    case WMI_KIND_sdwa_src:
        if (is_vgpr(p)) {
            *value = p->reg;
            return true;
        }
        put(e, spec->alt, 1, 1);
        return scalar(e, spec, p, true, false, value);
    case WMI_KIND_sdwa_sdst:
        return sdwa_sdst(e, spec, p, value);
    case WMI_KIND_smem_offset:
        *value = 0;
        return smem_offset(e, p);
    case WMI_KIND_smem_soffset:
    case WMI_KIND_smem_soffset_zero:
        return smem_soffset(e, p, value);
    case WMI_KIND_smrd_offset:
    case WMI_KIND_smrd_offset_literal:
        return smrd_offset(e, p, spec->kind == WMI_KIND_smrd_offset_literal, value);
    case WMI_KIND_saddr:
    case WMI_KIND_flat_saddr:
        return saddr(e, p, value);
    case WMI_KIND_sgpr_group_or_null:
        *value = null_code(e);
        return p->what == WMI_PARSED_OFF || scalar(e, spec, p, false, false, value);
    case WMI_KIND_scratch_addr:
        e->field[WMI_FIELD_sve] = p->what != WMI_PARSED_OFF;
        *value = 0;
        return p->what == WMI_PARSED_OFF || vgpr(e, p, value);
    case WMI_KIND_buffer_addr:
        *value = 0;
        return p->what == WMI_PARSED_OFF || vgpr(e, p, value);
    case WMI_KIND_global_addr:
        return vgpr(e, p, value);
    case WMI_KIND_buffer_data:
    case WMI_KIND_image_data:
    case WMI_KIND_gather_data:
    case WMI_KIND_global_data:
    case WMI_KIND_acc_vgpr:
        return vgpr_or_agpr(e, spec, p, value);
    case WMI_KIND_image_addr_dim:
    case WMI_KIND_bvh_addr:
        return image_address(e, p, value);
    case WMI_KIND_agpr:
        *value = p->reg;
        return is_agpr(p) || wmi_refuse(e, p, "an AccVGPR");
    case WMI_KIND_agpr9:
        *value = CODE_VGPR_0 + p->reg;
        return is_agpr(p) || wmi_refuse(e, p, "an AccVGPR");
    case WMI_KIND_agpr_src:
        *value = CODE_VGPR_0 + p->reg;
        return is_agpr(p) || scalar(e, spec, p, true, false, value);
    case WMI_KIND_acc_src:
    case WMI_KIND_f8f6f4_a:
    case WMI_KIND_f8f6f4_b:
        *value = CODE_VGPR_0 + p->reg;
        if (is_agpr(p)) {
            put(e, spec->alt, 1, 1);
            return true;
        }
        return is_vgpr(p) || scalar(e, spec, p, true, false, value);
    case WMI_KIND_vopd_y_dst:
        if (!vgpr(e, p, value))
            return false;
        *value >>= 1;
        return true;
    case WMI_KIND_literal:
    case WMI_KIND_shared_literal:
        return literal(e, spec, p, value);
    case WMI_KIND_label:
        return label(e, p, value);
    case WMI_KIND_simm24:
        return either_of(e, p, spec->width, value);
    case WMI_KIND_simm16:
    case WMI_KIND_uimm16:
        return either_of(e, p, spec->width, value);
    case WMI_KIND_exp_source:
        return export_source(e, spec, p, value);
    default:
        return unsigned_of(e, p, spec->width, value);
    }
}

static bool encode_operand(struct wmi_encoder *e, const struct wmi_spec *spec, const struct wmi_parsed *p)
{
    unsigned value = 0;
    if (p->what == WMI_PARSED_ABSENT)
        return true;
    if ((p->neg && !spec->neg) || (p->abs && !spec->abs))
        return wmi_refuse(e, p, "an operand without neg and abs");
    if (p->sext && !spec->sext)
        return wmi_refuse(e, p, "an operand without sext");
    if (!encode_kind(e, spec, p, &value))
        return false;
    if (spec->width)
        put(e, spec->pos, spec->width, value);
    if (p->neg)
        put(e, spec->neg, 1, 1);
    if (p->abs)
        put(e, spec->abs, 1, 1);
    if (p->sext)
        put(e, spec->sext, 1, 1);
    return true;
}

static bool encode_operands(struct wmi_encoder *e, const struct wmi_form *form,
                            const struct wmi_parsed *parsed)
{
    for (unsigned i = 0; i < form->specs; i++)
        if (!encode_operand(e, &wmi_specs[form->spec + i], &parsed[i]))
            return false;
    return true;
}

static bool encode_field(struct wmi_encoder *e, const struct wmi_field_spec *spec)
{
    const int64_t value = e->field[spec->field];
    const unsigned width = spec->width + spec->width2;
    const bool good = spec->is_signed
                          ? value >= -(INT64_C(1) << (width - 1)) && value < INT64_C(1) << (width - 1)
                          : (uint64_t)(uint32_t)value >> width == 0;
    e->cursor->number = width;
    if (!good)
        return wmi_expected(e->cursor, e->field_at[spec->field] ? e->field_at[spec->field] : e->parsed[0].at,
                            spec->is_signed ? "a signed number of %u bits" : "an unsigned number of %u bits");
    put(e, spec->pos, spec->width, (uint32_t)value);
    if (spec->width2)
        put(e, spec->pos2, spec->width2, (uint32_t)value >> spec->width);
    return true;
}

static bool encode_fields(struct wmi_encoder *e, const struct wmi_instruction_layout *layout)
{
    for (unsigned i = 0; i < layout->fields; i++)
        if (!encode_field(e, &wmi_field_specs[layout->field + i]))
            return false;
    return true;
}

/* Sets op_sel by the names of halves. Other 16-bit operands take their bit from op_sel in the text, which
 * must agree with the names unless it is 0. Source: LLVM 22, validateTrue16OpSel in AMDGPUAsmParser.cpp. */
static bool select_halves(struct wmi_encoder *e)
{
    const struct wmi_field_spec *halves = wmi_op_sel_of_halves(e->target, e->form);
    const uint32_t given = halves ? (uint32_t)e->field[WMI_FIELD_op_sel] : e->words[0] >> WMI_OP_SEL & 15;
    for (unsigned i = 0; i < e->form->specs; i++) {
        const struct wmi_spec *spec = &wmi_specs[e->form->spec + i];
        const struct wmi_parsed *p = &e->parsed[i];
        const unsigned bit = wmi_op_sel_bit(spec);
        const bool named = p->what == WMI_PARSED_REGISTER && p->part, high = p->part == WMI_PART_HIGH,
                   chosen = given >> (bit - WMI_OP_SEL) & 1;
        if (named && given && chosen != high)
            return wmi_expected(e->cursor, e->field_at[WMI_FIELD_op_sel],
                                "op_sel that agrees with the names of halves, or none");
        if (named || (halves && p->what != WMI_PARSED_ABSENT && spec->type != WMI_TYPE_mask))
            put(e, bit, 1, named ? high : chosen);
    }
    return true;
}

/* DPP8 with fi:1 has another marker, which is the next opcode space. */
static void put_opcode(struct wmi_encoder *e, const struct wmi_mnemonic *mnemonic)
{
    const bool other_mark =
        wmi_layouts[e->form->layout].extension == WMI_EXT_DPP8 && e->field[WMI_FIELD_fi] != 0;
    const struct wmi_opcode_space *space = &e->target->spaces[mnemonic->space + other_mark];
    e->words[0] |= (uint32_t)space->match;
    e->words[1] |= (uint32_t)(space->match >> 32);
    e->words[2] |= (uint32_t)space->later_match;
    e->words[3] |= (uint32_t)(space->later_match >> 32);
    put(e, space->pos, space->width, mnemonic->opcode);
    if (space->width2)
        put(e, space->pos2, space->width2, mnemonic->opcode >> space->width);
}

bool wmi_encode(struct wmi_encoder *e)
{
    const struct wmi_instruction_layout *layout = &wmi_layouts[e->form->layout];
    memset(e->words, 0, sizeof e->words); /* a short address list leaves bytes of its last word unset */
    memcpy(e->words, wmi_canonical[e->form->canonical], sizeof wmi_canonical[0]);
    e->dwords = layout->dwords;
    if (!encode_operands(e, e->form, e->parsed) ||
        (e->second && !encode_operands(e, e->second, e->parsed + e->form->specs)))
        return false;
    if (!encode_fields(e, layout) || (e->second && !encode_fields(e, &wmi_layouts[e->second->layout])))
        return false;
    if (wmi_names_all_halves(e->target, e->form) && !select_halves(e))
        return false;
    put_opcode(e, e->mnemonic);
    if (e->second)
        put_opcode(e, e->second_mnemonic);
    if (e->has_literal) {
        if (e->late_literal) {
            e->relocation.word = (uint8_t)e->dwords;
            e->relocation.wide = e->wide_literal;
        }
        e->words[e->dwords++] = (uint32_t)e->literal;
        if (e->wide_literal)
            e->words[e->dwords++] = (uint32_t)(e->literal >> 32);
    }
    return true;
}

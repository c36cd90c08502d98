/* SPDX-License-Identifier: MIT */
/* Decodes words into a row with operands and modifiers, using the tables generated from isa/. */
#include "isa/decode/decode_operand.h"

#include <string.h>

enum { NO_SPACE = 255, SDWA_DWORD = 6 };

/* Checks modifiers that do not use all values of their fields. */
static bool fields_are_legal(const struct wmi_target *target, const struct wmi_instruction *out)
{
    const int32_t dpp = out->field[WMI_FIELD_dpp_ctrl];
    /* Wave64 has twice as many keys, each half as wide. */
    const uint32_t keys =
        (out->layout == WMI_LAYOUT_vop3p_swmmac_long ? 1 : 2) * (target->limits[WMI_LIMIT_wave] / 32);
    if ((uint32_t)out->field[WMI_FIELD_index_key] >= keys)
        return false;
    if (out->extension == WMI_EXT_DPP)
        return dpp <= 0xff || wmi_name_of(target, WMI_NAMES_dpp, dpp) ||
               (wmi_name_of(target, WMI_NAMES_dpp_row, dpp >> 4) && (dpp & 15 || dpp >= 0x150));
    if (out->extension == WMI_EXT_SDWA)
        return out->field[WMI_FIELD_dst_sel] < 7 && out->field[WMI_FIELD_dst_unused] < 3 &&
               out->field[WMI_FIELD_src0_sel] < 7 && out->field[WMI_FIELD_src1_sel] < 7;
    return true;
}

static void decode_fields(struct wmi_instruction *out, const struct wmi_instruction_layout *layout)
{
    const struct wmi_field_spec *spec = wmi_field_specs + layout->field;
    if (layout->extension == WMI_EXT_SDWA)
        out->field[WMI_FIELD_dst_sel] = SDWA_DWORD; /* of layouts without it */
    for (unsigned i = 0; i < layout->fields; i++, spec++) {
        uint32_t value = wmi_bits_at(out->words, spec->pos, spec->width);
        if (spec->width2)
            value |= wmi_bits_at(out->words, spec->pos2, spec->width2) << spec->width;
        if (spec->is_signed)
            value = (uint32_t)((int32_t)(value << (32 - spec->width)) >> (32 - spec->width));
        out->field[spec->field] = (int32_t)value;
    }
}

static bool is_pair(unsigned layout)
{
    return layout == WMI_LAYOUT_vopd_x || layout == WMI_LAYOUT_vopd_x_lit || layout == WMI_LAYOUT_vopd3_x;
}

static unsigned opcode_of(const struct wmi_opcode_space *space, uint64_t word)
{
    unsigned opcode = word >> space->pos % 64 & ((1u << space->width) - 1);
    if (space->width2)
        opcode |= (unsigned)(word >> space->pos2 & ((1u << space->width2) - 1)) << space->width;
    return opcode;
}

unsigned wmi_find_form(const struct wmi_target *target, uint64_t word, uint64_t later)
{
    const uint8_t *candidate = target->candidates + target->first[(uint32_t)word >> 23];
    for (; *candidate != NO_SPACE; candidate++) {
        const struct wmi_opcode_space *space = &target->spaces[*candidate];
        if ((word & space->mask) != space->match || (later & space->later_mask) != space->later_match)
            continue;
        const unsigned form = space->forms[opcode_of(space, space->pos < 64 ? word : later)];
        if (form)
            return form;
    }
    return 0;
}

static bool decode_operands(struct wmi_decoder *c, const struct wmi_form *form, struct wmi_operand *operands)
{
    for (unsigned i = 0; i < form->specs; i++)
        if (!wmi_decode_operand(c, &wmi_specs[form->spec + i], &operands[i]))
            return false;
    return true;
}

/* Decodes the second half of a VOPD pair. Its operands follow those of the first. */
static bool decode_second(struct wmi_decoder *c, uint64_t word)
{
    struct wmi_instruction *out = c->out;
    const struct wmi_opcode_space *space =
        &c->target->spaces[c->target->second[wmi_layouts[wmi_forms[out->form].layout].dwords - 2]];
    out->second_form = space->forms[opcode_of(space, word)];
    const struct wmi_form *form = &wmi_forms[out->second_form];
    if (!out->second_form || (word & wmi_zero_masks[form->zero] && !c->executes))
        return false;
    out->second_id = form->id;
    out->second_body = form->body;
    out->second_operands = form->specs;
    decode_fields(out, &wmi_layouts[form->layout]);
    return decode_operands(c, form, &out->operand[out->operands]);
}

static bool decode_form(struct wmi_decoder *c, unsigned number, uint64_t word)
{
    struct wmi_instruction *out = c->out;
    const struct wmi_form *form = &wmi_forms[number];
    const struct wmi_instruction_layout *layout = &wmi_layouts[form->layout];
    if (layout->dwords > c->available)
        return false;
    if (layout->dwords == 1)
        word = (uint32_t)word;
    if (word & wmi_zero_masks[form->zero] && !c->executes)
        return false;
    for (unsigned i = 0; i < layout->dwords; i++)
        out->words[i] = c->words[i];
    out->layout = layout->id;
    out->extension = layout->extension;
    out->id = form->id;
    out->body = form->body;
    out->form = number;
    out->dwords = layout->dwords;
    decode_fields(out, layout);
    for (int32_t nsa = out->field[WMI_FIELD_nsa]; nsa > 0; nsa--) {
        if (out->dwords >= c->available)
            return false;
        out->words[out->dwords] = c->words[out->dwords];
        out->dwords++;
    }
    if (!fields_are_legal(c->target, out) || !decode_operands(c, form, out->operand))
        return false;
    out->operands = form->specs;
    wmi_decode_halves(c, form);
    return !is_pair(layout->id) || decode_second(c, word);
}

static unsigned decode(const struct wmi_target *target, const uint32_t *words, size_t available,
                       bool executes, struct wmi_instruction *out)
{
    memset(out, 0, sizeof *out);
    if (!available)
        return 0;
    const uint64_t word = words[0] | (available > 1 ? (uint64_t)words[1] << 32 : 0);
    struct wmi_decoder context = {target, out, words, available, 0, executes};
    const uint64_t later = (available > 2 ? words[2] : 0) | (available > 3 ? (uint64_t)words[3] << 32 : 0);
    const unsigned number = wmi_find_form(target, word, later);
    if (!number || !decode_form(&context, number, word))
        out->dwords = 0;
    return out->dwords;
}

unsigned wmi_decode(const struct wmi_target *target, const uint32_t *words, size_t available,
                    struct wmi_instruction *out)
{
    return decode(target, words, available, false, out);
}

unsigned wmi_decode_executed(const struct wmi_target *target, const uint32_t *words, size_t available,
                             struct wmi_instruction *out)
{
    return decode(target, words, available, true, out);
}

const struct wmi_operand *wmi_operand(const struct wmi_instruction *insn, enum wmi_role role)
{
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].role == role && insn->operand[i].kind != WMI_OPERAND_NONE)
            return &insn->operand[i];
    return NULL;
}

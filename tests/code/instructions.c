/* SPDX-License-Identifier: MIT */
/* Encodes instructions from the decoder's own tables. */
#include "instructions.h"

#include <stdlib.h>
#include <string.h>

enum {
    CODE_ZERO = 128, /* inline constant 0 */
    CODE_VGPR = 256,
    NO_SPACE = 255,
    FIRST_WORDS = 512, /* values of the upper nine bits */
    SPACES = 256,
};

struct maker {
    const struct wmi_target *target;
    const struct form *form;
    const struct choice *choice;
    uint32_t *words;
    bool no_saddr; /* SADDR is off */
};

static uint32_t draw(const struct maker *m)
{
    return m->choice->draw(m->choice->user);
}

static void put(struct maker *m, unsigned position, unsigned width, uint32_t value)
{
    const uint32_t mask = (uint32_t)((UINT64_C(1) << width) - 1) << position % 32;
    uint32_t *word = &m->words[position / 32];
    *word = (*word & ~mask) | (value << position % 32 & mask);
}

/* ---- forms ---- */

static unsigned opcodes(const struct wmi_opcode_space *space)
{
    return 1u << (space->width + space->width2);
}

struct forms all_forms(const struct wmi_target *target)
{
    bool seen[SPACES] = {false};
    struct forms forms = {0};
    for (unsigned i = 0; i < FIRST_WORDS; i++)
        for (const uint8_t *at = target->candidates + target->first[i]; *at != NO_SPACE; at++)
            seen[*at] = true;
    for (unsigned pass = 0; pass < 2; pass++) {
        forms.count = 0;
        for (unsigned i = 0; i < NO_SPACE; i++) {
            const struct wmi_opcode_space *space = &target->spaces[i];
            for (unsigned opcode = 0; seen[i] && opcode < opcodes(space); opcode++) {
                if (!space->forms[opcode])
                    continue;
                if (pass)
                    forms.form[forms.count] = (struct form){space, opcode, space->forms[opcode]};
                forms.count++;
            }
        }
        if (!pass && !(forms.form = calloc(forms.count + 1, sizeof *forms.form)))
            abort();
    }
    return forms;
}

/* ---- registers ---- */

static bool is_address(const struct wmi_spec *spec)
{
    switch (spec->role) {
    case WMI_ROLE_ADDR:
    case WMI_ROLE_RSRC:
    case WMI_ROLE_SAMP:
    case WMI_ROLE_OFFSET:
    case WMI_ROLE_SADDR:
        return true;
    default:
        return false;
    }
}

static unsigned ordinary_vgpr(const struct maker *m, const struct wmi_spec *spec)
{
    static const uint8_t first[WMI_ROLE_COUNT] = {
        [WMI_ROLE_D] = 16, [WMI_ROLE_A] = 8,    [WMI_ROLE_B] = 12,
        [WMI_ROLE_C] = 20, [WMI_ROLE_DATA] = 8, [WMI_ROLE_DATA2] = 12,
    };
    const uint8_t class = wmi_rows[wmi_forms[m->form->number].id].class;
    const bool may_be_pair =
        class == WMI_CLASS_FLAT || class == WMI_CLASS_GLOBAL ? m->no_saddr || class == WMI_CLASS_FLAT : false;
    if (spec->role == WMI_ROLE_ADDR)
        return may_be_pair ? VGPR_ADDRESS : VGPR_OFFSET;
    return first[spec->role];
}

/* A VGPR number, usually one that the kernel has. */
static unsigned vgpr(const struct maker *m, const struct wmi_spec *spec, enum manner manner)
{
    const unsigned vgprs = m->choice->vgprs, dwords = spec->dwords ? spec->dwords : 1;
    const unsigned last = dwords < vgprs ? vgprs - dwords : 0;
    unsigned reg = 0;
    switch (manner) {
    case MANNER_ORDINARY:
    case MANNER_SPECIAL:
        reg = ordinary_vgpr(m, spec);
        break;
    case MANNER_LAST: /* the tables do not give the number of registers of an address or a texel */
        return is_address(spec) || dwords == 1 ? vgprs - 1 - draw(m) % 4 : last;
    case MANNER_SAME:
        reg = 6;
        break;
    default:
        return draw(m) % (vgprs + 1);
    }
    return reg < last ? reg : last;
}

static unsigned ordinary_sgpr(const struct wmi_spec *spec)
{
    static const uint8_t first[WMI_ROLE_COUNT] = {
        [WMI_ROLE_D] = 48,
        [WMI_ROLE_SDST] = 50,
        [WMI_ROLE_A] = 40,
        [WMI_ROLE_B] = 44,
        [WMI_ROLE_C] = 46,
        [WMI_ROLE_IMM] = 40,
        [WMI_ROLE_IMM2] = 40,
        [WMI_ROLE_DATA] = 52,
        [WMI_ROLE_DATA2] = 56,
        [WMI_ROLE_OFFSET] = 12,
        [WMI_ROLE_SADDR] = 16,
        [WMI_ROLE_RSRC] = SGPR_BUFFER,
        [WMI_ROLE_SAMP] = SGPR_SAMPLER,
    };
    if (spec->role == WMI_ROLE_ADDR)
        return spec->dwords == 4 ? SGPR_BUFFER : SGPR_ADDRESS;
    if (spec->role == WMI_ROLE_RSRC && spec->dwords == 8)
        return SGPR_IMAGE;
    return first[spec->role];
}

/* A scalar operand as its 8-bit code. */
static unsigned scalar(const struct maker *m, const struct wmi_spec *spec, enum manner manner)
{
    enum { FIRST_SPECIAL = 102, SPECIALS = 256 - FIRST_SPECIAL };
    const unsigned sgprs = m->target->limits[WMI_LIMIT_sgprs], dwords = spec->dwords ? spec->dwords : 1;
    switch (manner) {
    case MANNER_ORDINARY:
        return ordinary_sgpr(spec);
    case MANNER_LAST:
        return dwords < 3 ? sgprs - dwords : (104 - dwords) / 4 * 4;
    case MANNER_SPECIAL:
        return FIRST_SPECIAL + draw(m) % SPECIALS;
    case MANNER_SAME:
        return 40;
    default:
        return draw(m) & 0xff;
    }
}

/* The code of SADDR = off. */
static unsigned code_of_off(const struct maker *m)
{
    unsigned code = 0;
    if (!m->target->limits[WMI_LIMIT_null_saddr])
        return 0x7f;
    while (m->target->codes[code].kind != WMI_OPERAND_SPECIAL ||
           m->target->codes[code].reg != WMI_SPECIAL_NULL)
        code++;
    return code;
}

static unsigned saddr(struct maker *m, const struct wmi_spec *spec, enum manner manner)
{
    m->no_saddr = draw(m) & 1;
    return m->no_saddr ? code_of_off(m) : scalar(m, spec, manner);
}

static uint32_t immediate(const struct maker *m, unsigned width, enum manner manner)
{
    switch (manner) {
    case MANNER_ORDINARY:
        return 0;
    case MANNER_LAST:
        return UINT32_MAX;
    case MANNER_SPECIAL:
        return width ? 1u << (width - 1) : 0;
    case MANNER_SAME:
        return 4;
    default:
        return draw(m);
    }
}

/* ---- operands ---- */

static uint32_t operand_value(struct maker *m, const struct wmi_spec *spec, enum manner manner)
{
    switch (spec->kind) {
    case WMI_KIND_vgpr:
    case WMI_KIND_vgpr_t16:
    case WMI_KIND_agpr:
    case WMI_KIND_acc_vgpr:
    case WMI_KIND_image_addr_dim:
    case WMI_KIND_bvh_addr:
    case WMI_KIND_exp_source:
    case WMI_KIND_global_addr:
    case WMI_KIND_scratch_addr:
    case WMI_KIND_buffer_addr:
    case WMI_KIND_buffer_data:
    case WMI_KIND_image_data:
    case WMI_KIND_gather_data:
    case WMI_KIND_image_addr:
    case WMI_KIND_global_data:
        return vgpr(m, spec, manner);
    case WMI_KIND_vopd_y_dst:
        return vgpr(m, spec, manner) / 2;
    case WMI_KIND_vgpr9:
    case WMI_KIND_agpr9:
    case WMI_KIND_wmma_f8f6f4_a:
    case WMI_KIND_wmma_f8f6f4_b:
        return CODE_VGPR + vgpr(m, spec, manner);
    case WMI_KIND_src:
    case WMI_KIND_src_nolit:
    case WMI_KIND_scale_src:
    case WMI_KIND_src_t16:
    case WMI_KIND_agpr_src:
    case WMI_KIND_acc_src:
    case WMI_KIND_f8f6f4_a:
    case WMI_KIND_f8f6f4_b:
        if (manner == MANNER_SPECIAL || (manner != MANNER_SAME && draw(m) % 4 == 0))
            return scalar(m, spec, manner);
        return CODE_VGPR + vgpr(m, spec, manner);
    case WMI_KIND_sdwa_src:
        return draw(m) & 1 ? vgpr(m, spec, manner) : scalar(m, spec, manner);
    case WMI_KIND_ssrc:
    case WMI_KIND_ssrc_nolit:
    case WMI_KIND_sdst:
    case WMI_KIND_sdwa_sdst:
    case WMI_KIND_sgpr9:
    case WMI_KIND_sgpr_group:
    case WMI_KIND_sgpr_group_or_null:
    case WMI_KIND_smem_soffset:
    case WMI_KIND_smem_soffset_zero:
        return scalar(m, spec, manner);
    case WMI_KIND_smrd_offset:
    case WMI_KIND_smrd_offset_literal:
        return manner == MANNER_ORDINARY ? SGPR_ZERO : scalar(m, spec, manner);
    case WMI_KIND_sbase:
        return scalar(m, spec, manner) / 2;
    case WMI_KIND_srsrc:
    case WMI_KIND_image_rsrc:
        return scalar(m, spec, manner) / 4;
    case WMI_KIND_saddr:
    case WMI_KIND_flat_saddr:
        return saddr(m, spec, manner);
    default:
        return immediate(m, spec->width, manner);
    }
}

static void put_operand(struct maker *m, const struct wmi_spec *spec)
{
    const enum manner manner = is_address(spec) ? m->choice->address : m->choice->data;
    const uint8_t modifiers[] = {spec->neg, spec->abs, spec->sext, spec->alt};
    if (spec->width)
        put(m, spec->pos, spec->width, operand_value(m, spec, manner));
    for (unsigned i = 0; i < sizeof modifiers; i++)
        if (modifiers[i])
            put(m, modifiers[i], 1,
                m->choice->field == MANNER_LAST ? 1 : m->choice->field == MANNER_ANY && draw(m));
}

/* SADDR first: it determines the kind of VADDR. */
static void put_operands(struct maker *m, const struct wmi_form *form)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < form->specs; i++) {
            const struct wmi_spec *spec = &wmi_specs[form->spec + i];
            if (pass == (spec->role != WMI_ROLE_SADDR))
                put_operand(m, spec);
        }
}

/* ---- fields ---- */

/* A DPP control that the target supports. */
static uint32_t dpp_control(const struct maker *m)
{
    const uint32_t control = draw(m) & 0x1ff;
    if (wmi_name_of(m->target, WMI_NAMES_dpp, (int32_t)control) ||
        (wmi_name_of(m->target, WMI_NAMES_dpp_row, (int32_t)control >> 4) && control & 15))
        return control;
    return control & 0xff; /* quad_perm */
}

static uint32_t field_value(const struct maker *m, const struct wmi_field_spec *spec)
{
    const enum manner manner = m->choice->field;
    const uint32_t value = immediate(m, spec->width + spec->width2, manner);
    const bool ordinary = manner == MANNER_ORDINARY || manner == MANNER_SAME;
    switch (spec->field) {
    case WMI_FIELD_dpp_ctrl:
        return dpp_control(m);
    case WMI_FIELD_dst_sel:
    case WMI_FIELD_src0_sel:
    case WMI_FIELD_src1_sel:
        return ordinary ? draw(m) % 7 : value % 7;
    case WMI_FIELD_dst_unused:
        return ordinary ? draw(m) % 3 : value % 3;
    case WMI_FIELD_index_key:
        return draw(m) % 2;
    case WMI_FIELD_row_mask:
    case WMI_FIELD_bank_mask:
        return ordinary ? 0xf : value;
    case WMI_FIELD_dpp8:
    case WMI_FIELD_imm: /* scalar memory: selects the kind of offset */
    case WMI_FIELD_soe:
    case WMI_FIELD_sve:
    case WMI_FIELD_idxen:
    case WMI_FIELD_offen:
        return draw(m);
    case WMI_FIELD_dmask: /* an atomic uses one or two components, a load up to four */
        return ordinary ? (1u << (1 + draw(m) % 4)) - 1 : value;
    case WMI_FIELD_dim:
        return ordinary ? 1 : value;
    case WMI_FIELD_unorm:
        return ordinary ? 1 : value;
    case WMI_FIELD_nsa:
        return draw(m) % 4;
    case WMI_FIELD_offset:
        return ordinary ? draw(m) % 4 * 8 : value;
    case WMI_FIELD_en:
        return ordinary ? 0xf : value;
    default:
        return value;
    }
}

static void put_fields(struct maker *m, const struct wmi_instruction_layout *layout)
{
    for (unsigned i = 0; i < layout->fields; i++) {
        const struct wmi_field_spec *spec = &wmi_field_specs[layout->field + i];
        const uint32_t value = field_value(m, spec);
        put(m, spec->pos, spec->width, value);
        if (spec->width2)
            put(m, spec->pos2, spec->width2, value >> spec->width);
    }
}

/* ---- words ---- */

static void put_opcode(struct maker *m, const struct wmi_opcode_space *space, uint32_t opcode)
{
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t mask = (uint32_t)(space->mask >> 32 * i);
        const uint32_t later_mask = (uint32_t)(space->later_mask >> 32 * i);
        m->words[i] = (m->words[i] & ~mask) | (uint32_t)(space->match >> 32 * i);
        m->words[i + 2] = (m->words[i + 2] & ~later_mask) | (uint32_t)(space->later_match >> 32 * i);
    }
    put(m, space->pos, space->width, opcode);
    if (space->width2)
        put(m, space->pos2, space->width2, opcode >> space->width);
}

/* Chooses the second half of a pair among all opcodes. */
static void put_second(struct maker *m)
{
    const unsigned dwords = wmi_layouts[wmi_forms[m->form->number].layout].dwords;
    const struct wmi_opcode_space *space = &m->target->spaces[m->target->second[dwords - 2]];
    uint32_t opcode = draw(m) % opcodes(space);
    while (!space->forms[opcode])
        opcode = (opcode + 1) % opcodes(space);
    put_operands(m, &wmi_forms[space->forms[opcode]]);
    put(m, space->pos, space->width, opcode);
    if (space->width2)
        put(m, space->pos2, space->width2, opcode >> space->width);
}

/* Fills the dwords after the layout: a literal, or registers of an image address. */
static void put_rest(struct maker *m, const struct wmi_instruction_layout *layout)
{
    for (unsigned i = layout->dwords; i < WMI_INSTRUCTION_DWORDS; i++) {
        m->words[i] = draw(m);
        if (wmi_rows[wmi_forms[m->form->number].id].class == WMI_CLASS_IMAGE)
            for (unsigned byte = 0; byte < 4; byte++)
                put(m, 32 * i + 8 * byte, 8, (m->words[i] >> 8 * byte & 0xff) % m->choice->vgprs);
    }
}

/* Whether the instruction names registers that the kernel does not have, so that it would only fault. For
 * block operands, whose registers M0 selects, only the first must exist. */
static bool names_too_many(const struct wmi_instruction *insn, unsigned vgprs)
{
    enum { BLOCK = 32 };
    const bool block = wmi_rows[insn->id].memory && wmi_rows[insn->id].elements == BLOCK;
    for (unsigned i = 0; i < WMI_OPERANDS; i++) {
        const struct wmi_operand *o = &insn->operand[i];
        const unsigned dwords = block && o->dwords == BLOCK ? 1 : o->dwords;
        if ((o->kind == WMI_OPERAND_VGPR || o->kind == WMI_OPERAND_AGPR) && o->reg + dwords > vgprs)
            return true;
    }
    return false;
}

unsigned make_words(const struct wmi_target *target, const struct form *form, const struct choice *choice,
                    uint32_t words[WMI_INSTRUCTION_DWORDS])
{
    const struct wmi_form *f = &wmi_forms[form->number];
    const struct wmi_instruction_layout *layout = &wmi_layouts[f->layout];
    const uint64_t zeros = wmi_zero_masks[f->zero];
    struct maker m = {target, form, choice, words, true};
    struct wmi_instruction insn;
    memset(words, 0, WMI_INSTRUCTION_DWORDS * sizeof *words);
    memcpy(words, wmi_canonical[f->canonical], sizeof wmi_canonical[0]);
    put_fields(&m, layout);
    put_operands(&m, f);
    if (layout->id == WMI_LAYOUT_vopd_x || layout->id == WMI_LAYOUT_vopd_x_lit ||
        layout->id == WMI_LAYOUT_vopd3_x)
        put_second(&m);
    words[0] &= ~(uint32_t)zeros;
    words[1] &= ~(uint32_t)(zeros >> 32);
    put_opcode(&m, form->space, form->opcode);
    put_rest(&m, layout);
    if (!wmi_decode(target, words, WMI_INSTRUCTION_DWORDS, &insn) || insn.form != form->number)
        return 0;
    return names_too_many(&insn, choice->vgprs) && draw(&m) % 32 ? 0 : insn.dwords;
}

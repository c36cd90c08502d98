/* SPDX-License-Identifier: MIT */
/* Decoded instructions in the public API: numbers by name, nothing to free. */
#include "isa/decode/msb.h"
#include "isa/tables.h"
#include "isa/text/explain.h"
#include "wavemem/wavemem.h"

#include <assert.h>
#include <string.h>

static_assert((int)WM_INSTRUCTION_DWORDS == (int)WMI_INSTRUCTION_DWORDS &&
                  (int)WM_INSTRUCTION_OPERANDS == (int)WMI_OPERANDS,
              "as much room as the decoder has");

/* Public operand kinds equal the decoder's. */
static_assert((int)WM_OPERAND_SGPR == (int)WMI_OPERAND_SGPR &&
                  (int)WM_OPERAND_SPECIAL == (int)WMI_OPERAND_SPECIAL &&
                  (int)WM_OPERAND_LABEL == (int)WMI_OPERAND_LABEL &&
                  (int)WM_OPERAND_OFF == (int)WMI_OPERAND_OFF,
              "the same numbers");

/* The target behind a public handle. */
static const struct wmi_target *inside(const struct wm_target *target)
{
    return (const struct wmi_target *)(const void *)target;
}

const struct wm_target *wm_target(const char *name)
{
    return (const struct wm_target *)(const void *)wmi_target_find(name);
}

static const struct {
    uint32_t row, flag;
} flags_of_rows[] = {
    {WMI_ROW_FORMAT, WM_INSTRUCTION_FORMAT},
    {WMI_ROW_D16 | WMI_ROW_D16_HI, WM_INSTRUCTION_D16},
    {WMI_ROW_ENDS, WM_INSTRUCTION_ENDS},
    {WMI_ROW_CROSS_LANE, WM_INSTRUCTION_CROSS_LANE},
    {WMI_ROW_READS_SCC, WM_INSTRUCTION_READS_SCC},
    {WMI_ROW_WRITES_SCC, WM_INSTRUCTION_WRITES_SCC},
    {WMI_ROW_READS_VCC, WM_INSTRUCTION_READS_VCC},
    {WMI_ROW_WRITES_VCC, WM_INSTRUCTION_WRITES_VCC},
    {WMI_ROW_READS_EXEC, WM_INSTRUCTION_READS_EXEC},
    {WMI_ROW_WRITES_EXEC, WM_INSTRUCTION_WRITES_EXEC},
    {WMI_ROW_READS_M0, WM_INSTRUCTION_READS_M0},
};

static uint32_t flags_of(const struct wmi_row *row)
{
    static const uint32_t memory[] = {
        [WMI_MEMORY_LOAD] = WM_INSTRUCTION_LOAD,
        [WMI_MEMORY_STORE] = WM_INSTRUCTION_STORE,
        [WMI_MEMORY_ATOMIC] = WM_INSTRUCTION_ATOMIC,
        [WMI_MEMORY_CONTROL] = WM_INSTRUCTION_MEMORY_CONTROL,
    };
    uint32_t flags = memory[row->memory] | (wmi_is_masked(row) ? WM_INSTRUCTION_MASKED : 0);
    for (size_t i = 0; i < sizeof(flags_of_rows) / sizeof(*flags_of_rows); i++)
        if (row->flags & flags_of_rows[i].row)
            flags |= flags_of_rows[i].flag;
    return flags;
}

static struct wm_operand operand_of(const struct wmi_operand *o)
{
    static const char halves[] = {[WMI_PART_WHOLE] = 0, [WMI_PART_LOW] = 'l', [WMI_PART_HIGH] = 'h'};
    const bool special = o->kind == WMI_OPERAND_SPECIAL;
    const bool numbered = o->kind >= WMI_OPERAND_SGPR && o->kind <= WMI_OPERAND_TTMP;
    return (struct wm_operand){
        .kind = (enum wm_operand_kind)o->kind,
        .role = wmi_role_names[o->role],
        .type = wmi_type_names[o->type],
        .name = special ? wmi_special_names[o->reg] : NULL,
        .bits = (uint16_t)wmi_type_bits((enum wmi_type)o->type),
        .reg = numbered ? o->reg : 0,
        .dwords = o->dwords,
        .half = halves[o->part],
        .read = o->read,
        .written = o->written,
        .implied = o->implied,
        .neg = o->neg,
        .abs = o->abs,
        .sext = o->sext,
        .value = o->value,
    };
}

static void fill_operands(struct wm_instruction *out, const struct wmi_instruction *insn)
{
    out->operand_count = insn->operands + (insn->second_id ? insn->second_operands : 0u);
    for (unsigned i = 0; i < out->operand_count; i++) {
        out->operand[i] = operand_of(&insn->operand[i]);
        if (insn->operand[i].kind == WMI_OPERAND_LABEL)
            out->flags |= WM_INSTRUCTION_BRANCH;
    }
    for (unsigned i = 0; i < insn->operands && !out->address_count; i++)
        out->address_count = wmi_image_address(inside(out->target), insn, i, out->address, WM_ADDRESS_DWORDS);
}

static void fill_modifiers(struct wm_instruction *out, const struct wmi_instruction *insn)
{
    const struct wmi_instruction_layout *layout = &wmi_layouts[wmi_forms[insn->form].layout];
    const struct wmi_field_spec *spec = wmi_field_specs + layout->field;
    for (unsigned i = 0; i < layout->fields && i < WM_INSTRUCTION_MODIFIERS; i++, spec++)
        out->modifier[out->modifier_count++] =
            (struct wm_modifier){wmi_field_names[spec->field], insn->field[spec->field]};
}

unsigned wm_decode(const struct wm_target *target, const uint32_t *words, size_t dwords,
                   struct wm_instruction *out)
{
    return wm_decode_in(target, words, dwords, 0, out);
}

unsigned wm_decode_in(const struct wm_target *target, const uint32_t *words, size_t dwords, unsigned state,
                      struct wm_instruction *out)
{
    struct wmi_instruction insn;
    if (!out)
        return 0;
    memset(out, 0, sizeof(*out));
    if (!target || !words || !wmi_decode(inside(target), words, dwords, &insn))
        return 0;
    out->state = state & UINT8_MAX;
    wmi_extend_vgprs(&insn, out->state);
    const struct wmi_row *row = &wmi_rows[insn.id];
    const struct wmi_form *form = &wmi_forms[insn.form];
    memcpy(out->words, insn.words, insn.dwords * sizeof(*out->words));
    out->target = target;
    out->dwords = insn.dwords;
    out->name = form->name;
    out->encoding = wmi_layout_names[wmi_layouts[form->layout].id];
    out->kind = wmi_class_names[row->class];
    out->row = insn.id - 1u;
    out->flags = flags_of(row);
    out->elements = row->elements;
    out->bytes = row->bytes;
    if (insn.second_id) {
        out->second_name = wmi_forms[insn.second_form].name;
        out->second_row = insn.second_id - 1u;
        out->second_operand = insn.operands;
    }
    fill_operands(out, &insn);
    fill_modifiers(out, &insn);
    return insn.dwords;
}

size_t wm_print(const struct wm_instruction *instruction, char *text, size_t size)
{
    struct wmi_instruction insn;
    if (!text && size)
        return 0;
    if (size)
        *text = '\0';
    const struct wmi_target *target = instruction ? inside(instruction->target) : NULL;
    if (!target || instruction->dwords > WM_INSTRUCTION_DWORDS ||
        !wmi_decode(target, instruction->words, instruction->dwords, &insn))
        return 0;
    wmi_extend_vgprs(&insn, instruction->state);
    return wmi_print(target, &insn, text, size);
}

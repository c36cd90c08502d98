/* SPDX-License-Identifier: MIT */
/* Rows and encodings as described by the public API; for explanations, not for execution. */
#include "isa/text/explain.h"
#include "isa/rules/wait.h"
#include "isa/tables.h"
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <string.h>

const char *const wmi_class_names[] = {
    [WMI_CLASS_SALU] = "scalar",     [WMI_CLASS_VALU] = "vector",
    [WMI_CLASS_CONTROL] = "control", [WMI_CLASS_SMEM] = "SMEM",
    [WMI_CLASS_BUFFER] = "buffer",   [WMI_CLASS_TBUFFER] = "typed buffer",
    [WMI_CLASS_IMAGE] = "image",     [WMI_CLASS_FLAT] = "FLAT",
    [WMI_CLASS_GLOBAL] = "GLOBAL",   [WMI_CLASS_SCRATCH] = "SCRATCH",
    [WMI_CLASS_DS] = "DS",           [WMI_CLASS_EXPORT] = "export, interpolation",
};

const char *const wmi_role_names[WMI_ROLE_COUNT] = {
    "",     "d",    "sdst",  "a",    "b",    "c",       "imm",   "imm2",
    "addr", "data", "data2", "rsrc", "samp", "soffset", "saddr", "format",
};

const char *const wmi_type_names[WMI_TYPE_COUNT] = {
    "",
#define TYPE(name, ...) #name,
#include "types.def"
};

const char *const wmi_field_names[WMI_FIELD_COUNT] = {
#define FIELD(name, ...) #name,
#include "fields.def"
};

/* ---- rows ---- */

const char *wm_target_at(size_t index)
{
    return index < wmi_target_count ? wmi_targets[index].name : NULL;
}

size_t wm_isa_row_count(void)
{
    return WMI_INSN_COUNT - 1;
}

static void append(char *text, size_t size, const char *more)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? ", " : "", more);
}

static const struct {
    uint32_t flag;
    const char *reads, *writes;
} implicit[] = {
    {WMI_ROW_READS_SCC, "SCC", NULL},   {WMI_ROW_WRITES_SCC, NULL, "SCC"},
    {WMI_ROW_READS_EXEC, "EXEC", NULL}, {WMI_ROW_WRITES_EXEC, NULL, "EXEC"},
    {WMI_ROW_READS_VCC, "VCC", NULL},   {WMI_ROW_WRITES_VCC, NULL, "VCC"},
    {WMI_ROW_READS_M0, "M0", NULL},
};

bool wmi_is_masked(const struct wmi_row *row)
{
    return row->class != WMI_CLASS_SALU && row->class != WMI_CLASS_CONTROL && row->class != WMI_CLASS_SMEM &&
           !(row->flags & WMI_ROW_IGNORES_EXEC);
}

bool wm_isa_row(size_t index, struct wm_isa_row *out)
{
    if (index >= WMI_INSN_COUNT - 1 || !out)
        return false;
    const unsigned id = (unsigned)index + 1;
    const struct wmi_row *row = &wmi_rows[id];
    *out = (struct wm_isa_row){.name = row->name,
                               .kind = wmi_class_names[row->class],
                               .formula = wmi_formulas[id],
                               .grade = "exact"};
    if (wmi_is_masked(row))
        append(out->reads, sizeof(out->reads), "EXEC as the lanes' mask");
    for (size_t i = 0; i < sizeof(implicit) / sizeof(*implicit); i++)
        if (row->flags & implicit[i].flag)
            append(implicit[i].reads ? out->reads : out->writes, sizeof(out->reads),
                   implicit[i].reads ? implicit[i].reads : implicit[i].writes);
    for (const struct wmi_fidelity *f = wmi_fidelities; f->id; f++)
        if (f->id == id) {
            static const char *const grades[] = {"exact", "approx", "unverified"};
            out->grade = grades[f->grade];
            out->remark = f->remark;
            if (f->field == WMI_FIELD_COUNT)
                break;
            out->remark_field = wmi_field_names[f->field];
        }
    if (row->flags & WMI_ROW_TODO)
        out->grade = "todo";
    return true;
}

const char *const wmi_element_names[WMI_ELEMENT_COUNT] = {
    "",
#define ELEMENT(name, bits) #name,
#include "elements.def"
};

bool wm_isa_matrix(size_t index, struct wm_isa_matrix *out)
{
    const struct wmi_matrix *matrix = index < WMI_INSN_COUNT - 1 ? wmi_matrix_of((unsigned)index + 1) : NULL;
    if (!matrix || !out)
        return false;
    *out = (struct wm_isa_matrix){.m = matrix->m,
                                  .n = matrix->n,
                                  .k = matrix->k,
                                  .blocks = matrix->blocks,
                                  .d = wmi_element_names[matrix->d],
                                  .a = wmi_element_names[matrix->a],
                                  .b = wmi_element_names[matrix->b],
                                  .sparse = matrix->sparse};
    return true;
}

const char *wm_isa_erratum(size_t index, size_t n)
{
    for (const struct wmi_erratum *erratum = wmi_errata; erratum->id; erratum++)
        if (erratum->id == index + 1 && n-- == 0)
            return erratum->text;
    return NULL;
}

/* ---- wait counters ---- */

bool wm_isa_wait(size_t index, const char *target_name, char *text, size_t size)
{
    const struct wmi_target *target = wmi_target_find(target_name);
    if (!text || !size)
        return false;
    *text = '\0';
    return target && index < WMI_INSN_COUNT - 1 && wmi_wait_of_row(target, (unsigned)index + 1, text, size);
}

/* ---- encodings ---- */

static void add_bits(struct wm_isa_form *out, const char *name, unsigned position, unsigned width, bool fixed,
                     uint32_t value)
{
    if (width && out->bits_count < WM_ISA_BITS)
        out->bits[out->bits_count++] =
            (struct wm_isa_bits){name, value, (uint8_t)position, (uint8_t)width, fixed};
}

static uint32_t part(uint64_t word, unsigned position, unsigned width)
{
    return (uint32_t)(word >> position) & (uint32_t)((UINT64_C(1) << width) - 1);
}

/* Adds the bits that identify the encoding, other than the opcode, as runs within a dword. */
static void add_match(struct wm_isa_form *out, const struct wmi_opcode_space *space)
{
    for (unsigned at = 0; at < 128;) {
        const uint64_t mask = at < 64 ? space->mask : space->later_mask;
        const uint64_t match = at < 64 ? space->match : space->later_match;
        const unsigned first = at < 64 ? 0 : 64;
        unsigned end = at;
        while (end - first < 64 && mask >> (end - first) & 1 && (end == at || end % 32))
            end++;
        if (end > at)
            add_bits(out, "encoding", at, end - at, true, part(match, at - first, end - at));
        at = end > at ? end : at + 1;
    }
}

static bool is_named(const struct wm_isa_form *out, unsigned bit)
{
    for (unsigned i = 0; i < out->bits_count; i++)
        if (bit - out->bits[i].position < out->bits[i].width)
            return true;
    return false;
}

/* Names the bits that have no name yet: operands may share a field, and a space's match may cover part of a
 * field. */
static void add_unnamed(struct wm_isa_form *out, const char *name, unsigned position, unsigned width)
{
    const unsigned last = position + width;
    for (unsigned at = position; at < last;) {
        unsigned end = at;
        while (end < last && !is_named(out, end))
            end++;
        add_bits(out, name, at, end - at, false, 0);
        at = end > at ? end : at + 1;
    }
}

static void add_operands(struct wm_isa_form *out, const struct wmi_form *form)
{
    for (unsigned i = 0; i < form->specs && i < WM_ISA_OPERANDS; i++) {
        const struct wmi_spec *spec = &wmi_specs[form->spec + i];
        const char *role = wmi_role_names[spec->role];
        out->operands[out->operand_count++] = (struct wm_isa_operand){
            .role = role,
            .type = wmi_type_names[spec->type],
            .bits = (uint16_t)wmi_type_bits((enum wmi_type)spec->type),
            .read = spec->flags & WMI_SPEC_READ,
            .written = spec->flags & WMI_SPEC_WRITTEN,
            .implied = spec->flags & WMI_SPEC_IMPLIED,
            .optional = spec->flags & WMI_SPEC_OPTIONAL,
        };
        add_unnamed(out, role, spec->pos, spec->width);
        static const char *const modifiers[4][WMI_ROLE_COUNT] = {
            {[WMI_ROLE_A] = "neg.a", [WMI_ROLE_B] = "neg.b", [WMI_ROLE_C] = "neg.c"},
            {[WMI_ROLE_A] = "abs.a", [WMI_ROLE_B] = "abs.b", [WMI_ROLE_C] = "abs.c"},
            {[WMI_ROLE_A] = "sext.a", [WMI_ROLE_B] = "sext.b", [WMI_ROLE_C] = "sext.c"},
            {[WMI_ROLE_D] = "acc.d",
             [WMI_ROLE_A] = "acc.a",
             [WMI_ROLE_B] = "acc.b",
             [WMI_ROLE_C] = "acc.c",
             [WMI_ROLE_DATA] = "acc.data"},
        };
        const uint8_t places[4] = {spec->neg, spec->abs, spec->sext, spec->alt};
        for (unsigned m = 0; m < 4; m++)
            if (places[m])
                add_unnamed(out, modifiers[m][spec->role] ? modifiers[m][spec->role] : "alt", places[m], 1);
    }
}

/* Adds the remaining bits: those that must be zero, and ignored ones. */
static void add_rest(struct wm_isa_form *out, const struct wmi_form *form)
{
    uint32_t named[4] = {0};
    const unsigned size = 32u * out->dwords;
    for (unsigned i = 0; i < out->bits_count; i++)
        for (unsigned b = out->bits[i].position; b < out->bits[i].position + out->bits[i].width; b++)
            named[b / 32] |= UINT32_C(1) << b % 32;
    const uint64_t zero = wmi_zero_masks[form->zero];
    for (unsigned at = 0; at < size && at < 32 * sizeof named / sizeof *named;) {
        unsigned end = at;
        const bool is_zero = at < 64 && zero >> at & 1;
        while (end < size && !(named[end / 32] >> end % 32 & 1) && (end == at || end % 32) &&
               (end < 64 && zero >> end & 1) == is_zero)
            end++;
        if (end > at)
            add_bits(out, is_zero ? "0" : "ignored", at, end - at, is_zero, 0);
        at = end > at ? end : at + 1;
    }
}

static void sort_bits(struct wm_isa_form *out)
{
    for (unsigned i = 1; i < out->bits_count; i++)
        for (unsigned j = i; j && out->bits[j].position < out->bits[j - 1].position; j--) {
            const struct wm_isa_bits other = out->bits[j];
            out->bits[j] = out->bits[j - 1];
            out->bits[j - 1] = other;
        }
}

static void describe(struct wm_isa_form *out, const struct wmi_target *target, unsigned number,
                     const struct wmi_opcode_space *space, unsigned opcode)
{
    const struct wmi_form *form = &wmi_forms[number];
    const struct wmi_instruction_layout *layout = &wmi_layouts[form->layout];
    *out = (struct wm_isa_form){.target = target->name,
                                .name = form->name,
                                .encoding = wmi_layout_names[layout->id],
                                .row = form->id - 1u,
                                .opcode = opcode,
                                .dwords = layout->dwords};
    add_match(out, space);
    if (space->width) {
        const unsigned low = opcode & ((1u << space->width) - 1);
        add_bits(out, "opcode", space->pos, space->width, true, low);
        add_bits(out, "opcode", space->pos2, space->width2, true, opcode >> space->width);
    }
    add_operands(out, form);
    for (unsigned i = 0; i < layout->fields; i++) {
        const struct wmi_field_spec *spec = &wmi_field_specs[layout->field + i];
        add_unnamed(out, wmi_field_names[spec->field], spec->pos, spec->width);
        add_unnamed(out, wmi_field_names[spec->field], spec->pos2, spec->width2);
    }
    add_rest(out, form);
    sort_bits(out);
}

/* Number of opcode spaces of the target: those reachable from a word, and that of the second half of VOPD. */
static unsigned space_count(const struct wmi_target *target)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++)
        if (target->second[i] != 255 && target->second[i] >= count)
            count = target->second[i] + 1u;
    for (unsigned i = 0; i < 512; i++)
        for (const uint8_t *candidate = target->candidates + target->first[i]; *candidate != 255; candidate++)
            count = *candidate >= count ? *candidate + 1u : count;
    return count;
}

bool wmi_target_has(const struct wmi_target *target, unsigned id)
{
    const unsigned spaces = space_count(target);
    for (unsigned i = 0; i < spaces; i++)
        for (unsigned opcode = 0; opcode < 1u << (target->spaces[i].width + target->spaces[i].width2);
             opcode++)
            if (wmi_forms[target->spaces[i].forms[opcode]].id == id)
                return true;
    return false;
}

size_t wm_isa_forms(const char *target_name, wm_isa_visit visit, void *user)
{
    const struct wmi_target *target = wmi_target_find(target_name);
    size_t visited = 0;
    const unsigned spaces = target && visit ? space_count(target) : 0;
    for (unsigned i = 0; i < spaces; i++) {
        const struct wmi_opcode_space *space = &target->spaces[i];
        if (i && space->forms == space[-1].forms) /* the same space with another marker (DPP8) */
            continue;
        for (unsigned opcode = 0; opcode < 1u << (space->width + space->width2); opcode++) {
            struct wm_isa_form form;
            if (!space->forms[opcode])
                continue;
            describe(&form, target, space->forms[opcode], space, opcode);
            visited++;
            if (!visit(user, &form))
                return visited;
        }
    }
    return visited;
}

/* Finds the form's opcode space and opcode on the target. */
static bool find_space(const struct wmi_target *target, unsigned form, const struct wmi_opcode_space **space,
                       unsigned *opcode)
{
    const unsigned spaces = space_count(target);
    for (unsigned i = 0; i < spaces; i++) {
        *space = &target->spaces[i];
        for (*opcode = 0; *opcode < 1u << ((*space)->width + (*space)->width2); ++*opcode)
            if ((*space)->forms[*opcode] == form)
                return true;
    }
    return false;
}

unsigned wm_isa_decode(const char *target_name, const uint32_t *words, size_t dwords, struct wm_isa_form *out)
{
    const struct wmi_target *target = wmi_target_find(target_name);
    struct wmi_instruction insn;
    const struct wmi_opcode_space *space;
    unsigned opcode;
    const unsigned length = target && words && out ? wmi_decode(target, words, dwords, &insn) : 0;
    if (!length || !find_space(target, insn.form, &space, &opcode))
        return 0;
    describe(out, target, insn.form, space, opcode);
    for (unsigned i = 0; i < out->bits_count; i++) {
        struct wm_isa_bits *field = &out->bits[i];
        field->value = part(words[field->position / 32], field->position % 32, field->width);
    }
    for (unsigned i = 0; i < out->operand_count; i++)
        wmi_print_operand(target, &insn, i, out->operands[i].text, sizeof(out->operands[i].text));
    out->length = length;
    return length;
}

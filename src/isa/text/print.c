/* SPDX-License-Identifier: MIT */
/* Prints LLVM's text of a decoded instruction: mnemonic, operands, modifiers. */
#include "isa/tables.h"
#include "isa/text/put.h"

#include <string.h>

/* Longer than any instruction's text; the rest is dropped. */
enum { LONGEST_TEXT = 1024 };

/* `file` is a single letter, or ttmp. */
static inline void put_registers(struct wmi_text *text, const char *file, unsigned reg, unsigned dwords)
{
    if (file[1])
        wmi_put(text, file);
    else
        wmi_put_char(text, *file);
    if (dwords == 1) {
        wmi_put_small(text, reg);
        return;
    }
    wmi_put_char(text, '[');
    wmi_put_small(text, reg);
    wmi_put_char(text, ':');
    wmi_put_small(text, reg + dwords - 1);
    wmi_put_char(text, ']');
}

const char *const wmi_special_names[WMI_SPECIAL_COUNT] = {
    [WMI_SPECIAL_VCC] = "vcc",
    [WMI_SPECIAL_VCC_LO] = "vcc_lo",
    [WMI_SPECIAL_VCC_HI] = "vcc_hi",
    [WMI_SPECIAL_EXEC] = "exec",
    [WMI_SPECIAL_EXEC_LO] = "exec_lo",
    [WMI_SPECIAL_EXEC_HI] = "exec_hi",
    [WMI_SPECIAL_M0] = "m0",
    [WMI_SPECIAL_NULL] = "null",
    [WMI_SPECIAL_SCC] = "src_scc",
    [WMI_SPECIAL_VCCZ] = "src_vccz",
    [WMI_SPECIAL_EXECZ] = "src_execz",
    [WMI_SPECIAL_FLAT_SCRATCH] = "flat_scratch",
    [WMI_SPECIAL_FLAT_SCRATCH_LO] = "flat_scratch_lo",
    [WMI_SPECIAL_FLAT_SCRATCH_HI] = "flat_scratch_hi",
    [WMI_SPECIAL_XNACK_MASK] = "xnack_mask",
    [WMI_SPECIAL_XNACK_MASK_LO] = "xnack_mask_lo",
    [WMI_SPECIAL_XNACK_MASK_HI] = "xnack_mask_hi",
    [WMI_SPECIAL_SHARED_BASE] = "src_shared_base",
    [WMI_SPECIAL_SHARED_LIMIT] = "src_shared_limit",
    [WMI_SPECIAL_PRIVATE_BASE] = "src_private_base",
    [WMI_SPECIAL_PRIVATE_LIMIT] = "src_private_limit",
    [WMI_SPECIAL_POPS_EXITING_WAVE_ID] = "src_pops_exiting_wave_id",
    [WMI_SPECIAL_LDS_DIRECT] = "src_lds_direct",
    [WMI_SPECIAL_FLAT_SCRATCH_BASE_LO] = "src_flat_scratch_base_lo",
    [WMI_SPECIAL_FLAT_SCRATCH_BASE_HI] = "src_flat_scratch_base_hi",
    [WMI_SPECIAL_TBA] = "tba",
    [WMI_SPECIAL_TBA_LO] = "tba_lo",
    [WMI_SPECIAL_TBA_HI] = "tba_hi",
    [WMI_SPECIAL_TMA] = "tma",
    [WMI_SPECIAL_TMA_LO] = "tma_lo",
    [WMI_SPECIAL_TMA_HI] = "tma_hi",
};

static bool is_int16(unsigned type)
{
    return type == WMI_TYPE_b16 || type == WMI_TYPE_i16 || type == WMI_TYPE_u16 || type == WMI_TYPE_f16x;
}

static const char *const floats[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"};
static const uint16_t half_patterns[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                         0xc000, 0x4400, 0xc400, 0x3118};

/* Types for which LLVM prints 1/(2*pi) with the digits of a 64-bit float. */
static bool is_wide(unsigned type)
{
    return (wmi_type_bits(type) == 64 && !wmi_is_pair32(type)) || type == WMI_TYPE_h256;
}

/* o->reg is the operand code of an inline constant.
 * LLVM prints a float constant of a 16-bit integer operand as its half-precision pattern. */
static void put_constant(struct wmi_text *text, const struct wmi_operand *o)
{
    if (o->reg >= 240 && o->type == WMI_TYPE_v2f16n)
        wmi_put_hex(text, o->value);
    else if (o->reg >= 240 && is_int16(o->type))
        wmi_put_hex(text, half_patterns[o->reg - 240]);
    else if (o->reg <= 192)
        wmi_put_unsigned(text, o->reg - 128u);
    else if (o->reg <= 208)
        wmi_put_signed(text, 192 - (int)o->reg);
    else if (o->reg < 248)
        wmi_put(text, floats[o->reg - 240]);
    else
        wmi_put(text, is_wide(o->type) ? "0.15915494309189532" : "0.15915494");
}

/* The inline float constant with these bits, or NULL. `one` is the pattern of 1.0, `exponent` the position of
 * the lowest exponent bit. */
static const char *float_name(uint64_t value, uint64_t one, unsigned exponent, unsigned sign)
{
    static const int8_t steps[] = {-1, 0, 1, 2}; /* 0.5, 1.0, 2.0, 4.0 */
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t magnitude = one + ((uint64_t)(int64_t)steps[i / 2] << exponent);
        if (value == (magnitude | (uint64_t)(i & 1) << sign))
            return floats[i];
    }
    return NULL;
}

/* The literal of two dwords after the instruction. */
static uint64_t wide_literal(const struct wmi_instruction *insn)
{
    const uint32_t *literal = insn->words + insn->dwords - 2;
    return literal[0] | (uint64_t)literal[1] << 32;
}

static void put_marked(struct wmi_text *text, const char *mark, uint64_t value)
{
    wmi_put(text, mark);
    wmi_put(text, "(");
    wmi_put_hex(text, value);
    wmi_put(text, ")");
}

/* LLVM prints a literal that equals an inline constant like one.
 * LLVM 22 marks such literals, and those of 64 bits that look like one of 32.
 * Source: AMDGPUInstPrinter.cpp, printImmediate16, printImmediateInt16, printImmediate32, printImmediate64.
 */
static void put_literal(struct wmi_text *text, const struct wmi_target *target,
                        const struct wmi_instruction *insn, const struct wmi_operand *o)
{
    uint64_t value = o->value;
    const unsigned width = wmi_type_bits(o->type);
    const bool half = o->type == WMI_TYPE_f16 || o->type == WMI_TYPE_mix;
    const bool wide = o->wide && width == 64 && !wmi_is_pair32(o->type);
    int64_t integer = o->type == WMI_TYPE_f64 || wide ? (int64_t)value
                      : width == 64                   ? (int64_t)(uint32_t)value
                      : half || o->type == WMI_TYPE_bf16 || o->type == WMI_TYPE_bmix ? (int16_t)value
                                                                                     : (int32_t)value;
    const char *name = NULL;
    if (width == 64 && !wmi_is_pair32(o->type))
        name = value == 0x3fc45f306dc9c882 ? "0.15915494309189532"
                                           : float_name(value, 0x3ff0000000000000, 52, 63);
    else if (o->type == WMI_TYPE_v2f16)
        name = value == 0x3118 ? "0.15915494" : value <= 0xffff ? float_name(value, 0x3c00, 10, 15) : NULL;
    else if (o->type == WMI_TYPE_bf16 || o->type == WMI_TYPE_bmix)
        name = (uint16_t)value == 0x3e22 ? "0.15915494" : float_name((uint16_t)value, 0x3f80, 7, 15);
    else if (o->type == WMI_TYPE_v2bf16)
        name = value == 0x3e22 ? "0.15915494" : value <= 0xffff ? float_name(value, 0x3f80, 7, 15) : NULL;
    else if (half)
        name = (uint16_t)value == 0x3118 ? "0.15915494" : float_name((uint16_t)value, 0x3c00, 10, 15);
    else
        name = (uint32_t)value == 0x3e22f983 ? "0.15915494" : float_name((uint32_t)value, 0x3f800000, 23, 31);
    const bool small = integer >= -16 && integer <= 64;
    const bool marked = (small || name) && o->type != WMI_TYPE_f64;
    if (o->type == WMI_TYPE_v2f16n && small)
        wmi_put_signed(text, integer);
    else if (o->type == WMI_TYPE_v2f16n)
        wmi_put_hex(text, value);
    else if (o->wide && wide_literal(insn) <= UINT32_MAX)
        put_marked(text, "lit64", wide_literal(insn));
    else if (marked && !o->wide && insn->extension == WMI_EXT_LITERAL &&
             target->limits[WMI_LIMIT_marks_literals])
        put_marked(text, "lit", insn->words[insn->dwords - 1]);
    else if (small)
        wmi_put_signed(text, integer);
    else if (name)
        wmi_put(text, name);
    else if (half || is_int16(o->type))
        wmi_put_hex(text, value & 0xffff);
    else
        wmi_put_hex(text, o->type == WMI_TYPE_f64 && !(uint32_t)value ? value >> 32
                          : wide                                      ? value
                                                                      : (uint32_t)value);
}

/* The half that LLVM names. LLVM 19: for VOP3 always the low one; for VOP3 with DPP the actual one, except
 * for the second source, which is printed whole. op_sel is printed in any case. */
static enum wmi_part shown_part(const struct wmi_target *target, const struct wmi_instruction *insn,
                                const struct wmi_operand *o)
{
    if (!o->part || target->limits[WMI_LIMIT_names_halves] ||
        !wmi_is_true16_vop3(target, &wmi_forms[insn->form]))
        return (enum wmi_part)o->part;
    if (insn->layout == WMI_LAYOUT_vop3)
        return WMI_PART_LOW;
    return o->role == WMI_ROLE_B ? WMI_PART_WHOLE : (enum wmi_part)o->part;
}

static void put_half(struct wmi_text *text, enum wmi_part part)
{
    if (part)
        wmi_put(text, part == WMI_PART_HIGH ? ".h" : ".l");
}

/* As in LLVM 22, the number that the words contain, and in a comment the number that s_set_vgpr_msb makes of
 * it (decode/msb.h). */
static void put_vgprs(struct wmi_text *text, const struct wmi_target *target,
                      const struct wmi_instruction *insn, const struct wmi_operand *o)
{
    enum { NUMBERS = 256 };
    const enum wmi_part part = shown_part(target, insn, o);
    put_registers(text, "v", o->reg % NUMBERS, o->dwords);
    put_half(text, part);
    if (o->reg < NUMBERS)
        return;
    wmi_put(text, " /*");
    put_registers(text, "v", o->reg, o->dwords);
    put_half(text, part);
    wmi_put(text, "*/");
}

/* v_fmaak_f64: LLVM 22 prints the upper dword alone if the lower one is 0. */
static uint64_t shared_literal(const struct wmi_instruction *insn, const struct wmi_operand *o)
{
    if (o->dwords < 2)
        return insn->words[insn->dwords - 1];
    return (uint32_t)wide_literal(insn) ? wide_literal(insn) : wide_literal(insn) >> 32;
}

static void put_bare_operand(struct wmi_text *text, const struct wmi_target *target,
                             const struct wmi_instruction *insn, const struct wmi_spec *spec,
                             const struct wmi_operand *o)
{
    switch (o->kind) {
    case WMI_OPERAND_SGPR:
        put_registers(text, "s", o->reg, o->dwords);
        break;
    case WMI_OPERAND_VGPR:
        put_vgprs(text, target, insn, o);
        break;
    case WMI_OPERAND_AGPR:
        put_registers(text, "a", o->reg, o->dwords);
        break;
    case WMI_OPERAND_TTMP:
        put_registers(text, "ttmp", o->reg, o->dwords);
        break;
    case WMI_OPERAND_SPECIAL:
        wmi_put(text, wmi_special_names[o->reg]);
        break;
    case WMI_OPERAND_CONSTANT:
        put_constant(text, o);
        break;
    case WMI_OPERAND_LITERAL:
        if (spec->kind == WMI_KIND_shared_literal && o->wide && wide_literal(insn) <= UINT32_MAX)
            put_marked(text, "lit64", wide_literal(insn));
        else if (spec->kind == WMI_KIND_shared_literal)
            wmi_put_hex(text, shared_literal(insn, o));
        else
            put_literal(text, target, insn, o);
        break;
    case WMI_OPERAND_OFF:
        wmi_put(text, "off");
        break;
    default:
        wmi_print_immediate(text, target, insn, spec, o);
        break;
    }
}

/* The operand with neg, abs and sext: -v1, |v1|, -|v1|, sext(v1); neg(1), because -1 is another constant. */
static void put_operand(struct wmi_text *text, const struct wmi_target *target,
                        const struct wmi_instruction *insn, const struct wmi_spec *spec,
                        const struct wmi_operand *o)
{
    if (o->sext)
        wmi_put(text, "sext(");
    bool neg_of = o->neg && !o->abs && (o->kind == WMI_OPERAND_CONSTANT || o->kind == WMI_OPERAND_LITERAL);
    if (neg_of) { /* -lit(0x1) is not ambiguous */
        const struct wmi_text start = *text;
        put_bare_operand(text, target, insn, spec, o);
        neg_of = text->at == start.at || start.at[0] != 'l';
        *text = start;
    }
    if (o->neg)
        wmi_put(text, neg_of ? "neg(" : "-");
    if (o->abs)
        wmi_put_char(text, '|');
    put_bare_operand(text, target, insn, spec, o);
    if (o->abs)
        wmi_put_char(text, '|');
    if (o->sext || neg_of)
        wmi_put(text, ")");
}

/* The n-th register of an address list: the first is in the address field, the others in the bytes that
 * follow. gfx12 has bytes 1 to 3 of the third dword, and the fifth register in the top byte of the second. */
static unsigned address_register(const struct wmi_instruction *insn, const struct wmi_operand *o, unsigned n)
{
    if (n == 0)
        return o->reg;
    const bool third_dword = insn->layout == WMI_LAYOUT_vimage || insn->layout == WMI_LAYOUT_vimage_bvh ||
                             insn->layout == WMI_LAYOUT_vsample;
    if (third_dword && n == 4)
        return insn->words[1] >> 24;
    const unsigned byte = third_dword ? n : n - 1;
    return insn->words[2 + byte / 4] >> 8 * (byte % 4) & 0xff;
}

/* Number of dwords of the n-th item of an address list, given that `left` remain. The last item may be a
 * tuple; with five slots a ray is [v2, v4, v[5:7], v[8:10], v[11:13]]. */
static unsigned address_dwords(const struct wmi_spec *spec, unsigned slots, unsigned n, unsigned left)
{
    enum { RAY_SLOTS = 5, RAY_VECTOR = 3 };
    unsigned dwords = n + 1 == slots ? left : 1;
    if (spec->kind == WMI_KIND_bvh_addr && slots == RAY_SLOTS)
        dwords = n >= 2 ? RAY_VECTOR : n == 0 ? spec->dwords : 1;
    return dwords < left ? dwords : left;
}

/* Number of items in the operand's address list; 0: it is one tuple. */
static unsigned address_slots(const struct wmi_target *target, const struct wmi_instruction *insn,
                              const struct wmi_spec *spec, const struct wmi_operand *o)
{
    const bool address = spec->kind == WMI_KIND_image_addr_dim || spec->kind == WMI_KIND_bvh_addr;
    return address && o->dwords > 1 ? wmi_image_slots(target, insn) : 0;
}

/* A non-sequential address: [v2, v4, v5]; the last item may be a tuple: [v2, v4, v5, v[6:8]]. */
static void put_address_list(struct wmi_text *text, const struct wmi_instruction *insn,
                             const struct wmi_spec *spec, const struct wmi_operand *o, unsigned slots)
{
    unsigned left = o->dwords;
    wmi_put(text, "[");
    for (unsigned n = 0; left; n++) {
        const unsigned dwords = address_dwords(spec, slots, n, left);
        wmi_put(text, n ? ", " : "");
        put_registers(text, "v", address_register(insn, o, n), dwords);
        left -= dwords;
    }
    wmi_put(text, "]");
}

unsigned wmi_image_address(const struct wmi_target *target, const struct wmi_instruction *insn,
                           unsigned index, uint8_t *registers, unsigned size)
{
    const struct wmi_operand *o = &insn->operand[index];
    const struct wmi_spec *spec = &wmi_specs[wmi_forms[insn->form].spec + index];
    const unsigned slots = address_slots(target, insn, spec, o);
    unsigned at = 0;
    for (unsigned n = 0; slots && at < o->dwords; n++) {
        const unsigned dwords = address_dwords(spec, slots, n, o->dwords - at);
        const unsigned first = address_register(insn, o, n);
        for (unsigned i = 0; i < dwords; i++, at++)
            if (at < size)
                registers[at] = (uint8_t)(first + i);
    }
    return at;
}

static void put_operands(struct wmi_text *text, const struct wmi_target *target,
                         const struct wmi_instruction *insn, const struct wmi_form *form,
                         const struct wmi_operand *operands)
{
    const char *separator = " ";
    for (unsigned i = 0; i < form->specs; i++) {
        const struct wmi_operand *o = &operands[i];
        const struct wmi_spec *spec = &wmi_specs[form->spec + i];
        if (o->kind == WMI_OPERAND_NONE || spec->kind == WMI_KIND_tied || spec->kind == WMI_KIND_vcc_hidden ||
            spec->kind == WMI_KIND_exec_hidden)
            continue;
        wmi_put_bytes(text, separator, separator[1] ? 2 : 1);
        const unsigned slots = address_slots(target, insn, spec, o);
        if (slots)
            put_address_list(text, insn, spec, o, slots);
        else
            put_operand(text, target, insn, spec, o);
        separator = spec->kind == WMI_KIND_exp_target ? " " : ", ";
    }
}

void wmi_print_operand(const struct wmi_target *target, const struct wmi_instruction *insn, unsigned index,
                       char *buffer, size_t size)
{
    struct wmi_text text = {buffer, buffer + size - 1};
    if (index < insn->operands && insn->operand[index].kind != WMI_OPERAND_NONE)
        put_operand(&text, target, insn, &wmi_specs[wmi_forms[insn->form].spec + index],
                    &insn->operand[index]);
    *text.at = 0;
}

/* Modifiers that are not printed when 0. */
static const bool silent_at_0[WMI_SHOW_COUNT] = {
    [WMI_SHOW_none] = true,         [WMI_SHOW_flag] = true,
    [WMI_SHOW_num] = true,          [WMI_SHOW_hex] = true,
    [WMI_SHOW_bound_ctrl] = true,   [WMI_SHOW_bits] = true,
    [WMI_SHOW_bits_all] = true,     [WMI_SHOW_bits_c] = true,
    [WMI_SHOW_bits_cd] = true,      [WMI_SHOW_pair_bits] = true,
    [WMI_SHOW_omod] = true,         [WMI_SHOW_flag_value] = true,
    [WMI_SHOW_th] = true,           [WMI_SHOW_scope] = true,
    [WMI_SHOW_smem_soffset] = true, [WMI_SHOW_swizzle] = true,
    [WMI_SHOW_bits_scales] = true,  [WMI_SHOW_bits_d] = true,
    [WMI_SHOW_bits_ab] = true,      [WMI_SHOW_matrix_fmt] = true,
    [WMI_SHOW_matrix_scale] = true, [WMI_SHOW_matrix_scale_fmt] = true,
};

/* A dot product of 8 or 4 bits, whose op_sel LLVM 22 does not print. */
static bool is_bare_dot(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    return target->limits[WMI_LIMIT_dots_bare] && insn->layout == WMI_LAYOUT_vop3p &&
           wmi_rows[insn->id].group == WMI_GROUP_DOT && wmi_operand(insn, WMI_ROLE_A)->type == WMI_TYPE_b32;
}

static void put_fields(struct wmi_text *text, const struct wmi_target *target,
                       const struct wmi_instruction *insn, const struct wmi_instruction_layout *layout)
{
    const struct wmi_field_spec *spec = wmi_field_specs + layout->field;
    const struct wmi_field_spec *halves = wmi_op_sel_of_halves(target, &wmi_forms[insn->form]);
    if (halves && insn->field[WMI_FIELD_op_sel])
        wmi_print_field(text, target, insn, halves);
    const bool bare = is_bare_dot(target, insn);
    for (unsigned i = 0; i < layout->fields; i++, spec++)
        if ((insn->field[spec->field] || !silent_at_0[spec->show]) &&
            !(bare && (spec->field == WMI_FIELD_op_sel || spec->field == WMI_FIELD_op_sel_hi)))
            wmi_print_field(text, target, insn, spec);
}

static size_t print_to(char *buffer, size_t size, const struct wmi_target *target,
                       const struct wmi_instruction *insn)
{
    const struct wmi_form *form = &wmi_forms[insn->form];
    struct wmi_text text = {buffer, buffer + size - 1};
    if (insn->form) {
        wmi_put_bytes(&text, form->name, form->name_length);
        put_operands(&text, target, insn, form, insn->operand);
        put_fields(&text, target, insn, &wmi_layouts[form->layout]);
    }
    if (insn->second_form) {
        const struct wmi_form *second = &wmi_forms[insn->second_form];
        wmi_put(&text, " :: ");
        wmi_put(&text, second->name);
        put_operands(&text, target, insn, second, insn->operand + insn->operands);
        put_fields(&text, target, insn, &wmi_layouts[second->layout]);
    }
    *text.at = 0;
    return (size_t)(text.at - buffer);
}

size_t wmi_print(const struct wmi_target *target, const struct wmi_instruction *insn, char *buffer,
                 size_t size)
{
    if (size >= LONGEST_TEXT)
        return print_to(buffer, size, target, insn);
    char whole[LONGEST_TEXT];
    const size_t length = print_to(whole, sizeof(whole), target, insn);
    if (size) {
        const size_t kept = length < size ? length : size - 1;
        memcpy(buffer, whole, kept);
        buffer[kept] = 0;
    }
    return length;
}

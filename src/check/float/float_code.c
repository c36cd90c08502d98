/* SPDX-License-Identifier: MIT */
/* What instructions do with floats: their operands' formats and places, from the rows of isa/. */
#include "check/float/float.h"

static const struct {
    uint8_t format, elements;
} formats[WMI_TYPE_COUNT] = {
    [WMI_TYPE_f16] = {WMI_FLOAT_F16, 1},     [WMI_TYPE_f16w] = {WMI_FLOAT_F16, 1},
    [WMI_TYPE_f16x] = {WMI_FLOAT_F16, 1},    [WMI_TYPE_bf16] = {WMI_FLOAT_BF16, 1},
    [WMI_TYPE_f32] = {WMI_FLOAT_F32, 1},     [WMI_TYPE_f64] = {WMI_FLOAT_F64, 1},
    [WMI_TYPE_v2f16] = {WMI_FLOAT_F16, 2},   [WMI_TYPE_v2f16n] = {WMI_FLOAT_F16, 2},
    [WMI_TYPE_v2bf16] = {WMI_FLOAT_BF16, 2}, [WMI_TYPE_v2f32] = {WMI_FLOAT_F32, 2},
};

/* Of the elements of a matrix that are looked at. */
static const uint8_t element_formats[WMI_ELEMENT_COUNT] = {
    [WMI_ELEMENT_f16] = WMI_FLOAT_F16, [WMI_ELEMENT_bf16] = WMI_FLOAT_BF16,
    [WMI_ELEMENT_f32] = WMI_FLOAT_F32, [WMI_ELEMENT_xf32] = WMI_FLOAT_F32,
    [WMI_ELEMENT_f64] = WMI_FLOAT_F64,
};

/* The format of fp8 or bf8. */
static enum wmi_float_format format_of_8_bits(const struct wmi_target *target, bool bf8)
{
    return !wmi_target_limit(target, WMI_LIMIT_fp8_ocp) ? WMI_FLOAT_FNUZ
           : bf8                                        ? WMI_FLOAT_BF8
                                                        : WMI_FLOAT_FP8;
}

static enum wmi_float_format format_of_element(const struct wmi_target *target, unsigned element)
{
    return element == WMI_ELEMENT_fp8 || element == WMI_ELEMENT_bf8
               ? format_of_8_bits(target, element == WMI_ELEMENT_bf8)
               : (enum wmi_float_format)element_formats[element];
}

static bool is_16_bit(enum wmi_float_format format)
{
    return format == WMI_FLOAT_F16 || format == WMI_FLOAT_BF16;
}

/* Conversions to integers that saturate numbers out of range and make 0 of a NaN. Not v_cvt_pknorm and
 * v_cvt_pk_u8, which are meant to saturate, nor v_frexp_exp. */
static bool converts(unsigned id)
{
    switch (id) {
    case WMI_INSN_v_cvt_i32_f64:
    case WMI_INSN_v_cvt_u32_f64:
    case WMI_INSN_v_cvt_i32_f32:
    case WMI_INSN_v_cvt_u32_f32:
    case WMI_INSN_v_cvt_rpi_i32_f32:
    case WMI_INSN_v_cvt_flr_i32_f32:
    case WMI_INSN_v_cvt_i16_f16:
    case WMI_INSN_v_cvt_u16_f16:
    case WMI_INSN_v_cvt_pk_i16_f32:
    case WMI_INSN_v_cvt_pk_u16_f32:
    case WMI_INSN_s_cvt_i32_f32:
    case WMI_INSN_s_cvt_u32_f32:
        return true;
    default:
        return false;
    }
}

/* Conversions of f32 to 8 bits: how many sources they have; 0: it is another instruction. */
static unsigned narrowed(unsigned id)
{
    switch (id) {
    case WMI_INSN_v_cvt_pk_fp8_f32:
    case WMI_INSN_v_cvt_pk_bf8_f32:
    case WMI_INSN_v_cvt_scalef32_pk_fp8_f32:
    case WMI_INSN_v_cvt_scalef32_pk_bf8_f32:
        return 2;
    case WMI_INSN_v_cvt_sr_fp8_f32:
    case WMI_INSN_v_cvt_sr_bf8_f32:
        return 1;
    default:
        return 0;
    }
}

static bool fixes_division(unsigned id)
{
    return id == WMI_INSN_v_div_fixup_f32 || id == WMI_INSN_v_div_fixup_f64 ||
           id == WMI_INSN_v_div_fixup_f16 || id == WMI_INSN_v_div_fixup_legacy_f16;
}

/* Whether operands of the type have bits that other instructions, or nobody here, know how to read. */
static bool is_opaque(const struct wmi_operand *operand)
{
    const enum wmi_type type = (enum wmi_type)operand->type;
    return type == WMI_TYPE_b8 || type == WMI_TYPE_b16 || type == WMI_TYPE_b32 || wmi_type_bits(type) > 64 ||
           (operand->kind == WMI_OPERAND_SPECIAL && operand->reg == WMI_SPECIAL_LDS_DIRECT);
}

static void find_registers(const struct wmi_target *target, const struct wmi_instruction *insn,
                           struct wmi_float_operation *out)
{
    struct wmi_span_of_registers spans[WMI_SPANS];
    const unsigned count = wmi_registers_of(target, insn, spans);
    for (int results = 1; results >= 0; results--) {
        for (unsigned i = 0; i < count; i++) {
            const struct wmi_float_registers registers = {spans[i].first, spans[i].count};
            /* A is a second result of v_swap. */
            const bool result = spans[i].role == WMI_ROLE_D || spans[i].role == WMI_ROLE_A;
            if (result != results)
                continue;
            if (spans[i].written && out->writes < WMI_FLOAT_WRITTEN)
                out->written[out->writes++] = registers;
            if (spans[i].read && spans[i].role && out->reads < WMI_FLOAT_READ)
                out->read[out->reads++] = registers;
        }
        out->moved = results ? out->writes : out->moved;
    }
}

/* The registers of the operand; WMI_REGISTER_COUNT: none. */
static uint16_t register_of(const struct wmi_target *target, const struct wmi_instruction *insn,
                            enum wmi_role role)
{
    struct wmi_span_of_registers spans[WMI_SPANS];
    const unsigned count = wmi_registers_of(target, insn, spans);
    for (unsigned i = 0; i < count; i++)
        if (spans[i].role == role)
            return spans[i].first;
    return WMI_REGISTER_COUNT;
}

static uint32_t field(const struct wmi_instruction *insn, enum wmi_field name)
{
    return (uint32_t)insn->field[name];
}

/* The half that a 16-bit operand, or element of one, is in. */
static unsigned half_of(const struct wmi_instruction *insn, const struct wmi_operand *operand, unsigned index,
                        unsigned elements, unsigned element)
{
    enum { SDWA_HIGH = 5 };
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (elements == 2)
        return row->flags & WMI_ROW_PACKED && row->group != WMI_GROUP_DOT
                   ? field(insn, element ? WMI_FIELD_op_sel_hi : WMI_FIELD_op_sel) >> index & 1
                   : element;
    if (insn->extension == WMI_EXT_SDWA && index < 2)
        return field(insn, index ? WMI_FIELD_src1_sel : WMI_FIELD_src0_sel) == SDWA_HIGH;
    return operand->part == WMI_PART_HIGH || insn->id == WMI_INSN_s_cvt_hi_f32_f16 ||
           (row->flags & WMI_ROW_VOP3_OPSEL && field(insn, WMI_FIELD_op_sel) >> index & 1);
}

/* Describes a source. `index`: as bits of op_sel count them. */
static void describe_source(const struct wmi_target *target, const struct wmi_instruction *insn,
                            const struct wmi_operand *operand, unsigned index, struct wmi_float_source *out)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool mixes = operand->type == WMI_TYPE_mix || operand->type == WMI_TYPE_bmix;
    const bool wide = mixes && !(field(insn, WMI_FIELD_op_sel_hi) >> index & 1);
    *out = (struct wmi_float_source){
        .reg = register_of(target, insn, (enum wmi_role)operand->role),
        .format = formats[operand->type].format,
        .elements = formats[operand->type].elements,
        .other_lanes = index == 0 && (insn->extension == WMI_EXT_DPP || insn->extension == WMI_EXT_DPP8),
        .neg = operand->neg ? 3 : 0,
        .abs = operand->abs ? 3 : 0,
        .constant = {(uint32_t)operand->value, (uint32_t)(operand->value >> 32)},
    };
    if (mixes) {
        out->elements = 1;
        out->format = wide ? WMI_FLOAT_F32 : operand->type == WMI_TYPE_mix ? WMI_FLOAT_F16 : WMI_FLOAT_BF16;
    }
    if (row->flags & WMI_ROW_PACKED && !mixes)
        out->neg = (uint8_t)((field(insn, WMI_FIELD_neg_lo) >> index & 1) |
                             (field(insn, WMI_FIELD_neg_hi) >> index & 1) << 1);
    out->dwords =
        out->format == WMI_FLOAT_F64 || (out->format == WMI_FLOAT_F32 && out->elements == 2) ? 2 : 1;
    for (unsigned e = 0; e < out->elements; e++) {
        if (mixes)
            out->place[e].shift = wide || !(field(insn, WMI_FIELD_op_sel) >> index & 1) ? 0 : 16;
        else if (is_16_bit(out->format))
            out->place[e].shift = half_of(insn, operand, index, out->elements, e) ? 16 : 0;
        else if (out->elements == 2)
            out->place[e].dword = field(insn, e ? WMI_FIELD_op_sel_hi : WMI_FIELD_op_sel) >> index & 1;
    }
}

static void describe_result(const struct wmi_instruction *insn, const struct wmi_operand *d,
                            struct wmi_float_operation *out)
{
    enum { SDWA_HIGH = 5, RESULT = 3 };
    const bool high =
        d->part == WMI_PART_HIGH || insn->id == WMI_INSN_v_mad_mixhi_f16 ||
        insn->id == WMI_INSN_v_fma_mixhi_f16 ||
        (wmi_rows[insn->id].flags & WMI_ROW_VOP3_OPSEL && field(insn, WMI_FIELD_op_sel) >> RESULT & 1) ||
        (insn->extension == WMI_EXT_SDWA && field(insn, WMI_FIELD_dst_sel) == SDWA_HIGH);
    out->format = formats[d->type].format;
    out->elements = formats[d->type].elements;
    out->half = is_16_bit(out->format) && out->elements == 1;
    if (out->half)
        out->place[0].shift = high ? 16 : 0;
    else if (is_16_bit(out->format))
        out->place[1].shift = 16;
    else
        out->place[1].dword = 1;
}

/* C of v_mac and v_fmac is D. */
static const struct wmi_operand *source_operand(const struct wmi_instruction *insn, unsigned index)
{
    const struct wmi_operand *operand = wmi_operand(insn, WMI_ROLE_A + index);
    if (operand || index != 2)
        return operand;
    operand = wmi_operand(insn, WMI_ROLE_IMM); /* of v_madmk and v_madak */
    return operand ? operand : wmi_rows[insn->id].flags & WMI_ROW_MACC ? wmi_operand(insn, WMI_ROLE_D) : NULL;
}

static void describe_narrowed(const struct wmi_target *target, const struct wmi_instruction *insn,
                              struct wmi_float_operation *out)
{
    const bool bf8 = insn->id == WMI_INSN_v_cvt_pk_bf8_f32 || insn->id == WMI_INSN_v_cvt_sr_bf8_f32 ||
                     insn->id == WMI_INSN_v_cvt_scalef32_pk_bf8_f32;
    out->kind = WMI_FLOAT_CONVERTS;
    out->format = (uint8_t)format_of_8_bits(target, bf8);
    out->elements = (uint8_t)narrowed(insn->id);
    const unsigned byte =
        out->elements == 2 ? field(insn, WMI_FIELD_op_sel) >> 3 & 1 ? 2 : 0 : field(insn, WMI_FIELD_byte_sel);
    out->place[0] = (struct wmi_float_place){.shift = (uint8_t)(8 * byte)};
    out->place[1] = (struct wmi_float_place){.shift = (uint8_t)(8 * byte + 8)};
}

static void describe_arithmetic(const struct wmi_target *target, const struct wmi_instruction *insn,
                                const struct wmi_operand *d, struct wmi_float_operation *out)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    unsigned floats = 0;
    for (unsigned i = 0; i < WMI_FLOAT_SOURCES; i++) {
        const struct wmi_operand *operand = source_operand(insn, i);
        if (!operand)
            continue;
        if (is_opaque(operand)) {
            out->kind = WMI_FLOAT_LOADS;
            return;
        }
        if (!(fixes_division(insn->id) && i == 0))
            describe_source(target, insn, operand, i, &out->source[i]);
        const uint16_t reg = out->source[i].reg;
        if (reg < WMI_REGISTER_COUNT && reg >= WMI_REGISTER_FLAT_SCRATCH)
            out->source[i].format = WMI_FLOAT_NONE;
        floats += out->source[i].format != WMI_FLOAT_NONE;
    }
    if (out->other_lanes && !out->source[2].format) { /* DPP: lanes without a source keep the old result */
        describe_source(target, insn, d, 2, &out->source[2]);
        out->source[2].old = true;
        out->source[2].place[0] = out->place[0];
    }
    out->dot = row->group == WMI_GROUP_DOT;
    out->pole = fixes_division(insn->id) ? 2 : row->flags & WMI_ROW_TRANS ? 1 : 0;
    const struct wmi_float_source *a = &out->source[0];
    out->narrows = floats == out->elements && !out->dot && a->format > out->format && !is_16_bit(a->format);
    if (converts(insn->id)) {
        out->kind = WMI_FLOAT_CONVERTS;
        out->type = d->type;
        out->elements = d->type == WMI_TYPE_v2i16 || d->type == WMI_TYPE_v2u16 ? 2 : 1;
        out->place[0].shift = d->part == WMI_PART_HIGH ? 16 : 0;
        out->place[1].shift = 16;
    } else if (narrowed(insn->id)) {
        describe_narrowed(target, insn, out);
    } else {
        out->kind = WMI_FLOAT_COMPUTES;
    }
}

/* A, B and C hold elements in every dword. Of those with 16-bit results nobody says which half is written. */
static void describe_matrix(const struct wmi_target *target, const struct wmi_instruction *insn,
                            struct wmi_float_operation *out)
{
    const struct wmi_matrix *matrix = wmi_matrix_of(insn->id);
    const enum wmi_float_format elements[WMI_FLOAT_SOURCES] = {format_of_element(target, matrix->a),
                                                               format_of_element(target, matrix->b),
                                                               format_of_element(target, matrix->d)};
    out->kind = WMI_FLOAT_LOADS;
    if (!elements[0] || !elements[1] || elements[2] < WMI_FLOAT_F32)
        return;
    out->kind = WMI_FLOAT_MATRIX;
    out->format = (uint8_t)elements[2];
    out->elements = 1;
    out->ignores_exec = true;
    for (unsigned i = 0; i < WMI_FLOAT_SOURCES; i++) {
        const enum wmi_role role = i == 2 && matrix->sparse ? WMI_ROLE_D : WMI_ROLE_A + i;
        const struct wmi_operand *operand = wmi_operand(insn, role);
        if (operand)
            out->source[i] = (struct wmi_float_source){.reg = register_of(target, insn, role),
                                                       .dwords = operand->dwords,
                                                       .format = (uint8_t)elements[i]};
        if (!operand || out->source[i].reg == WMI_REGISTER_COUNT)
            out->source[i].format = WMI_FLOAT_NONE; /* constants are finite */
    }
}

static void describe_operation(const struct wmi_target *target, const struct wmi_instruction *insn,
                               struct wmi_float_operation *out)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const struct wmi_operand *d = wmi_operand(insn, WMI_ROLE_D), *c = wmi_operand(insn, WMI_ROLE_C);
    const bool alu = row->class == WMI_CLASS_VALU || row->class == WMI_CLASS_SALU;
    const bool exchanges = row->class == WMI_CLASS_DS && row->flags & WMI_ROW_CROSS_LANE;
    *out = (struct wmi_float_operation){.id = insn->id, .kind = WMI_FLOAT_LOADS, .mask = WMI_REGISTER_VCC};
    find_registers(target, insn, out);
    out->other_lanes =
        row->flags & WMI_ROW_CROSS_LANE || insn->extension == WMI_EXT_DPP || insn->extension == WMI_EXT_DPP8;
    out->ignores_exec = row->flags & WMI_ROW_IGNORES_EXEC;
    if (!d || d->type == WMI_TYPE_mask || row->flags & WMI_ROW_READS_M0 || !(alu || exchanges))
        return;
    out->kind = WMI_FLOAT_MOVES;
    if (wmi_matrix_of(insn->id)) {
        describe_matrix(target, insn, out);
    } else if (alu && (formats[d->type].format || converts(insn->id) || narrowed(insn->id))) {
        describe_result(insn, d, out);
        describe_arithmetic(target, insn, d, out);
    } else if (insn->id == WMI_INSN_v_cndmask_b32 || insn->id == WMI_INSN_v_cndmask_b16) {
        out->kind = WMI_FLOAT_SELECTS;
        if (c)
            out->mask = register_of(target, insn, WMI_ROLE_C);
        for (unsigned i = 0; i < 2; i++)
            out->source[i].reg = register_of(target, insn, WMI_ROLE_A + i);
    }
}

void wmi_float_describe(const struct wmi_target *target, uint64_t pc, const struct wmi_instruction *insn,
                        struct wmi_float_instruction *out)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const enum wmi_role roles[2] = {WMI_ROLE_DATA, WMI_ROLE_DATA2};
    struct wmi_instruction half = *insn;
    *out = (struct wmi_float_instruction){
        .pc = pc, .number = out->number, .operations = 1, .exports = row->counts == WMI_COUNTS_EXPORT};
    half.second_id = 0;
    describe_operation(target, &half, &out->operation[0]);
    if (insn->second_id) {
        half.id = insn->second_id;
        half.operands = insn->second_operands;
        for (unsigned i = 0; i < insn->second_operands; i++)
            half.operand[i] = insn->operand[insn->operands + i];
        describe_operation(target, &half, &out->operation[out->operations++]);
    }
    for (unsigned i = 0; i < 2 && row->memory != WMI_MEMORY_NONE; i++) {
        const struct wmi_operand *operand = wmi_operand(insn, roles[i]);
        const uint16_t reg = operand ? register_of(target, insn, roles[i]) : WMI_REGISTER_COUNT;
        if (reg < WMI_REGISTER_COUNT)
            out->data[i] = (struct wmi_float_registers){reg, operand->dwords};
    }
}

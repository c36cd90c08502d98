/* SPDX-License-Identifier: MIT */
#include "isa/decode/decode_operand.h"

/* Operand codes that are the same on every target (ISA documents, "Scalar Operands"). */
enum {
    CODE_INT_0 = 128,
    CODE_INT_64 = 192,
    CODE_INT_MINUS_16 = 208,
    CODE_FLOAT_FIRST = 240,
    CODE_VGPR_0 = 256,
    SADDR_OFF = 0x7f, /* on targets where null does not mean "off" */
    TUPLE_SGPRS = 104,
    HALF_BIT = 128,
    TH_ATOMIC_RETURN = 1, /* gfx12's glc */
};

/* Inline float constants 0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0 1/(2*pi). */
static const uint16_t half_constants[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                          0xc000, 0x4400, 0xc400, 0x3118};
static const uint32_t single_constants[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                            0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
static const uint64_t double_constants[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                            0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                            0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

/* The bits of an inline constant as read by an operand of `type`.
 * Source for 16-bit types: LLVM AMDGPUBaseInfo.cpp, getInlineEncodingV216: f16 operands take the
 * half-precision value in the low half and zero in the high half, integer operands the single-precision
 * pattern. */
static uint64_t constant_value(unsigned code, enum wmi_type type)
{
    const unsigned width = wmi_type_bits(type);
    const uint64_t mask = width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    if (code <= CODE_INT_64)
        return code - CODE_INT_0;
    if (code <= CODE_INT_MINUS_16)
        return (uint64_t)((int64_t)CODE_INT_64 - (int64_t)code) & mask;
    const unsigned i = code - CODE_FLOAT_FIRST;
    if (type == WMI_TYPE_f16 || type == WMI_TYPE_f16w || type == WMI_TYPE_f16x || type == WMI_TYPE_v2f16)
        return half_constants[i];
    if (type == WMI_TYPE_bf16 || type == WMI_TYPE_v2bf16)
        return single_constants[i] >> 16;
    if (width == 64 && !wmi_is_pair32(type))
        return double_constants[i];
    return single_constants[i] & mask;
}

/* The value of a literal: the high dword of a 64-bit float, sign-extended for a signed 64-bit integer. */
static uint64_t literal_value(uint32_t literal, enum wmi_type type)
{
    if (type == WMI_TYPE_f64)
        return (uint64_t)literal << 32;
    if (type == WMI_TYPE_i64)
        return (uint64_t)(int64_t)(int32_t)literal;
    return literal;
}

/* A literal of one or two dwords. Operands of 32 bits take the first of two dwords (LLVM 22). */
static bool take_literal(struct wmi_decoder *c, struct wmi_operand *o, unsigned dwords)
{
    struct wmi_instruction *out = c->out;
    if (!c->literal) {
        c->literal = out->dwords;
        out->extension = WMI_EXT_LITERAL;
    }
    for (; out->dwords < c->literal + dwords; out->dwords++) {
        if (out->dwords >= c->available)
            return false;
        out->words[out->dwords] = c->words[out->dwords];
    }
    const uint32_t *literal = out->words + c->literal;
    o->kind = WMI_OPERAND_LITERAL;
    o->value = dwords == 2 && wmi_type_bits(o->type) == 64 && !wmi_is_pair32(o->type)
                   ? literal[0] | (uint64_t)literal[1] << 32
                   : literal_value(literal[0], o->type);
    o->wide = dwords == 2;
    return true;
}

/* In enum wmi_special, a special register pair precedes its low half. */
static bool special(struct wmi_operand *o, unsigned reg)
{
    static const bool is_low[WMI_SPECIAL_COUNT] = {
        [WMI_SPECIAL_VCC_LO] = true,          [WMI_SPECIAL_EXEC_LO] = true,
        [WMI_SPECIAL_FLAT_SCRATCH_LO] = true, [WMI_SPECIAL_XNACK_MASK_LO] = true,
        [WMI_SPECIAL_TBA_LO] = true,          [WMI_SPECIAL_TMA_LO] = true,
    };
    o->kind = WMI_OPERAND_SPECIAL;
    o->reg = reg;
    if (o->dwords != 2) /* wider operands allow only the read-only values */
        return o->dwords == 1 || reg == WMI_SPECIAL_NULL || reg == WMI_SPECIAL_SCC ||
               reg == WMI_SPECIAL_VCCZ || reg == WMI_SPECIAL_EXECZ ||
               (reg >= WMI_SPECIAL_SHARED_BASE && reg <= WMI_SPECIAL_POPS_EXITING_WAVE_ID);
    if (is_low[reg])
        o->reg = reg - 1;
    return reg != WMI_SPECIAL_M0 && reg != WMI_SPECIAL_LDS_DIRECT &&
           reg != WMI_SPECIAL_FLAT_SCRATCH_BASE_HI && !is_low[reg - 1];
}

/* In LLVM, tuples of three and more end at s103 on all targets. Where VCC follows the last SGPR, hardware
 * takes it for s[106:107], and so does Mesa's compiler: s[104:107] is what it loads four dwords into. Source:
 * Mesa, init_program() in aco_ir.cpp ("includes VCC, which can be treated as s[106-107] on GFX10+"). */
static unsigned end_of_sgprs(const struct wmi_decoder *c, unsigned dwords)
{
    enum { VCC = 106 };
    const unsigned sgprs = c->target->limits[WMI_LIMIT_sgprs];
    return dwords < 3 ? sgprs : c->executes && sgprs == VCC ? VCC + 2 : TUPLE_SGPRS;
}

/* A scalar operand code, 0..255. SGPR tuples are aligned to 2 or 4; hardware and LLVM ignore the low bits. */
static bool scalar(struct wmi_decoder *c, struct wmi_operand *o, unsigned code, bool constants, bool literals)
{
    const struct wmi_operand_meaning known = c->target->codes[code];
    const unsigned align = o->dwords >= 3 ? 4 : o->dwords;
    o->kind = known.kind;
    o->reg = known.reg;
    switch (known.kind) {
    case WMI_OPERAND_SGPR:
        o->reg -= o->reg % align;
        return o->reg + o->dwords <= end_of_sgprs(c, o->dwords);
    case WMI_OPERAND_TTMP:
        o->reg -= o->reg % align;
        return o->reg + o->dwords <= 16;
    case WMI_OPERAND_SPECIAL:
        return special(o, known.reg);
    case WMI_OPERAND_CONSTANT:
        if (!constants)
            return false;
        o->value = constant_value(code, o->type);
        if (wmi_rows[c->out->id].rules & WMI_RULE_REPEATS && o->role != WMI_ROLE_C &&
            c->target->limits[WMI_LIMIT_repeats_constants])
            o->value = (o->value & UINT16_MAX) * (1 + (UINT64_C(1) << 16));
        return true;
    case WMI_OPERAND_LITERAL:
        return literals && take_literal(c, o, 1u + known.reg);
    default:
        return false;
    }
}

/* LDS_DIRECT is readable by vector instructions only. */
static bool is_lds_direct(const struct wmi_operand *o)
{
    return o->kind == WMI_OPERAND_SPECIAL && o->reg == WMI_SPECIAL_LDS_DIRECT;
}

static bool vgpr(struct wmi_operand *o, unsigned reg)
{
    o->kind = WMI_OPERAND_VGPR;
    o->reg = reg;
    return reg + o->dwords <= 256;
}

/* Whether the row's operands are halves of VGPRs: in hardware, in LLVM's "real" true16 mode, or for
 * instructions that exist only in that form. */
static bool names_halves(const struct wmi_decoder *c)
{
    const uint32_t flags = wmi_rows[c->out->id].flags;
    return c->executes || flags & WMI_ROW_ALWAYS16 ||
           (c->target->real_true16 && (flags & WMI_ROW_TRUE16 || c->target->limits[WMI_LIMIT_names_halves]));
}

/* Hardware takes 16 bits of some operands whose type in text is wider: the mask of v_cmp_class_f16, what
 * v_alignbit shifts by, a pair of 8-bit floats. */
static bool is_16_bit(const struct wmi_decoder *c, const struct wmi_operand *o)
{
    static const uint32_t rules[WMI_ROLE_COUNT] = {
        [WMI_ROLE_A] = WMI_RULE_HALF_A, [WMI_ROLE_B] = WMI_RULE_LOW_MASK, [WMI_ROLE_C] = WMI_RULE_HALF_C};
    return wmi_type_bits(o->type) == 16 || (c->executes && wmi_rows[c->out->id].rules & rules[o->role]);
}

/* Layouts of VOP3 whose op_sel chooses a half of each 16-bit operand. Sources: RDNA 2 ISA, VOP3A, OP_SEL;
 * Mesa, can_use_opsel() in src/amd/compiler/aco_ir.cpp. */
static const bool has_op_sel[WMI_LAYOUT_COUNT] = {
    [WMI_LAYOUT_vop3] = true,      [WMI_LAYOUT_vop3_dpp] = true,      [WMI_LAYOUT_vop3_dpp8] = true,
    [WMI_LAYOUT_vop3c] = true,     [WMI_LAYOUT_vop3c_dpp] = true,     [WMI_LAYOUT_vop3c_dpp8] = true,
    [WMI_LAYOUT_vop3cx] = true,    [WMI_LAYOUT_vop3cx_dpp] = true,    [WMI_LAYOUT_vop3cx_dpp8] = true,
    [WMI_LAYOUT_vop3_dot2] = true, [WMI_LAYOUT_vop3_dot2_dpp] = true, [WMI_LAYOUT_vop3_dot2_dpp8] = true,
};

/* LLVM 19 names halves in some rows, LLVM 22 in all of VOP3 and VINTERP that have 16-bit operands. */
bool wmi_is_true16_vop3(const struct wmi_target *target, const struct wmi_form *form)
{
    const unsigned layout = wmi_layouts[form->layout].id;
    if (!target->real_true16)
        return false;
    if (!target->limits[WMI_LIMIT_names_halves])
        return has_op_sel[layout] && wmi_rows[form->id].flags & WMI_ROW_TRUE16;
    bool has_halves = false;
    for (unsigned i = 0; i < form->specs; i++)
        has_halves |= wmi_type_bits(wmi_specs[form->spec + i].type) == 16;
    return has_halves && (has_op_sel[layout] || layout == WMI_LAYOUT_vinterp);
}

bool wmi_form_has_field(const struct wmi_form *form, enum wmi_field field)
{
    const struct wmi_instruction_layout *layout = &wmi_layouts[form->layout];
    for (unsigned i = 0; i < layout->fields; i++)
        if (wmi_field_specs[layout->field + i].field == field)
            return true;
    return false;
}

/* Where op_sel is in VOP3; comparisons have a bit for the result in VOP3 without DPP. */
const struct wmi_field_spec *wmi_op_sel_of_halves(const struct wmi_target *target,
                                                  const struct wmi_form *form)
{
    static const struct wmi_field_spec
        with_result = {.field = WMI_FIELD_op_sel, .show = WMI_SHOW_bits, .pos = WMI_OP_SEL, .width = 4},
        sources = {.field = WMI_FIELD_op_sel, .show = WMI_SHOW_bits, .pos = WMI_OP_SEL, .width = 3};
    if (!wmi_is_true16_vop3(target, form) || wmi_form_has_field(form, WMI_FIELD_op_sel))
        return NULL;
    return wmi_specs[form->spec].type != WMI_TYPE_mask || wmi_layouts[form->layout].id == WMI_LAYOUT_vop3c
               ? &with_result
               : &sources;
}

/* A 16-bit operand of VOP1, VOP2 and VOPC on gfx11 and later has seven bits for the register and one for its
 * half. LLVM's default mode has lower halves only and prints whole registers. */
static bool vgpr_half(struct wmi_decoder *c, struct wmi_operand *o, unsigned value)
{
    if (!is_16_bit(c, o))
        return vgpr(o, value);
    if (!names_halves(c))
        return value < HALF_BIT && vgpr(o, value);
    o->part = value & HALF_BIT ? WMI_PART_HIGH : WMI_PART_LOW;
    return vgpr(o, value & (HALF_BIT - 1));
}

static bool agpr(struct wmi_operand *o, unsigned reg)
{
    o->kind = WMI_OPERAND_AGPR;
    o->reg = reg;
    return reg + o->dwords <= 256;
}

static void immediate(struct wmi_operand *o, uint64_t value)
{
    o->kind = WMI_OPERAND_IMMEDIATE;
    o->value = value;
}

/* gfx8: an SGPR or a 20-bit offset; gfx9: an SGPR, a signed 21-bit offset, or both. */
static bool smem_offset(struct wmi_decoder *c, struct wmi_operand *o)
{
    const int32_t *field = c->out->field;
    if (field[WMI_FIELD_soe])
        return scalar(c, o, field[WMI_FIELD_soffset], false, false);
    if (field[WMI_FIELD_imm]) {
        immediate(o, (uint64_t)(int64_t)field[WMI_FIELD_simm]);
        return true;
    }
    return scalar(c, o, field[WMI_FIELD_simm] & 0x7f, false, false);
}

/* gfx10 and later: SOFFSET, or the immediate if SOFFSET is null. */
static bool smem_soffset(struct wmi_decoder *c, struct wmi_operand *o, unsigned value)
{
    const struct wmi_operand_meaning code = c->target->codes[value];
    if (code.kind == WMI_OPERAND_SPECIAL && code.reg == WMI_SPECIAL_NULL) {
        immediate(o, (uint64_t)(int64_t)c->out->field[WMI_FIELD_simm]);
        return true;
    }
    return scalar(c, o, value, false, false);
}

/* gfx6 and gfx7: an offset in dwords, or an SGPR with an offset in bytes; on gfx7, code 255 is a literal in
 * dwords. */
static bool smrd_offset(struct wmi_decoder *c, struct wmi_operand *o, unsigned value, bool literals)
{
    if (!c->out->field[WMI_FIELD_imm])
        return scalar(c, o, value, false, literals) && !is_lds_direct(o);
    immediate(o, value);
    return true;
}

static void off(struct wmi_operand *o)
{
    o->kind = WMI_OPERAND_OFF;
    o->reg = 0;
}

static bool is_off(const struct wmi_decoder *c, unsigned saddr)
{
    const struct wmi_operand_meaning code = c->target->codes[saddr];
    if (!c->target->limits[WMI_LIMIT_null_saddr])
        return saddr == SADDR_OFF;
    return code.kind == WMI_OPERAND_SPECIAL && code.reg == WMI_SPECIAL_NULL;
}

/* SCRATCH addressed by its immediate offset alone: SADDR is 0x7f instead of null. */
static bool is_scratch_alone(const struct wmi_decoder *c, unsigned saddr)
{
    return saddr == SADDR_OFF && c->target->limits[WMI_LIMIT_scratch_alone] &&
           wmi_rows[c->out->id].class == WMI_CLASS_SCRATCH;
}

/* The SADDR field of GLOBAL and SCRATCH; at the same position in all rows of a layout. */
static unsigned saddr_field(const struct wmi_decoder *c)
{
    const struct wmi_form *form = &wmi_forms[c->out->form];
    for (unsigned i = 0; i < form->specs; i++)
        if (wmi_specs[form->spec + i].role == WMI_ROLE_SADDR)
            return wmi_bits_at(c->out->words, wmi_specs[form->spec + i].pos, 7);
    return SADDR_OFF;
}

/* An AccVGPR if the layout has an ACC bit and it is set, else a VGPR. */
static bool vgpr_or_agpr(struct wmi_decoder *c, const struct wmi_spec *spec, struct wmi_operand *o,
                         unsigned reg)
{
    return spec->alt && wmi_bits_at(c->out->words, spec->alt, 1) ? agpr(o, reg) : vgpr(o, reg);
}

/* A matrix of 8, 6 or 4 bits takes four, three or two quarters of the registers of 8 bits. 5 to 7 are no
 * formats; LLVM prints the registers of 8 bits. Source: LLVM 22, AMDGPUBaseInfo.cpp,
 * mfmaScaleF8F6F4FormatToNumRegs, wmmaScaleF8F6F4FormatToNumRegs. */
enum { MATRIX_FORMATS = 5 };
static void set_matrix_dwords(struct wmi_operand *o, int32_t format)
{
    static const uint8_t quarters[MATRIX_FORMATS] = {4, 4, 3, 3, 2};
    if (format < MATRIX_FORMATS)
        o->dwords = o->dwords * quarters[format] / 4;
}

static bool f8f6f4(struct wmi_decoder *c, const struct wmi_spec *spec, struct wmi_operand *o, unsigned value,
                   int32_t format)
{
    set_matrix_dwords(o, format);
    if (value < CODE_VGPR_0)
        return scalar(c, o, value, true, false);
    return vgpr_or_agpr(c, spec, o, value - CODE_VGPR_0);
}

/* If one of the formats of a WMMA does not exist, LLVM prints both matrices as of 8 bits. */
static bool wmma_f8f6f4(struct wmi_operand *o, unsigned value, int32_t format, int32_t other)
{
    if (other < MATRIX_FORMATS)
        set_matrix_dwords(o, format);
    return value >= CODE_VGPR_0 && vgpr(o, value - CODE_VGPR_0);
}

/* VADDR of a buffer instruction: none, an index, an offset, or both. */
static bool buffer_addr(struct wmi_decoder *c, struct wmi_operand *o, unsigned value)
{
    const int32_t *field = c->out->field;
    const int dwords = field[WMI_FIELD_addr64] ? 2 : field[WMI_FIELD_idxen] + field[WMI_FIELD_offen];
    if (!dwords) {
        off(o);
        return true;
    }
    o->dwords = dwords;
    return vgpr(o, value);
}

/* Whether an atomic returns the previous value. */
static bool returns(const struct wmi_instruction *insn)
{
    return insn->field[WMI_FIELD_glc] || insn->field[WMI_FIELD_sc0] ||
           insn->field[WMI_FIELD_th] & TH_ATOMIC_RETURN;
}

static bool buffer_data(struct wmi_decoder *c, const struct wmi_spec *spec, struct wmi_operand *o,
                        unsigned value)
{
    const int32_t *field = c->out->field;
    if (field[WMI_FIELD_lds]) {
        o->kind = WMI_OPERAND_NONE;
        return true;
    }
    const struct wmi_row *row = &wmi_rows[c->out->id];
    if (row->flags & WMI_ROW_FORMAT && row->flags & WMI_ROW_D16 && c->target->limits[WMI_LIMIT_unpacked_d16])
        o->dwords = row->elements;
    o->dwords += field[WMI_FIELD_tfe] != 0;
    if (o->role == WMI_ROLE_DATA && o->written && !returns(c->out))
        o->written = 0; /* an atomic without return */
    return vgpr_or_agpr(c, spec, o, value);
}

unsigned wmi_image_slots(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    const unsigned slots = target->limits[WMI_LIMIT_nsa_slots];
    if (insn->layout == WMI_LAYOUT_vsample)
        return 4;
    if (insn->layout == WMI_LAYOUT_vimage || insn->layout == WMI_LAYOUT_vimage_bvh)
        return slots;
    const unsigned named = 1 + 4 * (unsigned)insn->field[WMI_FIELD_nsa];
    return named == 1 ? 0 : named < slots ? named : slots;
}

/* Image data: one dword for each bit of dmask, half as many for packed D16; gather4 always four. */
static bool image_data(struct wmi_decoder *c, const struct wmi_spec *spec, struct wmi_operand *o,
                       unsigned value, bool gather)
{
    const int32_t *field = c->out->field;
    unsigned dwords = gather ? 4 : (unsigned)__builtin_popcount((unsigned)field[WMI_FIELD_dmask]);
    if (field[WMI_FIELD_d16] && !c->target->limits[WMI_LIMIT_unpacked_d16])
        dwords = (dwords + 1) / 2;
    if (dwords == 0)
        dwords = 1;
    o->dwords = dwords + (field[WMI_FIELD_tfe] != 0);
    if (o->role == WMI_ROLE_DATA && o->written && !returns(c->out))
        o->written = 0;
    return vgpr_or_agpr(c, spec, o, value);
}

/* gfx10 and later: the row's extra dwords (offset, bias, reference), the coordinates of `dim` and the level
 * of detail, two per dword with a16, and the gradients, packed in pairs if 16-bit. The other registers of a
 * non-sequential address are in the bytes that follow (wmi_image_address). Source: LLVM AMDGPUBaseInfo.cpp,
 * getAddrSizeMIMGOp. */
static bool image_addr_dim(struct wmi_decoder *c, struct wmi_operand *o, unsigned value)
{
    static const uint8_t coordinates[] = {1, 2, 3, 3, 2, 3, 3, 4}, gradients[] = {2, 4, 6, 4, 2, 4, 4, 4};
    const int32_t *field = c->out->field;
    const unsigned dim = (unsigned)field[WMI_FIELD_dim] & 7;
    const uint32_t flags = wmi_rows[c->out->id].flags;
    const unsigned components = coordinates[dim] + (flags & WMI_ROW_LOD ? 1 : 0);
    unsigned count = o->dwords - 1u + (field[WMI_FIELD_a16] ? (components + 1) / 2 : components);
    if (flags & WMI_ROW_GRADIENTS)
        count += flags & WMI_ROW_G16 ? (gradients[dim] / 2 + 1u) & ~1u : gradients[dim];
    o->dwords = count;
    /* The address may exceed the named registers only if the last list item may be a tuple. */
    const unsigned named = wmi_image_slots(c->target, c->out);
    if (named && count > named && !c->target->limits[WMI_LIMIT_nsa_tuple])
        return false;
    return vgpr(o, value);
}

/* Node, extent, origin, direction and inverse direction of a ray; with a16 the last two share dwords. */
static bool bvh_addr(struct wmi_decoder *c, struct wmi_operand *o, unsigned value)
{
    const bool a16 = c->out->field[WMI_FIELD_a16] != 0;
    o->dwords += a16 ? 7 : 10;
    const unsigned named = wmi_image_slots(c->target, c->out);
    if (named && !c->target->limits[WMI_LIMIT_nsa_tuple] && o->dwords > named)
        return false;
    return vgpr(o, value);
}

/* Export sources have the roles a, b, c, d; `en` enables each. Compressed exports have two VGPRs, each
 * printed twice. */
static bool exp_source(struct wmi_decoder *c, struct wmi_operand *o)
{
    const int32_t *field = c->out->field;
    const unsigned i = o->role == WMI_ROLE_D ? 3 : o->role - WMI_ROLE_A;
    if (!(field[WMI_FIELD_en] >> i & 1)) {
        off(o);
        return true;
    }
    o->read = 1;
    o->written = 0;
    return vgpr(o, wmi_bits_at(c->out->words, 32 + 8 * (field[WMI_FIELD_compr] ? i / 2 : i), 8));
}

/* Decodes the operand field `value` by the operand's kind. */
static bool decode_kind(struct wmi_decoder *c, const struct wmi_spec *spec, struct wmi_operand *o,
                        unsigned value)
{
    switch (spec->kind) {
    case WMI_KIND_vgpr:
        return vgpr(o, value);
    case WMI_KIND_vgpr_t16:
        return vgpr_half(c, o, value);
    case WMI_KIND_vgpr9:
        return value >= CODE_VGPR_0 && vgpr(o, value - CODE_VGPR_0);
    case WMI_KIND_src_t16:
        if (value >= CODE_VGPR_0)
            return vgpr_half(c, o, value - CODE_VGPR_0);
        return scalar(c, o, value, true, true);
    case WMI_KIND_src:
    case WMI_KIND_src_nolit:
    case WMI_KIND_scale_src:
        if (value >= CODE_VGPR_0)
            return vgpr(o, value - CODE_VGPR_0);
        return scalar(c, o, value, true, spec->kind == WMI_KIND_src);
    case WMI_KIND_ssrc:
    case WMI_KIND_ssrc_nolit:
        return value < CODE_VGPR_0 && scalar(c, o, value, true, spec->kind == WMI_KIND_ssrc) &&
               !is_lds_direct(o);
    case WMI_KIND_sdst:
        return value < 128 && scalar(c, o, value, false, false);
    case WMI_KIND_sbase:
        return scalar(c, o, value * 2, false, false);
    case WMI_KIND_srsrc:
        return scalar(c, o, value * 4, false, false);
    case WMI_KIND_vcc:
    case WMI_KIND_vcc_hidden:
        o->kind = WMI_OPERAND_SPECIAL;
        o->reg = o->dwords == 2 ? WMI_SPECIAL_VCC : WMI_SPECIAL_VCC_LO;
        return true;
    case WMI_KIND_exec_hidden:
        o->kind = WMI_OPERAND_SPECIAL;
        o->reg = o->dwords == 2 ? WMI_SPECIAL_EXEC : WMI_SPECIAL_EXEC_LO;
        return true;
    case WMI_KIND_sdwa_src:
        if (wmi_bits_at(c->out->words, spec->alt, 1))
            return scalar(c, o, value, true, false);
        return vgpr(o, value);
    case WMI_KIND_sdwa_sdst:
        if (wmi_bits_at(c->out->words, spec->alt, 1))
            return scalar(c, o, value, false, false);
        return scalar(c, o, 0x6a, false, false);
    case WMI_KIND_smem_offset:
        return smem_offset(c, o);
    case WMI_KIND_smem_soffset:
    case WMI_KIND_smem_soffset_zero:
        return smem_soffset(c, o, value);
    case WMI_KIND_smrd_offset:
    case WMI_KIND_smrd_offset_literal:
        return smrd_offset(c, o, value, spec->kind == WMI_KIND_smrd_offset_literal);
    case WMI_KIND_saddr:
        if (!is_off(c, value) && !is_scratch_alone(c, value))
            return scalar(c, o, value, false, false);
        off(o);
        return true;
    case WMI_KIND_flat_saddr:
        return is_off(c, value) || scalar(c, o, value, false, false);
    case WMI_KIND_sgpr_group:
        return value < 128 && scalar(c, o, value, false, false);
    case WMI_KIND_sgpr_group_or_null:
        return is_off(c, value) || (value < 128 && scalar(c, o, value, false, false));
    case WMI_KIND_global_addr:
        o->dwords = is_off(c, saddr_field(c)) ? 2 : 1;
        return vgpr(o, value);
    case WMI_KIND_scratch_addr:
        /* On gfx11 and later, the bit SVE says whether SCRATCH has a VGPR address. */
        if (wmi_form_has_field(&wmi_forms[c->out->form], WMI_FIELD_sve) ? c->out->field[WMI_FIELD_sve]
                                                                        : is_off(c, saddr_field(c)))
            return vgpr(o, value);
        off(o);
        return true;
    case WMI_KIND_buffer_addr:
        return buffer_addr(c, o, value);
    case WMI_KIND_buffer_data:
        return buffer_data(c, spec, o, value);
    case WMI_KIND_image_data:
        return image_data(c, spec, o, value, false);
    case WMI_KIND_gather_data:
        return image_data(c, spec, o, value, true);
    case WMI_KIND_image_addr:
        return vgpr(o, value);
    case WMI_KIND_image_addr_dim:
        return image_addr_dim(c, o, value);
    case WMI_KIND_bvh_addr:
        return bvh_addr(c, o, value);
    case WMI_KIND_agpr:
        return agpr(o, value);
    case WMI_KIND_agpr9:
        return value >= CODE_VGPR_0 && agpr(o, value - CODE_VGPR_0);
    case WMI_KIND_acc_vgpr:
        return vgpr_or_agpr(c, spec, o, value);
    case WMI_KIND_agpr_src:
        return value >= CODE_VGPR_0 ? agpr(o, value - CODE_VGPR_0) : scalar(c, o, value, true, false);
    case WMI_KIND_acc_src:
        if (value >= CODE_VGPR_0 && wmi_bits_at(c->out->words, spec->alt, 1))
            return agpr(o, value - CODE_VGPR_0);
        return value >= CODE_VGPR_0 ? vgpr(o, value - CODE_VGPR_0) : scalar(c, o, value, true, false);
    case WMI_KIND_f8f6f4_a:
        return f8f6f4(c, spec, o, value, c->out->field[WMI_FIELD_cbsz]);
    case WMI_KIND_f8f6f4_b:
        return f8f6f4(c, spec, o, value, c->out->field[WMI_FIELD_blgp]);
    case WMI_KIND_wmma_f8f6f4_a:
        return wmma_f8f6f4(o, value, c->out->field[WMI_FIELD_matrix_a_fmt],
                           c->out->field[WMI_FIELD_matrix_b_fmt]);
    case WMI_KIND_wmma_f8f6f4_b:
        return wmma_f8f6f4(o, value, c->out->field[WMI_FIELD_matrix_b_fmt],
                           c->out->field[WMI_FIELD_matrix_a_fmt]);
    case WMI_KIND_sgpr9:
        return value < 128 && scalar(c, o, value, false, false);
    case WMI_KIND_vopd_y_dst:
        return vgpr(o, value << 1 | !(c->out->operand[0].reg & 1));
    case WMI_KIND_shared_literal:
        return take_literal(c, o, o->dwords);
    case WMI_KIND_image_rsrc:
        return scalar(c, o, value * 4, false, false);
    case WMI_KIND_simm24:
        immediate(o, (uint64_t)(int64_t)((int32_t)(value << 8) >> 8));
        return true;
    case WMI_KIND_label:
        o->kind = WMI_OPERAND_LABEL;
        o->value = (uint64_t)(int64_t)(int16_t)value;
        return true;
    case WMI_KIND_literal:
        o->kind = WMI_OPERAND_LITERAL;
        o->value = literal_value(value, o->type);
        return true;
    case WMI_KIND_global_data:
        return c->out->field[WMI_FIELD_lds] || vgpr_or_agpr(c, spec, o, value);
    case WMI_KIND_exp_source:
        return exp_source(c, o);
    case WMI_KIND_optional16:
        immediate(o, value);
        o->kind = value ? WMI_OPERAND_IMMEDIATE : WMI_OPERAND_NONE;
        return true;
    default:
        immediate(o, spec->kind == WMI_KIND_simm16 && o->type == WMI_TYPE_i16
                         ? (uint64_t)(int64_t)(int16_t)value
                         : value);
        return true;
    }
}

bool wmi_decode_operand(struct wmi_decoder *c, const struct wmi_spec *spec, struct wmi_operand *o)
{
    const uint32_t *words = c->out->words;
    o->role = spec->role;
    o->type = spec->type;
    o->dwords = spec->dwords;
    o->read = (spec->flags & WMI_SPEC_READ) != 0;
    o->written = (spec->flags & WMI_SPEC_WRITTEN) != 0;
    o->implied = (spec->flags & WMI_SPEC_IMPLIED) != 0;
    if (spec->flags & WMI_SPEC_OPTIONAL && !returns(c->out))
        return true; /* an atomic without return has no result */
    if (spec->kind == WMI_KIND_tied) {
        const struct wmi_operand *d = &c->out->operand[c->out->second_id ? c->out->operands : 0];
        o->kind = d->kind;
        o->reg = d->reg;
        o->part = d->part;
        return true;
    }
    if (spec->neg)
        o->neg = wmi_bits_at(words, spec->neg, 1);
    if (spec->abs)
        o->abs = wmi_bits_at(words, spec->abs, 1);
    if (spec->sext)
        o->sext = wmi_bits_at(words, spec->sext, 1);
    return decode_kind(c, spec, o, spec->width ? wmi_bits_at(words, spec->pos, spec->width) : 0);
}

/* ---- halves of registers ---- */

unsigned wmi_op_sel_bit(const struct wmi_spec *spec)
{
    const bool is_result = spec->role == WMI_ROLE_D || spec->kind == WMI_KIND_tied;
    return WMI_OP_SEL + (is_result ? 3u : (unsigned)(spec->role - WMI_ROLE_A));
}

static void select_halves(const struct wmi_decoder *c, const struct wmi_form *form)
{
    struct wmi_instruction *out = c->out;
    for (unsigned i = 0; i < out->operands; i++) {
        struct wmi_operand *o = &out->operand[i];
        if (is_16_bit(c, o) && (c->executes || o->kind == WMI_OPERAND_VGPR))
            o->part = wmi_bits_at(out->words, wmi_op_sel_bit(&wmi_specs[form->spec + i]), 1) ? WMI_PART_HIGH
                                                                                             : WMI_PART_LOW;
    }
}

/* VOP3 in LLVM's "real" true16 mode: op_sel selects the halves. If op_sel has a bit set for an absent
 * operand, LLVM chooses its other instruction, which does not name halves. */
static void decode_named_halves(const struct wmi_decoder *c, const struct wmi_form *form)
{
    struct wmi_instruction *out = c->out;
    const unsigned op_sel = wmi_bits_at(out->words, WMI_OP_SEL, 4);
    unsigned used = out->operand[0].type == WMI_TYPE_mask ? 0 : 1u << 3;
    if (!wmi_is_true16_vop3(c->target, form))
        return;
    for (unsigned i = 1; i < out->operands; i++)
        if (out->operand[i].type != WMI_TYPE_mask && wmi_specs[form->spec + i].kind != WMI_KIND_tied)
            used |= 1u << (out->operand[i].role - WMI_ROLE_A);
    if (!wmi_form_has_field(form, WMI_FIELD_op_sel)) {
        if (op_sel & ~used)
            return;
        out->field[WMI_FIELD_op_sel] = (int32_t)op_sel;
    }
    select_halves(c, form);
}

/* op_sel of VOP3 as hardware has it: a half for each 16-bit operand. */
static void decode_selected_halves(const struct wmi_decoder *c, const struct wmi_form *form)
{
    if (has_op_sel[c->out->layout] && c->target->limits[WMI_LIMIT_vop3_halves])
        select_halves(c, form);
}

void wmi_decode_halves(const struct wmi_decoder *c, const struct wmi_form *form)
{
    if (c->executes)
        decode_selected_halves(c, form);
    else
        decode_named_halves(c, form);
}

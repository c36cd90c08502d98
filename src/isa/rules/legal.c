/* SPDX-License-Identifier: MIT */
/* What LLVM's assembler rejects although it can be encoded: registers of other targets, and rules of vector
 * and scalar instructions.
 *
 * Source: LLVM 19, AMDGPUAsmParser.cpp, validateInstruction and subtargetHasRegister, and the operand
 * classes of the instruction definitions; the order of checks there does not matter. */
#include "isa/rules/legal.h"

enum {
    PIXEL_ATTRIBUTES = 33,
    GPR_INDEX_MODES = 16,
    SMALL_MATRIX = 4,
    SDWA_DWORD = 6,
    CODE_1_2PI = 248,
    VOP3P_ENCODING = 0x198
};

static bool is_constant(const struct wmi_operand *o)
{
    return o->kind == WMI_OPERAND_CONSTANT || o->kind == WMI_OPERAND_LITERAL;
}

static bool is_vector(const struct wmi_operand *o)
{
    return o->kind == WMI_OPERAND_VGPR || o->kind == WMI_OPERAND_AGPR;
}

static bool is_scalar(const struct wmi_operand *o)
{
    return o->kind == WMI_OPERAND_SGPR || o->kind == WMI_OPERAND_TTMP || o->kind == WMI_OPERAND_SPECIAL;
}

static bool is_special(const struct wmi_operand *o, enum wmi_special reg)
{
    return o->kind == WMI_OPERAND_SPECIAL && o->reg == reg;
}

static bool is_dpp(const struct wmi_instruction *insn)
{
    const unsigned extension = wmi_layouts[wmi_forms[insn->form].layout].extension;
    return extension == WMI_EXT_DPP || extension == WMI_EXT_DPP8;
}

static bool is_sdwa(const struct wmi_instruction *insn)
{
    return wmi_layouts[wmi_forms[insn->form].layout].extension == WMI_EXT_SDWA;
}

/* The index of the operand with this role; the number of operands if there is none. */
static unsigned index_of(const struct wmi_instruction *insn, enum wmi_role role)
{
    unsigned i = 0;
    while (i < insn->operands && insn->operand[i].role != role)
        i++;
    return i;
}

/* ---- registers ---- */

/* Special registers whose codes decode on more targets than those whose assembler accepts their names. */
static const struct {
    uint8_t first, last;
    uint8_t limit;
} guarded[] = {
    {WMI_SPECIAL_NULL, WMI_SPECIAL_NULL, WMI_LIMIT_names_null},
    {WMI_SPECIAL_VCCZ, WMI_SPECIAL_EXECZ, WMI_LIMIT_names_vccz},
    {WMI_SPECIAL_XNACK_MASK, WMI_SPECIAL_XNACK_MASK_HI, WMI_LIMIT_names_xnack_mask},
    {WMI_SPECIAL_POPS_EXITING_WAVE_ID, WMI_SPECIAL_POPS_EXITING_WAVE_ID, WMI_LIMIT_names_pops},
    {WMI_SPECIAL_LDS_DIRECT, WMI_SPECIAL_LDS_DIRECT, WMI_LIMIT_names_lds_direct},
};

static bool register_is_named(struct wmi_encoder *e, unsigned i)
{
    const struct wmi_parsed *p = &e->parsed[i];
    if (p->what != WMI_PARSED_REGISTER || p->file != WMI_OPERAND_SPECIAL)
        return true;
    for (size_t g = 0; g < sizeof guarded / sizeof *guarded; g++)
        if (p->reg >= guarded[g].first && p->reg <= guarded[g].last && !e->target->limits[guarded[g].limit])
            return wmi_wrong_operand(e, i, "a register that this target has");
    return true;
}

static bool tuple_exists(struct wmi_encoder *e, const struct wmi_operand *o, unsigned i)
{
    const uint32_t *limits = e->target->limits;
    if (o->kind == WMI_OPERAND_SGPR && o->reg + o->dwords > limits[WMI_LIMIT_sgprs]) {
        e->cursor->number = limits[WMI_LIMIT_sgprs] - 1;
        return wmi_wrong_operand(e, i, "SGPRs up to s%u");
    }
    if (o->kind == WMI_OPERAND_TTMP && o->reg + o->dwords > limits[WMI_LIMIT_ttmps]) {
        e->cursor->number = limits[WMI_LIMIT_ttmps] - 1;
        return wmi_wrong_operand(e, i, "trap registers up to ttmp%u");
    }
    if (o->kind == WMI_OPERAND_TTMP && o->dwords == 3)
        return wmi_wrong_operand(e, i, "SGPRs: there is no tuple of three trap registers");
    return true;
}

static bool registers_exist(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands + insn->second_operands; i++)
        if (!register_is_named(e, i) || !tuple_exists(e, &insn->operand[i], i))
            return false;
    return true;
}

/* ---- operands by row ---- */

static bool is_aperture(const struct wmi_operand *o)
{
    return o->kind == WMI_OPERAND_SPECIAL && o->reg >= WMI_SPECIAL_SHARED_BASE &&
           o->reg <= WMI_SPECIAL_PRIVATE_LIMIT;
}

static bool is_flag(const struct wmi_operand *o)
{
    return is_special(o, WMI_SPECIAL_SCC) || is_special(o, WMI_SPECIAL_VCCZ) ||
           is_special(o, WMI_SPECIAL_EXECZ) || is_special(o, WMI_SPECIAL_POPS_EXITING_WAVE_ID);
}

static bool row_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const uint32_t rules = wmi_rows[insn->id].rules;
    if (!rules)
        return true;
    const unsigned ai = index_of(insn, WMI_ROLE_A), ci = index_of(insn, WMI_ROLE_C);
    const unsigned imm = index_of(insn, WMI_ROLE_IMM);
    const struct wmi_operand *a = &insn->operand[ai];
    if (rules & WMI_RULE_A_SGPR && (is_constant(a) || is_aperture(a)))
        return wmi_wrong_operand(e, ai, "an SGPR");
    if (rules & WMI_RULE_A_SGPR_PAIR && (is_constant(a) || is_flag(a)))
        return wmi_wrong_operand(e, ai, "a pair of SGPRs");
    if (rules & WMI_RULE_A_VGPR && a->kind != WMI_OPERAND_VGPR)
        return wmi_wrong_operand(e, ai, "a VGPR");
    const bool c_is_vgpr = rules & WMI_RULE_C_VGPR || (rules & WMI_RULE_C_VGPR_DPP && is_dpp(insn));
    if (rules & (WMI_RULE_NO_LITERAL | WMI_RULE_B_NO_LITERAL))
        for (unsigned i = 0; i < insn->operands; i++)
            if (insn->operand[i].kind == WMI_OPERAND_LITERAL &&
                (rules & WMI_RULE_NO_LITERAL || insn->operand[i].role == WMI_ROLE_B))
                return wmi_wrong_operand(e, i, "SGPRs or an inline constant");
    if (rules & WMI_RULE_HALVES_E64 && insn->words[0] >> 31 && !e->target->real_true16)
        return wmi_wrong_operand(e, 0, "the short encoding");
    if (rules & WMI_RULE_NO_DPP && is_dpp(insn) && !e->target->limits[WMI_LIMIT_pk_fmac_dpp])
        return wmi_wrong_operand(e, 0, "another form: DPP of this instruction is not there");
    if (c_is_vgpr && insn->operand[ci].kind != WMI_OPERAND_VGPR)
        return wmi_wrong_operand(e, ci, "VGPRs");
    if (rules & WMI_RULE_A_NULL && insn->layout == WMI_LAYOUT_sopk && !is_special(a, WMI_SPECIAL_NULL) &&
        e->target->limits[WMI_LIMIT_waits_of_null])
        return wmi_wrong_operand(e, ai, "null");
    if (rules & WMI_RULE_A_BARRIER && !is_special(a, WMI_SPECIAL_M0) && a->kind != WMI_OPERAND_CONSTANT)
        return wmi_wrong_operand(e, ai, "m0 or an inline constant");
    if (rules & WMI_RULE_IMM_UNSIGNED && e->parsed[imm].value.number < 0)
        return wmi_wrong_operand(e, imm, "a number that is not negative");
    return true;
}

/* Matrices are in vector registers; C may be a constant if the limit matrix_constants is set. */
static bool matrix_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++) {
        const struct wmi_operand *o = &insn->operand[i];
        const bool c = o->role == WMI_ROLE_C && e->target->limits[WMI_LIMIT_matrix_constants];
        const bool constant = o->kind == WMI_OPERAND_CONSTANT || is_aperture(o) || is_flag(o) ||
                              is_special(o, WMI_SPECIAL_NULL);
        const bool scale = o->role == WMI_ROLE_DATA || o->role == WMI_ROLE_DATA2;
        if (o->kind != WMI_OPERAND_NONE && !scale && !is_vector(o) && !(c && constant))
            return wmi_wrong_operand(e, i, c ? "vector registers or an inline constant" : "vector registers");
    }
    return true;
}

static bool is_integer16(unsigned type)
{
    return type == WMI_TYPE_i16 || type == WMI_TYPE_u16 || type == WMI_TYPE_b16;
}

/* Lane masks must be scalar registers. DPP, SDWA and, before gfx10, VOP3 do not allow literals. */
static bool vector_operand_takes(struct wmi_encoder *e, const struct wmi_instruction *insn, unsigned i)
{
    const struct wmi_operand *o = &insn->operand[i];
    if (o->type == WMI_TYPE_mask && !is_scalar(o))
        return wmi_wrong_operand(e, i, "a mask of lanes: vcc or SGPRs");
    if (o->kind == WMI_OPERAND_CONSTANT && o->type == WMI_TYPE_f16 && insn->words[0] >> 31 &&
        !e->target->limits[WMI_LIMIT_f16_constants])
        return wmi_wrong_operand(e, i, "a register");
    if (o->kind == WMI_OPERAND_CONSTANT && o->reg == CODE_1_2PI && is_integer16(o->type) &&
        (is_sdwa(insn) || is_dpp(insn)))
        return wmi_wrong_operand(e, i, "a register or another constant");
    if (o->kind != WMI_OPERAND_LITERAL)
        return true;
    if (is_dpp(insn) || is_sdwa(insn))
        return wmi_wrong_operand(e, i, "a register or an inline constant beside DPP or SDWA");
    if (insn->words[0] >> 31 && !e->target->limits[WMI_LIMIT_vop3_literals])
        return wmi_wrong_operand(e, i, "a register or an inline constant");
    if ((o->neg || o->abs) && o->dwords > 1 && e->parsed[i].what == WMI_PARSED_NUMBER)
        return wmi_wrong_operand(e, i, "a whole number of 64 bits without neg and abs");
    return true;
}

/* Short encodings of v_cmp_class_f16 have seven bits for the VGPR of the class mask. */
static bool mask_is_low(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    enum { LOW_VGPRS = 128 };
    const unsigned b = index_of(insn, WMI_ROLE_B);
    if (!e->target->limits[WMI_LIMIT_true16_modes] || insn->operand[b].reg < LOW_VGPRS ||
        !(wmi_rows[insn->id].rules & WMI_RULE_LOW_MASK) || insn->words[0] >> 31)
        return true;
    return wmi_wrong_operand(e, b, "one of v0 to v127");
}

/* DPP requires a control; before gfx11.5 its second source must be a VGPR. */
static bool dpp_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    if (insn->extension == WMI_EXT_DPP && !e->field_at[WMI_FIELD_dpp_ctrl])
        return wmi_wrong_field(e, WMI_FIELD_dpp_ctrl, "a DPP control such as row_shr:1");
    const unsigned b = index_of(insn, WMI_ROLE_B);
    const bool packed = insn->words[0] >> 23 == VOP3P_ENCODING;
    return b == insn->operands || is_vector(&insn->operand[b]) ||
           (e->target->limits[WMI_LIMIT_dpp_src1_scalar] && !packed) ||
           wmi_wrong_operand(e, b, "a VGPR as the second source of DPP");
}

/* Whether a result type allows omod. */
static bool is_float(unsigned type)
{
    return type == WMI_TYPE_f16 || type == WMI_TYPE_f32 || type == WMI_TYPE_f64 || type == WMI_TYPE_v2f16 ||
           type == WMI_TYPE_v2f32;
}

static bool sdwa_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    if (insn->field[WMI_FIELD_omod] && !is_float(insn->operand[index_of(insn, WMI_ROLE_D)].type))
        return wmi_wrong_field(e, WMI_FIELD_omod, "mul and div of floats only");
    if (wmi_rows[insn->id].rules & WMI_RULE_SDWA_DWORD && insn->field[WMI_FIELD_dst_sel] != SDWA_DWORD)
        return wmi_wrong_field(e, WMI_FIELD_dst_sel, "dst_sel:DWORD");
    return true;
}

static bool vector_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++)
        if (!vector_operand_takes(e, insn, i))
            return false;
    return (!is_dpp(insn) || dpp_takes(e, insn)) && (!is_sdwa(insn) || sdwa_takes(e, insn)) &&
           (!wmi_matrix_of(insn->id) || matrix_takes(e, insn)) && mask_is_low(e, insn);
}

bool wmi_form_takes(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    if (!registers_exist(e, insn) || !row_takes(e, insn))
        return false;
    if (wmi_rows[insn->id].class == WMI_CLASS_VALU)
        return vector_form_takes(e, insn);
    return wmi_memory_form_takes(e, insn);
}

/* ---- the constant bus ---- */

/* Scalar values and literals that an instruction reads. */
struct bus {
    uint32_t seen[WMI_OPERANDS + 2]; /* kind << 24 | dwords << 16 | register */
    unsigned count, literals, literal_dwords;
};

static void add_register(struct bus *bus, unsigned kind, unsigned dwords, unsigned reg)
{
    const uint32_t key = kind << 24 | dwords << 16 | reg;
    for (unsigned i = 0; i < bus->count; i++)
        if (bus->seen[i] == key)
            return;
    bus->seen[bus->count++] = key;
}

/* A literal counts once per operand size. */
static void add_operand(struct bus *bus, const struct wmi_operand *o)
{
    if (o->kind == WMI_OPERAND_LITERAL) {
        bus->literals += !bus->literals || bus->literal_dwords != o->dwords;
        bus->literal_dwords = o->dwords;
    } else if (is_scalar(o) && !is_special(o, WMI_SPECIAL_NULL) && !is_special(o, WMI_SPECIAL_LDS_DIRECT)) {
        add_register(bus, o->kind, o->kind == WMI_OPERAND_SPECIAL ? 0 : o->dwords, o->reg);
    }
}

static bool is_source(const struct wmi_operand *o)
{
    return o->read && !o->implied &&
           (o->role == WMI_ROLE_A || o->role == WMI_ROLE_B || o->role == WMI_ROLE_C ||
            o->role == WMI_ROLE_IMM);
}

unsigned wmi_constant_bus(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    return wmi_rows[insn->id].rules & WMI_RULE_ONE_SCALAR ? 1 : target->limits[WMI_LIMIT_constant_bus];
}

/* A vector instruction may read only a few scalar values. The same register counts once, overlapping tuples
 * separately. An implied VCC and an explicit half of it count as two; a lane number in M0 does not count. */
static bool bus_is_kept(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    struct bus bus = {.count = 0};
    const uint32_t flags = wmi_rows[insn->id].flags, rules = wmi_rows[insn->id].rules;
    unsigned last = 0;
    bool reads_vcc = flags & WMI_ROW_READS_VCC;
    for (unsigned i = 0; i < insn->operands + insn->second_operands; i++)
        reads_vcc |=
            insn->operand[i].kind == WMI_OPERAND_SPECIAL && insn->operand[i].implied && insn->operand[i].read;
    if (reads_vcc)
        add_register(&bus, WMI_OPERAND_SPECIAL, 0, WMI_SPECIAL_VCC);
    if (flags & WMI_ROW_READS_M0)
        add_register(&bus, WMI_OPERAND_SPECIAL, 0, WMI_SPECIAL_M0);
    for (unsigned i = 0; i < insn->operands + insn->second_operands; i++) {
        const struct wmi_operand *o = &insn->operand[i];
        if (!is_source(o) ||
            (is_special(o, WMI_SPECIAL_M0) && o->role == WMI_ROLE_B && rules & WMI_RULE_M0_LANE))
            continue;
        add_operand(&bus, o);
        last = is_scalar(o) || o->kind == WMI_OPERAND_LITERAL ? i : last;
    }
    e->cursor->number = wmi_constant_bus(e->target, insn);
    return bus.count + bus.literals <= e->cursor->number ||
           wmi_wrong_operand(e, last, "fewer scalar operands: this instruction reads at most %u");
}

/* ---- other rules of vector instructions ---- */

static bool even_tuples_are_kept(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const bool odd_result = wmi_rows[insn->id].rules & WMI_RULE_ODD_RESULT;
    if (!e->target->limits[WMI_LIMIT_even_tuples])
        return true;
    for (unsigned i = 0; i < insn->operands; i++) {
        const struct wmi_operand *o = &insn->operand[i];
        if (is_vector(o) && o->dwords > 1 && o->reg & 1 && !(odd_result && o->role == WMI_ROLE_D))
            return wmi_wrong_operand(e, i, "a tuple that begins at an even register");
    }
    return true;
}

static bool lds_direct_is_first(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    for (unsigned i = 0; i < insn->operands; i++) {
        const struct wmi_operand *o = &insn->operand[i];
        if (!is_special(o, WMI_SPECIAL_LDS_DIRECT))
            continue;
        if (o->role != WMI_ROLE_A)
            return wmi_wrong_operand(e, i, "src_lds_direct as the first source only");
        if (wmi_rows[insn->id].rules & WMI_RULE_NO_LDS_DIRECT || is_sdwa(insn))
            return wmi_wrong_operand(e, i, "a source other than src_lds_direct in this instruction");
    }
    return true;
}

static bool clamp_is_known(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (!insn->field[WMI_FIELD_clamp] || e->target->limits[WMI_LIMIT_integer_clamp])
        return true;
    return row->flags & WMI_ROW_FLOAT_CLAMP ||
           wmi_wrong_field(e, WMI_FIELD_clamp, "no clamp of integers on this target");
}

/* MFMA with a result of more than four registers: the result must equal C or not overlap it. */
static bool matrices_do_not_overlap(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const unsigned ci = index_of(insn, WMI_ROLE_C), di = index_of(insn, WMI_ROLE_D);
    if (insn->layout != WMI_LAYOUT_vop3p_mai && insn->layout != WMI_LAYOUT_vop3p_mai_f64)
        return true;
    const struct wmi_operand *c = &insn->operand[ci], *d = &insn->operand[di];
    if (c->kind != d->kind || c->reg == d->reg || d->dwords <= SMALL_MATRIX)
        return true;
    return c->reg + c->dwords <= d->reg || d->reg + d->dwords <= c->reg ||
           wmi_wrong_operand(e, ci, "the registers of the result, or none of them");
}

/* CDNA 3 encodes op_sel of dot products, but LLVM does not accept it in text. */
static bool op_sel_is_known(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    enum { ALL = 7 };
    if (!e->target->limits[WMI_LIMIT_dots_whole] || insn->layout != WMI_LAYOUT_vop3p ||
        wmi_rows[insn->id].group != WMI_GROUP_DOT)
        return true;
    if (insn->field[WMI_FIELD_op_sel])
        return wmi_wrong_field(e, WMI_FIELD_op_sel, "no op_sel of dot products on this target");
    return insn->field[WMI_FIELD_op_sel_hi] == ALL ||
           wmi_wrong_field(e, WMI_FIELD_op_sel_hi, "no op_sel_hi of dot products on this target");
}

/* Whether packed instructions of f32 read the lower SGPR of a pair for both halves. */
static bool packed_reads_low(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const unsigned upper = (unsigned)(insn->field[WMI_FIELD_op_sel] | insn->field[WMI_FIELD_op_sel_hi]);
    if (!e->target->limits[WMI_LIMIT_packed_f32_low])
        return true;
    for (unsigned i = 0; i < insn->operands; i++) {
        const struct wmi_operand *o = &insn->operand[i];
        if (o->type == WMI_TYPE_v2f32 && o->role >= WMI_ROLE_A && o->role <= WMI_ROLE_C && is_scalar(o) &&
            o->kind != WMI_OPERAND_TTMP && !is_special(o, WMI_SPECIAL_NULL) &&
            upper >> (o->role - WMI_ROLE_A) & 1)
            return wmi_wrong_operand(e, i, "an SGPR whose bits of op_sel and op_sel_hi are 0");
    }
    return true;
}

static bool attribute_exists(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const unsigned i = index_of(insn, WMI_ROLE_IMM);
    if (i == insn->operands || wmi_specs[e->form->spec + i].kind != WMI_KIND_attr)
        return true;
    return insn->operand[i].value < PIXEL_ATTRIBUTES || wmi_wrong_operand(e, i, "an attribute up to attr32");
}

static bool gpr_index_mode_exists(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const unsigned i = index_of(insn, WMI_ROLE_IMM);
    if (i == insn->operands || wmi_specs[e->form->spec + i].kind != WMI_KIND_gpr_idx)
        return true;
    return insn->operand[i].value < GPR_INDEX_MODES || wmi_wrong_operand(e, i, "a number of 4 bits");
}

/* ---- VOPD pairs ---- */

/* The source cache (0, 1 or 2) that an operand of one half uses; -1: not a source. */
static int source_of(const struct wmi_operand *o, unsigned id)
{
    switch (o->role) {
    case WMI_ROLE_A:
        return 0;
    case WMI_ROLE_B:
        return wmi_rows[id].group == WMI_GROUP_MADMK ? 2 : 1;
    case WMI_ROLE_C:
        return 2;
    case WMI_ROLE_D:
        return wmi_rows[id].flags & WMI_ROW_MACC ? 2 : -1;
    default:
        return -1;
    }
}

static bool shares_bank(const struct wmi_operand *x, const struct wmi_operand *y, unsigned banks)
{
    for (unsigned i = 0; i < x->dwords; i++)
        for (unsigned j = 0; j < y->dwords; j++)
            if ((x->reg + i) % banks == (y->reg + j) % banks)
                return true;
    return false;
}

/* The results of a pair in three dwords may be any two, but not the same. */
static bool results_differ(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    const struct wmi_operand *x = &insn->operand[0], *y = &insn->operand[insn->operands];
    return insn->layout != WMI_LAYOUT_vopd3_x || x->reg + x->dwords <= y->reg ||
           y->reg + y->dwords <= x->reg ||
           wmi_wrong_operand(e, insn->operands, "another result than the other half's");
}

/* The halves must read VGPRs from different banks: four for the first two sources, two for the third. Two
 * moves use different sources if the limit pairs_of_moves is set. */
static bool banks_differ(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    enum { BANKS = 4, BANKS_OF_PAIRS = 2 };
    const bool three = insn->layout == WMI_LAYOUT_vopd3_x;
    const uint8_t banks[] = {BANKS, BANKS, three ? BANKS : BANKS_OF_PAIRS};
    const bool moves = insn->id == WMI_INSN_v_mov_b32 && insn->second_id == WMI_INSN_v_mov_b32 &&
                       e->target->limits[WMI_LIMIT_pairs_of_moves];
    for (unsigned i = 0; i < insn->operands && !moves; i++) {
        const int source = source_of(&insn->operand[i], insn->id);
        for (unsigned j = insn->operands; source >= 0 && j < insn->operands + insn->second_operands; j++) {
            const struct wmi_operand *x = &insn->operand[i], *y = &insn->operand[j];
            if (source != source_of(y, insn->second_id) || x->kind != WMI_OPERAND_VGPR ||
                y->kind != WMI_OPERAND_VGPR || !shares_bank(x, y, banks[source]) ||
                (e->target->limits[WMI_LIMIT_pairs_share] && x->reg == y->reg && x->dwords == y->dwords))
                continue;
            e->cursor->number = banks[source];
            return wmi_wrong_operand(e, j,
                                     "a VGPR of another bank than the other half reads (number modulo %u)");
        }
    }
    return true;
}

bool wmi_is_legal(struct wmi_encoder *e, const struct wmi_instruction *insn)
{
    if (!even_tuples_are_kept(e, insn) || !gpr_index_mode_exists(e, insn) || !attribute_exists(e, insn))
        return false;
    if (wmi_rows[insn->id].class != WMI_CLASS_VALU)
        return wmi_memory_is_legal(e, insn);
    return lds_direct_is_first(e, insn) && bus_is_kept(e, insn) && clamp_is_known(e, insn) &&
           op_sel_is_known(e, insn) && packed_reads_low(e, insn) && matrices_do_not_overlap(e, insn) &&
           (!insn->second_id || (results_differ(e, insn) && banks_differ(e, insn)));
}

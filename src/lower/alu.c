/* SPDX-License-Identifier: MIT */
/* Lowers scalar and vector ALU instructions: the body, and the stages for its modifiers around it. */
#include "lower/classes.h"
#include "lower/index.h"

/* ---- vector ---- */

struct source {
    const struct wmi_operand *operand;
    uint32_t offset;
    bool scalar; /* words or a mask in the scalar file, not rows */
};

/* A vector instruction being lowered. */
struct valu {
    struct wmi_builder *b;
    const struct wmi_instruction *insn;
    const struct wmi_row *row;
    struct source source[3]; /* A, B, C */
    uint32_t lanes;          /* byte offset of the active lane set */
    /* Second half of a pair: it reads so many VGPRs from `shadow` on in the rows at shadow_row. */
    unsigned shadows, shadow;
    uint32_t shadow_row;
};

static struct wmi_step *emit_stage(const struct valu *v, enum wmi_stage stage, uint32_t d, uint32_t a,
                                   uint32_t x)
{
    struct wmi_step *step = wmi_emit(v->b, wmi_step_of_stage(stage));
    step->d = d;
    step->a = a;
    step->x = x;
    step->lanes = v->lanes;
    return step;
}

/* Emits a stage from the source's rows to temporary rows, which become the source. */
static void prepare(struct valu *v, struct source *source, enum wmi_stage stage, unsigned rows, uint32_t x)
{
    const uint32_t place = wmi_lower_temporary(v->b, rows);
    emit_stage(v, stage, place, source->offset, x);
    source->offset = place;
}

static bool is_packed(enum wmi_type type)
{
    return type == WMI_TYPE_v2f16 || type == WMI_TYPE_v2i16 || type == WMI_TYPE_v2u16 ||
           type == WMI_TYPE_v2bf16 || type == WMI_TYPE_v2f16n;
}

static int32_t field(const struct valu *v, enum wmi_field name)
{
    return v->insn->field[name];
}

static void apply_dpp(struct valu *v)
{
    struct source *a = &v->source[0];
    const uint32_t place = wmi_lower_temporary(v->b, 1), set = wmi_lower_lane_set(v->b);
    const bool inactive = field(v, WMI_FIELD_fi);
    if (v->insn->extension == WMI_EXT_DPP8) {
        const uint32_t control =
            (uint32_t)field(v, WMI_FIELD_dpp8) | (inactive ? WMI_DPP8_FETCH_INACTIVE : 0);
        emit_stage(v, WMI_STAGE_DPP8, place, a->offset, control)->e = set;
    } else {
        const uint32_t control = wmi_dpp_control(
            (uint32_t)field(v, WMI_FIELD_dpp_ctrl), (uint32_t)field(v, WMI_FIELD_row_mask),
            (uint32_t)field(v, WMI_FIELD_bank_mask), (uint32_t)field(v, WMI_FIELD_bound_ctrl));
        emit_stage(v, WMI_STAGE_DPP, place, a->offset, control | (inactive ? WMI_DPP_FETCH_INACTIVE : 0))->e =
            set;
    }
    a->offset = place;
    v->lanes = set;
}

/* op_sel: one bit per source, indexed by the source's number; bit 3 is the result's. */
static uint32_t selected_halves(const struct valu *v)
{
    const uint32_t bits = (uint32_t)field(v, WMI_FIELD_op_sel);
    /* v_dot2's packed sources have no op_sel bits. */
    return v->insn->id == WMI_INSN_v_dot2_f16_f16 || v->insn->id == WMI_INSN_v_dot2_bf16_bf16 ? bits << 2
                                                                                              : bits;
}

/* byte_sel of conversions from 8-bit floats: op_sel[0] is its high bit. Of conversions to them it is the
 * result's, in the place of op_sel[3:2]. */
static bool selects_source_byte(const struct valu *v)
{
    const struct wmi_operand *d = wmi_operand(v->insn, WMI_ROLE_D);
    return field(v, WMI_FIELD_byte_sel) && d && (d->type == WMI_TYPE_f32 || d->type == WMI_TYPE_f16);
}

static uint32_t source_byte(const struct valu *v)
{
    const uint32_t bits = (uint32_t)field(v, WMI_FIELD_byte_sel);
    return (bits & 1) << 1 | bits >> 1;
}

static bool is_pair(enum wmi_type type)
{
    return type == WMI_TYPE_v2f32 || type == WMI_TYPE_v2b32;
}

/* neg and abs of both words. */
static void modify_pair(struct valu *v, struct source *source, uint32_t sign)
{
    const uint32_t row = wmi_builder_lanes(v->b) * 4, place = wmi_lower_temporary(v->b, 2);
    for (unsigned high = 0; high < 2; high++)
        emit_stage(v, WMI_STAGE_MODIFY_F32, place + high * row, source->offset + high * row, sign);
    source->offset = place;
}

/* A half of the source, as bf16, becomes an f32. */
static void widen_bf16(struct valu *v, struct source *source, bool high)
{
    const uint32_t place = wmi_lower_temporary(v->b, 1),
                   constant = wmi_lower_vector_constant(v->b, high ? 0xffff0000 : 16, 1);
    struct wmi_step *step =
        wmi_emit(v->b, wmi_step_of_body(high ? WMI_INSN_v_and_b32 : WMI_INSN_v_lshlrev_b32));
    step->d = place;
    step->a = constant;
    step->b = source->offset;
    step->lanes = v->lanes;
    step->use[WMI_OP_D] = WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | 1;
    step->use[WMI_OP_A] = step->use[WMI_OP_B] = WMI_USE_READ | WMI_USE_ROWS | 1;
    source->offset = place;
}

/* Applies the instruction's modifiers to source `index` before the body reads it. */
static void modify_source(struct valu *v, unsigned index)
{
    enum { SDWA_DWORD = 6 };
    struct source *source = &v->source[index];
    const struct wmi_operand *operand = source->operand;
    const enum wmi_type type = operand->type;
    const uint32_t low = selected_halves(v) >> index & 1;
    const uint32_t high = (uint32_t)field(v, WMI_FIELD_op_sel_hi) >> index & 1;
    const uint32_t sign = (operand->neg ? WMI_MODIFY_NEG : 0u) | (operand->abs ? WMI_MODIFY_ABS : 0u);

    if (v->insn->extension == WMI_EXT_SDWA && index < 2) {
        const uint32_t select = (uint32_t)field(v, index ? WMI_FIELD_src1_sel : WMI_FIELD_src0_sel);
        if (select != SDWA_DWORD)
            prepare(v, source, WMI_STAGE_SDWA_SOURCE, 1, select | (operand->sext ? 8u : 0u));
    }
    if (selects_source_byte(v))
        prepare(v, source, WMI_STAGE_SDWA_SOURCE, 1, source_byte(v));
    if (is_packed(type)) {
        const uint32_t negated = ((uint32_t)field(v, WMI_FIELD_neg_lo) >> index & 1) |
                                 ((uint32_t)field(v, WMI_FIELD_neg_hi) >> index & 1) << 1 |
                                 (operand->neg ? 3u : 0u) |
                                 (operand->abs ? 12u : 0u); /* VOP3's apply to both halves (unverified) */
        if ((low || !high) && v->row->flags & WMI_ROW_PACKED)
            prepare(v, source, WMI_STAGE_PACK_SELECT, 1, low | high << 1);
        if (negated)
            prepare(v, source, WMI_STAGE_MODIFY_V2F16, 1, negated);
        return;
    }
    if (is_pair(type)) { /* of v_cvt_scalef32_sr_pk_fp4_f32 */
        if (sign)
            modify_pair(v, source, sign);
        return;
    }
    if (type == WMI_TYPE_f32) { /* dot products */
        const bool c_alone = operand->role == WMI_ROLE_C && v->row->rules & WMI_RULE_C_VGPR_DPP;
        const unsigned bit = c_alone ? 0 : index;
        const bool neg = (uint32_t)field(v, WMI_FIELD_neg_lo) >> bit & 1,
                   abs = c_alone && field(v, WMI_FIELD_neg_hi);
        if (neg || abs)
            prepare(v, source, WMI_STAGE_MODIFY_F32, 1,
                    (neg ? WMI_MODIFY_NEG : 0u) | (abs ? WMI_MODIFY_ABS : 0u));
    }
    if (type == WMI_TYPE_mix) {
        if (high)
            prepare(v, source, WMI_STAGE_WIDEN_F16, 1, low);
    } else if (type == WMI_TYPE_bmix) {
        if (high)
            widen_bf16(v, source, low);
    } else if (operand->part == WMI_PART_HIGH ||
               (wmi_type_bits(type) == 16 && low && v->row->flags & WMI_ROW_VOP3_OPSEL)) {
        prepare(v, source, WMI_STAGE_HIGH_HALF, 1, 0);
    }
    if (!sign)
        return;
    switch (wmi_type_bits(type)) {
    case 64:
        prepare(v, source, WMI_STAGE_MODIFY_F64, 2, sign);
        break;
    case 16:
        prepare(v, source, WMI_STAGE_MODIFY_F16, 1, sign);
        break;
    default:
        prepare(v, source, WMI_STAGE_MODIFY_F32, 1, sign);
        break;
    }
}

/* Whether CLAMP is no clamp, but chooses a format. */
static bool clamp_chooses(const struct valu *v)
{
    return v->insn->body == WMI_BODY_v_cvt_f32_fp8_2;
}

/* Applies omod and clamp to a result of type `type` in the rows at `place`. */
static void finish_value(const struct valu *v, uint32_t place, enum wmi_type type)
{
    static const struct {
        enum wmi_stage omod, clamp;
    } stages[WMI_TYPE_COUNT] = {
        [WMI_TYPE_f32] = {WMI_STAGE_OMOD_F32, WMI_STAGE_CLAMP_F32},
        [WMI_TYPE_f64] = {WMI_STAGE_OMOD_F64, WMI_STAGE_CLAMP_F64},
        [WMI_TYPE_f16] = {WMI_STAGE_OMOD_F16, WMI_STAGE_CLAMP_F16},
        [WMI_TYPE_v2f16] = {WMI_STAGE_BROADCAST, WMI_STAGE_CLAMP_V2F16}, /* packed types have no omod */
    };
    if (!stages[type].clamp)
        return;
    if (field(v, WMI_FIELD_omod) && type != WMI_TYPE_v2f16)
        emit_stage(v, stages[type].omod, place, place,
                   (uint32_t)field(v, WMI_FIELD_omod) |
                       (wmi_builder_limit(v->b, WMI_LIMIT_omod_always) ? WMI_OMOD_ALWAYS : 0));
    if (field(v, WMI_FIELD_clamp) && v->row->flags & WMI_ROW_FLOAT_CLAMP && !clamp_chooses(v))
        emit_stage(v, stages[type].clamp, place, place, 0);
}

/* v_mad_mixlo and v_mad_mixhi write one half and clamp it themselves. */
static bool finishes_itself(const struct valu *v)
{
    const struct wmi_operand *a = v->source[0].operand;
    const enum wmi_type d = (enum wmi_type)wmi_operand(v->insn, WMI_ROLE_D)->type;
    return a && ((a->type == WMI_TYPE_mix && d == WMI_TYPE_f16) ||
                 (a->type == WMI_TYPE_bmix && d == WMI_TYPE_bf16));
}

static bool place_operand(struct valu *v, const struct wmi_operand *operand, struct source *source)
{
    source->operand = operand;
    source->scalar = operand->type == WMI_TYPE_mask ||
                     (v->row->flags & WMI_ROW_IGNORES_EXEC && operand->kind != WMI_OPERAND_VGPR);
    if (operand->kind == WMI_OPERAND_VGPR && operand->reg - v->shadow < v->shadows) {
        source->offset = v->shadow_row + (operand->reg - v->shadow) * wmi_builder_lanes(v->b) * 4;
        return true;
    }
    if (operand->kind == WMI_OPERAND_SPECIAL && operand->reg == WMI_SPECIAL_LDS_DIRECT) {
        source->offset = wmi_lower_lds_direct(v->b, v->insn);
        return true;
    }
    const struct wmi_index_rule rule = wmi_index_rule(v->b, v->insn, operand);
    if (rule.bits)
        source->offset = wmi_lower_indexed(v->b, operand, rule);
    else
        source->offset = source->scalar ? wmi_lower_scalar(v->b, operand) : wmi_lower_vector(v->b, operand);
    return true;
}

/* v_mov_b32 from an SGPR: a single step without a broadcast row. */
static bool lower_scalar_move(struct valu *v)
{
    const struct wmi_instruction *insn = v->insn;
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A), *d = wmi_operand(insn, WMI_ROLE_D);
    bool ok = true;
    if (insn->id != WMI_INSN_v_mov_b32 || insn->extension != WMI_EXT_NONE || a->kind != WMI_OPERAND_SGPR ||
        a->neg || a->abs || field(v, WMI_FIELD_clamp) || field(v, WMI_FIELD_omod))
        return false;
    const uint32_t place = wmi_lower_vgpr(v->b, d->reg, 1, &ok), scalar = wmi_lower_scalar(v->b, a);
    struct wmi_step *step = wmi_emit(v->b, WMI_STEP_fused_MOVE_SCALAR);
    step->d = place;
    step->a = scalar;
    return true;
}

/* v_lshlrev_b64 by a constant below 32: a single step that shifts the two words. */
static bool lower_constant_shift(struct valu *v)
{
    const struct wmi_instruction *insn = v->insn;
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A), *b = wmi_operand(insn, WMI_ROLE_B);
    bool ok = true;
    if (insn->id != WMI_INSN_v_lshlrev_b64 || a->kind != WMI_OPERAND_CONSTANT ||
        b->kind != WMI_OPERAND_VGPR || !(a->value & 63) || (a->value & 63) > 31)
        return false;
    const uint32_t from = wmi_lower_vgpr(v->b, b->reg, 2, &ok);
    const uint32_t to = wmi_lower_vgpr(v->b, wmi_operand(insn, WMI_ROLE_D)->reg, 2, &ok);
    struct wmi_step *step = wmi_emit(v->b, WMI_STEP_fused_SHIFT_LEFT_64);
    step->d = to;
    step->b = from;
    step->x = (uint32_t)a->value & 31;
    return true;
}

/* The rows or words of an operand as a use counts them: up to 14. */
static unsigned counted(enum wmi_type type)
{
    const unsigned dwords = wmi_type_bits(type) > 32 ? wmi_type_bits(type) / 32 : 1;
    return dwords < 15 ? dwords : WMI_USE_MANY;
}

/* Operand uses of a body's step. VGPR results are written in the step's lanes only, lane masks and scalar
 * results in full. */
static uint8_t use_of_source(const struct source *source)
{
    const enum wmi_type type = (enum wmi_type)source->operand->type;
    const unsigned dwords = counted(type);
    if (!source->scalar)
        return (uint8_t)(WMI_USE_READ | (source->operand->written ? WMI_USE_WRITE : 0) | WMI_USE_ROWS |
                         dwords);
    return (uint8_t)(WMI_USE_READ | WMI_USE_WORDS | (type == WMI_TYPE_mask ? WMI_USE_MASK : dwords));
}

static uint8_t use_of_result(const struct wmi_operand *result)
{
    const enum wmi_type type = (enum wmi_type)result->type;
    const unsigned dwords = counted(type);
    if (result->kind == WMI_OPERAND_VGPR)
        return (uint8_t)(WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | dwords);
    return (uint8_t)(WMI_USE_WRITE | WMI_USE_WORDS | (type == WMI_TYPE_mask ? WMI_USE_MASK : dwords));
}

/* Returns the offset of the result: the register, or temporary rows that are copied to the indexed register
 * after all other steps. */
static uint32_t place_result(struct valu *v, const struct wmi_operand *operand, bool *ok)
{
    if (operand->kind != WMI_OPERAND_VGPR)
        return wmi_lower_scalar(v->b, operand);
    const struct wmi_index_rule rule = wmi_index_rule(v->b, v->insn, operand);
    return rule.bits ? wmi_lower_indexed(v->b, operand, rule)
                     : wmi_lower_vgpr(v->b, operand->reg, operand->dwords, ok);
}

static void put_indexed_results(const struct valu *v, uint32_t d)
{
    for (unsigned i = 0; i < v->insn->operands; i++) {
        const struct wmi_operand *operand = &v->insn->operand[i];
        const struct wmi_index_rule rule = wmi_index_rule(v->b, v->insn, operand);
        if (operand->written && rule.bits)
            wmi_lower_indexed_result(v->b, operand, rule,
                                     operand->role == WMI_ROLE_D ? d : v->source[0].offset);
    }
}

/* Fills a, b and c of a body's step and their uses; `use` returns the use of a source. */
static void place_sources(const struct valu *v, struct wmi_step *step,
                          uint8_t (*use)(const struct source *source))
{
    uint32_t *const offsets[3] = {&step->a, &step->b, &step->c};
    for (unsigned i = 0; i < 3; i++) {
        *offsets[i] = v->source[i].offset;
        if (v->source[i].operand)
            step->use[WMI_OP_A + i] = use(&v->source[i]);
    }
}

static uint8_t one_row(const struct source *source)
{
    (void)source;
    return WMI_USE_READ | WMI_USE_ROWS | 1;
}

static bool takes_one_word(const struct wmi_builder *b, const struct wmi_operand *operand)
{
    return wmi_builder_limit(b, WMI_LIMIT_packed_f32_low) && operand->kind != WMI_OPERAND_VGPR;
}

/* Rows of a two-word operand. An inline constant is the low word; the high word is 0. Source: LLVM 19,
 * test/CodeGen/AMDGPU/packed-fp32.ll: {1.0, 0} is 1.0, {1.0, 1.0} is 1.0 with op_sel_hi 0. On gfx12.5 an
 * SGPR, too, is a word that both results take: CDNA 5 ISA, "Scalar Constants with Packed Math". */
static uint32_t place_pair(struct wmi_builder *b, const struct wmi_operand *operand)
{
    if (takes_one_word(b, operand)) {
        struct wmi_operand word = *operand;
        word.dwords = 1;
        return wmi_lower_vector(b, &word);
    }
    if (operand->kind == WMI_OPERAND_CONSTANT || operand->kind == WMI_OPERAND_LITERAL)
        return wmi_lower_vector_constant(b, (uint32_t)operand->value, 2);
    return wmi_lower_vector(b, operand);
}

/* Packed instructions on two words: the body runs for the low word, then for the high word. op_sel and
 * op_sel_hi select the words to read; V_PK_MOV_B32 takes its low word from A and its high word from B.
 * Source: CDNA 3 ISA, VOP3P. */
static bool lower_pairs(struct valu *v)
{
    const struct wmi_operand *d = wmi_operand(v->insn, WMI_ROLE_D);
    const uint32_t row = wmi_builder_lanes(v->b) * 4, low_result = wmi_lower_temporary(v->b, 1);
    const bool moves = d->type == WMI_TYPE_v2b32;
    uint32_t pair[3] = {0};
    bool ok = true;
    const uint32_t to = wmi_lower_vgpr(v->b, d->reg, 2, &ok);
    for (unsigned i = 0; i < 3; i++) {
        v->source[i].operand = wmi_operand(v->insn, WMI_ROLE_A + i);
        if (v->source[i].operand)
            pair[i] = place_pair(v->b, v->source[i].operand);
    }
    for (unsigned high = 0; ok && high < 2; high++) {
        const uint32_t select = (uint32_t)field(v, high ? WMI_FIELD_op_sel_hi : WMI_FIELD_op_sel);
        const uint32_t negate = (uint32_t)field(v, high ? WMI_FIELD_neg_hi : WMI_FIELD_neg_lo);
        const uint32_t place = high ? to + row : low_result;
        for (unsigned i = 0; i < 3; i++) {
            const bool one_word = v->source[i].operand && takes_one_word(v->b, v->source[i].operand);
            v->source[i].offset = pair[i] + (select >> i & 1 && !one_word ? row : 0);
            if (v->source[i].operand && !moves && negate >> i & 1)
                prepare(v, &v->source[i], WMI_STAGE_MODIFY_F32, 1, WMI_MODIFY_NEG);
        }
        if (moves)
            v->source[0].offset = pair[high] + ((uint32_t)field(v, WMI_FIELD_op_sel) >> high & 1 ? row : 0);
        struct wmi_step *step = wmi_emit(v->b, wmi_step_of_body(v->insn->body));
        step->d = place;
        step->use[WMI_OP_D] = WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | 1;
        place_sources(v, step, one_row);
        if (!moves)
            finish_value(v, place, WMI_TYPE_f32);
    }
    struct wmi_step *move = wmi_emit(v->b, wmi_step_of_body(WMI_INSN_v_mov_b32));
    move->d = to;
    move->a = low_result;
    move->use[WMI_OP_D] = WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | 1;
    move->use[WMI_OP_A] = WMI_USE_READ | WMI_USE_ROWS | 1;
    return ok;
}

/* Emits a step that copies lane 0 of the row at `from` to the scalar word at `to`. */
static void emit_first_lane(const struct valu *v, uint32_t to, uint32_t from)
{
    emit_stage(v, WMI_STAGE_FIRST_LANE, to, from, 0);
}

/* Finds the operands in the frame: sources in v->source, the result at *d, the mask result at *e. */
static bool place_operands(struct valu *v, const struct wmi_operand **result, uint32_t *d, uint32_t *e)
{
    bool ok = true;
    for (unsigned i = 0; i < v->insn->operands && ok; i++) {
        const struct wmi_operand *operand = &v->insn->operand[i];
        switch (operand->role) {
        case WMI_ROLE_D:
            *result = operand;
            *d = place_result(v, operand, &ok);
            break;
        case WMI_ROLE_SDST:
            *e = wmi_lower_scalar(v->b, operand);
            break;
        case WMI_ROLE_A:
        case WMI_ROLE_B:
        case WMI_ROLE_C:
            ok = place_operand(v, operand, &v->source[operand->role - WMI_ROLE_A]);
            break;
        case WMI_ROLE_IMM: /* literal of v_madmk and v_madak */
            ok = place_operand(v, operand, &v->source[2]);
            break;
        default:
            ok = false;
            break;
        }
    }
    return ok;
}

/* Whether src/sem implements the row. All rows of these classes except `todo` ones have a body; otherwise
 * src/sem does not link. */
static bool has_body(unsigned id)
{
    const struct wmi_row *row = &wmi_rows[id];
    return !(row->flags & WMI_ROW_TODO) && (row->class == WMI_CLASS_VALU || row->class == WMI_CLASS_SALU);
}

/* v_cmpx before gfx10 writes EXEC besides its mask; later ones write EXEC alone. */
static void copy_to_exec(struct wmi_builder *b, uint32_t mask)
{
    const uint32_t exec = offsetof(struct wmi_frame, s) + 4 * WMI_S_EXEC;
    if (mask == exec)
        return;
    struct wmi_step *step = wmi_emit(b, wmi_step_of_body(WMI_INSN_s_mov_b64));
    step->d = exec;
    step->a = mask;
    step->use[WMI_OP_D] = WMI_USE_WRITE | WMI_USE_WORDS | 2;
    step->use[WMI_OP_A] = WMI_USE_READ | WMI_USE_WORDS | 2;
}

/* Sums and multiply-adds without a carry are steps of others, which are compiled: of a shift by 0, or with a
 * carry that nothing reads. */
static bool lower_without_carry(struct valu *v, uint32_t d)
{
    struct wmi_builder *b = v->b;
    const unsigned id = v->insn->id;
    const bool sum = id == WMI_INSN_v_add_nc_u64;
    if ((!sum && id != WMI_INSN_v_mad_nc_u64_u32 && id != WMI_INSN_v_mad_nc_i64_i32) ||
        field(v, WMI_FIELD_clamp))
        return false;
    const uint32_t other = sum ? wmi_lower_vector_constant(b, 0, 1) : wmi_lower_temporary_scalar(b);
    struct wmi_step *step =
        wmi_emit(b, wmi_step_of_body(sum                               ? WMI_INSN_v_lshl_add_u64
                                     : id == WMI_INSN_v_mad_nc_u64_u32 ? WMI_INSN_v_mad_u64_u32
                                                                       : WMI_INSN_v_mad_i64_i32));
    step->d = d;
    step->a = v->source[0].offset;
    step->b = sum ? other : v->source[1].offset;
    step->c = v->source[sum ? 1 : 2].offset;
    step->lanes = v->lanes;
    step->use[WMI_OP_D] = WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | 2;
    step->use[WMI_OP_A] = WMI_USE_READ | WMI_USE_ROWS | (sum ? 2 : 1);
    step->use[WMI_OP_B] = WMI_USE_READ | WMI_USE_ROWS | 1;
    step->use[WMI_OP_C] = WMI_USE_READ | WMI_USE_ROWS | 2;
    if (sum)
        return true;
    step->e = other;
    step->use[WMI_OP_E] = WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK;
    return true;
}

/* Lowers one instruction, or one half of a pair. */
static bool lower_one(struct valu *v)
{
    struct wmi_builder *b = v->b;
    const struct wmi_instruction *insn = v->insn;
    const struct wmi_operand *result = NULL;
    uint32_t d = 0, e = 0;

    if (insn->id == WMI_INSN_v_nop)
        return true;
    if (!has_body(insn->id))
        return false;
    if (wmi_matrix_of(insn->id) && wmi_builder_limit(b, WMI_LIMIT_wmma_rules))
        return wmi_lower_wmma(b, insn);
    if (wmi_matrix_of(insn->id))
        return wmi_lower_matrix(b, insn);
    const bool one_lane = v->row->flags & WMI_ROW_ONE_LANE;
    v->lanes = one_lane ? offsetof(struct wmi_frame, first) : offsetof(struct wmi_frame, exec);
    if (wmi_operand(insn, WMI_ROLE_A) && is_pair((enum wmi_type)wmi_operand(insn, WMI_ROLE_A)->type) &&
        is_pair((enum wmi_type)wmi_operand(insn, WMI_ROLE_D)->type))
        return lower_pairs(v);
    const bool indexed = b->state & WMI_STATE_GPR_INDEX || v->row->flags & WMI_ROW_READS_M0;
    if (!indexed && !v->shadows && (lower_scalar_move(v) || lower_constant_shift(v)))
        return true;
    if (!place_operands(v, &result, &d, &e))
        return false;
    if (insn->id == WMI_INSN_v_bitop2_b32)
        v->source[2].offset = wmi_lower_vector_constant(b, 0, 1);
    if (insn->extension == WMI_EXT_DPP || insn->extension == WMI_EXT_DPP8)
        apply_dpp(v);
    for (unsigned i = 0; i < 3; i++)
        if (v->source[i].operand && !v->source[i].scalar && v->source[i].operand->role != WMI_ROLE_IMM)
            modify_source(v, i);

    if (lower_without_carry(v, d))
        return true;

    /* Results that cannot be written to their register directly go through a temporary row. */
    const bool vector = result && (result->kind == WMI_OPERAND_VGPR || one_lane);
    const bool is_sdwa = insn->extension == WMI_EXT_SDWA;
    const bool sdwa = vector && is_sdwa && (field(v, WMI_FIELD_dst_sel) != 6);
    const bool keeps = v->row->flags & WMI_ROW_KEEPS_HALF || wmi_builder_limit(b, WMI_LIMIT_keeps_half);
    const bool half =
        vector && keeps && !is_sdwa && !one_lane && !finishes_itself(v) && wmi_type_bits(result->type) == 16;
    const uint32_t place = sdwa || half || one_lane ? wmi_lower_temporary(b, 1) : d;

    struct wmi_step *step = wmi_emit(b, wmi_step_of_body(insn->body));
    step->d = place;
    step->e = e;
    step->lanes = v->lanes;
    step->x = (uint32_t)field(v, WMI_FIELD_neg_lo) | (uint32_t)field(v, WMI_FIELD_op_sel) << WMI_X_OP_SEL;
    if (!selects_source_byte(v))
        step->x |= (uint32_t)field(v, WMI_FIELD_byte_sel) << (WMI_X_OP_SEL + 2);
    if (insn->extension == WMI_EXT_NONE) /* v_permlane16_swap */
        step->x |= (uint32_t)(field(v, WMI_FIELD_fi) | field(v, WMI_FIELD_bound_ctrl) << 1) << WMI_X_OP_SEL;
    step->y = (field(v, WMI_FIELD_clamp) ? 1 : 0) |
              (uint32_t)(field(v, WMI_FIELD_bitop3) | field(v, WMI_FIELD_bitop3_hi) << 6 |
                         field(v, WMI_FIELD_scale_sel))
                  << WMI_Y_TABLE;
    place_sources(v, step, use_of_source);
    if (result)
        step->use[WMI_OP_D] =
            one_lane ? WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | 1 : use_of_result(result);
    if (wmi_operand(insn, WMI_ROLE_SDST))
        step->use[WMI_OP_E] = WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK;
    if (vector && !finishes_itself(v))
        finish_value(v, place, result->type);
    if (sdwa)
        emit_stage(v, WMI_STAGE_SDWA_RESULT, d, place,
                   (uint32_t)field(v, WMI_FIELD_dst_sel) | (uint32_t)field(v, WMI_FIELD_dst_unused) << 3);
    if (half)
        emit_stage(v,
                   selected_halves(v) & 8 || result->part == WMI_PART_HIGH ? WMI_STAGE_OP_SEL_HIGH
                                                                           : WMI_STAGE_OP_SEL_LOW,
                   d, place, 0);
    if (one_lane)
        emit_first_lane(v, d, place);
    if (indexed)
        put_indexed_results(v, d);
    if (v->row->flags & WMI_ROW_WRITES_EXEC)
        copy_to_exec(b, d);
    return true;
}

/* Copies the VGPRs that the first half of a pair writes if the second half, which reads single ones, reads
 * one of them; the first half is lowered first. */
static void keep_shadow(struct valu *second, const struct wmi_operand *written)
{
    const struct wmi_instruction *insn = second->insn;
    const uint32_t row = wmi_builder_lanes(second->b) * 4;
    bool reads = false, ok = true;
    for (unsigned i = 0; i < insn->operands; i++)
        reads |= insn->operand[i].kind == WMI_OPERAND_VGPR && insn->operand[i].read &&
                 (unsigned)(insn->operand[i].reg - written->reg) < written->dwords;
    if (!reads)
        return;
    second->shadows = written->dwords;
    second->shadow = written->reg;
    second->shadow_row = wmi_lower_temporary(second->b, written->dwords);
    second->lanes = offsetof(struct wmi_frame, exec);
    for (unsigned i = 0; i < written->dwords; i++)
        emit_stage(second, WMI_STAGE_PACK_SELECT, second->shadow_row + i * row,
                   wmi_lower_vgpr(second->b, written->reg + i, 1, &ok), 2);
}

/* Both halves of a pair read their sources before either writes. Source: RDNA 3 ISA, "Dual Issue VALU". */
static bool lower_pair(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    struct wmi_instruction half[2] = {*insn, *insn};
    half[0].second_id = half[1].second_id = 0;
    half[1].id = insn->second_id;
    half[1].body = insn->second_body;
    half[1].operands = insn->second_operands;
    memcpy(half[1].operand, insn->operand + insn->operands, insn->second_operands * sizeof *insn->operand);
    struct valu first = {.b = b, .insn = &half[0], .row = &wmi_rows[half[0].id]};
    struct valu second = {.b = b, .insn = &half[1], .row = &wmi_rows[half[1].id]};
    keep_shadow(&second, wmi_operand(&half[0], WMI_ROLE_D));
    return lower_one(&first) && lower_one(&second);
}

bool wmi_lower_valu(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    struct valu v = {.b = b, .insn = insn, .row = &wmi_rows[insn->id]};
    return insn->second_id ? lower_pair(b, insn) : lower_one(&v);
}

/* ---- scalar ---- */

/* Scalar float instructions run the vector ALU's body in lane 0 of temporary rows. Unverified: a 16-bit
 * result clears the upper half of its SGPR. */
static bool lower_scalar_float(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    struct valu v = {.b = b, .insn = insn, .row = &wmi_rows[insn->id]};
    const struct wmi_operand *d = wmi_operand(insn, WMI_ROLE_D);
    v.lanes = offsetof(struct wmi_frame, first);
    for (unsigned i = 0; i < insn->operands; i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        const bool third = operand->role == WMI_ROLE_IMM || operand->role == WMI_ROLE_D;
        struct source *source = &v.source[third ? 2 : operand->role - WMI_ROLE_A];
        if (operand->read) {
            source->operand = operand;
            source->offset = wmi_lower_vector(b, operand);
        }
    }
    if (insn->id == WMI_INSN_s_cvt_hi_f32_f16)
        prepare(&v, &v.source[0], WMI_STAGE_HIGH_HALF, 1, 0);
    const uint32_t scalar = d ? wmi_lower_scalar(b, d) : wmi_lower_temporary_scalar(b);
    const uint32_t place = d ? wmi_lower_temporary(b, 1) : scalar;
    struct wmi_step *step = wmi_emit(b, wmi_step_of_body(insn->body));
    step->d = place;
    step->lanes = v.lanes;
    step->use[WMI_OP_D] =
        d ? WMI_USE_READ | WMI_USE_WRITE | WMI_USE_ROWS | 1 : WMI_USE_WRITE | WMI_USE_WORDS | WMI_USE_MASK;
    place_sources(&v, step, one_row);
    if (d)
        emit_first_lane(&v, scalar, place);
    else
        wmi_emit(b, WMI_STEP_take_bit)->a = scalar;
    return true;
}

static uint8_t use_of_words(const struct wmi_operand *operand, unsigned access)
{
    const unsigned dwords = operand->dwords ? operand->dwords : 1;
    return (uint8_t)(access | WMI_USE_WORDS | dwords);
}

bool wmi_lower_salu(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    if (!has_body(insn->id))
        return false;
    if (wmi_rows[insn->id].flags & WMI_ROW_ONE_LANE)
        return lower_scalar_float(b, insn);
    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec), .c = 4 * WMI_S_NULL};
    uint8_t use[WMI_STEP_OPERANDS] = {0};
    step.d = step.a = step.b = step.c;
    for (unsigned i = 0; i < insn->operands; i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        switch (operand->role) {
        case WMI_ROLE_D:
            step.d = wmi_lower_scalar(b, operand);
            use[WMI_OP_D] = use_of_words(operand, (operand->written ? WMI_USE_WRITE : 0u) |
                                                      (operand->read ? WMI_USE_READ : 0u));
            break;
        case WMI_ROLE_A:
            step.a = wmi_lower_scalar(b, operand);
            use[WMI_OP_A] = use_of_words(operand, WMI_USE_READ);
            break;
        case WMI_ROLE_B:
            step.b = wmi_lower_scalar(b, operand);
            use[WMI_OP_B] = use_of_words(operand, WMI_USE_READ);
            break;
        case WMI_ROLE_IMM:
            step.x = (uint32_t)(int32_t)(int16_t)operand->value;
            break;
        default:
            break;
        }
    }
    step.c = 0;
    struct wmi_step *emitted = wmi_emit(b, wmi_step_of_body(insn->body));
    step.id = emitted->id;
    step.pc = emitted->pc;
    memcpy(step.use, use, sizeof use);
    *emitted = step;
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Lowers scalar and vector ALU instructions: the stages that their modifiers ask for, around the body. */
#include "exec/index.h"
#include "exec/lds.h"
#include "exec/program.h"
#include "sem/fused.h"
#include "sem/stage.h"
#include "sem/table.h"

/* ---- scalar ---- */

bool wmi_lower_salu(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const wmi_body body = wmi_sem_body(wmi_builder_level(b), wmi_builder_lanes(b), insn->id);
    if (!body)
        return false;
    uint32_t d = 4 * WMI_S_NULL, a = d, c = d;
    int32_t immediate = 0;
    for (unsigned i = 0; i < insn->operands; i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        switch (operand->role) {
        case WMI_ROLE_D:
            d = wmi_lower_scalar(b, operand);
            break;
        case WMI_ROLE_A:
            a = wmi_lower_scalar(b, operand);
            break;
        case WMI_ROLE_B:
            c = wmi_lower_scalar(b, operand);
            break;
        case WMI_ROLE_IMM:
            immediate = (int16_t)operand->value;
            break;
        default:
            break;
        }
    }
    struct wmi_op *op = wmi_emit(b, body);
    op->d = d;
    op->a = a;
    op->b = c;
    op->x = (uint32_t)immediate;
    return true;
}

/* ---- vector ---- */

struct source {
    const struct wmi_operand *operand;
    uint32_t offset;
    bool scalar; /* a word or mask of the scalar file, not rows */
};

/* One vector instruction on its way to steps. */
struct valu {
    struct wmi_builder *b;
    const struct wmi_instruction *insn;
    const struct wmi_row *row;
    struct source source[3]; /* A, B, C */
    uint32_t lanes;          /* byte offset of the lane set that acts */
};

static struct wmi_op *emit_stage(const struct valu *v, enum wmi_stage stage, uint32_t d, uint32_t a,
                                 uint32_t x)
{
    struct wmi_op *op = wmi_emit(v->b, wmi_stage(wmi_builder_level(v->b), wmi_builder_lanes(v->b), stage));
    op->d = d;
    op->a = a;
    op->x = x;
    op->lanes = v->lanes;
    return op;
}

/* A stage from the source's rows to temporary ones, which become the source. */
static void prepare(struct valu *v, struct source *source, enum wmi_stage stage, unsigned rows, uint32_t x)
{
    const uint32_t place = wmi_lower_temporary(v->b, rows);
    emit_stage(v, stage, place, source->offset, x);
    source->offset = place;
}

static bool is_packed(enum wmi_type type)
{
    return type == WMI_TYPE_v2f16 || type == WMI_TYPE_v2i16 || type == WMI_TYPE_v2u16;
}

static int32_t field(const struct valu *v, enum wmi_field name)
{
    return v->insn->field[name];
}

static void apply_dpp(struct valu *v)
{
    struct source *a = &v->source[0];
    const uint32_t place = wmi_lower_temporary(v->b, 1), set = wmi_lower_lane_set(v->b);
    const uint32_t control =
        wmi_dpp_control((uint32_t)field(v, WMI_FIELD_dpp_ctrl), (uint32_t)field(v, WMI_FIELD_row_mask),
                        (uint32_t)field(v, WMI_FIELD_bank_mask), (uint32_t)field(v, WMI_FIELD_bound_ctrl));
    emit_stage(v, WMI_STAGE_DPP, place, a->offset, control)->e = set;
    a->offset = place;
    v->lanes = set;
}

/* What the fields of the instruction make of source `index` before the body sees it. */
static void modify_source(struct valu *v, unsigned index)
{
    enum { SDWA_DWORD = 6 };
    struct source *source = &v->source[index];
    const struct wmi_operand *operand = source->operand;
    const enum wmi_type type = operand->type;
    const uint32_t low = (uint32_t)field(v, WMI_FIELD_op_sel) >> index & 1;
    const uint32_t high = (uint32_t)field(v, WMI_FIELD_op_sel_hi) >> index & 1;
    const uint32_t sign = (operand->neg ? WMI_MODIFY_NEG : 0u) | (operand->abs ? WMI_MODIFY_ABS : 0u);

    if (v->insn->extension == WMI_EXT_SDWA && index < 2) {
        const uint32_t select = (uint32_t)field(v, index ? WMI_FIELD_src1_sel : WMI_FIELD_src0_sel);
        if (select != SDWA_DWORD)
            prepare(v, source, WMI_STAGE_SDWA_SOURCE, 1, select | (operand->sext ? 8u : 0u));
    }
    if (is_packed(type)) {
        const uint32_t negated = ((uint32_t)field(v, WMI_FIELD_neg_lo) >> index & 1) |
                                 ((uint32_t)field(v, WMI_FIELD_neg_hi) >> index & 1) << 1;
        if (low || !high)
            prepare(v, source, WMI_STAGE_PACK_SELECT, 1, low | high << 1);
        if (negated)
            prepare(v, source, WMI_STAGE_MODIFY_V2F16, 1, negated);
        return;
    }
    if (type == WMI_TYPE_f32 && (uint32_t)field(v, WMI_FIELD_neg_lo) >> index & 1)
        prepare(v, source, WMI_STAGE_MODIFY_F32, 1, WMI_MODIFY_NEG); /* of v_dot2_f32_f16 */
    if (type == WMI_TYPE_mix) {
        if (high)
            prepare(v, source, WMI_STAGE_WIDEN_F16, 1, low);
    } else if (low && v->row->flags & WMI_ROW_VOP3_OPSEL && wmi_type_bits(type) == 16) {
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

/* omod and clamp on the rows at `place`, which hold a result of type `type`. */
static void finish_value(const struct valu *v, uint32_t place, enum wmi_type type)
{
    static const struct {
        enum wmi_stage omod, clamp;
    } stages[WMI_TYPE_COUNT] = {
        [WMI_TYPE_f32] = {WMI_STAGE_OMOD_F32, WMI_STAGE_CLAMP_F32},
        [WMI_TYPE_f64] = {WMI_STAGE_OMOD_F64, WMI_STAGE_CLAMP_F64},
        [WMI_TYPE_f16] = {WMI_STAGE_OMOD_F16, WMI_STAGE_CLAMP_F16},
        [WMI_TYPE_v2f16] = {WMI_STAGE_BROADCAST, WMI_STAGE_CLAMP_V2F16}, /* packed has no omod */
    };
    if (!stages[type].clamp)
        return;
    if (field(v, WMI_FIELD_omod) && type != WMI_TYPE_v2f16)
        emit_stage(v, stages[type].omod, place, place, (uint32_t)field(v, WMI_FIELD_omod));
    if (field(v, WMI_FIELD_clamp) && v->row->flags & WMI_ROW_FLOAT_CLAMP)
        emit_stage(v, stages[type].clamp, place, place, 0);
}

/* v_mad_mixlo and mixhi write one half and clamp it themselves. */
static bool finishes_itself(const struct valu *v)
{
    return v->source[0].operand && v->source[0].operand->type == WMI_TYPE_mix &&
           wmi_operand(v->insn, WMI_ROLE_D)->type == WMI_TYPE_f16;
}

static bool place_operand(struct valu *v, const struct wmi_operand *operand, struct source *source)
{
    source->operand = operand;
    source->scalar = operand->type == WMI_TYPE_mask ||
                     (v->row->flags & WMI_ROW_IGNORES_EXEC && operand->kind != WMI_OPERAND_VGPR);
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

/* v_mov_b32 from an SGPR: one step instead of a broadcast and a move. */
static bool fuse_move(struct valu *v)
{
    const struct wmi_instruction *insn = v->insn;
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A), *d = wmi_operand(insn, WMI_ROLE_D);
    bool ok = true;
    if (insn->id != WMI_INSN_v_mov_b32 || insn->extension != WMI_EXT_NONE || a->kind != WMI_OPERAND_SGPR ||
        a->neg || a->abs || field(v, WMI_FIELD_clamp) || field(v, WMI_FIELD_omod))
        return false;
    const uint32_t place = wmi_lower_vgpr(v->b, d->reg, 1, &ok), scalar = wmi_lower_scalar(v->b, a);
    struct wmi_op *op =
        wmi_emit(v->b, wmi_fused(wmi_builder_level(v->b), wmi_builder_lanes(v->b), WMI_FUSED_MOVE_SCALAR));
    op->d = place;
    op->a = scalar;
    return true;
}

/* v_addc_co_u32 right behind the v_add_co_u32 that gives its carry: a 64-bit sum. What the low half wrote may
 * not be a source of the high half; `op` is the high half, as it would be emitted. */
static bool fuse_sum(struct valu *v, const struct wmi_op *op)
{
    const enum wmi_cpu_level level = wmi_builder_level(v->b);
    const unsigned lanes = wmi_builder_lanes(v->b);
    struct wmi_op *low = wmi_builder_last(v->b);
    if (v->insn->id != WMI_INSN_v_addc_co_u32 || v->insn->extension != WMI_EXT_NONE || !low ||
        low->body != wmi_sem_body(level, lanes, WMI_INSN_v_add_co_u32) || low->y || op->y ||
        low->lanes != op->lanes || low->e != op->c || low->e != op->e || low->d == op->a || low->d == op->b ||
        low->d == op->d)
        return false;
    uint32_t scalar, high_scalar, high_a = op->a, high_b = op->b;
    enum wmi_fused sum = WMI_FUSED_ADD_64;
    if (low->a != low->b && low->a != op->a && low->a != op->b &&
        wmi_builder_take(v->b, wmi_stage(level, lanes, WMI_STAGE_BROADCAST), low->a, &scalar)) {
        sum = WMI_FUSED_ADD_64_SCALAR;
        low = wmi_builder_last(v->b);
        low->a = scalar;
        /* The high half may replace what v_mov_b32 just brought from an SGPR. */
        if (op->a != op->b && (op->a == op->d || op->b == op->d) && low->b != op->d &&
            wmi_builder_take(v->b, wmi_fused(level, lanes, WMI_FUSED_MOVE_SCALAR), op->d, &high_scalar)) {
            sum = WMI_FUSED_ADD_64_SCALARS;
            low = wmi_builder_last(v->b);
            high_b = op->a == op->d ? op->b : op->a;
            high_a = high_scalar;
        }
    }
    low->body = wmi_fused(level, lanes, sum);
    low->c = high_a;
    low->e = high_b;
    low->x = op->d;
    low->y = op->e;
    wmi_builder_may_drop_mask(v->b, op->e, wmi_fused(level, lanes, sum + WMI_FUSED_WITHOUT_CARRY));
    return true;
}

/* v_lshlrev_b64 by a constant: the halves are shifted as words. */
static bool fuse_shift(struct valu *v)
{
    const struct wmi_instruction *insn = v->insn;
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A), *b = wmi_operand(insn, WMI_ROLE_B);
    bool ok = true;
    if (insn->id != WMI_INSN_v_lshlrev_b64 || a->kind != WMI_OPERAND_CONSTANT ||
        b->kind != WMI_OPERAND_VGPR || !(a->value & 63) || (a->value & 63) > 31)
        return false;
    const uint32_t from = wmi_lower_vgpr(v->b, b->reg, 2, &ok);
    const uint32_t to = wmi_lower_vgpr(v->b, wmi_operand(insn, WMI_ROLE_D)->reg, 2, &ok);
    struct wmi_op *op =
        wmi_emit(v->b, wmi_fused(wmi_builder_level(v->b), wmi_builder_lanes(v->b), WMI_FUSED_SHIFT_LEFT_64));
    op->d = to;
    op->b = from;
    op->x = (uint32_t)a->value & 31;
    return true;
}

/* Where the result goes: a register, or temporary rows that go to a register behind everything else. */
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

static bool is_pair(enum wmi_type type)
{
    return type == WMI_TYPE_v2f32 || type == WMI_TYPE_v2b32;
}

/* The rows of a pair of words; an inline constant is its low word, and the high one is 0. Source: LLVM 19,
 * test/CodeGen/AMDGPU/packed-fp32.ll: {1.0, 0} is 1.0, {1.0, 1.0} is 1.0 with op_sel_hi 0. */
static uint32_t place_pair(struct wmi_builder *b, const struct wmi_operand *operand)
{
    if (operand->kind == WMI_OPERAND_CONSTANT || operand->kind == WMI_OPERAND_LITERAL)
        return wmi_lower_vector_constant(b, (uint32_t)operand->value, 2);
    return wmi_lower_vector(b, operand);
}

/* Packed instructions on pairs of words: the body runs for the low word, and then for the high one. op_sel
 * and op_sel_hi choose the words that they read; V_PK_MOV_B32 takes its low word from A and its high one from
 * B. Source: CDNA 3 ISA, VOP3P. */
static bool lower_pairs(struct valu *v, wmi_body body)
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
            v->source[i].offset = pair[i] + (select >> i & 1 ? row : 0);
            if (v->source[i].operand && !moves && negate >> i & 1)
                prepare(v, &v->source[i], WMI_STAGE_MODIFY_F32, 1, WMI_MODIFY_NEG);
        }
        if (moves)
            v->source[0].offset = pair[high] + ((uint32_t)field(v, WMI_FIELD_op_sel) >> high & 1 ? row : 0);
        struct wmi_op *op = wmi_emit(v->b, body);
        op->d = place;
        op->a = v->source[0].offset;
        op->b = v->source[1].offset;
        op->c = v->source[2].offset;
        if (!moves)
            finish_value(v, place, WMI_TYPE_f32);
    }
    struct wmi_op *move =
        wmi_emit(v->b, wmi_sem_body(wmi_builder_level(v->b), wmi_builder_lanes(v->b), WMI_INSN_v_mov_b32));
    move->d = to;
    move->a = low_result;
    return ok;
}

bool wmi_lower_valu(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    struct valu v = {.b = b, .insn = insn, .row = &wmi_rows[insn->id]};
    const wmi_body body = wmi_sem_body(wmi_builder_level(b), wmi_builder_lanes(b), insn->id);
    const struct wmi_operand *result = NULL;
    uint32_t d = 0, e = 0;
    bool ok = true;

    if (insn->id == WMI_INSN_v_nop)
        return true;
    if (!body || insn->extension == WMI_EXT_DPP8 || insn->second_id) /* DPP8, VOPD: not executed yet */
        return false;
    v.lanes = offsetof(struct wmi_frame, exec);
    if (wmi_operand(insn, WMI_ROLE_A) && is_pair((enum wmi_type)wmi_operand(insn, WMI_ROLE_A)->type))
        return lower_pairs(&v, body);
    const bool indexed = wmi_builder_state(b) & WMI_STATE_GPR_INDEX || v.row->flags & WMI_ROW_READS_M0;
    if (!indexed && (fuse_move(&v) || fuse_shift(&v)))
        return true;
    for (unsigned i = 0; i < insn->operands && ok; i++) {
        const struct wmi_operand *operand = &insn->operand[i];
        switch (operand->role) {
        case WMI_ROLE_D:
            result = operand;
            d = place_result(&v, operand, &ok);
            break;
        case WMI_ROLE_SDST:
            e = wmi_lower_scalar(b, operand);
            break;
        case WMI_ROLE_A:
        case WMI_ROLE_B:
        case WMI_ROLE_C:
            ok = place_operand(&v, operand, &v.source[operand->role - WMI_ROLE_A]);
            break;
        case WMI_ROLE_IMM: /* the literal of v_madmk and v_madak */
            ok = place_operand(&v, operand, &v.source[2]);
            break;
        default:
            ok = false;
            break;
        }
    }
    if (!ok)
        return false;
    if (insn->extension == WMI_EXT_DPP)
        apply_dpp(&v);
    for (unsigned i = 0; i < 3; i++)
        if (v.source[i].operand && !v.source[i].scalar && v.source[i].operand->role != WMI_ROLE_IMM)
            modify_source(&v, i);

    /* Where the result cannot go to its register at once, it goes through a temporary. */
    const bool vector = result && result->kind == WMI_OPERAND_VGPR;
    const bool sdwa = vector && insn->extension == WMI_EXT_SDWA && (field(&v, WMI_FIELD_dst_sel) != 6);
    const bool keeps = v.row->flags & WMI_ROW_KEEPS_HALF || wmi_builder_limit(b, WMI_LIMIT_keeps_half);
    const bool plain = insn->extension == WMI_EXT_NONE || insn->extension == WMI_EXT_LITERAL;
    const bool half = vector && keeps && plain && wmi_type_bits(result->type) == 16;
    const uint32_t place = sdwa || half ? wmi_lower_temporary(b, 1) : d;

    const struct wmi_op op = {
        .body = body,
        .d = place,
        .a = v.source[0].offset,
        .b = v.source[1].offset,
        .c = v.source[2].offset,
        .e = e,
        .lanes = v.lanes,
        .y = field(&v, WMI_FIELD_clamp) ? 1 : 0,
    };
    if (!indexed && fuse_sum(&v, &op))
        return true;
    *wmi_emit(b, body) = op;
    if (vector && !finishes_itself(&v))
        finish_value(&v, place, result->type);
    if (sdwa)
        emit_stage(&v, WMI_STAGE_SDWA_RESULT, d, place,
                   (uint32_t)field(&v, WMI_FIELD_dst_sel) | (uint32_t)field(&v, WMI_FIELD_dst_unused) << 3);
    if (half)
        emit_stage(&v, field(&v, WMI_FIELD_op_sel) & 8 ? WMI_STAGE_OP_SEL_HIGH : WMI_STAGE_OP_SEL_LOW, d,
                   place, 0);
    if (indexed)
        put_indexed_results(&v, d);
    return true;
}

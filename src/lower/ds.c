/* SPDX-License-Identifier: MIT */
/* Lowers DS instructions: one row of the table per instruction. */
#include "lower/classes.h"
#include "memory/buffer.h"

/* places, bytes: see wmi_lds_places(); places is 0 if the instruction does not access memory. */
struct lds_row {
    uint8_t step, places, bytes;
    bool returns, second; /* second: *_src2_* */
    bool swapped;         /* DATA is the value to store and DATA2 the comparand, instead of the reverse */
};

#define ROW(insn, step, places, bytes) [WMI_INSN_##insn] = {WMI_LDS_##step, places, bytes, false},
/* Both forms of an atomic: ds_NAME_TYPE and ds_NAME_rtn_TYPE. */
#define ATOMIC(name, type, step, bytes)                                                                      \
    [WMI_INSN_ds_##name##_##type] = {WMI_LDS_##step, 1, bytes, false},                                       \
    [WMI_INSN_ds_##name##_rtn_##type] = {WMI_LDS_##step, 1, bytes, true},
/* The form with data from a second LDS address: ds_NAME_src2_TYPE. */
#define SRC2(name, type, step, bytes)                                                                        \
    [WMI_INSN_ds_##name##_src2_##type] = {WMI_LDS_##step, 1, bytes, false, true},
/* ds_cmpstore_TYPE and ds_cmpstore_rtn_TYPE. Source: RDNA3 ISA, DS_CMPSTORE_B32. */
#define CMPSTORE(type, bytes)                                                                                \
    [WMI_INSN_ds_cmpstore_##type] = {WMI_LDS_cmpst_##type, 1, bytes, .swapped = true},                       \
    [WMI_INSN_ds_cmpstore_rtn_##type] = {WMI_LDS_cmpst_##type, 1, bytes, true, .swapped = true},
#define RETURNING(insn, step, places, bytes) [WMI_INSN_##insn] = {WMI_LDS_##step, places, bytes, true},

static const struct lds_row lds_rows[WMI_INSN_COUNT] = {
    /* clang-format off */
    ROW(ds_read_u8, read_u8, 1, 1)
    ROW(ds_read_i8, read_i8, 1, 1)
    ROW(ds_read_u16, read_u16, 1, 2)
    ROW(ds_read_i16, read_i16, 1, 2)
    ROW(ds_read_u8_d16, read_u8_d16, 1, 1)
    ROW(ds_read_u8_d16_hi, read_u8_d16_hi, 1, 1)
    ROW(ds_read_i8_d16, read_i8_d16, 1, 1)
    ROW(ds_read_i8_d16_hi, read_i8_d16_hi, 1, 1)
    ROW(ds_read_u16_d16, read_u16_d16, 1, 2)
    ROW(ds_read_u16_d16_hi, read_u16_d16_hi, 1, 2)
    ROW(ds_read_b32, read_b32, 1, 4)
    ROW(ds_read_b64, read_b64, 1, 8)
    ROW(ds_read_b96, read_b96, 1, 12)
    ROW(ds_read_b128, read_b128, 1, 16)
    ROW(ds_read_b64_tr_b16, read_b64, 1, 8)
    ROW(ds_read_b64_tr_b8, read_b64, 1, 8)
    ROW(ds_read_b64_tr_b4, read_b64, 1, 8)
    ROW(ds_read_b96_tr_b6, read_b96, 1, 12)
    ROW(ds_load_tr16_b128, read_b128, 1, 16)
    ROW(ds_load_tr8_b64, read_b64, 1, 8)
    ROW(ds_load_tr6_b96, read_b96, 1, 12)
    ROW(ds_load_tr4_b64, read_b64, 1, 8)
    ROW(ds_read2_b32, read2_b32, 2, 4)
    ROW(ds_read2st64_b32, read2_b32, 2, 4)
    ROW(ds_read2_b64, read2_b64, 2, 8)
    ROW(ds_read2st64_b64, read2_b64, 2, 8)
    ROW(ds_read_addtid_b32, read_b32, 1, 4)
    ROW(ds_write_b8, write_b8, 1, 1)
    ROW(ds_write_b16, write_b16, 1, 2)
    ROW(ds_write_b8_d16_hi, write_b8_d16_hi, 1, 1)
    ROW(ds_write_b16_d16_hi, write_b16_d16_hi, 1, 2)
    ROW(ds_write_b32, write_b32, 1, 4)
    ROW(ds_write_b64, write_b64, 1, 8)
    ROW(ds_write_b96, write_b96, 1, 12)
    ROW(ds_write_b128, write_b128, 1, 16)
    ROW(ds_write2_b32, write2_b32, 2, 4)
    ROW(ds_write2st64_b32, write2_b32, 2, 4)
    ROW(ds_write2_b64, write2_b64, 2, 8)
    ROW(ds_write2st64_b64, write2_b64, 2, 8)
    ROW(ds_write_addtid_b32, write_b32, 1, 4)
    ATOMIC(add, u32, add_b32, 4)
    ATOMIC(sub, u32, sub_b32, 4)
    ATOMIC(rsub, u32, rsub_b32, 4)
    ATOMIC(inc, u32, inc_b32, 4)
    ATOMIC(dec, u32, dec_b32, 4)
    ATOMIC(min, i32, min_i32, 4)
    ATOMIC(max, i32, max_i32, 4)
    ATOMIC(min, u32, min_u32, 4)
    ATOMIC(max, u32, max_u32, 4)
    ATOMIC(and, b32, and_b32, 4)
    ATOMIC(or, b32, or_b32, 4)
    ATOMIC(xor, b32, xor_b32, 4)
    ATOMIC(mskor, b32, mskor_b32, 4)
    ATOMIC(cmpst, b32, cmpst_b32, 4)
    ATOMIC(cmpst, f32, cmpst_f32, 4)
    ATOMIC(min, f32, min_f32, 4)
    ATOMIC(max, f32, max_f32, 4)
    ATOMIC(add, f32, add_f32, 4)
    ATOMIC(pk_add, f16, pk_add_f16, 4)
    ATOMIC(pk_add, bf16, pk_add_bf16, 4)
    ATOMIC(cond_sub, u32, cond_sub_b32, 4)
    ATOMIC(sub_clamp, u32, sub_clamp_b32, 4)
    CMPSTORE(b32, 4)
    CMPSTORE(f32, 4)
    RETURNING(ds_wrxchg_rtn_b32, wrxchg_b32, 1, 4)
    RETURNING(ds_wrxchg2_rtn_b32, wrxchg2_b32, 2, 4)
    RETURNING(ds_wrxchg2st64_rtn_b32, wrxchg2_b32, 2, 4)
    RETURNING(ds_wrap_rtn_b32, wrap_b32, 1, 4)
    ATOMIC(add, u64, add_b64, 8)
    ATOMIC(sub, u64, sub_b64, 8)
    ATOMIC(rsub, u64, rsub_b64, 8)
    ATOMIC(inc, u64, inc_b64, 8)
    ATOMIC(dec, u64, dec_b64, 8)
    ATOMIC(min, i64, min_i64, 8)
    ATOMIC(max, i64, max_i64, 8)
    ATOMIC(min, u64, min_u64, 8)
    ATOMIC(max, u64, max_u64, 8)
    ATOMIC(and, b64, and_b64, 8)
    ATOMIC(or, b64, or_b64, 8)
    ATOMIC(xor, b64, xor_b64, 8)
    ATOMIC(mskor, b64, mskor_b64, 8)
    ATOMIC(cmpst, b64, cmpst_b64, 8)
    ATOMIC(cmpst, f64, cmpst_f64, 8)
    ATOMIC(min, f64, min_f64, 8)
    ATOMIC(max, f64, max_f64, 8)
    ATOMIC(add, f64, add_f64, 8)
    CMPSTORE(b64, 8)
    CMPSTORE(f64, 8)
    RETURNING(ds_wrxchg_rtn_b64, wrxchg_b64, 1, 8)
    RETURNING(ds_wrxchg2_rtn_b64, wrxchg2_b64, 2, 8)
    RETURNING(ds_wrxchg2st64_rtn_b64, wrxchg2_b64, 2, 8)
    RETURNING(ds_condxchg32_rtn_b64, condxchg32_b64, 1, 8)
    RETURNING(ds_atomic_barrier_arrive_rtn_b64, barrier_arrive_b64, 1, 8)
    ROW(ds_atomic_async_barrier_arrive_b64, barrier_arrive_b64, 1, 8)
    RETURNING(ds_append, append, 1, 4)
    RETURNING(ds_consume, consume, 1, 4)
    SRC2(add, u32, add_b32, 4)
    SRC2(sub, u32, sub_b32, 4)
    SRC2(rsub, u32, rsub_b32, 4)
    SRC2(inc, u32, inc_b32, 4)
    SRC2(dec, u32, dec_b32, 4)
    SRC2(min, i32, min_i32, 4)
    SRC2(max, i32, max_i32, 4)
    SRC2(min, u32, min_u32, 4)
    SRC2(max, u32, max_u32, 4)
    SRC2(and, b32, and_b32, 4)
    SRC2(or, b32, or_b32, 4)
    SRC2(xor, b32, xor_b32, 4)
    SRC2(write, b32, wrxchg_b32, 4)
    SRC2(min, f32, min_f32, 4)
    SRC2(max, f32, max_f32, 4)
    SRC2(add, f32, add_f32, 4)
    SRC2(add, u64, add_b64, 8)
    SRC2(sub, u64, sub_b64, 8)
    SRC2(rsub, u64, rsub_b64, 8)
    SRC2(inc, u64, inc_b64, 8)
    SRC2(dec, u64, dec_b64, 8)
    SRC2(min, i64, min_i64, 8)
    SRC2(max, i64, max_i64, 8)
    SRC2(min, u64, min_u64, 8)
    SRC2(max, u64, max_u64, 8)
    SRC2(and, b64, and_b64, 8)
    SRC2(or, b64, or_b64, 8)
    SRC2(xor, b64, xor_b64, 8)
    SRC2(write, b64, wrxchg_b64, 8)
    SRC2(min, f64, min_f64, 8)
    SRC2(max, f64, max_f64, 8)
    ROW(ds_swizzle_b32, swizzle, 0, 0)
    ROW(ds_permute_b32, permute, 0, 0)
    ROW(ds_bpermute_b32, bpermute, 0, 0)
    ROW(ds_bpermute_fi_b32, bpermute, 0, 0)
    /* clang-format on */
};

enum wm_atomic wmi_lower_lds_operation(unsigned id)
{
#define OF(step, operation)      [WMI_LDS_##step] = WM_ATOMIC_##operation,
#define OF_BOTH(step, operation) OF(step##_b32, operation) OF(step##_b64, operation)
    static const uint8_t operations[WMI_LDS_STEP_COUNT] = {
        /* clang-format off */
        OF_BOTH(add, ADD) OF_BOTH(sub, SUB) OF_BOTH(rsub, REVERSE_SUB) OF_BOTH(inc, INC) OF_BOTH(dec, DEC)
        OF(min_i32, SIGNED_MIN) OF(min_i64, SIGNED_MIN) OF(max_i32, SIGNED_MAX) OF(max_i64, SIGNED_MAX)
        OF(min_u32, UNSIGNED_MIN) OF(min_u64, UNSIGNED_MIN) OF(max_u32, UNSIGNED_MAX) OF(max_u64, UNSIGNED_MAX)
        OF_BOTH(and, AND) OF_BOTH(or, OR) OF_BOTH(xor, XOR) OF_BOTH(mskor, MASKED_OR)
        OF_BOTH(wrxchg, SWAP) OF_BOTH(wrxchg2, SWAP) OF_BOTH(cmpst, COMPARE_SWAP)
        OF(wrap_b32, WRAP) OF(cond_sub_b32, COND_SUB) OF(sub_clamp_b32, SUB_CLAMP)
        OF(cmpst_f32, FLOAT_COMPARE_SWAP) OF(cmpst_f64, FLOAT_COMPARE_SWAP)
        OF(min_f32, FLOAT_MIN) OF(min_f64, FLOAT_MIN) OF(max_f32, FLOAT_MAX) OF(max_f64, FLOAT_MAX)
        OF(add_f32, FLOAT_ADD) OF(add_f64, FLOAT_ADD)
        OF(pk_add_f16, PACKED_ADD_F16) OF(pk_add_bf16, PACKED_ADD_BF16)
        OF(condxchg32_b64, CONDITIONAL_SWAP) OF(append, APPEND) OF(consume, CONSUME)
        /* clang-format on */
    };
    return (enum wm_atomic)operations[lds_rows[id].step];
}

uint32_t wmi_lower_lds_direct(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const uint32_t row = wmi_lower_temporary(b, 1);
    if (wmi_builder_watches(b))
        wmi_emit_watch(b, WMI_STEP_lds_observe_direct,
                       &(struct wmi_step){.data = wmi_builder_memory_op(b, insn)});
    wmi_emit(b, WMI_STEP_lds_read_direct)->d = row;
    return row;
}

/* Byte offset of an operand's rows; 0 if there is no such operand. */
static uint32_t rows_of(struct wmi_builder *b, const struct wmi_instruction *insn, enum wmi_role role,
                        bool *ok)
{
    const struct wmi_operand *operand = wmi_operand(insn, role);
    if (!operand)
        return 0;
    if (operand->kind != WMI_OPERAND_VGPR) {
        *ok = false;
        return 0;
    }
    return wmi_lower_vgpr(b, operand->reg, operand->dwords, ok);
}

/* A DS instruction being lowered. */
struct lowering {
    struct wmi_builder *b;
    const struct lds_row *row;
    struct wmi_memory_op *memory;
    struct wmi_step operands;
    uint32_t lanes;    /* the lanes that execute it */
    bool gds, limited; /* limited: M0 limits the LDS size */
};

/* Emits a step of the table, redirected to the GDS or limited by M0 if required. */
static void emit_ds(const struct lowering *l, enum wmi_lds_step step, const struct wmi_step *operands)
{
    struct wmi_step filled = *operands;
    if (l->gds) {
        struct wmi_step *gds = wmi_emit(l->b, WMI_STEP_gds_instead);
        gds->x = l->row->step == WMI_LDS_append || l->row->step == WMI_LDS_consume; /* address from M0 */
        gds->data = l->memory;
    }
    if (l->limited)
        wmi_emit(l->b, WMI_STEP_lds_limit_by_m0);
    filled.lanes = l->lanes;
    wmi_emit_as(l->b, wmi_step_of_lds(step), &filled);
    if (l->gds)
        wmi_emit(l->b, WMI_STEP_return_to_loop);
}

static void fill_offsets(struct lowering *l, const struct wmi_instruction *insn)
{
    const struct lds_row *row = l->row;
    l->operands.x = (uint32_t)insn->field[WMI_FIELD_offset] & 0xffff;
    if (row->places == 2) {
        const uint32_t unit = row->bytes * (wmi_rows[insn->id].flags & WMI_ROW_STRIDE64 ? 64 : 1);
        l->operands.x = (uint32_t)insn->field[WMI_FIELD_offset0] * unit;
        l->operands.y = (uint32_t)insn->field[WMI_FIELD_offset1] * unit;
    }
    if (row->step == WMI_LDS_permute || row->step == WMI_LDS_bpermute)
        l->operands.y = wmi_builder_limit(l->b, WMI_LIMIT_exchange_lanes) |
                        (insn->id == WMI_INSN_ds_bpermute_fi_b32 ? WMI_LDS_ALL_LANES : 0);
}

/* Emits steps that compute the ADDR row of *_addtid_* and the ADDR and DATA rows of *_src2_*. */
static void emit_address(struct lowering *l, const struct wmi_instruction *insn)
{
    if (insn->id == WMI_INSN_ds_read_addtid_b32 || insn->id == WMI_INSN_ds_write_addtid_b32) {
        l->operands.a = wmi_lower_temporary(l->b, 1);
        wmi_emit(l->b, WMI_STEP_lds_addtid)->d = l->operands.a;
    }
    if (l->row->second) {
        const uint32_t first = wmi_lower_temporary(l->b, 1);
        const uint32_t data = wmi_lower_temporary(l->b, l->row->bytes / 4);
        emit_ds(l, l->row->bytes == 8 ? WMI_LDS_src2_b64 : WMI_LDS_src2_b32,
                &(struct wmi_step){.a = l->operands.a, .x = l->operands.x, .d = first, .e = data});
        l->operands.a = first;
        l->operands.b = data;
        l->operands.x = 0;
    }
}

/* Emits the alignment step of loads and stores, if the alignment mode requires one. */
static void emit_alignment(struct lowering *l)
{
    if (!l->row->places || l->memory->kind == WMI_ACCESS_ATOMIC ||
        l->memory->alignment == WMI_ALIGNMENT_UNALIGNED)
        return;
    const uint32_t aligned = wmi_lower_temporary(l->b, 1);
    struct wmi_step *op = wmi_emit(l->b, WMI_STEP_lds_align);
    op->a = l->operands.a;
    op->x = l->operands.x;
    op->d = aligned;
    op->data = l->memory;
    l->operands.a = aligned;
    l->b->repeatable &= l->memory->alignment == WMI_ALIGNMENT_DWORD; /* the strict ones count violations */
}

static void emit_watches(const struct lowering *l)
{
    struct wmi_step watch = l->operands;
    struct wmi_memory_op *mine;
    for (unsigned next = 0; (mine = wmi_builder_next_watch(l->b, l->memory, false, &next));) {
        watch.data = mine;
        emit_ds(l, l->row->places ? WMI_LDS_observe : WMI_LDS_observe_lanes, &watch);
    }
}

bool wmi_lower_ds(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    if (insn->id == WMI_INSN_ds_nop)
        return true;
    if (insn->id == WMI_INSN_ds_bvh_stack_rtn_b32)
        return wmi_lower_stack(b, insn);
    const struct lds_row *row = &lds_rows[insn->id];
    struct lowering l = {
        .b = b, .row = row, .gds = insn->field[WMI_FIELD_gds], .lanes = offsetof(struct wmi_frame, exec)};
    const bool counter = row->step == WMI_LDS_append || row->step == WMI_LDS_consume;
    bool ok = true;
    if (row->step == WMI_LDS_NONE)
        return wmi_lower_gws(b, insn);
    if (l.gds && !row->places)
        return false;
    l.limited = row->places && !l.gds && !counter && wmi_builder_limit(b, WMI_LIMIT_lds_m0);
    l.operands = (struct wmi_step){
        .a = rows_of(b, insn, WMI_ROLE_ADDR, &ok),
        .b = rows_of(b, insn, row->swapped ? WMI_ROLE_DATA2 : WMI_ROLE_DATA, &ok),
        .c = rows_of(b, insn, row->swapped ? WMI_ROLE_DATA : WMI_ROLE_DATA2, &ok),
        .d = rows_of(b, insn, WMI_ROLE_D, &ok),
    };
    if (!ok)
        return false;
    if (insn->id == WMI_INSN_ds_atomic_async_barrier_arrive_b64)
        l.operands.b = wmi_lower_vector_constant(b, 1, 2);
    const struct wmi_transpose transpose = wmi_lower_transpose(insn->id);
    if (transpose.all_lanes)
        l.lanes = wmi_lower_all_lanes(b);
    const bool watched = wmi_builder_watches(b);
    if (row->places || watched) {
        l.memory = wmi_builder_memory_op(b, insn);
        l.memory->parameter = row->places | row->bytes << 8;
        l.memory->returns = row->returns;
        if (l.gds)
            l.memory->path = WMI_PATH_GDS;
        else if (row->places && !counter)
            wmi_builder_summary(b, WMI_SPACE_LDS, row->places, row->bytes);
        if (row->places && !counter)
            wmi_builder_set_late(b, l.memory);
    }
    l.operands.data = l.memory;
    fill_offsets(&l, insn);
    emit_address(&l, insn);
    emit_alignment(&l);
    /* The watch comes first because the instruction may overwrite its ADDR row. */
    if (watched)
        emit_watches(&l);
    const uint32_t result = l.operands.d;
    if (transpose.bits)
        l.operands.d = wmi_lower_temporary(b, row->bytes / 4);
    emit_ds(&l, row->step, &l.operands);
    if (transpose.bits)
        wmi_emit_transpose(b, &transpose, l.operands.d, result, l.lanes);
    return true;
}

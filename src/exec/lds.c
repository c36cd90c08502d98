/* SPDX-License-Identifier: MIT */
/* Lowers DS instructions to steps: one row of the table below per instruction. */
#include "exec/lds.h"
#include "exec/control.h"

#include "exec/gds.h"

#include <stddef.h>
#include <string.h>

/* places, bytes: see wmi_lds_places(); 0 places: the instruction touches no memory. */
struct lds_row {
    uint8_t step, places, bytes;
    bool returns, second; /* second: *_src2_* */
};

#define ROW(insn, step, places, bytes) [WMI_INSN_##insn] = {WMI_LDS_##step, places, bytes, false},
/* An atomic in both forms: ds_NAME_TYPE and ds_NAME_rtn_TYPE. */
#define ATOMIC(name, type, step, bytes)                                                                      \
    [WMI_INSN_ds_##name##_##type] = {WMI_LDS_##step, 1, bytes, false},                                       \
    [WMI_INSN_ds_##name##_rtn_##type] = {WMI_LDS_##step, 1, bytes, true},
/* The same with data from a second place: ds_NAME_src2_TYPE. */
#define SRC2(name, type, step, bytes)                                                                        \
    [WMI_INSN_ds_##name##_src2_##type] = {WMI_LDS_##step, 1, bytes, false, true},
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
    RETURNING(ds_wrxchg_rtn_b64, wrxchg_b64, 1, 8)
    RETURNING(ds_wrxchg2_rtn_b64, wrxchg2_b64, 2, 8)
    RETURNING(ds_wrxchg2st64_rtn_b64, wrxchg2_b64, 2, 8)
    RETURNING(ds_condxchg32_rtn_b64, condxchg32_b64, 1, 8)
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
    /* clang-format on */
};

/* The body tables of lds_lanes.c, one per build of it. */
#define BUILD(level, lanes) extern const wmi_body wmi_lds_steps_##level##_##lanes[WMI_LDS_STEP_COUNT];
BUILD(baseline, 64)
BUILD(baseline, 32)
#if defined(__x86_64__)
BUILD(avx2, 64)
BUILD(avx2, 32)
BUILD(avx512, 64)
BUILD(avx512, 32)
#endif

wmi_body wmi_lds_body(enum wmi_cpu_level level, unsigned lanes, enum wmi_lds_step step)
{
    static const wmi_body *const tables[WMI_CPU_LEVELS][2] = {
        [WMI_CPU_BASELINE] = {wmi_lds_steps_baseline_32, wmi_lds_steps_baseline_64},
#if defined(__x86_64__)
        [WMI_CPU_AVX2] = {wmi_lds_steps_avx2_32, wmi_lds_steps_avx2_64},
        [WMI_CPU_AVX512] = {wmi_lds_steps_avx512_32, wmi_lds_steps_avx512_64},
#endif
    };
    return tables[level][lanes == 64][step];
}

/* Row d <- one value of LDS in all lanes: M0[15:0] is its address, M0[18:16] its type. Out of range it is 0.
 * Source: Vega ISA, "LDS Direct Read". Observers do not see it. */
static const struct wmi_op *read_direct(char *restrict frame, const struct wmi_op *op)
{
    static const struct {
        uint8_t bytes, sign;
    } types[8] = {{1, 0}, {2, 0}, {4, 0}, {0, 0}, {1, 24}, {2, 16}, {0, 0}, {0, 0}};
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const uint32_t at = f->s[WMI_S_M0] & 0xffff, type = f->s[WMI_S_M0] >> 16 & 7;
    const unsigned bytes = types[type].bytes, sign = types[type].sign;
    uint32_t value = 0, *row = (uint32_t *)(frame + op->d);
    if (group->lds_size >= bytes && at <= group->lds_size - bytes)
        memcpy(&value, group->lds + at, bytes);
    value = (uint32_t)((int32_t)(value << sign) >> sign);
    for (unsigned i = 0; i < f->wave_size; i++)
        row[i] = value;
    return op + 1;
}

uint32_t wmi_lower_lds_direct(struct wmi_builder *builder)
{
    const uint32_t row = wmi_lower_temporary(builder, 1);
    wmi_emit(builder, read_direct)->d = row;
    return row;
}

/* Byte offset of an operand's rows; 0 without such an operand. */
static uint32_t rows_of(struct wmi_builder *builder, const struct wmi_instruction *insn, enum wmi_role role,
                        bool *ok)
{
    const struct wmi_operand *operand = wmi_operand(insn, role);
    if (!operand)
        return 0;
    if (operand->kind != WMI_OPERAND_VGPR) {
        *ok = false;
        return 0;
    }
    return wmi_lower_vgpr(builder, operand->reg, operand->dwords, ok);
}

bool wmi_lower_lds(struct wmi_builder *builder, const struct wmi_instruction *insn)
{
    if (insn->id == WMI_INSN_ds_nop)
        return true;
    const struct lds_row *row = &lds_rows[insn->id];
    const bool gds = insn->field[WMI_FIELD_gds];
    const bool counter = row->step == WMI_LDS_append || row->step == WMI_LDS_consume;
    if (row->step == WMI_LDS_NONE)
        return wmi_lower_gws(builder, insn);
    if (gds && !row->places)
        return false;
    const enum wmi_cpu_level level = wmi_builder_level(builder);
    const unsigned lanes = wmi_builder_lanes(builder);
    bool ok = true;
    struct wmi_op operands = {
        .a = rows_of(builder, insn, WMI_ROLE_ADDR, &ok),
        .b = rows_of(builder, insn, WMI_ROLE_DATA, &ok),
        .c = rows_of(builder, insn, WMI_ROLE_DATA2, &ok),
        .d = rows_of(builder, insn, WMI_ROLE_D, &ok),
    };
    if (!ok)
        return false;
    struct wmi_memory_op *memory = NULL;
    if (row->places) {
        memory = wmi_builder_memory_op(builder, insn);
        memory->parameter = row->places | row->bytes << 8;
        memory->returns = row->returns;
        if (gds)
            memory->path = WMI_PATH_GDS;
    }
    operands.data = memory;
    if (row->places == 2) {
        const uint32_t unit = row->bytes * (wmi_rows[insn->id].flags & WMI_ROW_STRIDE64 ? 64 : 1);
        operands.x = (uint32_t)insn->field[WMI_FIELD_offset0] * unit;
        operands.y = (uint32_t)insn->field[WMI_FIELD_offset1] * unit;
    } else {
        operands.x = (uint32_t)insn->field[WMI_FIELD_offset] & 0xffff;
    }
    if (insn->id == WMI_INSN_ds_read_addtid_b32 || insn->id == WMI_INSN_ds_write_addtid_b32) {
        operands.a = wmi_lower_temporary(builder, 1);
        wmi_emit(builder, wmi_lds_body(level, lanes, WMI_LDS_addtid))->d = operands.a;
    }
    if (row->second) {
        const enum wmi_lds_step read = row->bytes == 8 ? WMI_LDS_src2_b64 : WMI_LDS_src2_b32;
        const uint32_t first = wmi_lower_temporary(builder, 1);
        const uint32_t data = wmi_lower_temporary(builder, row->bytes / 4);
        if (gds)
            wmi_lower_gds(builder, memory, false);
        struct wmi_op *op = wmi_emit(builder, wmi_lds_body(level, lanes, read));
        op->a = operands.a;
        op->x = operands.x;
        op->d = first;
        op->e = data;
        if (gds)
            wmi_emit(builder, wmi_step_return);
        operands.a = first;
        operands.b = data;
        operands.x = 0;
    }
    /* The observer comes first: the instruction itself may overwrite its ADDR row. */
    const bool watched = memory && wmi_builder_observer(builder);
    for (int i = watched ? 0 : 1; i < 2; i++) {
        if (gds)
            wmi_lower_gds(builder, memory, counter);
        struct wmi_op *op = wmi_emit(builder, wmi_lds_body(level, lanes, i ? row->step : WMI_LDS_observe));
        operands.body = op->body;
        operands.lanes = op->lanes;
        *op = operands;
        if (gds)
            wmi_emit(builder, wmi_step_return);
    }
    return true;
}

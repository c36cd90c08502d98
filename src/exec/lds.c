/* SPDX-License-Identifier: MIT */
/* Lowers DS instructions to steps: one row of the table below per instruction. */
#include "exec/lds.h"
#include "exec/control.h"

#include "exec/gds.h"
#include "exec/program.h"
#include "memory/buffer.h"

#include <stddef.h>
#include <string.h>

/* places, bytes: see wmi_lds_places(); 0 places: the instruction touches no memory. */
struct lds_row {
    uint8_t step, places, bytes;
    bool returns, second; /* second: *_src2_* */
    bool swapped;         /* DATA is what is stored and DATA2 what is compared, not the other way round */
};

#define ROW(insn, step, places, bytes) [WMI_INSN_##insn] = {WMI_LDS_##step, places, bytes, false},
/* An atomic in both forms: ds_NAME_TYPE and ds_NAME_rtn_TYPE. */
#define ATOMIC(name, type, step, bytes)                                                                      \
    [WMI_INSN_ds_##name##_##type] = {WMI_LDS_##step, 1, bytes, false},                                       \
    [WMI_INSN_ds_##name##_rtn_##type] = {WMI_LDS_##step, 1, bytes, true},
/* The same with data from a second place: ds_NAME_src2_TYPE. */
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

/* The body tables of lds_lanes.c and lds_atomic_lanes.c, one per build of them. */
#define BUILD(level, lanes)                                                                                  \
    extern const wmi_body wmi_lds_steps_##level##_##lanes[WMI_LDS_STEP_COUNT];                               \
    extern const wmi_body wmi_lds_atomics_##level##_##lanes[WMI_LDS_STEP_COUNT];
BUILD(baseline, 64)
BUILD(baseline, 32)
#ifdef WMI_X86_LEVELS
BUILD(avx2, 64)
BUILD(avx2, 32)
BUILD(avx512, 64)
BUILD(avx512, 32)
#endif

wmi_body wmi_lds_body(enum wmi_cpu_level level, unsigned lanes, enum wmi_lds_step step)
{
#define TABLES(level)                                                                                        \
    {                                                                                                        \
        {wmi_lds_steps_##level##_32, wmi_lds_atomics_##level##_32},                                          \
        {                                                                                                    \
            wmi_lds_steps_##level##_64, wmi_lds_atomics_##level##_64                                         \
        }                                                                                                    \
    }
    static const wmi_body *const tables[WMI_CPU_LEVELS][2][2] = {
        [WMI_CPU_BASELINE] = TABLES(baseline),
#ifdef WMI_X86_LEVELS
        [WMI_CPU_AVX2] = TABLES(avx2),
        [WMI_CPU_AVX512] = TABLES(avx512),
#endif
    };
    const wmi_body *const *two = tables[level][lanes == 64];
    return two[0][step] ? two[0][step] : two[1][step];
}

/* Where M0 lets LDS_DIRECT read: M0[15:0] is the address, M0[18:16] the type.
 * Source: Vega ISA, "LDS Direct Read". */
struct direct {
    uint32_t at;
    uint8_t bytes, sign; /* sign: how far to the left the sign bit of a signed type is */
    bool in_range;
};

static struct direct direct_place(const struct wmi_frame *f, const struct wmi_workgroup *group)
{
    static const struct {
        uint8_t bytes, sign;
    } types[8] = {{1, 0}, {2, 0}, {4, 0}, {0, 0}, {1, 24}, {2, 16}, {0, 0}, {0, 0}};
    const uint32_t m0 = f->s[WMI_S_M0], type = m0 >> 16 & 7, at = m0 & 0xffff;
    const uint8_t bytes = types[type].bytes;
    return (struct direct){at, bytes, types[type].sign,
                           group->lds_size >= bytes && at <= group->lds_size - bytes};
}

/* Row d <- one value of LDS in all lanes, 0 out of range. */
static const struct wmi_op *read_direct(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const struct direct place = direct_place(f, group);
    uint32_t value = 0, *row = (uint32_t *)(frame + op->d);
    if (place.in_range)
        memcpy(&value, group->lds + place.at, place.bytes);
    value = (uint32_t)((int32_t)(value << place.sign) >> place.sign);
    for (unsigned i = 0; i < f->wave_size; i++)
        row[i] = value;
    return op + 1;
}

/* All active lanes read one place. */
static const struct wmi_op *observe_direct(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct wmi_memory_op *memory = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    const struct wmi_workgroup *group = wave->group;
    const struct direct place = direct_place(f, group);
    uint64_t address[64];
    for (unsigned i = 0; i < 64; i++)
        address[i] = place.at;
    struct wmi_access access = {
        .pc = memory->pc,
        .workgroup = {group->id[0], group->id[1], group->id[2]},
        .wave = wave->index,
        .path = WMI_PATH_DS,
        .kind = WMI_ACCESS_LOAD,
        .lanes = f->exec.bits,
        .elements = 1,
        .bytes = place.bytes,
        .element = {{.space = WMI_SPACE_LDS,
                     .mask = f->exec.bits,
                     .bad_range = place.in_range ? 0 : f->exec.bits,
                     .address = address}},
    };
    wmi_show_access(wave, memory, &access);
    return op + 1;
}

uint32_t wmi_lower_lds_direct(struct wmi_builder *builder, const struct wmi_instruction *insn)
{
    const uint32_t row = wmi_lower_temporary(builder, 1);
    if (wmi_builder_observer(builder))
        wmi_emit(builder, observe_direct)->data = wmi_builder_memory_op(builder, insn);
    wmi_emit(builder, read_direct)->d = row;
    return row;
}

/* Lets the next step see no more of the LDS than M0 allows. LLVM sets 0x7fff or 0xffff for all of it, so M0
 * is taken as the last byte's place and rounded up to dwords (unverified). Sources: CLRX, "DS instructions";
 * LLVM AMDGPUUsage, "M0". */
static const struct wmi_op *limit_by_m0(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const uint32_t size = group->lds_size, m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0];
    if (__builtin_expect(m0 >= size, 1))
        return wmi_next(frame, op);
    const struct wmi_op alone[2] = {op[1], {.body = wmi_step_return}};
    group->lds_size = m0 + 3 < size ? (m0 + 3) & ~3u : size;
    const struct wmi_op *next = alone->body(frame, alone);
    group->lds_size = size;
    return next ? op + 2 : NULL;
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

/* Row d <- the addresses of row a, less their offsets again, as the alignment mode makes them; lanes that it
 * refuses are a violation, and go on to where no LDS is. The places of one lane have the same low bits. */
static const struct wmi_op *align(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *state = (const struct wmi_frame *)frame;
    const struct wmi_memory_op *memory = op->data;
    const uint32_t *from = (const uint32_t *)(frame + op->a);
    uint32_t *to = (uint32_t *)(frame + op->d);
    enum { NOWHERE = 1u << 31 }; /* nor is there any with what the second place adds */
    struct wmi_fault fault = {.kind = WM_FAULT_MISALIGNED,
                              .pc = memory->pc,
                              .low = UINT64_MAX,
                              .bytes = wmi_lds_bytes(memory),
                              .store = memory->kind == WMI_ACCESS_STORE,
                              .plain = true};
    for (unsigned i = 0; i < state->wave_size; i++) {
        const uint32_t at = from[i] + op->x;
        uint64_t aligned = at;
        if (!wmi_align((enum wmi_alignment)memory->alignment, false, fault.bytes, &aligned) &&
            state->exec.bits >> i & 1) {
            aligned = NOWHERE;
            fault.lanes |= 1ULL << i;
            fault.low = at < fault.low ? at : fault.low;
            fault.high = at + fault.bytes - 1 > fault.high ? at + fault.bytes - 1 : fault.high;
        }
        to[i] = (uint32_t)aligned - op->x;
    }
    return !fault.lanes || wmi_wave_violates(wmi_wave_of(frame), &fault) ? op + 1 : NULL;
}

/* A DS instruction that is being lowered. */
struct lowering {
    struct wmi_builder *builder;
    const struct lds_row *row;
    struct wmi_memory_op *memory;
    struct wmi_op operands;
    bool gds, limited; /* limited: by M0 */
};

/* Emits a step of the table, on the GDS or as far as M0 allows, with these operands. */
static void emit_ds(const struct lowering *l, enum wmi_lds_step step, struct wmi_op operands)
{
    if (l->gds)
        wmi_lower_gds(l->builder, l->memory,
                      l->row->step == WMI_LDS_append || l->row->step == WMI_LDS_consume);
    if (l->limited)
        wmi_emit(l->builder, limit_by_m0);
    struct wmi_op *op = wmi_emit(
        l->builder, wmi_lds_body(wmi_builder_level(l->builder), wmi_builder_lanes(l->builder), step));
    operands.body = op->body;
    operands.lanes = op->lanes;
    *op = operands;
    if (l->gds)
        wmi_emit(l->builder, wmi_step_return);
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
        l->operands.y = wmi_builder_limit(l->builder, WMI_LIMIT_exchange_lanes);
}

/* Emits what makes the ADDR row, and the DATA rows of *_src2_*, where the instruction does not name them. */
static void emit_address(struct lowering *l, const struct wmi_instruction *insn)
{
    if (insn->id == WMI_INSN_ds_read_addtid_b32 || insn->id == WMI_INSN_ds_write_addtid_b32) {
        l->operands.a = wmi_lower_temporary(l->builder, 1);
        wmi_emit(l->builder,
                 wmi_lds_body(wmi_builder_level(l->builder), wmi_builder_lanes(l->builder), WMI_LDS_addtid))
            ->d = l->operands.a;
    }
    if (l->row->second) {
        const uint32_t first = wmi_lower_temporary(l->builder, 1);
        const uint32_t data = wmi_lower_temporary(l->builder, l->row->bytes / 4);
        emit_ds(l, l->row->bytes == 8 ? WMI_LDS_src2_b64 : WMI_LDS_src2_b32,
                (struct wmi_op){.a = l->operands.a, .x = l->operands.x, .d = first, .e = data});
        l->operands.a = first;
        l->operands.b = data;
        l->operands.x = 0;
    }
}

/* Loads and stores in an alignment mode that does not take any address. */
static void emit_alignment(struct lowering *l)
{
    if (!l->row->places || l->memory->kind == WMI_ACCESS_ATOMIC ||
        l->memory->alignment == WMI_ALIGNMENT_UNALIGNED)
        return;
    const uint32_t aligned = wmi_lower_temporary(l->builder, 1);
    struct wmi_op *op = wmi_emit(l->builder, align);
    op->a = l->operands.a;
    op->x = l->operands.x;
    op->d = aligned;
    op->data = l->memory;
    l->operands.a = aligned;
}

bool wmi_lower_lds(struct wmi_builder *builder, const struct wmi_instruction *insn)
{
    if (insn->id == WMI_INSN_ds_nop)
        return true;
    if (insn->id == WMI_INSN_ds_bvh_stack_rtn_b32)
        return wmi_lower_stack(builder, insn);
    const struct lds_row *row = &lds_rows[insn->id];
    struct lowering l = {.builder = builder, .row = row, .gds = insn->field[WMI_FIELD_gds]};
    const bool counter = row->step == WMI_LDS_append || row->step == WMI_LDS_consume;
    bool ok = true;
    if (row->step == WMI_LDS_NONE)
        return wmi_lower_gws(builder, insn);
    if (l.gds && !row->places)
        return false;
    l.limited = row->places && !l.gds && !counter && wmi_builder_limit(builder, WMI_LIMIT_lds_m0);
    l.operands = (struct wmi_op){
        .a = rows_of(builder, insn, WMI_ROLE_ADDR, &ok),
        .b = rows_of(builder, insn, row->swapped ? WMI_ROLE_DATA2 : WMI_ROLE_DATA, &ok),
        .c = rows_of(builder, insn, row->swapped ? WMI_ROLE_DATA : WMI_ROLE_DATA2, &ok),
        .d = rows_of(builder, insn, WMI_ROLE_D, &ok),
    };
    if (!ok)
        return false;
    const bool watched = wmi_builder_observer(builder);
    if (row->places || watched) {
        l.memory = wmi_builder_memory_op(builder, insn);
        l.memory->parameter = row->places | row->bytes << 8;
        l.memory->returns = row->returns;
        if (l.gds)
            l.memory->path = WMI_PATH_GDS;
        else if (row->places && !counter)
            l.memory->shape = wmi_builder_outline(builder, WMI_SPACE_LDS, row->places, row->bytes);
    }
    l.operands.data = l.memory;
    fill_offsets(&l, insn);
    emit_address(&l, insn);
    emit_alignment(&l);
    /* The observer comes first: the instruction itself may overwrite its ADDR row. */
    if (watched)
        emit_ds(&l, row->places ? WMI_LDS_observe : WMI_LDS_observe_lanes, l.operands);
    emit_ds(&l, row->step, l.operands);
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Lowers scalar memory instructions: SMRD of gfx6 and gfx7, SMEM of later targets. */
#include "lower/classes.h"
#include "memory/buffer.h"

/* Control instructions with a result: clocks and the wave's number. */
static bool lower_result(struct wmi_builder *b, const struct wmi_instruction *insn,
                         const struct wmi_operand *result)
{
    const uint32_t place = wmi_lower_scalar(b, result);
    if (insn->id == WMI_INSN_s_get_waveid_in_workgroup) {
        wmi_emit(b, WMI_STEP_scalar_wave_number)->d = place;
        return true;
    }
    if (insn->id != WMI_INSN_s_memtime && insn->id != WMI_INSN_s_memrealtime)
        return false;
    struct wmi_step *op = wmi_emit(b, WMI_STEP_scalar_clock);
    op->d = place;
    op->x = insn->id == WMI_INSN_s_memrealtime ? WMI_CYCLES_PER_TICK : 1;
    return true;
}

/* Operation on the scalar data cache (enum wmi_scalar_control); 0 if there is none. */
static unsigned control_of(const struct wmi_row *row)
{
    unsigned control = 0;
    if (row->cache_level != WMI_CACHE_LEVEL_SCALAR)
        return 0;
    if (row->cache & WMI_CACHE_INVALIDATE)
        control |= WMI_SCALAR_INVALIDATE;
    if (row->cache & WMI_CACHE_WRITE_BACK)
        control |= WMI_SCALAR_WRITE_BACK;
    if (row->cache & WMI_CACHE_DISCARD)
        control |= WMI_SCALAR_DISCARD;
    return control && row->cache_scope == WMI_CACHE_SCOPE_VOLATILE ? control | WMI_SCALAR_VOLATILE_ONLY
                                                                   : control;
}

/* The offset: an immediate, an SGPR at step->b, or both. Returns the immediate in bytes. SMRD immediates and
 * literals are in dwords, SGPR offsets in bytes. Source: LLVM, getSMRDEncodedOffset. */
static int64_t lower_offset(struct wmi_builder *b, const struct wmi_instruction *insn,
                            const struct wmi_operand *offset, struct wmi_step *step)
{
    const bool literal = offset->kind == WMI_OPERAND_LITERAL;
    if (literal || offset->kind == WMI_OPERAND_IMMEDIATE) {
        step->b = wmi_lower_scalar_constant(b, 0);
        const int64_t value = literal ? (int64_t)(uint32_t)offset->value : (int64_t)offset->value;
        return value * wmi_builder_limit(b, WMI_LIMIT_smem_unit);
    }
    step->b = wmi_lower_scalar(b, offset);
    const bool both = wmi_builder_limit(b, WMI_LIMIT_smem_soffset) ||
                      (insn->field[WMI_FIELD_soe] && insn->field[WMI_FIELD_imm]);
    return both ? insn->field[WMI_FIELD_simm] : 0;
}

/* The base of a load that multiplies its offset in an SGPR by the size of its data, with that offset: in 64
 * bits. The offset of the step becomes 0. Source: CDNA 5 ISA, "Scalar Memory Addressing". */
static void scale_offset(struct wmi_builder *b, const struct wmi_row *row, struct wmi_step *step)
{
    const uint32_t size = wmi_lower_scalar_constant(b, (unsigned)row->elements * row->bytes),
                   zero = wmi_lower_scalar_constant(b, 0), wide = wmi_lower_temporary_scalar(b),
                   product = wmi_lower_temporary_scalar(b), sum = wmi_lower_temporary_scalar(b);
    const struct {
        unsigned body;
        uint32_t d, a, b, dwords;
    } bodies[] = {
        {WMI_INSN_s_mov_b64, wide, zero, 0, 2},
        {WMI_INSN_s_mov_b32, wide, step->b, 0, 1},
        {WMI_INSN_s_mul_u64, product, wide, size, 2},
        {WMI_INSN_s_add_nc_u64, sum, step->a, product, 2},
    };
    for (unsigned i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct wmi_step *emitted = wmi_emit(b, wmi_step_of_body(bodies[i].body));
        const uint8_t words = (uint8_t)(WMI_USE_WORDS | bodies[i].dwords);
        emitted->d = bodies[i].d;
        emitted->a = bodies[i].a;
        emitted->b = bodies[i].b;
        emitted->use[WMI_OP_D] = WMI_USE_WRITE | words;
        emitted->use[WMI_OP_A] = WMI_USE_READ | words;
        if (emitted->b)
            emitted->use[WMI_OP_B] = WMI_USE_READ | words;
    }
    step->a = sum;
    step->b = zero;
}

/* Cache control, probes and prefetches need no step while memory is coherent, that is, unless the scalar
 * cache is modelled. */
static bool lower_control(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const unsigned control = control_of(&wmi_rows[insn->id]);
    if (result)
        return lower_result(b, insn, result);
    wmi_lower_invalidation(b, insn);
    if (!control || !b->code->options.scalar_cache)
        return true;
    struct wmi_step step = {.x = control};
    if (control == WMI_SCALAR_DISCARD) {
        const struct wmi_operand *base = wmi_operand(insn, WMI_ROLE_ADDR);
        const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
        if (!base || !offset)
            return false;
        const int64_t immediate = lower_offset(b, insn, offset, &step);
        struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
        m->offset = immediate & ~INT64_C(3);
        m->bytes = 4;
        step.a = wmi_lower_scalar(b, base);
        step.y = insn->id == WMI_INSN_s_dcache_discard_x2 ? 2 : 1;
        step.data = m;
    }
    wmi_emit_as(b, WMI_STEP_scalar_cache_control, &step);
    return true;
}

/* The step for an access; WMI_STEP_NONE if there is none. */
static enum wmi_step_id scalar_step(const struct wmi_memory_op *m, bool buffer)
{
    static const uint16_t loads[] = {
        [1] = WMI_STEP_scalar_load_1, [2] = WMI_STEP_scalar_load_2, [3] = WMI_STEP_scalar_load_3,
        [4] = WMI_STEP_scalar_load_4, [8] = WMI_STEP_scalar_load_8, [16] = WMI_STEP_scalar_load_16};
    if (m->kind == WMI_ACCESS_ATOMIC)
        return m->parameter != WMI_ATOMIC_NONE ? WMI_STEP_scalar_atomic : WMI_STEP_NONE;
    if (m->kind == WMI_ACCESS_STORE)
        return WMI_STEP_scalar_store;
    if (buffer || m->bytes < 4)
        return WMI_STEP_scalar_load_any;
    return m->elements < sizeof loads / sizeof loads[0] ? (enum wmi_step_id)loads[m->elements]
                                                        : WMI_STEP_NONE;
}

bool wmi_lower_scalar_memory(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->flags & WMI_ROW_TODO)
        return false;
    if (row->memory == WMI_MEMORY_CONTROL)
        return lower_control(b, insn);
    const struct wmi_operand *base = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *resource = wmi_operand(insn, WMI_ROLE_RSRC);
    const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    if (!base == !resource || !offset || !result == !data)
        return false;

    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec), .x = resource != NULL};
    const int64_t immediate = lower_offset(b, insn, offset, &step);
    step.a = wmi_lower_scalar(b, base ? base : resource);
    if (insn->field[WMI_FIELD_scale_offset])
        scale_offset(b, row, &step);
    if (row->group == WMI_GROUP_SCRATCH && offset->kind != WMI_OPERAND_IMMEDIATE) {
        const uint32_t place = wmi_lower_temporary_scalar(b);
        const uint32_t zero = wmi_lower_scalar_constant(b, 0);
        struct wmi_step *op = wmi_emit(b, WMI_STEP_scalar_scratch_base);
        op->d = place;
        op->a = step.a;
        op->b = step.b;
        step.a = place;
        step.b = zero;
    }
    if (result)
        step.d = wmi_lower_scalar(b, result);
    if (data)
        step.c = wmi_lower_scalar(b, data);

    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    m->offset = immediate & ~(int64_t)(m->bytes < 4 ? m->bytes - 1 : 3);
    m->parameter = wmi_lower_atomic(b, insn->id);
    m->returns = m->kind == WMI_ACCESS_ATOMIC && insn->field[WMI_FIELD_glc];
    m->buffer = wmi_buffer_rules(wmi_builder_limit(b, WMI_LIMIT_buffer_rules));
    wmi_builder_summary(b, WMI_SPACE_GLOBAL, 1, (unsigned)m->elements * m->bytes);
    enum wmi_step_id id = scalar_step(m, resource != NULL);
    if (id == WMI_STEP_NONE)
        return false;
    if (b->code->options.scalar_cache)
        id = WMI_STEP_scalar_cached;
    if (resource && immediate < 0 && wmi_builder_limit(b, WMI_LIMIT_smem_buffer_violates))
        id = WMI_STEP_scalar_negative;
    step.data = m;
    if (m->kind == WMI_ACCESS_LOAD && id != WMI_STEP_scalar_cached && id != WMI_STEP_scalar_negative)
        wmi_builder_set_late(b, m);
    wmi_emit_watch(b, WMI_STEP_scalar_watch, &step);
    wmi_emit_as(b, id, &step);
    return true;
}

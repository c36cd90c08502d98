/* SPDX-License-Identifier: MIT */
/* Predecodes scalar memory instructions: SMRD of gfx6 and gfx7, SMEM of the others. */
#include "exec/program.h"
#include "exec/smem_cache.h"

/* What has a result: the clocks, the wave's number. */
static bool lower_result(struct wmi_builder *builder, const struct wmi_instruction *insn,
                         const struct wmi_operand *result)
{
    const uint32_t place = wmi_lower_scalar(builder, result);
    if (insn->id == WMI_INSN_s_get_waveid_in_workgroup) {
        wmi_emit(builder, wmi_scalar_wave_number)->d = place;
        return true;
    }
    if (insn->id != WMI_INSN_s_memtime && insn->id != WMI_INSN_s_memrealtime)
        return false;
    struct wmi_op *op = wmi_emit(builder, wmi_scalar_clock);
    op->d = place;
    op->x = insn->id == WMI_INSN_s_memrealtime ? WMI_CYCLES_PER_TICK : 1;
    return true;
}

/* What an instruction says to the scalar data cache; 0: nothing that shows. */
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

/* The offset: an immediate, an SGPR at step->b, or both. Returns the immediate's bytes. SMRD's immediates and
 * literals count dwords, its SGPRs bytes. Source: LLVM, getSMRDEncodedOffset. */
static int64_t lower_offset(struct wmi_builder *builder, const struct wmi_instruction *insn,
                            const struct wmi_operand *offset, struct wmi_op *step)
{
    const bool literal = offset->kind == WMI_OPERAND_LITERAL;
    if (literal || offset->kind == WMI_OPERAND_IMMEDIATE) {
        step->b = wmi_lower_scalar_constant(builder, 0);
        const int64_t value = literal ? (int64_t)(uint32_t)offset->value : (int64_t)offset->value;
        return value * wmi_builder_limit(builder, WMI_LIMIT_smem_unit);
    }
    step->b = wmi_lower_scalar(builder, offset);
    const bool both = wmi_builder_limit(builder, WMI_LIMIT_smem_soffset) ||
                      (insn->field[WMI_FIELD_soe] && insn->field[WMI_FIELD_imm]);
    return both ? insn->field[WMI_FIELD_simm] : 0;
}

/* Cache control, probes and prefetches need no step where memory is coherent. */
static bool lower_control(struct wmi_builder *builder, const struct wmi_instruction *insn)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const unsigned control = control_of(&wmi_rows[insn->id]);
    if (result)
        return lower_result(builder, insn, result);
    wmi_lower_invalidation(builder, insn);
    if (!control || !wmi_builder_scalar_cache(builder))
        return true;
    struct wmi_op step = {.body = wmi_scalar_cache_control, .x = control};
    if (control == WMI_SCALAR_DISCARD) {
        const struct wmi_operand *base = wmi_operand(insn, WMI_ROLE_ADDR);
        const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
        if (!base || !offset)
            return false;
        const int64_t immediate = lower_offset(builder, insn, offset, &step);
        struct wmi_memory_op *m = wmi_builder_memory_op(builder, insn);
        m->offset = immediate & ~INT64_C(3);
        m->bytes = 4;
        step.a = wmi_lower_scalar(builder, base);
        step.y = insn->id == WMI_INSN_s_dcache_discard_x2 ? 2 : 1;
        step.data = m;
    }
    *wmi_emit(builder, step.body) = step;
    return true;
}

bool wmi_lower_scalar_memory(struct wmi_builder *builder, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->flags & WMI_ROW_TODO)
        return false;
    if (row->memory == WMI_MEMORY_CONTROL)
        return lower_control(builder, insn);
    const struct wmi_operand *base = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *resource = wmi_operand(insn, WMI_ROLE_RSRC);
    const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    if (!base == !resource || !offset || !result == !data)
        return false;

    struct wmi_op step = {.lanes = offsetof(struct wmi_frame, exec), .x = resource != NULL};
    const int64_t immediate = lower_offset(builder, insn, offset, &step);
    step.a = wmi_lower_scalar(builder, base ? base : resource);
    if (row->group == WMI_GROUP_SCRATCH && offset->kind != WMI_OPERAND_IMMEDIATE) {
        const uint32_t place = wmi_lower_temporary_scalar(builder);
        const uint32_t zero = wmi_lower_scalar_constant(builder, 0);
        struct wmi_op *op = wmi_emit(builder, wmi_scalar_scratch_base);
        op->d = place;
        op->a = step.a;
        op->b = step.b;
        step.a = place;
        step.b = zero;
    }
    if (result)
        step.d = wmi_lower_scalar(builder, result);
    if (data)
        step.c = wmi_lower_scalar(builder, data);

    struct wmi_memory_op *m = wmi_builder_memory_op(builder, insn);
    m->offset = immediate & ~(int64_t)(m->bytes < 4 ? m->bytes - 1 : 3);
    m->parameter = wmi_atomic_of(insn->id);
    m->returns = m->kind == WMI_ACCESS_ATOMIC && insn->field[WMI_FIELD_glc];
    m->shape = wmi_builder_outline(builder, WMI_SPACE_GLOBAL, 1, (unsigned)m->elements * m->bytes);
    step.body = wmi_scalar_step(m, resource != NULL);
    if (!step.body)
        return false;
    step.data = m;
    if (wmi_builder_observer(builder)) {
        struct wmi_op *first = wmi_emit(builder, wmi_scalar_watch);
        *first = step;
        first->body = wmi_scalar_watch;
    }
    if (wmi_builder_scalar_cache(builder))
        step.body = wmi_scalar_cached;
    if (resource && immediate < 0 && wmi_builder_limit(builder, WMI_LIMIT_smem_buffer_violates))
        step.body = wmi_scalar_negative;
    *wmi_emit(builder, step.body) = step;
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Predecodes FLAT, GLOBAL and SCRATCH instructions: picks the step for what the row says it moves. */
#include "exec/buffer.h"
#include "exec/vmem.h"

wmi_body wmi_vmem_fast_step(const struct wmi_builder *builder, const struct wmi_memory_op *m,
                            enum wmi_vmem_form form)
{
    const struct wmi_vmem_step *s = wmi_vmem_steps(wmi_builder_level(builder), wmi_builder_lanes(builder));
    for (; s->elements; s++)
        if (s->kind == m->kind && s->elements == m->elements && s->bytes == m->bytes &&
            s->is_signed == m->is_signed && s->d16 == m->d16 && s->d16_hi == m->d16_hi)
            return s->step[form];
    return NULL;
}

/* The row of a VGPR operand; a missing operand is row 0, which nothing touches then. */
static bool vector_rows(struct wmi_builder *builder, const struct wmi_operand *operand, uint32_t *offset)
{
    bool ok = true;
    *offset = 0;
    if (!operand || operand->kind == WMI_OPERAND_OFF || operand->kind == WMI_OPERAND_NONE)
        return true;
    if (operand->kind != WMI_OPERAND_VGPR)
        return false;
    *offset = wmi_lower_vgpr(builder, operand->reg, operand->dwords, &ok);
    return ok;
}

/* Fills form, a and b of the step for the FLAT family. */
static bool lower_address(struct wmi_builder *builder, const struct wmi_instruction *insn,
                          struct wmi_op *step)
{
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *saddr = wmi_operand(insn, WMI_ROLE_SADDR);
    const bool has_addr = addr && addr->kind == WMI_OPERAND_VGPR;
    const bool has_saddr = saddr && saddr->kind != WMI_OPERAND_OFF && saddr->kind != WMI_OPERAND_NONE;
    if (has_saddr)
        step->b = wmi_lower_scalar(builder, saddr);
    if (wmi_rows[insn->id].class == WMI_CLASS_SCRATCH) {
        if (has_addr == has_saddr)
            return false; /* both, or none: gfx940 and gfx10.3 have these */
        step->x = has_saddr ? WMI_VMEM_SCRATCH_SADDR : WMI_VMEM_SCRATCH_VADDR;
    } else {
        if (!has_addr)
            return false;
        step->x = has_saddr ? WMI_VMEM_SADDR : WMI_VMEM_VADDR;
    }
    return vector_rows(builder, addr, &step->a);
}

static bool is_store_or_load(const struct wmi_row *row)
{
    return row->memory == WMI_MEMORY_LOAD || row->memory == WMI_MEMORY_STORE;
}

bool wmi_lower_vector_memory(struct wmi_builder *builder, const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    if (row->memory == WMI_MEMORY_CONTROL) /* buffer_wbinvl1, global_inv: memory is coherent anyway */
        return row->class == WMI_CLASS_BUFFER || row->class == WMI_CLASS_GLOBAL;
    const enum wmi_atomic atomic = wmi_lower_atomic(builder, insn->id);
    const bool buffer = row->class == WMI_CLASS_BUFFER || row->class == WMI_CLASS_TBUFFER;
    if ((insn->field[WMI_FIELD_lds] && !buffer) || (insn->field[WMI_FIELD_tfe] && !buffer) ||
        (!is_store_or_load(row) && atomic == WMI_ATOMIC_NONE))
        return false;

    struct wmi_op step = {.lanes = offsetof(struct wmi_frame, exec)};
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    if (row->memory == WMI_MEMORY_LOAD && !result && !buffer) /* into LDS */
        return false;
    if (!vector_rows(builder, data, &step.c) || !vector_rows(builder, result, &step.d))
        return false;
    if (buffer)
        return wmi_lower_buffer(builder, insn, atomic, &step);
    if (!lower_address(builder, insn, &step))
        return false;

    struct wmi_memory_op *m = wmi_builder_memory_op(builder, insn);
    m->parameter = atomic;
    if (row->memory == WMI_MEMORY_ATOMIC) {
        m->returns = insn->field[WMI_FIELD_glc];
        if (!result || result->kind != WMI_OPERAND_VGPR)
            step.d = step.c; /* MUBUF: the old value replaces the data */
        step.body = wmi_vmem_atomic;
    } else if (step.x < WMI_VMEM_FAST_FORMS) {
        step.body = wmi_vmem_fast_step(builder, m, step.x);
    } else {
        step.body = wmi_vmem_careful;
    }
    if (!step.body)
        return false;
    step.data = m;
    if (wmi_builder_observer(builder)) {
        struct wmi_op *watch = wmi_emit(builder, wmi_vmem_watch);
        *watch = step;
        watch->body = wmi_vmem_watch;
    }
    *wmi_emit(builder, step.body) = step;
    return true;
}

#define LEVEL(level)                                                                                         \
    extern const struct wmi_vmem_step wmi_vmem_steps_##level##_64[], wmi_vmem_steps_##level##_32[];
LEVEL(baseline)
#if defined(__x86_64__)
LEVEL(avx2)
LEVEL(avx512)
#endif

const struct wmi_vmem_step *wmi_vmem_steps(enum wmi_cpu_level level, unsigned lanes)
{
    static const struct wmi_vmem_step *const steps[WMI_CPU_LEVELS][2] = {
        [WMI_CPU_BASELINE] = {wmi_vmem_steps_baseline_32, wmi_vmem_steps_baseline_64},
#if defined(__x86_64__)
        [WMI_CPU_AVX2] = {wmi_vmem_steps_avx2_32, wmi_vmem_steps_avx2_64},
        [WMI_CPU_AVX512] = {wmi_vmem_steps_avx512_32, wmi_vmem_steps_avx512_64},
#endif
    };
    return steps[level][lanes == 64];
}

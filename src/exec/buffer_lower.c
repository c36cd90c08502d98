/* SPDX-License-Identifier: MIT */
/* Predecodes buffer instructions: picks the steps for what the row says it moves. */
#include "exec/buffer.h"
#include "exec/program.h"
#include "sem/table.h"

static wmi_body fast_step(const struct wmi_builder *builder, const struct wmi_memory_op *m)
{
    const struct wmi_buffer_step *s =
        wmi_buffer_steps(wmi_builder_level(builder), wmi_builder_lanes(builder));
    for (; s->elements; s++)
        if (s->kind == m->kind && s->elements == m->elements && s->bytes == m->bytes &&
            s->is_signed == m->is_signed && s->d16 == m->d16 && s->d16_hi == m->d16_hi)
            return s->step;
    return NULL;
}

static bool lower_address(struct wmi_builder *builder, const struct wmi_instruction *insn,
                          struct wmi_op *step)
{
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *rsrc = wmi_operand(insn, WMI_ROLE_RSRC);
    const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
    bool ok = true;
    step->y = (insn->field[WMI_FIELD_idxen] ? WMI_BUFFER_IDXEN : 0) |
              (insn->field[WMI_FIELD_offen] ? WMI_BUFFER_OFFEN : 0);
    if (!rsrc || !offset || (step->y && (!addr || addr->kind != WMI_OPERAND_VGPR)))
        return false;
    step->b = wmi_lower_scalar(builder, rsrc);
    step->e = wmi_lower_scalar(builder, offset);
    step->a = step->y ? wmi_lower_vgpr(builder, addr->reg, addr->dwords, &ok)
                      : wmi_lower_vector_constant(builder, 0, 1);
    return ok;
}

bool wmi_lower_buffer(struct wmi_builder *builder, const struct wmi_instruction *insn, enum wmi_atomic atomic,
                      struct wmi_op *step)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const struct wmi_buffer_rules *rules =
        wmi_buffer_rules(wmi_builder_limit(builder, WMI_LIMIT_buffer_rules));
    if (!rules || !lower_address(builder, insn, step))
        return false;
    struct wmi_memory_op *m = wmi_builder_memory_op(builder, insn);
    struct wmi_op linear = {0};
    m->buffer = rules;
    m->parameter = atomic;
    if (m->kind == WMI_ACCESS_ATOMIC) {
        m->returns = insn->field[WMI_FIELD_glc];
        if (!result || result->kind != WMI_OPERAND_VGPR)
            step->d = step->c; /* the old value replaces the data */
        step->body = wmi_buffer_atomic;
    } else if (step->y & WMI_BUFFER_IDXEN) {
        step->body = wmi_buffer_careful;
    } else {
        step->body = fast_step(builder, m);
        step->y |= WMI_BUFFER_LINEAR;
        step->x = wmi_lower_temporary_scalar(builder);
        linear = (struct wmi_op){.body = wmi_vmem_fast_step(builder, m, WMI_VMEM_SADDR),
                                 .d = step->d,
                                 .a = step->a,
                                 .b = step->x,
                                 .c = step->c,
                                 .lanes = step->lanes,
                                 .x = WMI_VMEM_SADDR,
                                 .data = m};
        if (!linear.body)
            return false;
    }
    if (!step->body)
        return false;
    step->data = m;
    if (wmi_builder_observer(builder)) {
        struct wmi_op *watch = wmi_emit(builder, wmi_buffer_watch);
        *watch = *step;
        watch->body = wmi_buffer_watch;
    }
    *wmi_emit(builder, step->body) = *step;
    if (linear.body)
        *wmi_emit(builder, linear.body) = linear;
    return true;
}

#define DECLARE(name, level, lanes, suffix) extern const struct wmi_buffer_step name##suffix[];
#define ENTRY(name, level, lanes, suffix)   [level][lanes / 64] = name##suffix,
WMI_LANE_BUILDS(DECLARE, wmi_buffer_steps)

const struct wmi_buffer_step *wmi_buffer_steps(enum wmi_cpu_level level, unsigned lanes)
{
    static const struct wmi_buffer_step *const steps[WMI_CPU_LEVELS][2] = {
        WMI_LANE_BUILDS(ENTRY, wmi_buffer_steps)};
    return steps[level][lanes / 64];
}

/* SPDX-License-Identifier: MIT */
/* Lowers tensor copies, whose operands are the groups of a D#. */
#include "lower/classes.h"

bool wmi_lower_tensor(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const enum wmi_role roles[] = {WMI_ROLE_A, WMI_ROLE_B, WMI_ROLE_C, WMI_ROLE_IMM};
    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec)};
    uint32_t *const groups[] = {&step.a, &step.b, &step.c, &step.e};
    for (unsigned i = 0; i < sizeof roles / sizeof *roles; i++) {
        const struct wmi_operand *group = wmi_operand(insn, roles[i]);
        const bool given = group && group->kind == WMI_OPERAND_SGPR;
        *groups[i] = given ? wmi_lower_scalar(b, group) : step.a;
        step.x |= (uint32_t)given << i;
    }
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    m->path = WMI_PATH_GLOBAL;
    step.data = m;
    wmi_emit_watch(b, WMI_STEP_tensor_watch, &step);
    step.y = 1;
    struct wmi_memory_op *mine;
    struct wmi_step watch = step;
    for (unsigned next = 0; (mine = wmi_builder_next_watch(b, m, true, &next));) {
        watch.data = mine;
        wmi_emit_as(b, WMI_STEP_tensor_watch, &watch);
    }
    wmi_emit_as(b, WMI_STEP_tensor_copy, &step);
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Lowers DS instructions other than plain LDS accesses: ray stacks, global wave sync, ordered count, GS
 * registers. */
#include "lower/classes.h"

enum { STACK_OPERANDS = 4 };

bool wmi_lower_stack(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    static const enum wmi_role roles[] = {WMI_ROLE_D, WMI_ROLE_ADDR, WMI_ROLE_DATA, WMI_ROLE_DATA2};
    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec)};
    uint32_t *const rows[] = {&step.d, &step.a, &step.b, &step.c};
    bool ok = true;
    for (unsigned i = 0; i < STACK_OPERANDS; i++) {
        const struct wmi_operand *operand = wmi_operand(insn, roles[i]);
        if (!operand || operand->kind != WMI_OPERAND_VGPR)
            return false;
        *rows[i] = wmi_lower_vgpr(b, operand->reg, operand->dwords, &ok);
    }
    step.y = 8u << ((uint32_t)insn->field[WMI_FIELD_offset] >> 12 & 3); /* OFFSET1[5:4] */
    if (wmi_builder_watches(b)) {
        step.data = wmi_builder_memory_op(b, insn);
        wmi_emit_watch(b, WMI_STEP_lds_watch_stack, &step);
    }
    wmi_emit_as(b, WMI_STEP_lds_stack, &step);
    return ok;
}

static bool lower_ordered_count(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_operand *value = wmi_operand(insn, WMI_ROLE_ADDR),
                             *result = wmi_operand(insn, WMI_ROLE_D);
    bool ok = value && result && value->kind == WMI_OPERAND_VGPR && result->kind == WMI_OPERAND_VGPR;
    if (!ok)
        return false;
    wmi_emit(b, WMI_STEP_return_to_loop)->value = b->pc; /* the pc where a wave waits */
    struct wmi_step *op = wmi_emit(b, WMI_STEP_ordered_count);
    op->a = wmi_lower_vgpr(b, value->reg, 1, &ok);
    op->d = wmi_lower_vgpr(b, result->reg, 1, &ok);
    op->x = (uint32_t)insn->field[WMI_FIELD_offset] & 0xffff;
    op->value = b->pc;
    return ok;
}

static bool lower_gs_register(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA),
                             *result = wmi_operand(insn, WMI_ROLE_D);
    bool ok = data && result && data->kind == WMI_OPERAND_VGPR && result->kind == WMI_OPERAND_VGPR;
    if (!ok)
        return false;
    struct wmi_step *op = wmi_emit(b, WMI_STEP_gs_register_count);
    op->a = wmi_lower_vgpr(b, data->reg, 1, &ok);
    op->d = wmi_lower_vgpr(b, result->reg, 2, &ok);
    op->x = (uint32_t)insn->field[WMI_FIELD_offset] >> 2 & (WMI_GS_REGISTERS - 1);
    op->y = insn->id == WMI_INSN_ds_sub_gs_reg_rtn;
    op->value = b->pc;
    return ok;
}

bool wmi_lower_gws(struct wmi_builder *b, const struct wmi_instruction *insn)
{
    static const struct {
        uint16_t id;
        uint8_t what;
    } rows[] = {
        {WMI_INSN_ds_gws_init, WMI_GWS_INIT},     {WMI_INSN_ds_gws_barrier, WMI_GWS_BARRIER},
        {WMI_INSN_ds_gws_sema_v, WMI_GWS_SEMA_V}, {WMI_INSN_ds_gws_sema_br, WMI_GWS_SEMA_BR},
        {WMI_INSN_ds_gws_sema_p, WMI_GWS_SEMA_P}, {WMI_INSN_ds_gws_sema_release_all, WMI_GWS_RELEASE_ALL},
    };
    if (insn->id == WMI_INSN_ds_ordered_count)
        return lower_ordered_count(b, insn);
    if (insn->id == WMI_INSN_ds_add_gs_reg_rtn || insn->id == WMI_INSN_ds_sub_gs_reg_rtn)
        return lower_gs_register(b, insn);
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    struct wmi_step step = {.lanes = offsetof(struct wmi_frame, exec),
                            .x = (uint32_t)insn->field[WMI_FIELD_offset],
                            .value = b->pc};
    bool ok = true;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == insn->id)
            step.y = rows[i].what;
    if (step.y == WMI_GWS_NONE)
        return false;
    step.a = wmi_lower_vgpr(b, data ? data->reg : 0, 1, &ok);
    step.d = wmi_lower_temporary_scalar(b);
    wmi_emit_as(b, WMI_STEP_gws_act, &step);
    wmi_emit_as(b, WMI_STEP_gws_wait, &step);
    return ok;
}

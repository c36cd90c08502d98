/* SPDX-License-Identifier: MIT */
/* Lowers buffer instructions. */
#include "memory/buffer.h"
#include "lower/classes.h"
#include "memory/format.h"
#include "wavemem/wavemem.h"

static bool lower_address(struct wmi_builder *b, const struct wmi_instruction *insn, struct wmi_step *step)
{
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *rsrc = wmi_operand(insn, WMI_ROLE_RSRC);
    const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
    bool ok = true;
    step->y = (insn->field[WMI_FIELD_idxen] ? WMI_BUFFER_IDXEN : 0) |
              (insn->field[WMI_FIELD_offen] ? WMI_BUFFER_OFFEN : 0);
    if (!rsrc || !offset || (step->y && (!addr || addr->kind != WMI_OPERAND_VGPR)))
        return false;
    step->b = wmi_lower_scalar(b, rsrc);
    step->e = wmi_lower_scalar(b, offset);
    step->a = step->y ? wmi_lower_vgpr(b, addr->reg, addr->dwords, &ok) : wmi_lower_vector_constant(b, 0, 1);
    return ok;
}

/* The steps of an instruction: its own, and the fast global memory step that may follow. */
struct chosen {
    enum wmi_step_id id, linear; /* WMI_STEP_NONE: no such step */
    struct wmi_step linear_step;
};

/* ADDR64: the V#'s base and the scalar offset are added to an address per lane, without range checks. Plain
 * loads and stores become global memory accesses. Source: CLRX, "GCN memory handling". */
static bool lower_addr64(struct wmi_builder *b, const struct wmi_instruction *insn, struct wmi_step *step)
{
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *rsrc = wmi_operand(insn, WMI_ROLE_RSRC);
    const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
    bool ok = addr && addr->kind == WMI_OPERAND_VGPR && addr->dwords == 2 && rsrc && offset;
    if (!ok)
        return false;
    step->b = wmi_lower_scalar(b, rsrc);
    step->e = wmi_lower_scalar(b, offset);
    step->a = wmi_lower_vgpr(b, addr->reg, 2, &ok);
    step->y = WMI_BUFFER_ADDR64;
    return ok;
}

static bool choose_addr64(struct wmi_builder *b, struct wmi_step *step, const struct wmi_memory_op *m,
                          struct chosen *chosen)
{
    chosen->id = WMI_STEP_buffer_addr64;
    chosen->linear = wmi_lower_fast_global(m, WMI_VMEM_VADDR);
    chosen->linear_step = *step;
    chosen->linear_step.a = step->x = wmi_lower_temporary(b, 2);
    chosen->linear_step.x = WMI_VMEM_VADDR;
    step->y |= WMI_BUFFER_LINEAR;
    return chosen->linear != WMI_STEP_NONE;
}

/* Source of the fields: isa/encodings. From gfx10 on, a single number selects the format. */
static void lower_format(const struct wmi_builder *b, const struct wmi_instruction *insn,
                         struct wmi_memory_op *m)
{
    m->format = wmi_format_rules(wmi_builder_limit(b, WMI_LIMIT_format_rules));
    m->parameter = wmi_builder_limit(b, WMI_LIMIT_unpacked_d16) ? WMI_BUFFER_UNPACKED : 0;
    if (wmi_rows[insn->id].class != WMI_CLASS_TBUFFER)
        return;
    const uint32_t data = (uint32_t)insn->field[WMI_FIELD_dfmt],
                   number = (uint32_t)insn->field[WMI_FIELD_nfmt];
    m->parameter |= WMI_BUFFER_TYPED;
    m->parameter |=
        (wmi_format_unified(m->format) ? (uint32_t)insn->field[WMI_FIELD_format] : data | number << 4) &
        WMI_BUFFER_FORMAT_CODE;
}

/* TFE writes its status to the register after a load's result. */
static bool lower_status(struct wmi_builder *b, const struct wmi_operand *result)
{
    bool ok = true;
    if (!result || result->kind != WMI_OPERAND_VGPR)
        return false;
    struct wmi_step *status = wmi_emit(b, WMI_STEP_buffer_status);
    status->d = wmi_lower_vgpr(b, result->reg + result->dwords - 1u, 1, &ok);
    return ok;
}

/* The step for an access that converts formats or writes LDS. */
static enum wmi_step_id whole_step(const struct wmi_memory_op *m, const struct wmi_step *step, bool to_lds)
{
    if (to_lds)
        return WMI_STEP_buffer_to_lds;
    const bool plain = m->kind == WMI_ACCESS_LOAD && !m->d16 && !(step->y & WMI_BUFFER_ADDR64) &&
                       m->alignment == WMI_ALIGNMENT_UNALIGNED;
    return plain ? WMI_STEP_buffer_load_format : WMI_STEP_buffer_format;
}

/* Chooses the buffer step and the fast global memory step after it, whose address operands the buffer step
 * fills. */
static bool lower_linear(struct wmi_builder *b, struct wmi_step *step, const struct wmi_memory_op *m,
                         struct chosen *chosen)
{
    const int shape = wmi_vmem_shape_index(m);
    if (shape < 0)
        return false;
    chosen->id = (enum wmi_step_id)(WMI_STEP_FIRST_BUFFER + shape);
    chosen->linear = wmi_lower_fast_global(m, WMI_VMEM_SADDR);
    step->x = wmi_lower_temporary_scalar(b);
    struct wmi_step *linear = &chosen->linear_step;
    *linear = *step;
    if (step->y & WMI_BUFFER_IDXEN)
        linear->a = wmi_lower_temporary(b, 1);
    linear->b = step->x;
    linear->x = WMI_VMEM_SADDR;
    step->y |= WMI_BUFFER_LINEAR;
    return true;
}

static struct wmi_memory_op *buffer_memory_op(struct wmi_builder *b, const struct wmi_instruction *insn,
                                              enum wmi_atomic atomic)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    struct wmi_memory_op *m = wmi_builder_memory_op(b, insn);
    m->buffer = wmi_buffer_rules(wmi_builder_limit(b, WMI_LIMIT_buffer_rules));
    m->parameter = atomic;
    m->returns = m->kind == WMI_ACCESS_ATOMIC &&
                 ((result && result->kind == WMI_OPERAND_VGPR) || (data && data->written));
    if (wmi_rows[insn->id].flags & WMI_ROW_FORMAT)
        lower_format(b, insn, m);
    return m;
}

/* The bits of M0 that hold an LDS address. Sources: Vega and CDNA 4 ISA, "Memory Buffer Load to LDS":
 * M0[15:0], and M0[17:0] on gfx950. */
static uint32_t lds_mask(const struct wmi_builder *b)
{
    return wmi_builder_limit(b, WMI_LIMIT_lds_bytes) > UINT16_MAX + 1u ? 0x3ffff : 0xffff;
}

/* A store without data VGPRs stores from LDS, by way of a temporary row. */
static void lower_from_lds(struct wmi_builder *b, const struct wmi_memory_op *m, struct wmi_step *store)
{
    store->c = wmi_lower_temporary(b, 1);
    wmi_lower_lds_move(b, m, &(struct wmi_step){.y = 0xffff, .lanes = store->lanes}, false);
    struct wmi_step *op = wmi_emit(b, WMI_STEP_vmem_from_lds);
    op->d = store->c;
    op->y = 0xffff;
    op->data = m;
}

bool wmi_lower_buffer(struct wmi_builder *b, const struct wmi_instruction *insn, enum wmi_atomic atomic,
                      struct wmi_step *step)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const bool has_result = result && result->kind == WMI_OPERAND_VGPR;
    const bool addr64 = insn->field[WMI_FIELD_addr64];
    if (wmi_rows[insn->id].flags & WMI_ROW_TODO || (!addr64 && !lower_address(b, insn, step)))
        return false;
    struct wmi_memory_op *m = buffer_memory_op(b, insn, atomic);
    const bool load = m->kind == WMI_ACCESS_LOAD, to_lds = load && !has_result;
    const bool by_element = m->format || to_lds;
    struct chosen chosen = {0};
    if (m->kind == WMI_ACCESS_STORE && !wmi_operand(insn, WMI_ROLE_DATA))
        lower_from_lds(b, m, step);
    if (to_lds &&
        insn->field[WMI_FIELD_tfe]) { /* no register for a status. Source: CLRX, "GCN memory handling" */
        wmi_emit_fault(b, WM_FAULT_INSTRUCTION);
        return true;
    }
    if (m->kind == WMI_ACCESS_ATOMIC && !has_result)
        step->d = step->c; /* the old value replaces the data */
    if (addr64 && !lower_addr64(b, insn, step))
        return false;
    if (by_element)
        chosen.id = whole_step(m, step, to_lds);
    else if (m->kind == WMI_ACCESS_ATOMIC)
        chosen.id = WMI_STEP_buffer_atomic;
    else if (m->alignment != WMI_ALIGNMENT_UNALIGNED)
        chosen.id = WMI_STEP_buffer_careful;
    else if (!(addr64 ? choose_addr64 : lower_linear)(b, step, m, &chosen))
        return false;
    step->data = m;
    if (!addr64 || by_element)
        wmi_builder_set_late(b, m);
    wmi_emit_quick_watch(
        b, WMI_STEP_buffer_watch,
        !addr64 && chosen.linear != WMI_STEP_NONE ? WMI_STEP_buffer_watch_quick : WMI_STEP_NONE, step);
    if (to_lds) {
        step->x = lds_mask(b);
        wmi_lower_lds_move(b, m, &(struct wmi_step){.y = step->x, .lanes = step->lanes}, true);
    }
    wmi_emit_as(b, chosen.id, step);
    if (chosen.linear != WMI_STEP_NONE) {
        chosen.linear_step.data = m;
        wmi_emit_as(b, chosen.linear, &chosen.linear_step);
    }
    return !(insn->field[WMI_FIELD_tfe] && load) || lower_status(b, result);
}

/* SPDX-License-Identifier: MIT */
/* Predecodes buffer instructions: picks the steps for what the row says it moves. */
#include "exec/buffer.h"
#include "exec/control.h"
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

/* ADDR64: the V#'s base and the scalar offset are added to an address per lane, which nothing checks. From
 * there on it is an access of global memory, unless it goes element by element. Source: CLRX, "GCN memory
 * handling". */
static bool lower_addr64(struct wmi_builder *builder, const struct wmi_instruction *insn, struct wmi_op *step,
                         struct wmi_memory_op *m, bool by_element)
{
    const struct wmi_operand *addr = wmi_operand(insn, WMI_ROLE_ADDR);
    const struct wmi_operand *rsrc = wmi_operand(insn, WMI_ROLE_RSRC);
    const struct wmi_operand *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
    bool ok = addr && addr->kind == WMI_OPERAND_VGPR && addr->dwords == 2 && rsrc && offset;
    if (!ok)
        return false;
    step->b = wmi_lower_scalar(builder, rsrc);
    step->e = wmi_lower_scalar(builder, offset);
    step->a = wmi_lower_vgpr(builder, addr->reg, 2, &ok);
    if (by_element) {
        step->y = WMI_BUFFER_ADDR64;
        return ok;
    }
    const uint32_t rows = wmi_lower_temporary(builder, 2);
    struct wmi_op *add = wmi_emit(builder, wmi_buffer_add_base);
    add->a = step->a;
    add->b = step->b;
    add->e = step->e;
    add->d = step->a = rows;
    step->x = WMI_VMEM_VADDR;
    step->body =
        m->kind == WMI_ACCESS_ATOMIC ? wmi_vmem_atomic : wmi_vmem_fast_step(builder, m, WMI_VMEM_VADDR);
    return ok && step->body;
}

/* Source of the fields: isa/encodings; from gfx10 on one number is the format. */
static void lower_format(const struct wmi_builder *builder, const struct wmi_instruction *insn,
                         struct wmi_memory_op *m)
{
    m->format = wmi_format_rules(wmi_builder_limit(builder, WMI_LIMIT_format_rules));
    m->parameter = wmi_builder_limit(builder, WMI_LIMIT_unpacked_d16) ? WMI_BUFFER_UNPACKED : 0;
    if (wmi_rows[insn->id].class != WMI_CLASS_TBUFFER)
        return;
    const uint32_t data = (uint32_t)insn->field[WMI_FIELD_dfmt],
                   number = (uint32_t)insn->field[WMI_FIELD_nfmt];
    m->parameter |= WMI_BUFFER_TYPED;
    m->parameter |=
        (wmi_format_unified(m->format) ? (uint32_t)insn->field[WMI_FIELD_format] : data | number << 4) &
        WMI_BUFFER_FORMAT_CODE;
}

/* The row behind a load's result, where TFE puts its status. */
static bool lower_status(struct wmi_builder *builder, const struct wmi_operand *result)
{
    bool ok = true;
    if (!result || result->kind != WMI_OPERAND_VGPR)
        return false;
    struct wmi_op *status = wmi_emit(builder, wmi_buffer_status);
    status->d = wmi_lower_vgpr(builder, result->reg + result->dwords - 1u, 1, &ok);
    return ok;
}

/* What a step does that converts, or that writes LDS. */
static wmi_body whole_step(const struct wmi_builder *builder, const struct wmi_memory_op *m,
                           const struct wmi_op *step, bool to_lds)
{
    if (to_lds)
        return wmi_buffer_to_lds;
    const bool plain = m->kind == WMI_ACCESS_LOAD && !m->d16 && !(step->y & WMI_BUFFER_ADDR64) &&
                       m->alignment == WMI_ALIGNMENT_UNALIGNED;
    return plain ? wmi_buffer_format_step(wmi_builder_level(builder), wmi_builder_lanes(builder))
                 : wmi_buffer_format;
}

/* The step of global memory behind a fast one; it finds its lanes where that one leaves them. */
static bool lower_linear(struct wmi_builder *builder, struct wmi_op *step, const struct wmi_memory_op *m,
                         struct wmi_op *linear)
{
    step->body = fast_step(builder, m);
    step->x = wmi_lower_temporary_scalar(builder);
    *linear = *step;
    linear->body = wmi_vmem_fast_step(builder, m, WMI_VMEM_SADDR);
    if (step->y & WMI_BUFFER_IDXEN)
        linear->a = wmi_lower_temporary(builder, 1);
    linear->b = step->x;
    linear->x = WMI_VMEM_SADDR;
    step->y |= WMI_BUFFER_LINEAR;
    return step->body && linear->body;
}

/* Loads to LDS have no room for a status. Source: CLRX, "GCN memory handling". */
static void lower_illegal(struct wmi_builder *builder)
{
    const uint32_t count = wmi_builder_take_count(builder);
    struct wmi_op *op = wmi_emit(builder, wmi_step_fault);
    op->c = count;
    op->x = WM_FAULT_INSTRUCTION;
    op->value = wmi_builder_pc(builder);
}

static struct wmi_memory_op *buffer_memory_op(struct wmi_builder *builder, const struct wmi_instruction *insn,
                                              enum wmi_atomic atomic)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const struct wmi_operand *data = wmi_operand(insn, WMI_ROLE_DATA);
    struct wmi_memory_op *m = wmi_builder_memory_op(builder, insn);
    m->buffer = wmi_buffer_rules(wmi_builder_limit(builder, WMI_LIMIT_buffer_rules));
    m->parameter = atomic;
    m->returns = m->kind == WMI_ACCESS_ATOMIC &&
                 ((result && result->kind == WMI_OPERAND_VGPR) || (data && data->written));
    if (wmi_rows[insn->id].flags & WMI_ROW_FORMAT)
        lower_format(builder, insn, m);
    return m;
}

/* What a store without VGPRs stores, by way of a temporary row. */
static void lower_from_lds(struct wmi_builder *builder, const struct wmi_memory_op *m, struct wmi_op *store)
{
    store->c = wmi_lower_temporary(builder, 1);
    struct wmi_op *op = wmi_emit(builder, wmi_vmem_from_lds);
    op->d = store->c;
    op->y = 0xffff;
    op->data = m;
}

bool wmi_lower_buffer(struct wmi_builder *builder, const struct wmi_instruction *insn, enum wmi_atomic atomic,
                      struct wmi_op *step)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D);
    const bool has_result = result && result->kind == WMI_OPERAND_VGPR;
    const bool addr64 = insn->field[WMI_FIELD_addr64];
    if (wmi_rows[insn->id].flags & WMI_ROW_TODO || (!addr64 && !lower_address(builder, insn, step)))
        return false;
    struct wmi_memory_op *m = buffer_memory_op(builder, insn, atomic);
    const bool load = m->kind == WMI_ACCESS_LOAD, to_lds = load && !has_result;
    const bool by_element = m->format || to_lds;
    struct wmi_op linear = {0};
    if (m->kind == WMI_ACCESS_STORE && !wmi_operand(insn, WMI_ROLE_DATA))
        lower_from_lds(builder, m, step);
    wmi_body watch_step = wmi_buffer_watch;
    if (to_lds && insn->field[WMI_FIELD_tfe]) {
        lower_illegal(builder);
        return true;
    }
    if (m->kind == WMI_ACCESS_ATOMIC && !has_result)
        step->d = step->c; /* the old value replaces the data */
    if (addr64 && !lower_addr64(builder, insn, step, m, by_element))
        return false;
    if (by_element) {
        step->body = whole_step(builder, m, step, to_lds);
    } else if (addr64) {
        watch_step = wmi_vmem_watch;
    } else if (m->kind == WMI_ACCESS_ATOMIC) {
        step->body = wmi_buffer_atomic;
    } else if (m->alignment != WMI_ALIGNMENT_UNALIGNED) {
        step->body = wmi_buffer_careful;
    } else if (!lower_linear(builder, step, m, &linear)) {
        return false;
    }
    if (!step->body)
        return false;
    step->data = m;
    if (wmi_builder_observer(builder)) {
        struct wmi_op *watch = wmi_emit(builder, watch_step);
        *watch = *step;
        watch->body = watch_step;
    }
    *wmi_emit(builder, step->body) = *step;
    if (linear.body) {
        linear.data = m;
        *wmi_emit(builder, linear.body) = linear;
    }
    return !(insn->field[WMI_FIELD_tfe] && load) || lower_status(builder, result);
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

#define DECLARE_STEP(name, level, lanes, suffix)                                                             \
    const struct wmi_op *name##suffix(char *restrict frame, const struct wmi_op *op);
WMI_LANE_BUILDS(DECLARE_STEP, wmi_buffer_load_format)

wmi_body wmi_buffer_format_step(enum wmi_cpu_level level, unsigned lanes)
{
    static const wmi_body steps[WMI_CPU_LEVELS][2] = {WMI_LANE_BUILDS(ENTRY, wmi_buffer_load_format)};
    return steps[level][lanes / 64];
}

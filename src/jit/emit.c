/* SPDX-License-Identifier: MIT */
#include "jit/emit.h"

#include "lower/step.h"

bool wmi_emit_is_in_loop(const struct wmi_emitter *e, unsigned number)
{
    return !e->registers.unused[number] && !wmi_ir_is_once(e->ir, number);
}

static unsigned count_in_loop(const struct wmi_emitter *e, enum wmi_ir_op op)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->ir->count; i++)
        count += wmi_emit_is_in_loop(e, i) && (op == WMI_IR_OPS || e->ir->insn[i].op == op);
    return count;
}

uint32_t wmi_emit_repair_row(const struct wmi_emitter *e, unsigned which)
{
    return (uint32_t)offsetof(struct wmi_frame, rows) + (WMI_REPAIR_ROW + which) * e->block->code->row_bytes;
}

/* Behind a body that the code has called: returns to it. */
static const struct wmi_op *come_back(char *restrict frame, const struct wmi_op *op)
{
    (void)frame;
    return op;
}

void wmi_emit_records(struct wmi_emitter *e, size_t step)
{
    const struct wmi_step *lowered = &e->block->steps[step];
    struct wmi_op records[2] = {e->block->ops[step], {.body = come_back}};
    uint32_t *const operands[] = {&records[0].a, &records[0].b, &records[0].c};
    const unsigned uses[] = {lowered->use[WMI_OP_A], lowered->use[WMI_OP_B], lowered->use[WMI_OP_C]};
    for (unsigned i = 0; i < 3; i++)
        if ((uses[i] & (WMI_USE_KIND | WMI_USE_READ)) == (WMI_USE_ROWS | WMI_USE_READ))
            *operands[i] = wmi_emit_repair_row(e, i);
    records[0].d = wmi_emit_repair_row(e, 3);
    wmi_put_bytes(&e->host, records, sizeof records);
}

static void put_loop(struct wmi_emitter *e, bool partial)
{
    e->partial = partial;
    e->masks = 0;
    e->stub_count = 0;
    const size_t top = e->target->begin_loop(e);
    for (unsigned i = 0; i < e->ir->count; i++)
        if (wmi_emit_is_in_loop(e, i))
            e->target->in_loop(e, i);
    e->target->end_loop(e, top);
}

/* One loop for waves with all lanes, and one for others. */
static void put_loops(struct wmi_emitter *e)
{
    size_t ends[2];
    e->target->before_loops(e, count_in_loop(e, WMI_IR_put_mask) || count_in_loop(e, WMI_IR_lanes));
    const size_t some = e->target->branch_if_partial(e);
    for (unsigned partial = 0; partial < 2; partial++) {
        if (partial)
            e->target->land(e, some);
        put_loop(e, partial);
        ends[partial] = e->target->branch(e);
        for (unsigned i = 0; i < e->stub_count; i++)
            e->target->stub(e, &e->stubs[i]);
    }
    e->target->land(e, ends[0]);
    e->target->land(e, ends[1]);
}

void wmi_emit_ir(struct wmi_emitter *e, const struct wmi_ir *ir)
{
    e->ir = ir;
    wmi_allocate(&e->registers, ir, &e->target->file);
    const bool calls = count_in_loop(e, WMI_IR_repair);
    e->target->open(e, e->registers.slots, calls);
    for (unsigned i = 0; i < ir->count; i++)
        if (!e->registers.unused[i] && wmi_ir_is_once(ir, i))
            e->target->once(e, i);
    if (count_in_loop(e, WMI_IR_OPS))
        put_loops(e);
    e->target->close(e, e->registers.slots, calls);
}

/* SPDX-License-Identifier: MIT */
/* Counts executions of blocks for an observer. */
#include "exec/block.h"

#include "exec/control.h"
#include "exec/program.h"

/* The wave executes block number op->x. */
static const struct wmi_op *count_block(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_wave *wave = wmi_wave_of(frame);
    if (__builtin_expect(!wave->worker->blocks[op->x]++, 0))
        ((const struct wmi_observer *)op->data)->fetch(wave->worker->observer, wave->index, op->x);
    return wmi_next(frame, op);
}

static const struct wmi_observer *counter(const struct wmi_builder *builder)
{
    const struct wmi_observer *observer = wmi_builder_observer(builder);
    return observer && observer->block ? observer : NULL;
}

void wmi_block_begin(struct wmi_builder *builder, struct wmi_block *block, uint64_t from, bool falls)
{
    const struct wmi_observer *observer = counter(builder);
    if (!observer)
        return;
    wmi_block_end(builder, block);
    *block = (struct wmi_block){
        .open = true, .falls = falls, .step = wmi_builder_steps(builder), .from = from, .to = from};
    wmi_emit(builder, count_block)->data = observer;
}

void wmi_block_goes_on(struct wmi_builder *builder, struct wmi_block *block, uint64_t from)
{
    if (block->open && block->behind)
        wmi_block_begin(builder, block, from, true);
}

void wmi_block_takes(struct wmi_builder *builder, struct wmi_block *block, const struct wmi_flow *flow)
{
    block->to = wmi_builder_next_pc(builder);
    block->behind = flow->branches;
}

/* Only now it is known what the block's step counts. */
void wmi_block_end(struct wmi_builder *builder, struct wmi_block *block)
{
    if (!block->open)
        return;
    const struct wmi_observer *observer = counter(builder);
    const uint32_t number = observer->block(observer->self, block->from, block->to, block->falls);
    struct wmi_op *op = wmi_builder_step(builder, block->step);
    if (number == WMI_NOT_SHOWN)
        op->body = wmi_step_return;
    else
        op->x = number;
    block->open = false;
}

void wmi_block_runs_on(struct wmi_builder *builder, struct wmi_block *block, uint64_t to)
{
    const struct wmi_observer *observer = counter(builder);
    if (!observer)
        return;
    wmi_block_end(builder, block);
    const uint32_t number = observer->block(observer->self, to, to, true);
    if (number == WMI_NOT_SHOWN)
        return;
    struct wmi_op *op = wmi_emit(builder, count_block);
    op->x = number;
    op->data = observer;
}

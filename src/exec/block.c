/* SPDX-License-Identifier: MIT */
/* Counts executions of blocks for an observer, and follows wait counters from block to block. */
#include "exec/block.h"

#include "exec/control.h"
#include "exec/program.h"
#include "exec/workgroup.h"

#include <string.h>

/* The wave executes block number op->x. */
static inline void count(const struct wmi_wave *wave, const struct wmi_op *op)
{
    const struct wmi_worker *worker = wave->worker;
    if (__builtin_expect(!worker->blocks[op->x]++, 0))
        worker->dispatch->observer->fetch(worker->observer, wave->index, op->x);
}

/* What it does to wait counters: value is added to them, and a and b are the most of them. */
static inline void pass(struct wmi_wave *wave, const struct wmi_op *op)
{
    const struct wmi_depth_change change = {.add = op->value, .most = op->a | (uint64_t)op->b << 32};
    memcpy(wave->entered, &wave->counters, sizeof wave->entered);
    wave->counters = wmi_depth_changed(wave->counters, change);
}

static const struct wmi_op *count_block(char *restrict frame, const struct wmi_op *op)
{
    count(wmi_wave_of(frame), op);
    return wmi_next(frame, op);
}

static const struct wmi_op *pass_block(char *restrict frame, const struct wmi_op *op)
{
    pass(wmi_wave_of(frame), op);
    return wmi_next(frame, op);
}

static const struct wmi_op *count_and_pass_block(char *restrict frame, const struct wmi_op *op)
{
    struct wmi_wave *wave = wmi_wave_of(frame);
    pass(wave, op);
    count(wave, op);
    return wmi_next(frame, op);
}

/* The number of a block; WMI_NOT_SHOWN: nobody counts it. */
static uint32_t number_of(const struct wmi_builder *builder, uint64_t from, uint64_t to, bool falls)
{
    const struct wmi_observer *observer = wmi_builder_observer(builder);
    return observer->block ? observer->block(observer->self, from, to, falls) : WMI_NOT_SHOWN;
}

void wmi_block_begin(struct wmi_builder *builder, struct wmi_block *block, uint64_t from, bool falls)
{
    const struct wmi_observer *observer = wmi_builder_observer(builder);
    if (!observer || (!observer->block && !observer->depths))
        return;
    wmi_block_end(builder, block);
    *block = (struct wmi_block){.open = true,
                                .falls = falls,
                                .step = wmi_builder_steps(builder),
                                .from = from,
                                .to = from,
                                .change = WMI_DEPTH_UNCHANGED};
    wmi_emit(builder, wmi_step_return); /* until it is known what the block does */
}

void wmi_block_goes_on(struct wmi_builder *builder, struct wmi_block *block, uint64_t from)
{
    if (block->open && block->behind)
        wmi_block_begin(builder, block, from, true);
}

struct wmi_depth wmi_block_depth(struct wmi_builder *builder, struct wmi_block *block,
                                 const struct wmi_instruction *insn)
{
    if (!block->open || !wmi_builder_observer(builder)->depths)
        return (struct wmi_depth){0};
    return wmi_depth_append(&block->change, wmi_builder_target(builder), insn);
}

void wmi_block_takes(struct wmi_builder *builder, struct wmi_block *block, const struct wmi_flow *flow)
{
    block->to = wmi_builder_next_pc(builder);
    block->behind = flow->branches;
}

void wmi_block_end(struct wmi_builder *builder, struct wmi_block *block)
{
    if (!block->open)
        return;
    const uint32_t number = number_of(builder, block->from, block->to, block->falls);
    const struct wmi_depth_change change = block->change;
    const bool counts = number != WMI_NOT_SHOWN, passes = change.add || change.most != UINT64_MAX;
    struct wmi_op *op = wmi_builder_step(builder, block->step);
    if (counts || passes)
        op->body = !passes ? count_block : counts ? count_and_pass_block : pass_block;
    op->x = number;
    op->value = change.add;
    op->a = (uint32_t)change.most;
    op->b = (uint32_t)(change.most >> 32);
    block->open = false;
}

void wmi_block_runs_on(struct wmi_builder *builder, struct wmi_block *block, uint64_t to)
{
    const struct wmi_observer *observer = wmi_builder_observer(builder);
    if (!observer)
        return;
    wmi_block_end(builder, block);
    const uint32_t number = number_of(builder, to, to, true);
    if (number != WMI_NOT_SHOWN)
        wmi_emit(builder, count_block)->x = number;
}

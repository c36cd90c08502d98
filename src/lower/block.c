/* SPDX-License-Identifier: MIT */
/* Emits steps that count executions of blocks for an observer and track wait counters across blocks. */
#include "lower/block.h"

#include "lower/flow.h"
#include "observe/observer.h"

/* The observer that counts blocks; NULL: none does. */
static const struct wmi_observer *counter_of(const struct wmi_builder *builder)
{
    const struct wmi_observers *observers = wmi_builder_observers(builder);
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->block)
            return observers->one[i];
    return NULL;
}

/* The observer's number of a block; WMI_NOT_SHOWN if no observer counts it. */
static uint32_t number_of(const struct wmi_builder *builder, uint64_t from, uint64_t to, bool falls,
                          const uint32_t *work)
{
    const struct wmi_observer *counter = counter_of(builder);
    return counter ? counter->block(counter->self, from, to, falls, work) : WMI_NOT_SHOWN;
}

static bool asks_for_depths(const struct wmi_builder *builder)
{
    const struct wmi_observers *observers = wmi_builder_observers(builder);
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->depths)
            return true;
    return false;
}

static bool asks_for_blocks(const struct wmi_builder *builder)
{
    const struct wmi_observers *observers = wmi_builder_observers(builder);
    for (unsigned i = 0; i < observers->count; i++)
        if (observers->one[i]->block)
            return true;
    return asks_for_depths(builder) || wmi_builder_shows(builder, WM_EVENT_BLOCK);
}

void wmi_block_begin(struct wmi_builder *builder, struct wmi_open_block *block, uint64_t from, bool falls)
{
    if (!asks_for_blocks(builder))
        return;
    wmi_block_end(builder, block);
    *block = (struct wmi_open_block){.open = true,
                                     .falls = falls,
                                     .step = builder->count,
                                     .from = from,
                                     .to = from,
                                     .change = WMI_DEPTH_UNCHANGED};
    wmi_emit(builder, WMI_STEP_return_to_loop); /* replaced in wmi_block_end() when the block is known */
    struct wmi_step *event = wmi_emit_event(builder, WM_EVENT_BLOCK);
    if (event)
        event->value = from;
}

void wmi_block_goes_on(struct wmi_builder *builder, struct wmi_open_block *block, uint64_t from)
{
    if (block->open && block->behind)
        wmi_block_begin(builder, block, from, true);
}

struct wmi_depth wmi_block_depth(struct wmi_builder *builder, struct wmi_open_block *block,
                                 const struct wmi_instruction *insn)
{
    if (!block->open || !asks_for_depths(builder))
        return (struct wmi_depth){0};
    return wmi_depth_append(&block->change, wmi_builder_target(builder), insn);
}

void wmi_block_takes(struct wmi_builder *builder, struct wmi_open_block *block,
                     const struct wmi_instruction *insn, const struct wmi_flow *flow)
{
    const struct wmi_observer *counter = block->open ? counter_of(builder) : NULL;
    if (block->open)
        wmi_work_add(wmi_builder_target(builder), insn, block->work);
    if (counter && counter->takes)
        counter->takes(counter->self, builder->pc, insn,
                       flow->branches ? builder->next_pc + 4 * (uint64_t)flow->distance : 0, flow->ends);
    block->to = builder->next_pc;
    block->behind = flow->branches;
}

void wmi_block_end(struct wmi_builder *builder, struct wmi_open_block *block)
{
    if (!block->open)
        return;
    const uint32_t number = number_of(builder, block->from, block->to, block->falls, block->work);
    const struct wmi_depth_change change = block->change;
    const bool counts = number != WMI_NOT_SHOWN, passes = change.add || change.most != UINT64_MAX;
    if ((counts || passes) && block->step < builder->count) {
        struct wmi_step *step = &builder->steps[block->step];
        step->id = !passes  ? WMI_STEP_count_block
                   : counts ? WMI_STEP_count_and_pass_block
                            : WMI_STEP_pass_block;
        step->x = number;
        step->value = change.add;
        step->a = (uint32_t)change.most;
        step->b = (uint32_t)(change.most >> 32);
    }
    if (wmi_builder_shows(builder, WM_EVENT_BLOCK) && block->step + 1 < builder->count)
        builder->steps[block->step + 1].a = (uint32_t)(block->to - block->from);
    block->open = false;
}

void wmi_block_runs_on(struct wmi_builder *builder, struct wmi_open_block *block, uint64_t to)
{
    if (!wmi_builder_observers(builder)->count)
        return;
    wmi_block_end(builder, block);
    static const uint32_t none[WMI_WORK_COUNTS];
    const uint32_t number = number_of(builder, to, to, true, none);
    if (number != WMI_NOT_SHOWN)
        wmi_emit(builder, WMI_STEP_count_block)->x = number;
}

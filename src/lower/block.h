/* SPDX-License-Identifier: MIT */
/* Blocks of code for observers that count or watch block executions or ask for wait-counter depths: emits
 * steps at the start of each block. */
#ifndef WMI_BLOCK_H
#define WMI_BLOCK_H

#include "isa/rules/work.h"
#include "lower/builder.h"

struct wmi_flow; /* flow.h */

/* The block being lowered. */
struct wmi_open_block {
    bool open;
    bool falls;  /* reached only from the previous instruction */
    bool behind; /* its last instruction is a conditional branch; the next instruction starts a new block */
    size_t step; /* that counts the block; a step for the block event may follow */
    uint64_t from, to;
    struct wmi_depth_change change; /* accumulated effect on wait counters */
    uint32_t work[WMI_WORK_COUNTS]; /* of its instructions */
};

/* These functions do nothing unless an observer asks for blocks or depths.
 *
 * Begins a block at `from`. */
void wmi_block_begin(struct wmi_builder *builder, struct wmi_open_block *block, uint64_t from, bool falls);
/* Begins a block at `from` if the previous instruction was a conditional branch. */
void wmi_block_goes_on(struct wmi_builder *builder, struct wmi_open_block *block, uint64_t from);
/* Records what an instruction about to be lowered does to wait counters. */
struct wmi_depth wmi_block_depth(struct wmi_builder *builder, struct wmi_open_block *block,
                                 const struct wmi_instruction *insn);
/* Extends the block by the instruction just lowered. */
void wmi_block_takes(struct wmi_builder *builder, struct wmi_open_block *block,
                     const struct wmi_instruction *insn, const struct wmi_flow *flow);
/* Ends the block after the instruction just lowered. */
void wmi_block_end(struct wmi_builder *builder, struct wmi_open_block *block);
/* Ends the block where waves fall through to the block at `to`. */
void wmi_block_runs_on(struct wmi_builder *builder, struct wmi_open_block *block, uint64_t to);

#endif

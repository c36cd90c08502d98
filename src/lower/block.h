/* SPDX-License-Identifier: MIT */
/* Blocks of code for observers that count how often each is executed, are shown that, or ask for depths:
 * steps where a block begins. */
#ifndef WMI_BLOCK_H
#define WMI_BLOCK_H

#include "lower/builder.h"

struct wmi_flow; /* flow.h */

/* The block that is being lowered. */
struct wmi_block {
    bool open;
    bool falls;  /* only from the instruction before it */
    bool behind; /* a branch that may not be taken: another one begins with the next instruction */
    size_t step; /* that counts it; the next one shows it, if somebody asks for that */
    uint64_t from, to;
    struct wmi_depth_change change; /* of the wait counters, so far */
};

/* Nothing happens unless an observer asks for blocks or depths. An instruction at `from` begins a
 * block, */
void wmi_block_begin(struct wmi_builder *builder, struct wmi_block *block, uint64_t from, bool falls);
/* begins one if the instruction before it may have gone elsewhere, */
void wmi_block_goes_on(struct wmi_builder *builder, struct wmi_block *block, uint64_t from);
/* is going to be lowered: what it does to wait counters; */
struct wmi_depth wmi_block_depth(struct wmi_builder *builder, struct wmi_block *block,
                                 const struct wmi_instruction *insn);
/* was lowered: it is part of the block, */
void wmi_block_takes(struct wmi_builder *builder, struct wmi_block *block, const struct wmi_flow *flow);
/* was the block's last one; */
void wmi_block_end(struct wmi_builder *builder, struct wmi_block *block);
/* and so it was, but waves run on to what begins at `to`. */
void wmi_block_runs_on(struct wmi_builder *builder, struct wmi_block *block, uint64_t to);

#endif

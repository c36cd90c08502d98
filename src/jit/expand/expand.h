/* SPDX-License-Identifier: MIT */
/* Makes the compiler's representation of steps. */
#ifndef WMI_EXPAND_H
#define WMI_EXPAND_H

#include "jit/compile.h"
#include "jit/ir/ir.h"
#include "jit/live.h"

enum {
    WMI_PART_WORDS = (WMI_SCALARS + 2 * WMI_SCALAR_CONSTANTS), /* 32 bits each, from the start of the frame */
    WMI_PART_ROWS = 2048,
    WMI_PART_MASKS = 4, /* sets of lanes that a part writes to the scalar file */
};

/* Which half of a value a word is. */
enum wmi_word_part { WMI_WORD_WHOLE, WMI_WORD_LOW, WMI_WORD_HIGH };

/* The part of a program that is being made: as many steps as one representation takes. */
struct wmi_ir_part {
    const struct wmi_block *block;
    const struct wmi_live *live;
    struct wmi_ir ir;
    /* What registers hold now; WMI_IR_NO_VALUE: what the frame has. dirty: the frame has something else. */
    struct wmi_ir_part_row {
        uint16_t value;
        bool dirty, in_all_lanes;
    } row[WMI_PART_ROWS];
    struct wmi_ir_part_word {
        uint16_t value;
        uint8_t part;
        bool dirty;
    } word[WMI_PART_WORDS];
    unsigned masks;
};

/* Whether the step can be expanded in this block. lacks: a bit for each operation that the host has not. */
bool wmi_expands(const struct wmi_block *block, uint64_t lacks, const struct wmi_step *step);
bool wmi_has_expansion(enum wmi_step_id id);
void wmi_ir_part_begin(struct wmi_ir_part *part, const struct wmi_block *block, const struct wmi_live *live);
/* Adds a step. False: not in this part, which must end in front of it. */
bool wmi_ir_part_add(struct wmi_ir_part *part, size_t step);
/* Adds what must be in the frame in front of the step `to`. False: the steps are not compiled. */
bool wmi_ir_part_end(struct wmi_ir_part *part, size_t to);

#endif

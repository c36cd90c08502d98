/* SPDX-License-Identifier: MIT */
/* VGPRs selected by M0 at run time: VGPR indexing mode and v_movrel. */
#ifndef WMI_INDEX_H
#define WMI_INDEX_H

#include "lower/builder.h"

/* The field of M0 that is added to an operand's register number, and its condition. */
struct wmi_index_rule {
    uint8_t shift, bits; /* field of M0; bits 0: the operand is not indexed */
    uint8_t enable;      /* bit of M0 that enables indexing, or WMI_INDEX_ALWAYS */
};

enum { WMI_INDEX_ALWAYS = 32 };

/* The rule for an operand of a vector ALU instruction. */
struct wmi_index_rule wmi_index_rule(const struct wmi_builder *builder, const struct wmi_instruction *insn,
                                     const struct wmi_operand *operand);

/* Emits the step that copies the indexed register's rows to temporary rows, and returns their offset. Reads
 * of an unallocated register return v0. */
uint32_t wmi_lower_indexed(struct wmi_builder *builder, const struct wmi_operand *operand,
                           struct wmi_index_rule rule);
/* Emits the step that copies the temporary rows back. Writes to an unallocated register are dropped. */
void wmi_lower_indexed_result(struct wmi_builder *builder, const struct wmi_operand *operand,
                              struct wmi_index_rule rule, uint32_t rows);

#endif

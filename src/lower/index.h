/* SPDX-License-Identifier: MIT */
/* VGPRs that M0 chooses when the instruction executes: VGPR indexing mode and v_movrel. */
#ifndef WMI_INDEX_H
#define WMI_INDEX_H

#include "lower/builder.h"

/* Which part of M0 is added to an operand's register number, and when. */
struct wmi_index_rule {
    uint8_t shift, bits; /* the field of M0; bits 0: the operand is not indexed */
    uint8_t enable;      /* the bit of M0 that must be set, or WMI_INDEX_ALWAYS */
};

enum { WMI_INDEX_ALWAYS = 32 };

/* The rule for the operand of a vector ALU instruction. */
struct wmi_index_rule wmi_index_rule(const struct wmi_builder *builder, const struct wmi_instruction *insn,
                                     const struct wmi_operand *operand);

/* Emits the step that copies the rows of the register that `operand` and M0 choose into temporary rows, and
 * returns these. A register that the kernel has not is v0. */
uint32_t wmi_lower_indexed(struct wmi_builder *builder, const struct wmi_operand *operand,
                           struct wmi_index_rule rule);
/* Emits the step that copies the temporary rows back. What goes to a register that the kernel has not is
 * dropped. */
void wmi_lower_indexed_result(struct wmi_builder *builder, const struct wmi_operand *operand,
                              struct wmi_index_rule rule, uint32_t rows);

#endif

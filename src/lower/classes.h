/* SPDX-License-Identifier: MIT */
/* How the instructions of each class are lowered. */
#ifndef WMI_CLASSES_H
#define WMI_CLASSES_H

#include "lower/builder.h"

/* Lowers one instruction of its class; false: not executed yet, and a step of WM_FAULT_TODO takes its place.
 */
typedef bool (*wmi_lower_class)(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_control(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_salu(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_valu(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_scalar_memory(struct wmi_builder *b, const struct wmi_instruction *insn); /* SMEM */
/* FLAT, GLOBAL, SCRATCH, BUFFER. */
bool wmi_lower_vector_memory(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_image(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_ds(struct wmi_builder *b, const struct wmi_instruction *insn);

/* Parts of the above that stand in files of their own. */

/* The operation of an atomic's row as the target does it; WMI_ATOMIC_NONE: it is none that we know. */
enum wmi_atomic wmi_lower_atomic(const struct wmi_builder *b, unsigned id);
/* What observers are told of an instruction's operation, */
enum wm_atomic wmi_lower_operation(const struct wmi_builder *b, unsigned id);
/* and of that of a DS instruction. */
enum wm_atomic wmi_lower_lds_operation(unsigned id);
/* A buffer instruction, with d and c in `step`. */
bool wmi_lower_buffer(struct wmi_builder *b, const struct wmi_instruction *insn, enum wmi_atomic atomic,
                      struct wmi_step *step);
/* The fast step of global memory for what `m` moves; WMI_STEP_NONE: there is none. */
enum wmi_step_id wmi_lower_fast_global(const struct wmi_memory_op *m, enum wmi_vmem_form form);
/* Place of the shape of `m` in WMI_VMEM_SHAPES; -1: it has none. */
int wmi_vmem_shape_index(const struct wmi_memory_op *m);
/* ds_bvh_stack_rtn_b32. */
bool wmi_lower_stack(struct wmi_builder *b, const struct wmi_instruction *insn);
/* ds_gws_*, ds_ordered_count and ds_*_gs_reg_rtn; false: no such instruction. */
bool wmi_lower_gws(struct wmi_builder *b, const struct wmi_instruction *insn);
/* Emits the step that reads LDS_DIRECT, a source of the vector ALU instruction, into a temporary row. */
uint32_t wmi_lower_lds_direct(struct wmi_builder *b, const struct wmi_instruction *insn);
/* Shows the LDS side of an instruction that moves dwords between memory and LDS, at (M0 & mask) plus its
 * offset and 4 times the lane, to observers that ask for it. */
void wmi_lower_lds_move(struct wmi_builder *b, const struct wmi_memory_op *m, uint32_t mask, bool writes);
/* Shows observers what the instruction does to caches. */
void wmi_lower_invalidation(struct wmi_builder *b, const struct wmi_instruction *insn);

#endif

/* SPDX-License-Identifier: MIT */
/* Lowering functions, one per instruction class. */
#ifndef WMI_CLASSES_H
#define WMI_CLASSES_H

#include "lower/builder.h"

/* Lowers one instruction of its class. False if it is not implemented: the caller emits WM_FAULT_TODO. */
typedef bool (*wmi_lower_class)(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_control(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_salu(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_valu(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_wmma(struct wmi_builder *b, const struct wmi_instruction *insn);          /* of class VALU */
bool wmi_lower_scalar_memory(struct wmi_builder *b, const struct wmi_instruction *insn); /* SMEM */
/* FLAT, GLOBAL, SCRATCH, BUFFER. */
bool wmi_lower_vector_memory(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_image(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_sample(struct wmi_builder *b, const struct wmi_instruction *insn); /* images with a sampler */
bool wmi_lower_ray(struct wmi_builder *b, const struct wmi_instruction *insn);    /* image_bvh* */
bool wmi_lower_ds(struct wmi_builder *b, const struct wmi_instruction *insn);
bool wmi_lower_export(struct wmi_builder *b, const struct wmi_instruction *insn);

/* Parts of the above in separate files. */

/* The operation of an atomic's row on the target; WMI_ATOMIC_NONE if the row is not a known atomic. */
enum wmi_atomic wmi_lower_atomic(const struct wmi_builder *b, unsigned id);
/* Whether memory ends up the same in whatever order atomics of this row change one place. */
bool wmi_atomic_commutes(unsigned id);
/* The operation of an instruction as reported to observers. */
enum wm_atomic wmi_lower_operation(const struct wmi_builder *b, unsigned id);
/* The same for DS instructions. */
enum wm_atomic wmi_lower_lds_operation(unsigned id);
/* A buffer instruction; d and c of `step` are set by the caller. */
bool wmi_lower_buffer(struct wmi_builder *b, const struct wmi_instruction *insn, enum wmi_atomic atomic,
                      struct wmi_step *step);
/* The fast global memory step for the shape of `m`; WMI_STEP_NONE if there is none. */
enum wmi_step_id wmi_lower_fast_global(const struct wmi_memory_op *m, enum wmi_vmem_form form);
/* Index of the shape of `m` in WMI_VMEM_SHAPES, -1 if it is not among them. */
int wmi_vmem_shape_index(const struct wmi_memory_op *m);
/* MFMA and SMFMAC. */
bool wmi_lower_matrix(struct wmi_builder *b, const struct wmi_instruction *insn);
/* ds_bvh_stack_rtn_b32. */
bool wmi_lower_stack(struct wmi_builder *b, const struct wmi_instruction *insn);
/* ds_gws_*, ds_ordered_count and ds_*_gs_reg_rtn; false for other instructions. */
bool wmi_lower_gws(struct wmi_builder *b, const struct wmi_instruction *insn);
/* Emits the step that reads the LDS_DIRECT source of a vector ALU instruction into a temporary row. */
uint32_t wmi_lower_lds_direct(struct wmi_builder *b, const struct wmi_instruction *insn);
/* Reports the LDS side of an instruction that moves dwords between memory and LDS to the observers that ask
 * for it. step: the one that moves, if it were to be emitted; writes: it writes LDS. */
void wmi_lower_lds_move(struct wmi_builder *b, const struct wmi_memory_op *m, const struct wmi_step *step,
                        bool writes);
/* tensor_load_to_lds and tensor_store_from_lds. */
bool wmi_lower_tensor(struct wmi_builder *b, const struct wmi_instruction *insn);

/* How a load transposes a matrix. */
struct wmi_transpose {
    uint8_t bits, count; /* of an element; elements that a lane loads; 0: it does not transpose */
    uint16_t step;       /* enum wmi_step_id */
    bool all_lanes;      /* inactive lanes take part */
};
struct wmi_transpose wmi_lower_transpose(unsigned id);
/* Emits the step that moves the elements from the rows `from` to the rows `to`, in these lanes. */
void wmi_emit_transpose(struct wmi_builder *b, const struct wmi_transpose *transpose, uint32_t from,
                        uint32_t to, uint32_t lanes);
/* A set of all lanes. */
uint32_t wmi_lower_all_lanes(struct wmi_builder *b);
/* Of cluster loads: lets only the workgroups that receive the data make the load. */
void wmi_lower_multicast(struct wmi_builder *b, unsigned id, struct wmi_step *load);
/* Reports the instruction's cache operation to observers. */
void wmi_lower_invalidation(struct wmi_builder *b, const struct wmi_instruction *insn);

#endif

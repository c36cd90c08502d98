/* SPDX-License-Identifier: MIT */
/* The code of one dispatch as lowering sees it: where it stands, what it is lowered for, how the frame of a
 * wave is laid out, and the constants and facts that its steps share. */
#ifndef WMI_CODE_H
#define WMI_CODE_H

#include "isa/isa.h"
#include "lower/memory_op.h"
#include "memory/space.h"
#include "observe/observer.h"
#include "sem/sem.h"

enum {
    WMI_VECTOR_CONSTANTS = 64,   /* rows of constants in a frame */
    WMI_SCALAR_TEMPORARIES = 16, /* of frame.constant, at its end */
    WMI_CODE_SCALARS = WMI_SCALAR_CONSTANTS - WMI_SCALAR_TEMPORARIES,
};

struct wmi_code_options {
    const struct wmi_target *target;
    const struct wmi_space *space; /* holds the code */
    uint64_t entry;                /* guest address of the first instruction */
    unsigned lanes;                /* 32 or 64 */
    unsigned vgprs;                /* rows that the kernel may use */
    unsigned agprs;                /* AccVGPRs: rows behind those */
    struct wmi_observers observers;
    unsigned alignment;    /* enum wm_alignment */
    unsigned scalar_cache; /* enum wm_scalar_cache */
};

struct wmi_memory_op_node;

struct wmi_code {
    struct wmi_code_options options;
    uint32_t row_bytes, vgpr_offset, constant_offset; /* of the frame */
    uint64_t scalar_constant[WMI_CODE_SCALARS];
    unsigned scalar_constants;
    struct wmi_vector_constant {
        uint64_t value;
        unsigned rows; /* 1, or 2: low and high words */
        uint32_t offset;
    } vector_constant[WMI_VECTOR_CONSTANTS];
    unsigned vector_constants, constant_rows;
    bool sealed; /* frames exist: no more constants */
    struct wmi_memory_op_node *memory_ops;
    uint32_t memory_op_count;
};

void wmi_code_init(struct wmi_code *code, const struct wmi_code_options *options);
/* Frees what lowering allocated for the code; steps must not run any more. */
void wmi_code_free(struct wmi_code *code);

/* A zeroed record that lives as long as the code. NULL: no memory. */
struct wmi_memory_op *wmi_code_memory_op(struct wmi_code *code);

/* The instruction at `pc`, as it stands in memory now; false: there is none. */
bool wmi_code_decode(const struct wmi_code *code, uint64_t pc, struct wmi_instruction *insn);

/* Bytes of a wave's frame, a multiple of 64. */
size_t wmi_code_frame_size(const struct wmi_code *code);
/* Fills what no wave changes: the constants. Everything else must be zero. */
void wmi_code_prepare_frame(const struct wmi_code *code, struct wmi_frame *frame);

#endif

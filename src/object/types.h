/* SPDX-License-Identifier: MIT */
/* The parts of a code object: segments, symbols, kernel descriptors. */
#ifndef WMI_OBJECT_TYPES_H
#define WMI_OBJECT_TYPES_H

#include "wavemem/wavemem.h"

/* A PT_LOAD segment. Addresses are as in the file, before relocation. */
struct wmi_segment {
    uint64_t address, size;        /* in memory */
    const uint8_t *bytes;          /* contents of the file; the rest up to `size` is zero */
    uint64_t file_size, alignment; /* alignment: a power of two, at least 1 */
    bool readable, writable, executable;
};

enum wmi_symbol_kind {
    WMI_SYMBOL_FUNCTION,
    WMI_SYMBOL_DATA,       /* __device__ and __constant__ globals */
    WMI_SYMBOL_DESCRIPTOR, /* NAME.kd */
    WMI_SYMBOL_LABEL,      /* without a type */
};

struct wmi_symbol {
    const char *name;
    uint64_t address, size;
    enum wmi_symbol_kind kind;
    bool local;
};

/* The kernel descriptor, one member per field; flags are 0 or 1. */
struct wmi_kernel_descriptor {
    uint32_t lds_size, scratch_size, kernarg_size; /* bytes; kernarg_size 0: unspecified */
    int64_t entry_offset;                          /* from the descriptor to the first instruction */

    /* Registers allocated per lane or wave, from the granules below. sgprs: including VCC etc. vgprs:
     * architected; agprs: accumulators, from `accum_offset` on in the same file on gfx90a and later. */
    uint32_t sgprs, vgprs, agprs;

    /* COMPUTE_PGM_RSRC1 */
    uint32_t granulated_vgprs, granulated_sgprs;
    uint32_t priority;
    uint32_t round_32, round_16_64;   /* 0 nearest even, 1 +infinity, 2 -infinity, 3 zero */
    uint32_t denorm_32, denorm_16_64; /* bit 0: inputs kept, bit 1: results kept; 3 keeps all */
    uint32_t privileged, dx10_clamp, debug_mode, ieee; /* dx10_clamp, ieee: not on gfx12, 0 there */
    uint32_t bulky, fp16_overflow;
    uint32_t wgp_mode, mem_ordered, forward_progress; /* gfx10 and later */

    /* COMPUTE_PGM_RSRC2 */
    uint32_t scratch_enabled; /* ENABLE_PRIVATE_SEGMENT: the wave offset SGPR before architected scratch */
    uint32_t user_sgprs, trap_handler;
    uint32_t workgroup_id_x, workgroup_id_y, workgroup_id_z, workgroup_info;
    uint32_t workitem_id;                                           /* 0: v0 is x; 1: also y; 2: also z */
    uint32_t exception_address_watch, exception_memory, exceptions; /* exceptions: bits as in MODE.EXCP_EN */
    uint32_t granulated_lds;                                        /* set by the dispatcher; 0 in files */

    /* COMPUTE_PGM_RSRC3 */
    uint32_t accum_offset, tg_split;       /* gfx90a, gfx94x; accum_offset as a register number */
    uint32_t shared_vgprs, inst_pref_size; /* gfx10 and gfx11; gfx11 and later */

    /* Kernel code properties: enabled user SGPRs in this order, with their size in dwords */
    uint32_t private_segment_buffer; /* 4 */
    uint32_t dispatch_ptr;           /* 2 */
    uint32_t queue_ptr;              /* 2 */
    uint32_t kernarg_segment_ptr;    /* 2 */
    uint32_t dispatch_id;            /* 2 */
    uint32_t flat_scratch_init;      /* 2 */
    uint32_t private_segment_size;   /* 1 */
    uint32_t wave32, dynamic_stack;
    uint32_t preload_length, preload_offset; /* dwords of the kernarg segment, to the following SGPRs */
    uint32_t preload_prologue;               /* bytes of code in front of where waves then begin */

    uint32_t rsrc1, rsrc2, rsrc3, properties; /* the raw words */
};

enum { WMI_DESCRIPTOR_BYTES = 64, WMI_DESCRIPTOR_ENTRY = 16 /* offset of entry_offset, 8 bytes */ };

#endif

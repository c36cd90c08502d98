/* SPDX-License-Identifier: MIT */
/* What execution needs of a code object beyond the public API: its segments as a loaded image, its symbols,
 * the kernel descriptor, the hidden arguments.
 *
 * Sources: LLVM 19, AMDGPUUsage ("ELF Code Object", "Code Object Metadata", "Kernel Descriptor") and
 * llvm/Support/AMDHSAKernelDescriptor.h. */
#ifndef WMI_OBJECT_H
#define WMI_OBJECT_H

#include "wavemem/wavemem.h"

/* The name that messages give the object. */
const char *wmi_object_name(const struct wm_object *object);

/* The name that messages call it by. */
const char *wmi_object_name(const struct wm_object *object);

/* ---- loading ---- */

/* A PT_LOAD segment. Addresses are the object's own, before loading. */
struct wmi_segment {
    uint64_t address, size;        /* in memory */
    const uint8_t *bytes;          /* in the file; what follows up to `size` is zero */
    uint64_t file_size, alignment; /* alignment: a power of two, at least 1 */
    bool readable, writable, executable;
};

/* In address order; they do not overlap. */
const struct wmi_segment *wmi_object_segments(const struct wm_object *object, size_t *count);

/* What all segments span together: [low, high), to be loaded at one bias that is a multiple of `alignment`.
 */
struct wmi_span {
    uint64_t low, high, alignment;
};
struct wmi_span wmi_object_span(const struct wm_object *object);

/* Finds a symbol that the object does not define; returns whether it did. */
typedef bool wmi_resolve(void *user, const char *name, uint64_t *address);

/* Fills `image`, of which the first span.high - span.low bytes count, with the loaded object, as it stands in
 * guest memory when its address span.low is guest address `base`: bytes, zeroes, relocations applied.
 * `resolve` may be NULL. `pages`: the image is mmap's own, and whole pages of it may be
 * replaced by private ones of the object's file, so that what nobody looks at costs nothing. Fails with
 * WM_NOT_FOUND for an undefined symbol, WM_UNSUPPORTED for a relocation that only a linker does. */
enum wm_status wmi_object_image(const struct wm_object *object, uint64_t base, wmi_resolve *resolve,
                                void *user, void *image, bool pages, struct wm_diag *diag);

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

/* A defined symbol by its name, a global one before a local one; NULL when there is none. */
const struct wmi_symbol *wmi_object_symbol_named(const struct wm_object *object, const char *name);

/* ---- kernels ---- */

/* Whether the kernel is one that the object hands out. */
bool wmi_object_has_kernel(const struct wm_object *object, const struct wm_kernel *kernel);

/* The kernel descriptor, one member per field; flags are 0 or 1. */
struct wmi_kernel_descriptor {
    uint32_t lds_size, scratch_size, kernarg_size; /* bytes; kernarg_size 0: unspecified */
    int64_t entry_offset;                          /* from the descriptor to the first instruction */

    /* Registers that the counts below allocate to a lane or wave. sgprs: with VCC and the like, as allocated.
     * vgprs: architected; agprs: accumulators, behind `accum_offset` of the same file on gfx90a and later. */
    uint32_t sgprs, vgprs, agprs;

    /* COMPUTE_PGM_RSRC1 */
    uint32_t granulated_vgprs, granulated_sgprs;
    uint32_t priority;
    uint32_t round_32, round_16_64;   /* 0 nearest even, 1 +infinity, 2 -infinity, 3 zero */
    uint32_t denorm_32, denorm_16_64; /* bit 0: inputs kept, bit 1: results kept; 3 keeps all */
    uint32_t privileged, dx10_clamp, debug_mode, ieee; /* dx10_clamp, ieee: not on gfx12, 0 there */
    uint32_t bulky, fp16_overflow;
    uint32_t wgp_mode, mem_ordered, forward_progress; /* gfx10 on */

    /* COMPUTE_PGM_RSRC2 */
    uint32_t scratch_enabled; /* ENABLE_PRIVATE_SEGMENT: the wave offset SGPR before architected scratch */
    uint32_t user_sgprs, trap_handler;
    uint32_t workgroup_id_x, workgroup_id_y, workgroup_id_z, workgroup_info;
    uint32_t workitem_id;                                           /* 0: v0 is x; 1: also y; 2: also z */
    uint32_t exception_address_watch, exception_memory, exceptions; /* exceptions: bits as in MODE.EXCP_EN */
    uint32_t granulated_lds;                                        /* the dispatcher sets it; 0 in files */

    /* COMPUTE_PGM_RSRC3 */
    uint32_t accum_offset, tg_split;       /* gfx90a, gfx94x; accum_offset as a register number */
    uint32_t shared_vgprs, inst_pref_size; /* gfx10 and gfx11; gfx11 on */

    /* Kernel code properties: which user SGPRs, in this order, and their dwords */
    uint32_t private_segment_buffer; /* 4 */
    uint32_t dispatch_ptr;           /* 2 */
    uint32_t queue_ptr;              /* 2 */
    uint32_t kernarg_segment_ptr;    /* 2 */
    uint32_t dispatch_id;            /* 2 */
    uint32_t flat_scratch_init;      /* 2 */
    uint32_t private_segment_size;   /* 1 */
    uint32_t wave32, dynamic_stack;
    uint32_t preload_length, preload_offset; /* dwords of the kernarg segment into the SGPRs that follow */

    uint32_t rsrc1, rsrc2, rsrc3, properties; /* the words themselves */
};

/* The descriptor of a kernel that came from wm_object_kernel() or wm_object_find_kernel(). A raw blob's
 * kernel has one that nobody wrote: see wm_object_open(). */
const struct wmi_kernel_descriptor *wmi_kernel_descriptor(const struct wm_kernel *kernel);

enum { WMI_DESCRIPTOR_BYTES = 64 };

/* Splits the 64 bytes of a descriptor for `target`, a name like "gfx900" that wmi_abi_known() knows. */
void wmi_descriptor_parse(const uint8_t bytes[WMI_DESCRIPTOR_BYTES], const char *target,
                          struct wmi_kernel_descriptor *descriptor);

/* What the hidden arguments of a dispatch say. Addresses that wavemem does not provide stay 0. */
struct wmi_hidden_values {
    uint32_t grid[3], workgroup[3]; /* work-items, at least 1 */
    uint32_t dimensions;            /* of the grid, 1 to 3 */
    uint64_t global_offset[3];
    uint64_t printf_buffer, hostcall_buffer, heap, default_queue, completion_action, multigrid_sync;
    uint64_t queue_ptr;
    uint32_t dynamic_lds;               /* bytes */
    uint32_t private_base, shared_base; /* high halves of the apertures */
};

/* Writes the hidden arguments of `kernel` into its kernarg segment of `kernel->kernarg_size` bytes and leaves
 * the others alone. hidden_none and kinds that wavemem does not know are left as they are. */
void wmi_fill_kernarg(const struct wm_kernel *kernel, const struct wmi_hidden_values *values, void *kernarg);

/* The format strings of printf ("id:argument count:sizes...:format"), as the metadata has them. */
const char *const *wmi_object_printf(const struct wm_object *object, size_t *count);

/* The buffer that kernels print into: two dwords, the bytes used so far and the bytes of the whole, then
 * records. A record is a dword, the format's id, and the arguments. What is not written yet is
 * WMI_PRINTF_UNWRITTEN, in each dword. Source: rocm-device-libs, __printf_alloc. */
enum { WMI_PRINTF_BYTES = 4 << 20, WMI_PRINTF_HEADER = 8 };
#define WMI_PRINTF_UNWRITTEN UINT32_C(0xb1a27e5d)

/* Whether the kernel wants such a buffer. */
bool wmi_kernel_prints(const struct wm_kernel *kernel);

/* Whether the ABI's facts of `target` ("gfx900") are known: more than the targets that decode. */
bool wmi_abi_known(const char *target);

#endif

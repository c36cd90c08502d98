/* SPDX-License-Identifier: MIT */
/* What execution needs from a code object beyond the public API: segments as a loaded image, symbols, kernel
 * descriptors, hidden arguments.
 *
 * Sources: LLVM 19, AMDGPUUsage ("ELF Code Object", "Code Object Metadata", "Kernel Descriptor") and
 * llvm/Support/AMDHSAKernelDescriptor.h. */
#ifndef WMI_OBJECT_H
#define WMI_OBJECT_H

#include "object/types.h"

/* The object's name in messages. */
const char *wmi_object_name(const struct wm_object *object);

/* ---- loading ---- */

/* Sorted by address, without overlaps. */
const struct wmi_segment *wmi_object_segments(const struct wm_object *object, size_t *count);

/* The address range [low, high) of all segments, loaded at one bias that is a multiple of `alignment`. */
struct wmi_span {
    uint64_t low, high, alignment;
};
struct wmi_span wmi_object_span(const struct wm_object *object);

/* Looks up a symbol that the object does not define; returns whether it was found. */
typedef bool wmi_resolve(void *user, const char *name, uint64_t *address);

/* Writes the loaded object to the first span.high - span.low bytes of `image`, as it is in guest memory when
 * address span.low is loaded at guest address `base`: bytes, zeros, relocations applied. `resolve` may be
 * NULL. `pages`: the image was allocated by mmap, and whole pages may be replaced by private mappings of the
 * object's file, so that pages without accesses cost nothing. Fails with WM_NOT_FOUND for an undefined
 * symbol, WM_UNSUPPORTED for a relocation that only linkers apply. */
enum wm_status wmi_object_image(const struct wm_object *object, uint64_t base, wmi_resolve *resolve,
                                void *user, void *image, bool pages, struct wm_diag *diag);

/* A defined symbol by name; global symbols take precedence. NULL if there is none. */
const struct wmi_symbol *wmi_object_symbol_named(const struct wm_object *object, const char *name);

/* The variable that contains the address; NULL: there is none. */
const struct wmi_symbol *wmi_object_variable_at(const struct wm_object *object, uint64_t address);

/* Whether there was no memory for symbols, lines or names of arguments, which are read when they are asked
 * for. */
bool wmi_object_lost(const struct wm_object *object);
/* The range of code that the address lies in. */
bool wmi_object_code_at(const struct wm_object *object, uint64_t address, struct wm_code *code);

/* ---- kernels ---- */

/* Whether the kernel is one that the object hands out. */
bool wmi_object_has_kernel(const struct wm_object *object, const struct wm_kernel *kernel);

/* The descriptor of a kernel from wm_object_kernel() or wm_object_find_kernel(). For a raw blob it has
 * default values: see wm_object_open(). */
const struct wmi_kernel_descriptor *wmi_kernel_descriptor(const struct wm_kernel *kernel);
/* VGPRs that the lower and the upper half of a wave of 64 lanes share; they follow the wave's own. Source:
 * AMDGPUUsage, table compute_pgm_rsrc3 of gfx10 and gfx11, SHARED_VGPR_COUNT. */
unsigned wmi_descriptor_shared_vgprs(const struct wmi_kernel_descriptor *descriptor);

/* Where waves begin, in the object's addresses: behind the code that loads the arguments where the packet
 * processor cannot, if it loads them. Source: LLVM AMDGPUUsage, "Preloaded Kernel Arguments". */
uint64_t wmi_kernel_start(const struct wm_kernel *kernel);

/* An object of one kernel: raw code of `size` bytes, from the kernel's entry on, with its descriptor. Copies
 * both. */
enum wm_status wmi_object_open_raw_kernel(const uint8_t descriptor[WMI_DESCRIPTOR_BYTES], const uint8_t *code,
                                          size_t size, const char *name, const char *target,
                                          struct wm_object **object, struct wm_diag *diag);
/* The name that it was opened with; "": it is another object. */
const char *wmi_object_raw_kernel_name(const struct wm_object *object);
/* Whether it was made of this descriptor and of what the code begins with. */
bool wmi_object_is_raw_kernel(const struct wm_object *object, const uint8_t descriptor[WMI_DESCRIPTOR_BYTES],
                              const uint8_t *code, size_t size);

/* The values of the hidden arguments of a dispatch. Addresses that wavemem does not provide are 0. */
struct wmi_hidden_values {
    uint32_t grid[3], workgroup[3]; /* work-items, at least 1 */
    uint32_t dimensions;            /* of the grid, 1 to 3 */
    uint64_t global_offset[3];
    uint64_t printf_buffer, hostcall_buffer, heap, default_queue, completion_action, multigrid_sync;
    uint64_t queue_ptr;
    uint32_t dynamic_lds;               /* bytes */
    uint32_t private_base, shared_base; /* high halves of the apertures */
};

/* Whether the kernel reads an offset of the grid, hidden_global_offset_x to _z. */
bool wmi_kernel_has_offset(const struct wm_kernel *kernel);

/* Writes the hidden arguments of `kernel` into its kernarg segment of `kernel->kernarg_size` bytes. Other
 * arguments, hidden_none and unknown kinds are not written. */
void wmi_fill_kernarg(const struct wm_kernel *kernel, const struct wmi_hidden_values *values, void *kernarg);

/* The printf formats ("id:argument count:sizes...:format") from the metadata. */
const char *const *wmi_object_printf(const struct wm_object *object, size_t *count);

/* The buffer that kernels print into: two dwords, the bytes used and the bytes in total, then records. A
 * record is a dword with the format's id, followed by the arguments. Dwords not yet written are
 * WMI_PRINTF_UNWRITTEN. Source: rocm-device-libs, __printf_alloc. */
enum { WMI_PRINTF_BYTES = 4 << 20, WMI_PRINTF_HEADER = 8 };
#define WMI_PRINTF_UNWRITTEN UINT32_C(0xb1a27e5d)

/* Whether the kernel uses the printf buffer. */
bool wmi_kernel_prints(const struct wm_kernel *kernel);

#endif

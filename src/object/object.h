/* SPDX-License-Identifier: MIT */
/* What execution needs of a code object beyond the public API: its segments as a loaded image, its symbols,
 * the kernel descriptor, the hidden arguments.
 *
 * Sources: LLVM 19, AMDGPUUsage ("ELF Code Object", "Code Object Metadata", "Kernel Descriptor") and
 * llvm/Support/AMDHSAKernelDescriptor.h. */
#ifndef WMI_OBJECT_H
#define WMI_OBJECT_H

#include "object/types.h"

/* The name that messages give the object. */
const char *wmi_object_name(const struct wm_object *object);

/* ---- loading ---- */

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

/* A defined symbol by its name, a global one before a local one; NULL when there is none. */
const struct wmi_symbol *wmi_object_symbol_named(const struct wm_object *object, const char *name);

/* Whether there was no memory for symbols, lines or names of arguments, which are read when they are asked
 * for. */
bool wmi_object_lost(const struct wm_object *object);
/* The range of code that the address lies in. */
bool wmi_object_code_at(const struct wm_object *object, uint64_t address, struct wm_code *code);

/* ---- kernels ---- */

/* Whether the kernel is one that the object hands out. */
bool wmi_object_has_kernel(const struct wm_object *object, const struct wm_kernel *kernel);

/* The descriptor of a kernel that came from wm_object_kernel() or wm_object_find_kernel(). A raw blob's
 * kernel has one that nobody wrote: see wm_object_open(). */
const struct wmi_kernel_descriptor *wmi_kernel_descriptor(const struct wm_kernel *kernel);

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

#endif

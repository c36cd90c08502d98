/* SPDX-License-Identifier: MIT */
/* Kernel descriptors, including the default one of a raw blob.
 *
 * Source: LLVM 19, AMDGPUUsage, "Kernel Descriptor"; llvm/Support/AMDHSAKernelDescriptor.h. */
#include "object/object.h"
#include "object/parts.h"

#include <string.h>

const struct wmi_kernel_descriptor *wmi_kernel_descriptor(const struct wm_kernel *kernel)
{
    return &((const struct wmi_kernel *)(const void *)kernel)->descriptor;
}

uint64_t wmi_kernel_start(const struct wm_kernel *kernel)
{
    return kernel->entry + wmi_kernel_descriptor(kernel)->preload_prologue;
}

/* ---- kernels of an object ---- */

enum {
    MAX_KERNARG = 1 << 20,
    ENTRY_ALIGNMENT = 256, /* the hardware drops the low 8 bits of the address */
};

static const struct wmi_segment *code_segment(const struct wm_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct wmi_segment *s = &object->segments[i];
        if (s->executable && address >= s->address && address - s->address < s->file_size)
            return s;
    }
    return NULL;
}

/* Counts in the metadata are exact and take precedence; the descriptor's are rounded up. */
static void describe(struct wm_kernel *k, const struct wmi_kernel_descriptor *d,
                     const struct wmi_target *target)
{
    k->target = wmi_target_name(target);
    k->lds_size = d->lds_size;
    k->scratch_size = d->scratch_size;
    k->wave_size = wmi_lanes(target, d);
    k->mode = !wmi_target_limit(target, WMI_LIMIT_wgp_mode) ? NULL : d->wgp_mode ? "WGP" : "CU";
    k->dynamic_stack = d->dynamic_stack;
    k->dimensions = d->workitem_id + 1;
    if (d->workgroup_id_y && k->dimensions < 2)
        k->dimensions = 2;
    if (d->workgroup_id_z)
        k->dimensions = 3;
    if (d->kernarg_size)
        k->kernarg_size = d->kernarg_size;
    k->allocated_sgprs = d->sgprs;
    k->allocated_vgprs = d->vgprs;
    k->allocated_agprs = d->agprs;
    if (!k->sgprs)
        k->sgprs = d->sgprs;
    if (!k->vgprs)
        k->vgprs = d->vgprs;
}

enum wm_status wmi_kernel_describe(struct wm_object *object, struct wmi_kernel *kernel, const char *symbol,
                                   struct wm_diag *diag)
{
    struct wm_kernel *k = &kernel->public;
    const struct wmi_symbol *found = wmi_object_symbol_named(object, symbol);
    if (!found)
        return wmi_fail(diag, WM_BAD_FILE, "%s: kernel '%s': its descriptor '%s' is not in the symbol table",
                        object->name, k->name, symbol);
    const uint8_t *bytes = wmi_object_bytes(object, found->address, WMI_DESCRIPTOR_BYTES);
    if (!bytes)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: kernel '%s': descriptor at 0x%llx; expected 64 bytes inside a segment",
                        object->name, k->name, (unsigned long long)found->address);
    wmi_descriptor_read(bytes, object->target, &kernel->descriptor);
    k->descriptor = found->address;
    k->entry = found->address + (uint64_t)kernel->descriptor.entry_offset;
    describe(k, &kernel->descriptor, object->target);
    if (!code_segment(object, k->entry) || k->entry % ENTRY_ALIGNMENT)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: kernel '%s': entry 0x%llx; expected a multiple of 256 in an executable segment",
                        object->name, k->name, (unsigned long long)k->entry);
    /* Some of AMD's kernels have arguments behind their segment, which its loader accepts: 4 of the 2909
     * objects of ROCm/aiter, 2026. */
    for (size_t i = 0; i < k->argument_count; i++) {
        const struct wm_argument *a = &k->arguments[i];
        if (a->size <= MAX_KERNARG && a->offset <= MAX_KERNARG - a->size &&
            a->offset + a->size > k->kernarg_size)
            k->kernarg_size = a->offset + a->size;
    }
    if (k->kernarg_size > MAX_KERNARG)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: kernel '%s': kernarg segment of %u bytes; at most %u are possible", object->name,
                        k->name, k->kernarg_size, MAX_KERNARG);
    for (size_t i = 0; i < k->argument_count; i++) {
        const struct wm_argument *a = &k->arguments[i];
        if (a->size > k->kernarg_size || a->offset > k->kernarg_size - a->size)
            return wmi_fail(diag, WM_BAD_FILE,
                            "%s: kernel '%s': argument %zu: bytes %u + %u; the kernarg segment has %u",
                            object->name, k->name, i, a->offset, a->size, k->kernarg_size);
    }
    return WM_OK;
}

enum wm_status wmi_kernel_raw(struct wm_object *object, struct wm_diag *diag)
{
    const bool clamp_ieee = wmi_target_limit(object->target, WMI_LIMIT_clamp_ieee);
    struct wmi_kernel *kernel = wmi_arena_array(&object->arena, 1, sizeof(*kernel));
    if (!kernel)
        return wmi_no_memory(object, diag);
    struct wmi_kernel_descriptor *d = &kernel->descriptor;
    *d = (struct wmi_kernel_descriptor){
        .granulated_vgprs = 63, /* all registers */
        .granulated_sgprs = 12,
        .denorm_32 = 3,
        .denorm_16_64 = 3,
        .dx10_clamp = clamp_ieee,
        .ieee = clamp_ieee,
        .user_sgprs = 2,
        .kernarg_segment_ptr = 1,
        .workgroup_id_x = 1,
        .workgroup_id_y = 1,
        .workgroup_id_z = 1,
        .workitem_id = 2,
        .accum_offset = 63, /* 256 */
        .wave32 = wmi_target_limit(object->target, WMI_LIMIT_wave) == 32,
    };
    wmi_descriptor_count_registers(d, object->target);
    kernel->public.name = kernel->public.source_name = "raw";
    describe(&kernel->public, d, object->target);
    object->kernels = kernel;
    object->kernel_count = 1;
    return WM_OK;
}

enum wm_status wmi_kernel_redescribe(struct wm_object *object, const uint8_t bytes[WMI_DESCRIPTOR_BYTES],
                                     struct wm_diag *diag)
{
    struct wmi_kernel *kernel = &object->kernels[0];
    memcpy(kernel->descriptor_bytes, bytes, WMI_DESCRIPTOR_BYTES);
    wmi_descriptor_read(bytes, object->target, &kernel->descriptor);
    kernel->public.sgprs = kernel->public.vgprs = 0; /* the descriptor's */
    kernel->public.name = kernel->public.source_name =
        wmi_arena_text(&object->arena, object->name, strlen(object->name));
    if (!kernel->public.name)
        return wmi_no_memory(object, diag);
    describe(&kernel->public, &kernel->descriptor, object->target);
    return WM_OK;
}

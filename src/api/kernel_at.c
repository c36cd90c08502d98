/* SPDX-License-Identifier: MIT */
/* Kernels by the address of their descriptor in guest memory. */
#include "api/machine.h"
#include "base/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CODE = 1 << 20 }; /* bytes of a caller's kernel that reports show */

/* A kernel of an object that was loaded by wm_load(). */
static bool find_loaded(const struct wm_machine *machine, uint64_t address, const struct wm_object **object,
                        const struct wm_kernel **kernel)
{
    for (const struct wmi_module *module = wmi_modules(machine); module; module = module->next)
        for (size_t i = 0; !module->own && i < wm_object_kernel_count(module->object); i++) {
            const struct wm_kernel *k = wm_object_kernel(module->object, i);
            if (k->descriptor && k->descriptor + module->bias == address) {
                *object = module->object;
                *kernel = k;
                return true;
            }
        }
    return false;
}

/* What the caller has put into memory; pointers are valid inside the gate. */
struct found {
    const uint8_t *descriptor, *code;
    size_t size; /* bytes of code, up to the end of the allocation */
    uint64_t entry;
};

static enum wm_status look(const struct wm_machine *machine, uint64_t address, struct found *found,
                           struct wm_diag *diag)
{
    int64_t offset;
    found->descriptor = wmi_space_host(machine->space, address, WMI_DESCRIPTOR_BYTES);
    if (!found->descriptor || address % WMI_DESCRIPTOR_BYTES)
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "kernel_object 0x%llx: expected the address of a kernel descriptor, 64 bytes at a multiple "
            "of 64 in guest memory",
            (unsigned long long)address);
    memcpy(&offset, found->descriptor + WMI_DESCRIPTOR_ENTRY, sizeof offset);
    found->entry = address + (uint64_t)offset;
    const struct wmi_allocation *a = wmi_space_find(machine->space, found->entry);
    found->size = a ? (size_t)(a->high - found->entry) / 4 * 4 : 0;
    if (!found->size || found->entry % 4)
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "kernel_object 0x%llx: its code would begin at 0x%llx; expected a multiple of 4 in guest "
            "memory",
            (unsigned long long)address, (unsigned long long)found->entry);
    found->code = a->host + (found->entry - a->low);
    if (found->size > MOST_CODE)
        found->size = MOST_CODE;
    return WM_OK;
}

/* The module of this descriptor and code, if it was made before and nothing has changed since. */
static struct wmi_module *find_made(const struct wm_machine *machine, uint64_t address,
                                    const struct found *found)
{
    for (struct wmi_module *module = wmi_modules(machine); module; module = module->next)
        if (module->own && module->descriptor == address && module->bias == found->entry &&
            wmi_object_is_raw_kernel(module->own, found->descriptor, found->code, found->size))
            return module;
    return NULL;
}

static enum wm_status make(struct wm_machine *machine, uint64_t address, const struct found *found,
                           struct wmi_module **made, struct wm_diag *diag)
{
    char name[40];
    struct wmi_module *module = calloc(1, sizeof *module);
    if (!module)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a kernel");
    snprintf(name, sizeof name, "kernel at 0x%llx", (unsigned long long)address);
    const enum wm_status status =
        wmi_object_open_raw_kernel(found->descriptor, found->code, found->size, name,
                                   wmi_target_name(machine->target), &module->own, diag);
    if (status) {
        free(module);
        return status;
    }
    module->object = module->own;
    module->bias = found->entry;
    module->descriptor = address;
    module->next = machine->modules;
    __atomic_store_n(&machine->modules, module, __ATOMIC_RELEASE);
    *made = module;
    return WM_OK;
}

enum wm_status wmi_kernel_at(struct wm_machine *machine, uint64_t address, const struct wm_object **object,
                             const struct wm_kernel **kernel, struct wm_diag *diag)
{
    struct wmi_presence presence;
    struct found found = {0};
    if (find_loaded(machine, address, object, kernel))
        return WM_OK;
    pthread_mutex_lock(&machine->load_lock);
    wmi_machine_enter(machine, &presence, address, WMI_DESCRIPTOR_BYTES);
    enum wm_status status = look(machine, address, &found, diag);
    struct wmi_module *module = status ? NULL : find_made(machine, address, &found);
    if (!status && !module)
        status = make(machine, address, &found, &module, diag);
    wmi_gate_leave(&presence);
    pthread_mutex_unlock(&machine->load_lock);
    if (status)
        return status;
    *object = module->object;
    *kernel = wm_object_kernel(module->object, 0);
    return WM_OK;
}

/* SPDX-License-Identifier: MIT */
/* The public API: machines, their memory, and loading code objects into it. */
#include "api/machine.h"

#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

enum wm_status wmi_machine_idle(const struct wm_machine *machine, const char *function, struct wm_diag *diag)
{
    if (!machine)
        return wmi_null(diag, function, "machine");
    return machine->busy
               ? wmi_fail(diag, WM_BAD_ARGUMENT, "%s: a dispatch is running on the machine", function)
               : WM_OK;
}

static void place_apertures(struct wm_machine *machine, uint64_t shared, uint64_t private)
{
    machine->apertures = (struct wmi_apertures){shared, shared + UINT32_MAX, private, private + UINT32_MAX};
}

/* The fast steps of FLAT rely on it that no allocation is within reach of an aperture. */
static bool may_be_aperture(uint64_t base)
{
    const int64_t top = (int64_t)base >> 47;
    return (uint32_t)base == 0 && top != 0 && top != -1;
}

enum wm_status wm_set_apertures(struct wm_machine *machine, uint64_t shared_base, uint64_t private_base,
                                struct wm_diag *diag)
{
    const enum wm_status status = wmi_machine_idle(machine, __func__, diag);
    if (status)
        return status;
    if (!wmi_target_limit(machine->target, WMI_LIMIT_shared_aperture))
        return wmi_fail(diag, WM_UNSUPPORTED, "%s has no FLAT instructions, and so no apertures",
                        wmi_target_name(machine->target));
    if (!may_be_aperture(shared_base) || !may_be_aperture(private_base) || shared_base == private_base)
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "apertures at 0x%llx and 0x%llx; expected two multiples of 2^32 that are no addresses "
            "of memory (bits 63 to 47 not all equal)",
            (unsigned long long)shared_base, (unsigned long long)private_base);
    place_apertures(machine, shared_base, private_base);
    return WM_OK;
}

static void show_allocation(void *user, const struct wmi_allocation *allocation, bool freed)
{
    const struct wm_machine *machine = user;
    wmi_machine_observers_show(&machine->observers, freed ? WM_EVENT_FREE : WM_EVENT_ALLOCATE,
                               &(struct wm_memory){.address = allocation->low,
                                                   .size = allocation->high - allocation->low,
                                                   .flags = allocation->flags,
                                                   .name = allocation->name});
}

/* The host reads or writes guest memory, or gets a pointer to it. */
static void show_host(const struct wm_machine *machine, enum wm_event_kind kind, uint64_t address,
                      uint64_t size, const void *bytes)
{
    wmi_machine_observers_show(&machine->observers, kind,
                               &(struct wm_memory){.address = address, .size = size, .bytes = bytes});
}

enum wm_status wm_machine_observe(struct wm_machine *machine, const struct wm_observer *observer,
                                  struct wm_diag *diag)
{
    if (!machine || !observer)
        return wmi_null(diag, __func__, machine ? "observer" : "machine");
    return wmi_machine_observers_add(&machine->observers, observer, diag);
}

enum wm_status wm_machine_unobserve(struct wm_machine *machine, const struct wm_observer *observer,
                                    struct wm_diag *diag)
{
    if (!machine || !observer)
        return wmi_null(diag, __func__, machine ? "observer" : "machine");
    return wmi_machine_observers_remove(&machine->observers, observer, diag);
}

enum wm_status wm_machine_create(const char *target_name, struct wm_machine **machine, struct wm_diag *diag)
{
    const struct wmi_target *target = wmi_target_find(target_name);
    if (!machine)
        return wmi_null(diag, __func__, "machine");
    *machine = NULL;
    if (!target)
        return wmi_fail(diag, WM_NOT_FOUND, "unknown target '%s'; expected a gfx name such as gfx900",
                        target_name ? target_name : "");
    struct wm_machine *m = calloc(1, sizeof *m);
    if (m)
        m->space = wmi_space_create();
    if (!m || !m->space) {
        free(m);
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a machine");
    }
    m->target = target;
    wmi_space_listen(m->space, show_allocation, m);
    place_apertures(m, (uint64_t)wmi_target_limit(m->target, WMI_LIMIT_shared_aperture) << 32,
                    (uint64_t)wmi_target_limit(m->target, WMI_LIMIT_private_aperture) << 32);
    *machine = m;
    return WM_OK;
}

void wm_machine_destroy(struct wm_machine *machine)
{
    if (!machine || machine->busy)
        return;
    for (struct wmi_module *module = machine->modules, *next; module; module = next) {
        next = module->next;
        free(module);
    }
    wmi_space_destroy(machine->space);
    free(machine->observers.one);
    free(machine);
}

enum wm_status wm_allocate(struct wm_machine *machine, uint64_t size, unsigned flags, const char *name,
                           uint64_t *address, struct wm_diag *diag)
{
    const enum wm_status status = wmi_machine_idle(machine, __func__, diag);
    if (status)
        return status;
    if (!address)
        return wmi_null(diag, __func__, "address");
    if (flags & ~(unsigned)WM_READ_ONLY)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "flags are 0x%x; expected 0 or WM_READ_ONLY", flags);
    return wmi_space_allocate(machine->space, size, flags, name, address, diag);
}

enum wm_status wm_free(struct wm_machine *machine, uint64_t address, struct wm_diag *diag)
{
    const enum wm_status status = wmi_machine_idle(machine, __func__, diag);
    return status ? status : wmi_space_free(machine->space, address, diag);
}

void *wm_host_pointer(struct wm_machine *machine, uint64_t address, uint64_t size)
{
    void *host = machine ? wmi_space_host(machine->space, address, size) : NULL;
    if (host)
        show_host(machine, WM_EVENT_HOST_POINTER, address, size, NULL);
    return host;
}

static enum wm_status outside(struct wm_diag *diag, uint64_t address, uint64_t size)
{
    return wmi_fail(diag, WM_OUT_OF_RANGE, "%llu bytes at 0x%llx do not lie in one allocation",
                    (unsigned long long)size, (unsigned long long)address);
}

enum wm_status wm_write(struct wm_machine *machine, uint64_t address, const void *bytes, uint64_t size,
                        struct wm_diag *diag)
{
    if (!machine || (!bytes && size))
        return wmi_null(diag, __func__, machine ? "bytes" : "machine");
    unsigned char *host = wmi_space_host(machine->space, address, size);
    if (!host)
        return outside(diag, address, size);
    if (size)
        memcpy(host, bytes, size);
    show_host(machine, WM_EVENT_HOST_WRITE, address, size, host);
    return WM_OK;
}

enum wm_status wm_read(const struct wm_machine *machine, uint64_t address, void *bytes, uint64_t size,
                       struct wm_diag *diag)
{
    if (!machine || (!bytes && size))
        return wmi_null(diag, __func__, machine ? "bytes" : "machine");
    const unsigned char *host = wmi_space_host(machine->space, address, size);
    if (!host)
        return outside(diag, address, size);
    if (size)
        memcpy(bytes, host, size);
    show_host(machine, WM_EVENT_HOST_READ, address, size, host);
    return WM_OK;
}

/* ---- loading ---- */

const struct wmi_target *wmi_target_of_waves(const struct wm_machine *machine, unsigned lanes)
{
    const struct wmi_target *halves = wmi_target_variant(machine->target, lanes, true);
    const struct wmi_target *whole = halves ? halves : wmi_target_variant(machine->target, lanes, false);
    return whole ? whole : machine->target;
}

const struct wmi_module *wmi_module_of(const struct wm_machine *machine, const struct wm_object *object)
{
    for (struct wmi_module *module = machine->modules; module; module = module->next)
        if (module->object == object)
            return module;
    return NULL;
}

enum wm_status wm_load(struct wm_machine *machine, const struct wm_object *object, struct wm_diag *diag)
{
    if (!machine || !object)
        return wmi_null(diag, __func__, machine ? "object" : "machine");
    if (wmi_module_of(machine, object))
        return WM_OK;
    enum wm_status status = wmi_machine_idle(machine, __func__, diag);
    if (status)
        return status;
    if (strcmp(wm_object_target(object), wmi_target_name(machine->target)))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is for %s, the machine is a %s",
                        wm_object_target(object), wmi_target_name(machine->target));
    const struct wmi_span span = wmi_object_span(object);
    uint64_t address;
    struct wmi_module *module = calloc(1, sizeof *module);
    if (!module)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a code object");
    status = wmi_space_allocate(machine->space, span.high - span.low, 0, "code object", &address, diag);
    if (!status) {
        /* the span's alignment is kept, because allocations are aligned as much as segments ever are */
        void *image = wmi_space_host(machine->space, address, span.high - span.low);
        status = wmi_object_image(object, address, NULL, NULL, image, true, diag);
        if (status)
            wmi_space_free(machine->space, address, NULL);
        else
            show_host(machine, WM_EVENT_HOST_WRITE, address, span.high - span.low, image);
    }
    if (status) {
        free(module);
        return status;
    }
    *module = (struct wmi_module){object, address - span.low, machine->modules};
    machine->modules = module;
    return WM_OK;
}

enum wm_status wm_symbol(struct wm_machine *machine, const struct wm_object *object, const char *name,
                         uint64_t *address, uint64_t *size, struct wm_diag *diag)
{
    if (!machine || !object || !name || !address)
        return wmi_null(diag, __func__,
                        !machine  ? "machine"
                        : !object ? "object"
                        : !name   ? "name"
                                  : "address");
    const struct wmi_module *module = wmi_module_of(machine, object);
    const struct wmi_symbol *symbol = wmi_object_symbol_named(object, name);
    if (!module)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is not loaded");
    const struct wm_kernel *kernel;
    if (!symbol && !wm_object_find_kernel(object, name, &kernel, NULL)) { /* a raw object has no symbols */
        *address = kernel->entry + module->bias;
        if (size)
            *size = 0;
        return WM_OK;
    }
    if (!symbol)
        return wmi_fail(diag, WM_NOT_FOUND, "no symbol '%s' in the code object", name);
    *address = symbol->address + module->bias;
    if (size)
        *size = symbol->size;
    return WM_OK;
}

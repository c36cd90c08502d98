/* SPDX-License-Identifier: MIT */
/* The public API: machines, and loading code objects into their memory. */
#include "api/machine.h"

#include "exec/memory/apertures.h"

#include "base/diag.h"
#include "exec/memory/gds.h"
#include "exec/run/environment.h"
#include "exec/run/pool.h"
#include "exec/run/programs.h"

#include <stdlib.h>
#include <string.h>

enum wm_status wmi_machine_idle(const struct wm_machine *machine, const char *function, struct wm_diag *diag)
{
    if (!machine)
        return wmi_null(diag, function, "machine");
    return __atomic_load_n(&machine->running, __ATOMIC_ACQUIRE)
               ? wmi_fail(diag, WM_BAD_ARGUMENT, "%s: a dispatch is running on the machine", function)
               : WM_OK;
}

enum wm_status wmi_machine_changeable(const struct wm_machine *machine, const char *function,
                                      struct wm_diag *diag)
{
    if (!machine)
        return wmi_null(diag, function, "machine");
    return wmi_rwlock_read_state(wmi_space_rwlock(machine->space)) == WMI_READ_LOCKED
               ? wmi_fail(diag, WM_BAD_ARGUMENT,
                          "%s: called by an observer of a dispatch that runs on the machine", function)
               : WM_OK;
}

enum wm_status wm_set_apertures(struct wm_machine *machine, uint64_t shared_base, uint64_t private_base,
                                struct wm_diag *diag)
{
    const enum wm_status status = wmi_machine_idle(machine, __func__, diag);
    if (status)
        return status;
    return wmi_apertures_set(machine->target, shared_base, private_base, &machine->apertures, diag);
}

enum wm_status wm_reset_gws(struct wm_machine *machine, struct wm_diag *diag)
{
    const enum wm_status status = wmi_machine_idle(machine, __func__, diag);
    if (!status)
        wmi_gws_reset(machine->gws);
    return status;
}

static void show_allocation(void *user, const struct wmi_allocation *allocation, bool freed)
{
    struct wm_machine *machine = user;
    const bool mapped = allocation->flags & WMI_ALLOCATION_HOST;
    wmi_machine_observers_show(&machine->observers,
                               freed    ? WM_EVENT_FREE
                               : mapped ? WM_EVENT_MAP
                                        : WM_EVENT_ALLOCATE,
                               &(struct wm_memory){.address = allocation->low,
                                                   .size = allocation->high - allocation->low,
                                                   .flags = allocation->flags & WM_READ_ONLY,
                                                   .name = allocation->name,
                                                   .is_own = allocation->flags & WMI_ALLOCATION_OWN});
}

void *wmi_machine_read_lock(const struct wm_machine *machine, struct wmi_read_lock *read_lock,
                            uint64_t address, uint64_t size)
{
    wmi_rwlock_read(wmi_space_rwlock(machine->space), read_lock);
    return wmi_space_host(machine->space, address, size);
}

void wmi_show_host(const struct wm_machine *machine, enum wm_event_kind kind, uint64_t address, uint64_t size,
                   const void *bytes)
{
    wmi_machine_observers_show((struct wmi_machine_observers *)&machine->observers, kind,
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

static void free_parts(struct wm_machine *machine)
{
    wmi_pool_destroy(machine->pool);
    wmi_programs_destroy(machine->programs);
    wmi_raw_modules_destroy(machine->raw_modules);
    wmi_gws_destroy(machine->gws);
    wmi_space_destroy(machine->space);
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
    const enum wm_status status = wmi_environment_check(diag);
    if (status)
        return status;
    struct wm_machine *m = calloc(1, sizeof *m);
    if (m) {
        m->space = wmi_space_create();
        m->gws = wmi_gws_create();
        m->pool = wmi_pool_create();
        m->programs = wmi_programs_create();
        m->raw_modules = wmi_raw_modules_create();
    }
    if (!m || !m->space || !m->gws || !m->pool || !m->programs || !m->raw_modules ||
        !wmi_machine_observers_init(&m->observers)) {
        if (m)
            free_parts(m);
        free(m);
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a machine");
    }
    pthread_mutex_init(&m->load_lock, NULL);
    m->target = target;
    m->sramecc = wmi_sramecc_of(target_name);
    wmi_space_listen(m->space, show_allocation, m);
    m->apertures = wmi_apertures_of(target);
    *machine = m;
    return WM_OK;
}

void wm_machine_destroy(struct wm_machine *machine)
{
    if (!machine || __atomic_load_n(&machine->running, __ATOMIC_ACQUIRE) ||
        __atomic_load_n(&machine->queues, __ATOMIC_ACQUIRE))
        return;
    for (struct wmi_module *module = machine->modules, *next; module; module = next) {
        next = module->next;
        free(module);
    }
    free_parts(machine);
    wmi_machine_observers_destroy(&machine->observers);
    pthread_mutex_destroy(&machine->load_lock);
    free(machine);
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
    for (struct wmi_module *module = wmi_modules(machine); module; module = module->next)
        if (module->object == object)
            return module;
    return NULL;
}

/* Puts the object's bytes in memory, and the object in the list. The rest of its last page can be accessed,
 * too, and is 0: compilers widen scalar loads beyond the last variable. Source: ROCr, AgentHost
 * SegmentAlloc() in the loader's context: zeroed memory of the agent, in pages, for all segments together. */
static enum wm_status load(struct wm_machine *machine, const struct wm_object *object, struct wm_diag *diag)
{
    enum { PAGE = 4096 };
    const struct wmi_span span = wmi_object_span(object);
    const uint64_t tail = -(span.high - span.low) % PAGE, size = span.high - span.low + tail;
    const struct wmi_allocation_request request = {
        .size = size, .tail = tail, .flags = WMI_ALLOCATION_OWN, .name = "code object"};
    struct wmi_module *module = calloc(1, sizeof *module);
    uint64_t address;
    if (!module)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a code object");
    enum wm_status status = wmi_space_place(machine->space, &request, &address, diag);
    if (!status) {
        struct wmi_read_lock read_lock;
        /* the span's alignment is kept, because allocations are aligned as much as segments ever are */
        void *image = wmi_machine_read_lock(machine, &read_lock, address, size);
        status = wmi_object_image(object, address, NULL, NULL, image, true, diag);
        if (!status)
            wmi_show_host(machine, WM_EVENT_HOST_WRITE, address, size, image);
        wmi_rwlock_read_unlock(&read_lock);
        if (status)
            wmi_space_free(machine->space, address, true, NULL);
    }
    if (status) {
        free(module);
        return status;
    }
    *module = (struct wmi_module){.object = object, .bias = address - span.low, .next = machine->modules};
    __atomic_store_n(&machine->modules, module, __ATOMIC_RELEASE);
    return WM_OK;
}

enum wm_status wm_load(struct wm_machine *machine, const struct wm_object *object, struct wm_diag *diag)
{
    if (!machine || !object)
        return wmi_null(diag, __func__, machine ? "object" : "machine");
    if (wmi_module_of(machine, object))
        return WM_OK;
    enum wm_status status = wmi_machine_changeable(machine, __func__, diag);
    if (status)
        return status;
    if (!wmi_target_executes(machine->target, wm_object_target(object)))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "the code object is for %s, the machine is a %s",
                        wm_object_target(object), wmi_target_name(machine->target));
    pthread_mutex_lock(&machine->load_lock);
    if (!wmi_module_of(machine, object))
        status = load(machine, object, diag);
    pthread_mutex_unlock(&machine->load_lock);
    return status;
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

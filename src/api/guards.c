/* SPDX-License-Identifier: MIT */
/* Memory that a dispatch must not change, for the memory checker. */
#include "api/guards.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

static bool add(struct wmi_guards *guards, struct wmi_guard guard)
{
    if (!wmi_grow(&guards->guard, &guards->capacity, guards->count, sizeof guard))
        return false;
    guards->guard[guards->count++] = guard;
    return true;
}

static bool add_object(struct wmi_guards *guards, const struct wmi_module *module)
{
    size_t count;
    const struct wmi_segment *segments = wmi_object_segments(module->object, &count);
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        const struct wmi_segment *s = &segments[i];
        if (s->writable || !s->size)
            continue;
        ok &= add(guards, (struct wmi_guard){.kind = s->executable ? WMI_GUARD_CODE : WMI_GUARD_DATA,
                                             .low = s->address + module->bias,
                                             .high = s->address + module->bias + s->size});
    }
    return ok;
}

static bool add_objects(struct wmi_guards *guards, const struct wm_machine *machine,
                        const struct wmi_module *own)
{
    bool ok = true, loaded = false;
    for (const struct wmi_module *module = wmi_modules(machine); module; module = module->next) {
        ok &= add_object(guards, module);
        loaded |= module == own;
    }
    return ok && (loaded || add_object(guards, own));
}

/* The arguments as the kernel finds them; NULL: they are not in memory. */
static const unsigned char *kernarg_of(const struct wmi_dispatch *dispatch, const struct wm_kernel *kernel)
{
    return kernel->kernarg_size ? wmi_space_host(dispatch->space, dispatch->arguments, kernel->kernarg_size)
                                : NULL;
}

static const struct wm_argument *argument_at(const struct wm_kernel *kernel, uint32_t offset)
{
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (offset - kernel->arguments[i].offset < kernel->arguments[i].size)
            return &kernel->arguments[i];
    return NULL;
}

static bool is_constant(const struct wm_argument *argument)
{
    return argument && argument->kind == WM_ARGUMENT_GLOBAL_BUFFER && argument->is_const;
}

static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Whether anything but a constant argument may be a pointer into [low, high]. */
static bool is_reached(const struct wm_kernel *kernel, const unsigned char *kernarg, uint64_t low,
                       uint64_t high)
{
    for (uint32_t at = 0; at + 8 <= kernel->kernarg_size; at += 4) {
        const uint64_t word = word_at(kernarg + at);
        if (word >= low && word <= high && !is_constant(argument_at(kernel, at)))
            return true;
    }
    return false;
}

static bool add_constants(struct wmi_guards *guards, const struct wm_kernel *kernel,
                          const struct wmi_dispatch *dispatch)
{
    const unsigned char *kernarg = kernarg_of(dispatch, kernel);
    bool ok = true;
    for (size_t i = 0; kernarg && i < kernel->argument_count; i++) {
        const struct wm_argument *argument = &kernel->arguments[i];
        if (!is_constant(argument) || argument->size != 8 || argument->offset > kernel->kernarg_size - 8)
            continue;
        const struct wmi_allocation *a = wmi_space_find(dispatch->space, word_at(kernarg + argument->offset));
        if (a && !(a->flags & WMI_ALLOCATION_OWN) && !is_reached(kernel, kernarg, a->low, a->high))
            ok &= add(guards, (struct wmi_guard){WMI_GUARD_CONSTANT, a->low, a->high, argument->name});
    }
    return ok;
}

bool wmi_guards_create(struct wmi_guards *guards, const struct wm_machine *machine,
                       const struct wmi_module *module, const struct wm_kernel *kernel,
                       const struct wmi_dispatch *dispatch)
{
    *guards = (struct wmi_guards){0};
    bool ok = add_objects(guards, machine, module) && add_constants(guards, kernel, dispatch);
    const struct wmi_allocation *own =
        kernel->kernarg_size ? wmi_space_find(dispatch->space, dispatch->arguments) : NULL;
    const uint64_t end = own && own->flags & WMI_ALLOCATION_OWN ? own->high /* with its padding */
                                                                : dispatch->arguments + kernel->kernarg_size;
    if (ok && kernel->kernarg_size)
        ok = add(guards, (struct wmi_guard){WMI_GUARD_KERNARG, dispatch->arguments, end, NULL});
    if (!ok)
        wmi_guards_destroy(guards);
    return ok;
}

void wmi_guards_destroy(struct wmi_guards *guards)
{
    free(guards->guard);
    *guards = (struct wmi_guards){0};
}

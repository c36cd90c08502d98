/* SPDX-License-Identifier: MIT */
#include "api/module.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, MOST_KEPT = 4096 }; /* modules; more, if dispatches use them */

struct wmi_raw_modules {
    struct wmi_raw_module *bucket[BUCKETS]; /* by the address of the entry */
    unsigned count;
};

struct wmi_raw_modules *wmi_raw_modules_create(void)
{
    return calloc(1, sizeof(struct wmi_raw_modules));
}

static void destroy(struct wmi_raw_modules *modules, struct wmi_raw_module **place)
{
    struct wmi_raw_module *old = *place;
    *place = old->next;
    modules->count--;
    wm_object_close(old->object);
    free(old);
}

void wmi_raw_modules_destroy(struct wmi_raw_modules *modules)
{
    for (unsigned i = 0; modules && i < BUCKETS; i++)
        while (modules->bucket[i])
            destroy(modules, &modules->bucket[i]);
    free(modules);
}

static struct wmi_raw_module **bucket_of(struct wmi_raw_modules *modules, uint64_t entry)
{
    return &modules->bucket[(entry >> 8 ^ entry >> 18) % BUCKETS];
}

/* Names may change: a driver's user names a shader after it has run. */
static bool is_same(const struct wm_object *object, const struct wmi_raw *raw)
{
    return wmi_object_is_raw_kernel(object, raw->descriptor, raw->code, raw->size) &&
           (!raw->name || !strcmp(raw->name, wmi_object_raw_kernel_name(object)));
}

struct wmi_raw_module *wmi_raw_modules_find(struct wmi_raw_modules *modules, const struct wmi_raw *raw)
{
    for (struct wmi_raw_module **at = bucket_of(modules, raw->entry), *module; (module = *at);) {
        const bool here = module->module.bias == raw->entry;
        if (here && is_same(module->object, raw))
            return module;
        if (here && !module->users && !module->lasts)
            destroy(modules, at);
        else
            at = &module->next;
    }
    return NULL;
}

/* Ends all that nobody uses. */
static void end_unused(struct wmi_raw_modules *modules)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct wmi_raw_module **at = &modules->bucket[i]; *at;)
            if (!(*at)->users && !(*at)->lasts)
                destroy(modules, at);
            else
                at = &(*at)->next;
}

struct wmi_raw_module *wmi_raw_modules_add(struct wmi_raw_modules *modules, struct wm_object *object,
                                           uint64_t entry)
{
    struct wmi_raw_module *module = calloc(1, sizeof *module), **bucket = bucket_of(modules, entry);
    if (!module)
        return NULL;
    if (modules->count >= MOST_KEPT)
        end_unused(modules);
    *module = (struct wmi_raw_module){
        .module = {.object = object, .bias = entry}, .object = object, .next = *bucket};
    *bucket = module;
    modules->count++;
    return module;
}

/* SPDX-License-Identifier: MIT */
/* Opens and closes code objects, and provides access to their contents. */
#include "object/object.h"

#include "object/input.h"
#include "object/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

/* Takes ownership of the input, also on failure. */
static struct wm_object *new_object(struct wm_bundle *input)
{
    struct wm_object *object = calloc(1, sizeof(*object));
    struct wmi_lazy *lazy = calloc(1, sizeof(*lazy));
    if (!object || !lazy || pthread_mutex_init(&lazy->lock, NULL) != 0) {
        wmi_input_close(input);
        free(object);
        free(lazy);
        return NULL;
    }
    object->lazy = lazy;
    object->input = input;
    object->name = input->name;
    object->bytes = input->bytes;
    object->size = input->size;
    object->file = input->memory;
    return object;
}

static enum wm_status open_raw(struct wm_object *object, const char *target, struct wm_diag *diag)
{
    object->target = wmi_target_find(target);
    if (!object->target)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: no target '%s'; expected one like gfx900", object->name,
                        target);
    if (!object->size || object->size % 4)
        return wmi_fail(diag, WM_BAD_FILE, "%s: %zu bytes; raw instructions are words of 4", object->name,
                        object->size);
    object->target_id = wmi_arena_text(&object->arena, target, strlen(target));
    object->segments = wmi_arena_array(&object->arena, 1, sizeof(*object->segments));
    object->code = wmi_arena_array(&object->arena, 1, sizeof(*object->code));
    if (!object->target_id || !object->segments || !object->code)
        return wmi_no_memory(object, diag);
    object->segments[0] = (struct wmi_segment){.size = object->size,
                                               .bytes = object->bytes,
                                               .file_size = object->size,
                                               .alignment = 256,
                                               .readable = true,
                                               .executable = true};
    object->segment_count = 1;
    object->code[0] = (struct wm_code){0, object->bytes, object->size};
    object->code_count = 1;
    return wmi_kernel_raw(object, diag);
}

/* Replaces the object by the bundle's entry for `target`. */
static enum wm_status enter_bundle(struct wm_object *object, const char *target, struct wm_diag *diag)
{
    const struct wmi_bundle_entry *entry;
    char name[400];
    const enum wm_status status = wmi_bundle_choose(object->input, target, &entry, diag);
    if (status)
        return status;
    const int length = snprintf(name, sizeof(name), "%.300s (%zu %.40s)", object->name,
                                (size_t)(entry - object->input->entries), entry->public.target);
    object->name = wmi_arena_text(&object->arena, name, (size_t)length);
    object->bytes = entry->bytes;
    object->size = entry->public.size;
    if (entry->public.compressed)
        object->file = -1;
    return object->name ? wmi_input_need(object->input, object->bytes, object->size, diag)
                        : wmi_fail(diag, WM_NO_MEMORY, "%s: no memory", object->input->name);
}

static bool is_elf(const struct wm_object *object)
{
    return object->size >= SELFMAG && memcmp(object->bytes, ELFMAG, SELFMAG) == 0;
}

static enum wm_status name_kernels(struct wm_object *object, struct wm_diag *diag)
{
    for (size_t i = 0; i < object->kernel_count; i++) {
        struct wm_kernel *kernel = &object->kernels[i].public;
        kernel->source_name = wmi_source_name(&object->arena, kernel->name);
        if (!kernel->source_name)
            return wmi_no_memory(object, diag);
    }
    return WM_OK;
}

static enum wm_status parse_kernels(struct wm_object *object, struct wm_diag *diag)
{
    enum wm_status status = wmi_symbols_hash(object, diag);
    if (!status)
        status = wmi_metadata_parse(object, diag);
    return status ? status : name_kernels(object, diag);
}

static bool executes(const char *target, const char *target_id)
{
    const struct wmi_target *found = wmi_target_find(target);
    return wmi_target_id_fits(target, target_id, false) || (found && wmi_target_executes(found, target_id));
}

static enum wm_status parse(struct wm_object *object, const char *target, bool code_alone,
                            struct wm_diag *diag)
{
    enum wm_status status = wmi_bundle_read(object->input, diag);
    const bool bundled = !status && object->input->bundles;
    if (bundled)
        status = enter_bundle(object, target, diag);
    else if (!status)
        status = wmi_input_need(object->input, object->bytes, object->size, diag);
    wmi_input_done(object->input);
    if (!status && target && !bundled && !is_elf(object))
        return open_raw(object, target, diag);
    if (!status)
        status = wmi_elf_parse(object, diag);
    if (!status && target && !bundled && !executes(target, object->target_id))
        status = wmi_fail(diag, WM_NOT_FOUND, "%s: is for %s, not for '%.40s'", object->name,
                          object->target_id, target);
    return status || code_alone ? status : parse_kernels(object, diag);
}

/* Parses the input and takes ownership of it. */
static enum wm_status finish(struct wm_bundle *input, const char *target, bool code_alone,
                             struct wm_object **object, struct wm_diag *diag)
{
    struct wm_object *new = new_object(input);
    if (!new)
        return wmi_fail(diag, WM_NO_MEMORY, "no memory for a code object");
    const enum wm_status status = parse(new, target, code_alone, diag);
    if (status)
        wm_object_close(new);
    else
        *object = new;
    return status;
}

enum wm_status wm_object_open(const void *bytes, size_t size, const char *name, const char *target,
                              struct wm_object **object, struct wm_diag *diag)
{
    struct wm_bundle *input;
    if (!object || (!bytes && size))
        return wmi_null(diag, __func__, object ? "bytes" : "object");
    *object = NULL;
    const enum wm_status status = wmi_input_copy(bytes, size, name ? name : "code object", &input, diag);
    return status ? status : finish(input, target, false, object, diag);
}

static enum wm_status open_file(const char *path, const char *target, bool code_alone,
                                struct wm_object **object, struct wm_diag *diag)
{
    struct wm_bundle *input;
    if (!object || !path)
        return wmi_null(diag, code_alone ? "wm_object_open_code" : "wm_object_open_file",
                        object ? "path" : "object");
    *object = NULL;
    const enum wm_status status = wmi_input_file(path, &input, diag);
    return status ? status : finish(input, target, code_alone, object, diag);
}

enum wm_status wm_object_open_file(const char *path, const char *target, struct wm_object **object,
                                   struct wm_diag *diag)
{
    return open_file(path, target, false, object, diag);
}

enum wm_status wm_object_open_code(const char *path, const char *target, struct wm_object **object,
                                   struct wm_diag *diag)
{
    return open_file(path, target, true, object, diag);
}

void wm_object_close(struct wm_object *object)
{
    if (!object)
        return;
    struct wmi_lazy *lazy = object->lazy;
    wmi_dwarf_close(lazy);
    pthread_mutex_destroy(&lazy->lock);
    free(lazy->by_address);
    free(lazy->entries);
    wmi_states_free(object);
    free(lazy->lines);
    free(lazy->inlined);
    wmi_arena_free(&lazy->arena);
    free(lazy);
    wmi_arena_free(&object->arena);
    wmi_input_close(object->input);
    free(object);
}

/* ---- access ---- */

const char *wmi_object_name(const struct wm_object *object)
{
    return object->name;
}

const char *wm_object_target(const struct wm_object *object)
{
    return object ? wmi_target_name(object->target) : NULL;
}

const char *wm_object_target_id(const struct wm_object *object)
{
    return object ? object->target_id : NULL;
}

unsigned wm_object_version(const struct wm_object *object)
{
    return object ? object->version : 0;
}

const char *const *wmi_object_printf(const struct wm_object *object, size_t *count)
{
    *count = object->printf_count;
    return object->printf_formats;
}

size_t wm_object_code(const struct wm_object *object, struct wm_code *code, size_t count)
{
    const size_t found = object ? object->code_count : 0;
    for (size_t i = 0; code && i < count && i < found; i++)
        code[i] = object->code[i];
    return found;
}

bool wmi_object_code_at(const struct wm_object *object, uint64_t address, struct wm_code *code)
{
    for (size_t i = 0; i < object->code_count; i++)
        if (address - object->code[i].address < object->code[i].size) {
            *code = object->code[i];
            return true;
        }
    return false;
}

bool wmi_object_lost(const struct wm_object *object)
{
    pthread_mutex_lock(&object->lazy->lock);
    const bool lost = object->lazy->lost;
    pthread_mutex_unlock(&object->lazy->lock);
    return lost;
}

size_t wm_object_kernel_count(const struct wm_object *object)
{
    return object ? object->kernel_count : 0;
}

bool wmi_object_has_kernel(const struct wm_object *object, const struct wm_kernel *kernel)
{
    const uintptr_t distance = (uintptr_t)kernel - (uintptr_t)object->kernels;
    return distance / sizeof *object->kernels < object->kernel_count &&
           distance % sizeof *object->kernels == 0;
}

static bool lacks_names(const struct wmi_kernel *kernel)
{
    for (size_t i = 0; i < kernel->public.argument_count; i++) {
        const struct wm_argument *a = &kernel->arguments[i];
        if (a->kind != WM_ARGUMENT_HIDDEN && (!*a->name || !*a->type_name))
            return true;
    }
    return false;
}

const struct wm_kernel *wm_object_kernel(const struct wm_object *object, size_t index)
{
    if (!object || index >= object->kernel_count)
        return NULL;
    /* Names are read from DWARF only on demand: parsing it takes longer than running a small kernel. */
    struct wmi_kernel *kernel = &object->kernels[index];
    pthread_mutex_lock(&object->lazy->lock);
    if (!object->lazy->has_names && lacks_names(kernel))
        wmi_dwarf_arguments(object);
    pthread_mutex_unlock(&object->lazy->lock);
    return &kernel->public;
}

/* Selects the kernels listed in a message. */
struct selection {
    const char *text;
    bool (*takes)(const struct wm_kernel *kernel, const char *text);
};

static bool every(const struct wm_kernel *kernel, const char *text)
{
    (void)kernel;
    (void)text;
    return true;
}

static bool contains(const struct wm_kernel *kernel, const char *text)
{
    return *text && (strstr(kernel->source_name, text) || strstr(kernel->name, text));
}

static bool is_called(const struct wm_kernel *kernel, const char *text)
{
    return wmi_source_name_is(kernel->source_name, text);
}

static size_t count_kernels(const struct wm_object *object, struct selection selection)
{
    size_t count = 0;
    for (size_t i = 0; i < object->kernel_count; i++)
        count += selection.takes(&object->kernels[i].public, selection.text);
    return count;
}

/* The shortest unambiguous name of the kernel. */
static const char *best_name(const struct wm_object *object, const struct wm_kernel *kernel)
{
    const struct selection same = {kernel->source_name, is_called};
    return count_kernels(object, same) == 1 ? kernel->source_name : kernel->name;
}

/* "'a', 'b', 'c' and 3 more" */
static void list_kernels(const struct wm_object *object, struct selection selection, char *text, size_t size)
{
    enum { MOST = 8, LONGEST = 160 };
    size_t used = 0, listed = 0, more = 0;
    text[0] = '\0';
    for (size_t i = 0; i < object->kernel_count; i++) {
        const struct wm_kernel *kernel = &object->kernels[i].public;
        if (!selection.takes(kernel, selection.text))
            continue;
        const char *name = listed < MOST ? best_name(object, kernel) : "";
        if (listed == MOST || (listed && used + strlen(name) + 30 > size))
            more++;
        else
            used +=
                (size_t)snprintf(text + used, size - used, "%s'%.*s'", listed++ ? ", " : "", LONGEST, name);
    }
    if (more)
        snprintf(text + used, size - used, " and %zu more", more);
}

/* The kernel, unless there is no memory for the names of its arguments. */
static enum wm_status choose(const struct wm_object *object, size_t index, const struct wm_kernel **kernel,
                             struct wm_diag *diag)
{
    const struct wm_kernel *chosen = wm_object_kernel(object, index);
    if (wmi_object_lost(object))
        return wmi_no_memory(object, diag);
    *kernel = chosen;
    return WM_OK;
}

enum wm_status wm_object_find_kernel(const struct wm_object *object, const char *name,
                                     const struct wm_kernel **kernel, struct wm_diag *diag)
{
    char names[320];
    if (!object || !kernel)
        return wmi_null(diag, __func__, object ? "kernel" : "object");
    *kernel = NULL;
    if (!object->kernel_count)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: has no kernel", object->name);
    if (!name && object->kernel_count == 1)
        return choose(object, 0, kernel, diag);
    for (size_t i = 0; name && i < object->kernel_count; i++)
        if (strcmp(object->kernels[i].public.name, name) == 0)
            return choose(object, i, kernel, diag);
    if (!name) {
        list_kernels(object, (struct selection){NULL, every}, names, sizeof(names));
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: has %zu kernels; say which: %s", object->name,
                        object->kernel_count, names);
    }
    const struct selection called = {name, is_called};
    struct selection near = {name, contains};
    const size_t count = count_kernels(object, called);
    for (size_t i = 0; count == 1 && i < object->kernel_count; i++)
        if (is_called(&object->kernels[i].public, name))
            return choose(object, i, kernel, diag);
    if (count) {
        list_kernels(object, called, names, sizeof(names));
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: %zu kernels are called '%.60s'; say which: %s",
                        object->name, count, name, names);
    }
    if (!count_kernels(object, near))
        near.takes = every;
    list_kernels(object, near, names, sizeof(names));
    return wmi_fail(diag, WM_NOT_FOUND, "%s: no kernel '%.60s'; %s%s", object->name, name,
                    near.takes == every ? "it has " : "did you mean ", names);
}

enum wm_status wmi_object_open_raw_kernel(const uint8_t descriptor[WMI_DESCRIPTOR_BYTES], const uint8_t *code,
                                          size_t size, const char *name, const char *target,
                                          struct wm_object **object, struct wm_diag *diag)
{
    struct wm_object *opened = NULL;
    enum wm_status status = wm_object_open(code, size, name, target, &opened, diag);
    if (!status && (opened->version || opened->kernel_count != 1))
        status = wmi_fail(diag, WM_BAD_ARGUMENT, "%s: there is a file where its code should begin", name);
    if (!status)
        status = wmi_kernel_redescribe(opened, descriptor, diag);
    if (status)
        wm_object_close(opened);
    else
        *object = opened;
    return status;
}

const char *wmi_object_raw_kernel_name(const struct wm_object *object)
{
    const bool own = !object->version && object->kernel_count == 1;
    const char *name = own ? object->kernels[0].public.name : "";
    return own && !strcmp(name, object->name) ? name : "";
}

bool wmi_object_is_raw_kernel(const struct wm_object *object, const uint8_t descriptor[WMI_DESCRIPTOR_BYTES],
                              const uint8_t *code, size_t size)
{
    return object->size <= size && !memcmp(object->bytes, code, object->size) &&
           !memcmp(object->kernels[0].descriptor_bytes, descriptor, WMI_DESCRIPTOR_BYTES);
}

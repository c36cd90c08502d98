/* SPDX-License-Identifier: MIT */
/* Opens and closes code objects, and hands out what they contain. */
#include "object/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening ---- */

static struct wm_object *new_object(const char *name)
{
    struct wm_object *object = calloc(1, sizeof(*object));
    struct wmi_lazy *lazy = calloc(1, sizeof(*lazy));
    if (!object || !lazy || pthread_mutex_init(&lazy->lock, NULL) != 0) {
        free(object);
        free(lazy);
        return NULL;
    }
    object->lazy = lazy;
    object->file = -1;
    object->name = wmi_arena_text(&object->arena, name, strlen(name));
    if (!object->name) {
        wm_object_close(object);
        return NULL;
    }
    return object;
}

static enum wm_status open_raw(struct wm_object *object, const char *target, struct wm_diag *diag)
{
    object->abi = wmi_abi_named(target);
    if (!object->abi)
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

/* Parses the bytes that `new` already has; takes it over. */
static enum wm_status finish(struct wm_object *new, const char *target, struct wm_object **object,
                             struct wm_diag *diag)
{
    enum wm_status status = target ? open_raw(new, target, diag) : wmi_elf_parse(new, diag);
    if (!status && !target)
        status = wmi_symbols_hash(new, diag);
    if (!status && !target)
        status = wmi_metadata_parse(new, diag);
    if (status)
        wm_object_close(new);
    else
        *object = new;
    return status;
}

enum wm_status wm_object_open(const void *bytes, size_t size, const char *name, const char *target,
                              struct wm_object **object, struct wm_diag *diag)
{
    *object = NULL;
    struct wm_object *new = new_object(name ? name : "code object");
    unsigned char *copy = malloc(size ? size : 1);
    if (!new || !copy) {
        free(copy);
        wm_object_close(new);
        return wmi_fail(diag, WM_NO_MEMORY, "%s: no memory for %zu bytes", name ? name : "code object", size);
    }
    if (size)
        memcpy(copy, bytes, size);
    new->bytes = copy;
    new->size = size;
    return finish(new, target, object, diag);
}

/* All that can be read from a pipe or a file without a size. */
static enum wm_status read_all(struct wm_object *object, int file, struct wm_diag *diag)
{
    size_t room = 1 << 16;
    unsigned char *bytes = malloc(room);
    object->bytes = bytes;
    while (bytes) {
        const ssize_t got = read(file, bytes + object->size, room - object->size);
        if (got == 0)
            return WM_OK;
        if (got < 0)
            return wmi_fail(diag, WM_IO, "%s: %s", object->name, strerror(errno));
        object->size += (size_t)got;
        if (object->size < room)
            continue;
        room *= 2;
        bytes = realloc(bytes, room);
        if (bytes)
            object->bytes = bytes;
    }
    return wmi_no_memory(object, diag);
}

/* Maps a file: a code object may be large, and what nobody looks at should cost nothing. */
static enum wm_status get_bytes(struct wm_object *object, int file, struct wm_diag *diag)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return wmi_fail(diag, WM_IO, "%s: %s", object->name, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return wmi_fail(diag, WM_IO, "%s: a folder; expected a code object", object->name);
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            object->bytes = bytes;
            object->size = (size_t)status.st_size;
            object->mapped = true;
            object->file = dup(file);
            return WM_OK;
        }
    }
    return read_all(object, file, diag);
}

enum wm_status wm_object_open_file(const char *path, const char *target, struct wm_object **object,
                                   struct wm_diag *diag)
{
    *object = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return wmi_fail(diag, WM_IO, "%s: %s", path, strerror(errno));
    struct wm_object *new = new_object(path);
    enum wm_status status =
        new ? get_bytes(new, file, diag) : wmi_fail(diag, WM_NO_MEMORY, "%s: no memory", path);
    close(file);
    if (!status)
        return finish(new, target, object, diag);
    wm_object_close(new);
    return status;
}

void wm_object_close(struct wm_object *object)
{
    if (!object)
        return;
    struct wmi_lazy *lazy = object->lazy;
    wmi_dwarf_close(lazy);
    pthread_mutex_destroy(&lazy->lock);
    free(lazy->by_address);
    free(lazy->lines);
    wmi_arena_free(&lazy->arena);
    free(lazy);
    if (object->file >= 0)
        close(object->file);
    if (object->mapped)
        munmap((void *)(uintptr_t)object->bytes, object->size);
    else
        free((void *)(uintptr_t)object->bytes);
    wmi_arena_free(&object->arena);
    free(object);
}

/* ---- looking ---- */

const char *wmi_object_name(const struct wm_object *object)
{
    return object->name;
}

const char *wm_object_target(const struct wm_object *object)
{
    return object->abi->name;
}

const char *wm_object_target_id(const struct wm_object *object)
{
    return object->target_id;
}

unsigned wm_object_version(const struct wm_object *object)
{
    return object->version;
}

const char *const *wmi_object_printf(const struct wm_object *object, size_t *count)
{
    *count = object->printf_count;
    return object->printf_formats;
}

size_t wm_object_code(const struct wm_object *object, struct wm_code *code, size_t count)
{
    for (size_t i = 0; i < count && i < object->code_count; i++)
        code[i] = object->code[i];
    return object->code_count;
}

size_t wm_object_kernel_count(const struct wm_object *object)
{
    return object->kernel_count;
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
    if (index >= object->kernel_count)
        return NULL;
    /* DWARF is asked for names as late as here: to parse it costs more than to run a small kernel. */
    struct wmi_kernel *kernel = &object->kernels[index];
    pthread_mutex_lock(&object->lazy->lock);
    if (!object->lazy->has_names && lacks_names(kernel))
        wmi_dwarf_arguments(object);
    pthread_mutex_unlock(&object->lazy->lock);
    return &kernel->public;
}

/* "'a', 'b', 'c' and 3 more" */
static void list_kernels(const struct wm_object *object, char *text, size_t size)
{
    enum { MOST = 8 };
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < object->kernel_count && i < MOST && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s'%.60s'", i ? ", " : "",
                                 object->kernels[i].public.name);
    if (object->kernel_count > MOST && used < size)
        snprintf(text + used, size - used, " and %zu more", object->kernel_count - MOST);
}

enum wm_status wm_object_find_kernel(const struct wm_object *object, const char *name,
                                     const struct wm_kernel **kernel, struct wm_diag *diag)
{
    char names[300];
    *kernel = NULL;
    if (!object->kernel_count)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: has no kernel", object->name);
    if (!name && object->kernel_count == 1) {
        *kernel = wm_object_kernel(object, 0);
        return WM_OK;
    }
    for (size_t i = 0; name && i < object->kernel_count; i++)
        if (strcmp(object->kernels[i].public.name, name) == 0) {
            *kernel = wm_object_kernel(object, i);
            return WM_OK;
        }
    list_kernels(object, names, sizeof(names));
    if (!name)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: has %zu kernels; say which: %s", object->name,
                        object->kernel_count, names);
    return wmi_fail(diag, WM_NOT_FOUND, "%s: no kernel '%s'; it has %s", object->name, name, names);
}

/* SPDX-License-Identifier: MIT */
/* Gets the bytes of files and of callers. */
#include "object/input.h"

#include "base/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAPPED_FILE = 1 << 18 }; /* bytes from which on a file is mapped */

static struct wm_bundle *new_input(const char *name)
{
    struct wm_bundle *input = calloc(1, sizeof(*input));
    if (!input)
        return NULL;
    input->file = -1;
    input->name = wmi_arena_text(&input->arena, name, strlen(name));
    if (input->name)
        return input;
    wmi_input_close(input);
    return NULL;
}

enum wm_status wmi_input_copy(const void *bytes, size_t size, const char *name, struct wm_bundle **input,
                              struct wm_diag *diag)
{
    struct wm_bundle *new = new_input(name);
    uint8_t *copy = malloc(size ? size : 1);
    *input = NULL;
    if (!new || !copy) {
        free(copy);
        wmi_input_close(new);
        return wmi_fail(diag, WM_NO_MEMORY, "%s: no memory for %zu bytes", name, size);
    }
    if (size)
        memcpy(copy, bytes, size);
    new->bytes = copy;
    new->size = size;
    *input = new;
    return WM_OK;
}

/* All that can be read from a pipe or a file without a size. */
static enum wm_status read_all(struct wm_bundle *input, int file, struct wm_diag *diag)
{
    size_t room = 1 << 16;
    unsigned char *bytes = malloc(room);
    input->bytes = bytes;
    while (bytes) {
        const ssize_t got = read(file, bytes + input->size, room - input->size);
        if (got == 0)
            return WM_OK;
        if (got < 0)
            return wmi_fail(diag, WM_IO, "%s: %s", input->name, strerror(errno));
        input->size += (size_t)got;
        if (input->size < room)
            continue;
        room *= 2;
        bytes = realloc(bytes, room);
        if (bytes)
            input->bytes = bytes;
    }
    return wmi_fail(diag, WM_NO_MEMORY, "%s: no memory for what it contains", input->name);
}

/* A small file is read: if it were mapped, somebody who shortens it meanwhile, as a build that runs again
 * does, would kill the process. A large one is mapped all the same, because what nobody looks at should cost
 * nothing: to copy 13 MB into the object and into guest memory takes longer than to run a small kernel. */
static enum wm_status get_bytes(struct wm_bundle *input, int file, struct wm_diag *diag)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return wmi_fail(diag, WM_IO, "%s: %s", input->name, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return wmi_fail(diag, WM_IO, "%s: a folder; expected a code object", input->name);
    if (S_ISREG(status.st_mode) && status.st_size >= MAPPED_FILE) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            input->bytes = bytes;
            input->size = (size_t)status.st_size;
            input->mapped = true;
            input->file = dup(file);
            return WM_OK;
        }
    }
    return read_all(input, file, diag);
}

enum wm_status wmi_input_file(const char *path, struct wm_bundle **input, struct wm_diag *diag)
{
    *input = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return wmi_fail(diag, WM_IO, "%s: %s", path, strerror(errno));
    struct wm_bundle *new = new_input(path);
    const enum wm_status status =
        new ? get_bytes(new, file, diag) : wmi_fail(diag, WM_NO_MEMORY, "%s: no memory", path);
    close(file);
    if (status)
        wmi_input_close(new);
    else
        *input = new;
    return status;
}

void wmi_input_close(struct wm_bundle *input)
{
    if (!input)
        return;
    for (struct wmi_blob *blob = input->blobs, *next; blob; blob = next) {
        next = blob->next;
        free(blob);
    }
    if (input->file >= 0)
        close(input->file);
    if (input->mapped)
        munmap((void *)(uintptr_t)input->bytes, input->size);
    else
        free((void *)(uintptr_t)input->bytes);
    free(input->entries);
    wmi_arena_free(&input->arena);
    free(input);
}

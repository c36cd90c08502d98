/* SPDX-License-Identifier: MIT */
/* Reads input from files and from the caller's memory.
 *
 * Files are copied, not mapped: if a mapped file is truncated, for example by a concurrent build, the process
 * is killed. A large file is read in blocks as needed, by the kernel into a memfd from which guest memory can
 * map pages: most of a library with code for many targets is never read, and what is read is not copied
 * again. */
#include "object/input.h"

#include "base/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/sendfile.h>
#endif

#define MOST_BYTES (UINT64_C(1) << 32) /* of a code object, which is copied into memory */

enum {
    LARGE_FILE = 1 << 18, /* bytes; larger files are read in blocks as needed */
    BLOCK = 1 << 12,      /* smallest read, in bytes: small, because the headers of bundles are far apart */
};

static struct wm_bundle *new_input(const char *name)
{
    struct wm_bundle *input = calloc(1, sizeof(*input));
    if (!input)
        return NULL;
    input->file = input->memory = -1;
    pthread_mutex_init(&input->lock, NULL);
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

static enum wm_status no_memory(const struct wm_bundle *input, struct wm_diag *diag)
{
    return wmi_fail(diag, WM_NO_MEMORY, "%s: no memory for what it contains", input->name);
}

/* Reads everything from a pipe or a file without a size. */
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
    return no_memory(input, diag);
}

/* Creates a memfd of `size` zero bytes; -1: not supported, or too large. */
static int open_memory(size_t size)
{
#ifdef __linux__
    struct rlimit most; /* also limits memfds, by a signal */
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur < size)
        return -1;
    const int memory = memfd_create("wavemem", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, (off_t)size) == 0)
        return memory;
    close(memory);
#else
    (void)size;
#endif
    return -1;
}

/* Copies at most `size` bytes at *at from the file to the memfd; -1: not supported by the file system. */
static ssize_t copy_in_kernel(const struct wm_bundle *input, off_t *at, size_t size)
{
#ifdef __linux__
    return sendfile(input->memory, input->file, at, size);
#else
    (void)input, (void)at, (void)size;
    return -1;
#endif
}

/* Reserves memory for the file's bytes without reading them. Takes ownership of `file`. */
static enum wm_status reserve(struct wm_bundle *input, int file, size_t size, struct wm_diag *diag)
{
    const int memory = open_memory(size);
    void *bytes = memory < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    input->file = file;
    input->size = size;
    input->memory = memory;
    if (bytes == MAP_FAILED) { /* no memfd: works the same, but guest memory gets a copy */
        if (memory >= 0)
            close(memory);
        input->memory = -1;
        bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    input->blocks = calloc(size / BLOCK / 8 + 1, 1);
    if (bytes == MAP_FAILED || !input->blocks) {
        if (bytes != MAP_FAILED)
            munmap(bytes, size);
        return no_memory(input, diag);
    }
    input->bytes = bytes;
    input->mapped = true;
    return WM_OK;
}

static enum wm_status get_bytes(struct wm_bundle *input, int file, struct wm_diag *diag)
{
    struct stat status;
    enum wm_status result;
    if (fstat(file, &status) != 0) {
        result = wmi_fail(diag, WM_IO, "%s: %s", input->name, strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
        result = wmi_fail(diag, WM_IO, "%s: a folder; expected a code object", input->name);
    } else if (S_ISREG(status.st_mode) && status.st_size >= LARGE_FILE) {
        return reserve(input, file, (size_t)status.st_size, diag);
    } else {
        result = read_all(input, file, diag);
    }
    close(file);
    return result;
}

/* Reads [from, to) to its place. Returns -1 on success, else an errno, or 0 if the file has become shorter.
 */
static int read_range(const struct wm_bundle *input, uint64_t from, uint64_t to)
{
    off_t at = (off_t)from;
    bool in_kernel = input->memory >= 0 && lseek(input->memory, at, SEEK_SET) == at;
    while ((uint64_t)at < to) {
        ssize_t got = in_kernel ? copy_in_kernel(input, &at, to - (uint64_t)at) : -1;
        if (got < 0 && in_kernel) {
            in_kernel = false;
            continue;
        }
        if (!in_kernel) {
            got = pread(input->file, (uint8_t *)(uintptr_t)input->bytes + at, to - (uint64_t)at, at);
            at += got > 0 ? got : 0;
        }
        if (got < 0 && errno != EINTR)
            return errno;
        if (got == 0)
            return 0;
    }
    return -1;
}

static bool is_there(const struct wm_bundle *input, uint64_t block)
{
    return input->blocks[block / 8] >> block % 8 & 1;
}

static enum wm_status read_blocks(const struct wm_bundle *input, uint64_t first, uint64_t last,
                                  struct wm_diag *diag)
{
    for (uint64_t block = first, end; block <= last; block = end) {
        end = block + 1;
        if (is_there(input, block))
            continue;
        while (end <= last && !is_there(input, end))
            end++;
        const uint64_t to = end * BLOCK < input->size ? end * BLOCK : input->size;
        const int error = read_range(input, block * BLOCK, to);
        if (error >= 0)
            return error ? wmi_fail(diag, WM_IO, "%s: %s", input->name, strerror(error))
                         : wmi_fail(diag, WM_IO, "%s: was shortened while it was read: it had %zu bytes",
                                    input->name, input->size);
        for (uint64_t read = block; read < end; read++)
            input->blocks[read / 8] |= (uint8_t)(1u << read % 8);
    }
    return WM_OK;
}

enum wm_status wmi_input_need(const struct wm_bundle *input, const uint8_t *bytes, uint64_t size,
                              struct wm_diag *diag)
{
    const uint64_t offset = (uint64_t)((uintptr_t)bytes - (uintptr_t)input->bytes);
    if (!input->mapped || !size || offset >= input->size)
        return WM_OK;
    if (size > MOST_BYTES)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s: a code object of %llu bytes; at most %llu are supported",
                        input->name, (unsigned long long)size, (unsigned long long)MOST_BYTES);
    const uint64_t left = input->size - offset;
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&input->lock;
    pthread_mutex_lock(lock);
    const enum wm_status status =
        read_blocks(input, offset / BLOCK, (offset + (size < left ? size : left) - 1) / BLOCK, diag);
    pthread_mutex_unlock(lock);
    return status;
}

void wmi_input_done(struct wm_bundle *input)
{
    if (input->file >= 0)
        close(input->file);
    input->file = -1;
}

enum wm_status wmi_input_file(const char *path, struct wm_bundle **input, struct wm_diag *diag)
{
    *input = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return wmi_fail(diag, WM_IO, "%s: %s", path, strerror(errno));
    struct wm_bundle *new = new_input(path);
    if (!new)
        close(file);
    const enum wm_status status =
        new ? get_bytes(new, file, diag) : wmi_fail(diag, WM_NO_MEMORY, "%s: no memory", path);
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
    wmi_input_done(input);
    if (input->memory >= 0)
        close(input->memory);
    if (input->mapped)
        munmap((void *)(uintptr_t)input->bytes, input->size);
    else
        free((void *)(uintptr_t)input->bytes);
    free(input->entries);
    free(input->blocks);
    pthread_mutex_destroy(&input->lock);
    wmi_arena_free(&input->arena);
    free(input);
}

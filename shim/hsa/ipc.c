/* SPDX-License-Identifier: MIT */
/* Memory and signals that processes share. They are in files without a name, which others open through /proc
 * as long as the exporting process has it, or get as a file descriptor, which takes the place of a dmabuf's;
 * the file's title has a random number, which a handle must know. Files cannot shrink, so that no process
 * loses what it has mapped. */
#include "shim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMORY = 0x6d767761, SIGNAL = 0x73767761, PAGE = WM_ALLOCATION_ALIGNMENT, PATH = 64 };

/* What a handle of HSA contains. */
struct handle {
    uint32_t kind, process, file, signal; /* kind: MEMORY or SIGNAL, which has a number in its file */
    uint64_t key, size;
};
_Static_assert(sizeof(struct handle) == sizeof(hsa_amd_ipc_memory_t), "a handle of HSA");
_Static_assert(sizeof(struct handle) == sizeof(hsa_amd_ipc_signal_t), "a handle of HSA");

static void title_of(uint64_t key, char title[PATH])
{
    snprintf(title, PATH, "wavemem-ipc-%016llx", (unsigned long long)key);
}

/* key: set to the file's. */
static int make_file(void *key)
{
    char title[PATH];
    if (getrandom(key, sizeof(uint64_t), 0) != sizeof(uint64_t))
        return -1;
    title_of(*(uint64_t *)key, title);
    return memfd_create(title, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static bool seal(int file)
{
    return !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
}

int shim_make_shared_file(size_t bytes, uint64_t *key)
{
    const int file = make_file(key);
    if (file >= 0 && !ftruncate(file, (off_t)bytes) && seal(file))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* Reads the key of a file that make_file() has made. False: it is another file. */
static bool key_of(const char *link, uint64_t *key)
{
    char target[2 * PATH] = "", title[PATH], expected[2 * PATH];
    unsigned long long number;
    if (readlink(link, target, sizeof target - 1) < 0 ||
        sscanf(target, "/memfd:wavemem-ipc-%llx", &number) != 1)
        return false;
    title_of(number, title);
    snprintf(expected, sizeof expected, "/memfd:%s (deleted)", title);
    *key = number;
    return !strcmp(target, expected);
}

SHIM_API hsa_status_t hsa_amd_ipc_memory_create(void *pointer, size_t size, hsa_amd_ipc_memory_t *made)
{
    struct handle handle = {.kind = MEMORY, .process = (uint32_t)getpid(), .size = size};
    uint64_t key; /* key of a new file; the memory may be in another one already */
    char link[PATH];
    int file;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!pointer || !size || !made)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const hsa_status_t status = shim_export(pointer, &handle.size, NULL, make_file, &key, &file);
    if (status)
        return status;
    handle.file = (uint32_t)file;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (!seal(file) || !key_of(link, &handle.key))
        return HSA_STATUS_ERROR;
    memcpy(made, &handle, sizeof handle);
    return HSA_STATUS_SUCCESS;
}

/* Opens the file of a handle of that kind; -1: there is none. *bytes: size of the file. */
static int open_file(const struct handle *handle, uint32_t kind, size_t *bytes)
{
    char link[PATH];
    uint64_t key;
    struct stat file;
    snprintf(link, sizeof link, "/proc/%u/fd/%u", handle->process, handle->file);
    if (handle->kind != kind || !key_of(link, &key) || key != handle->key)
        return -1;
    const int opened = open(link, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d",
             opened); /* the descriptor may have been reused for another file */
    const int seals = fcntl(opened, F_GET_SEALS);
    if (!key_of(link, &key) || key != handle->key || seals < 0 || !(seals & F_SEAL_SHRINK) ||
        fstat(opened, &file) || !handle->size || handle->size > (uint64_t)file.st_size) {
        close(opened);
        return -1;
    }
    *bytes = (size_t)file.st_size;
    return opened;
}

/* Converts agents to a mask of GPUs; 0: none. Without agents, all GPUs. */
static hsa_status_t find_gpus(uint32_t count, const hsa_agent_t *agents, uint32_t *gpus)
{
    *gpus = count ? 0 : (UINT32_C(1) << shim_device()->gpu_count) - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (!shim_is_agent(agents[i]))
            return HSA_STATUS_ERROR_INVALID_AGENT;
        if (shim_gpu(agents[i]) >= 0)
            *gpus |= UINT32_C(1) << shim_gpu(agents[i]);
    }
    return *gpus ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t map(int file, size_t bytes, uint64_t size, uint32_t gpus, void **made)
{
    void *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (host == MAP_FAILED)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    const hsa_status_t status = shim_import(host, bytes, size, gpus, made);
    if (status)
        munmap(host, bytes);
    return status;
}

/* Each call maps the memory at another address. */
SHIM_API hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t *given, size_t size,
                                                uint32_t count, const hsa_agent_t *agents, void **made)
{
    struct handle handle;
    size_t bytes = 0;
    uint32_t gpus;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!given || !made || !size || (count && !agents))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = find_gpus(count, agents, &gpus);
    if (status)
        return status;
    memcpy(&handle, given, sizeof handle);
    const int file = open_file(&handle, MEMORY, &bytes);
    if (file < 0 || size > (handle.size + PAGE - 1) / PAGE * PAGE) {
        if (file >= 0)
            close(file);
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    status = map(file, bytes, handle.size, gpus, made);
    close(file);
    return status;
}

/* ---- file descriptors ---- */

SHIM_API hsa_status_t hsa_amd_portable_export_dmabuf_v2(const void *pointer, size_t given, int *made,
                                                        uint64_t *offset, uint64_t flags)
{
    enum { OVER_PCIE = 1 }; /* HSA_AMD_DMABUF_MAPPING_TYPE_PCIE: other devices reach all memory */
    uint64_t size = given, key, at;
    int file;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!pointer || !given || !made || !offset || flags & ~(uint64_t)OVER_PCIE)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const hsa_status_t status = shim_export(pointer, &size, &at, make_file, &key, &file);
    if (status)
        return status;
    const int copy = seal(file) ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy < 0)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *made = copy;
    *offset = at;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_portable_export_dmabuf(const void *pointer, size_t size, int *made,
                                                     uint64_t *offset)
{
    return hsa_amd_portable_export_dmabuf_v2(pointer, size, made, offset, 0);
}

SHIM_API hsa_status_t hsa_amd_portable_close_dmabuf(int file)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return close(file) ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

/* Maps memory that was exported as a file descriptor, by this or another process, as a whole. */
SHIM_API hsa_status_t hsa_amd_interop_map_buffer(uint32_t count, hsa_agent_t *agents, int file,
                                                 uint32_t flags, size_t *size, void **made,
                                                 size_t *metadata_size, const void **metadata)
{
    char link[PATH];
    struct stat found;
    uint64_t key;
    uint32_t gpus;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!count || !agents || flags || !size || !made)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = find_gpus(count, agents, &gpus);
    if (status)
        return status;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (!key_of(link, &key) || fstat(file, &found)) {
        shim_complain("hsa_amd_interop_map_buffer: the file is no memory that a GPU of wavemem has exported");
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    status = map(file, (size_t)found.st_size, (uint64_t)found.st_size, gpus, made);
    if (status)
        return status;
    *size = (size_t)found.st_size;
    if (metadata_size)
        *metadata_size = 0;
    if (metadata)
        *metadata = NULL;
    return HSA_STATUS_SUCCESS;
}

/* hint: a size, for files that do not tell theirs. */
SHIM_API hsa_status_t hsa_amd_interop_map_buffer_with_size(uint32_t count, hsa_agent_t *agents, int file,
                                                           uint32_t flags, size_t hint, size_t *size,
                                                           void **made, size_t *metadata_size,
                                                           const void **metadata)
{
    (void)hint;
    return hsa_amd_interop_map_buffer(count, agents, file, flags, size, made, metadata_size, metadata);
}

SHIM_API hsa_status_t hsa_amd_interop_unmap_buffer(void *pointer)
{
    return hsa_amd_ipc_memory_detach(pointer);
}

/* ---- signals ---- */

SHIM_API hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t *made)
{
    struct handle handle = {.kind = SIGNAL, .process = (uint32_t)getpid()};
    size_t bytes;
    int file;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!made || !shim_export_signal(signal, &file, &handle.key, &handle.signal, &bytes))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    handle.file = (uint32_t)file;
    handle.size = bytes;
    memcpy(made, &handle, sizeof handle);
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t *given, hsa_signal_t *made)
{
    struct handle handle;
    size_t bytes = 0;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!given || !made)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    memcpy(&handle, given, sizeof handle);
    const int file = open_file(&handle, SIGNAL, &bytes);
    if (file < 0)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const hsa_status_t status = shim_import_signal(file, handle.key, handle.signal, bytes, made);
    close(file);
    return status;
}

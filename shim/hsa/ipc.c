/* SPDX-License-Identifier: MIT */
/* Memory and signals that processes share. They are in files without a name, which others open through /proc
 * as long as the exporting process has it; the file's title has a random number, which a handle must know.
 * Files cannot shrink, so that no process loses what it has mapped. */
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
    const hsa_status_t status = shim_export(pointer, &handle.size, make_file, &key, &file);
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
    void *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (host == MAP_FAILED)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    status = shim_import(host, bytes, handle.size, gpus, made);
    if (status)
        munmap(host, bytes);
    return status;
}

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

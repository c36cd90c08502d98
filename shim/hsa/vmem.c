/* SPDX-License-Identifier: MIT */
/* Virtual memory: addresses that the program reserves, memory that it creates apart from them, and which GPUs
 * see it there. The memory is a file without a name, so that it can appear at several addresses. The
 * declarations are newer than Debian's header. Source: ROCR 6.2 to 7.15, hsa_ext_amd.h. */
#include "shim.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRANULE = 4096, NO_ACCESS = 0 };

struct vmem_handle {
    uint64_t handle;
};
struct vmem_access {
    hsa_access_permission_t permissions;
    hsa_agent_t agent;
};

struct memory {
    struct memory *next;
    int file;
    char *host; /* address in this library */
    size_t size;
    hsa_amd_memory_pool_t pool;
    hsa_agent_t owner; /* agent whose memory it uses; handle 0: imported memory */
    int type;          /* as given by the program */
    unsigned uses;     /* number of handles and mappings */
};

struct range {
    struct range *next;
    uint64_t low, size;
    bool plain; /* host memory, to which nothing can be mapped */
};

struct mapping {
    struct mapping *next;
    uint64_t low, size, offset;
    struct memory *memory;
    unsigned host;            /* access of the host: hsa_access_permission_t, or NO_ACCESS */
    unsigned gpus[SHIM_GPUS]; /* access of each GPU */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct memory *memories;
static struct range *ranges;
static struct mapping *mappings;
static bool exported; /* atomic; other processes may have mapped memory */

bool shim_vmem_is_shared(void)
{
    return __atomic_load_n(&exported, __ATOMIC_ACQUIRE);
}

/* ---- memory ---- */

static struct memory *find_memory(struct vmem_handle handle)
{
    struct memory *at = memories;
    while (at && (uintptr_t)at != handle.handle)
        at = at->next;
    return at;
}

/* Adds memory, which takes over the file. */
static hsa_status_t add_memory(int file, size_t size, hsa_amd_memory_pool_t pool, int type,
                               struct vmem_handle *made)
{
    struct memory *memory = malloc(sizeof *memory);
    void *host = file < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (!memory || host == MAP_FAILED) {
        if (host != MAP_FAILED)
            munmap(host, size);
        if (file >= 0)
            close(file);
        free(memory);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *memory = (struct memory){
        .next = memories, .file = file, .host = host, .size = size, .pool = pool, .type = type, .uses = 1};
    memories = memory;
    made->handle = (uintptr_t)memory;
    return HSA_STATUS_SUCCESS;
}

static void drop(struct memory *memory)
{
    struct memory **at = &memories;
    if (--memory->uses)
        return;
    while (*at != memory)
        at = &(*at)->next;
    *at = memory->next;
    if (memory->owner.handle)
        shim_give_back(memory->owner, memory->size, true);
    munmap(memory->host, memory->size);
    close(memory->file);
    free(memory);
}

SHIM_API hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, int type,
                                                 uint64_t flags, struct vmem_handle *made)
{
    hsa_agent_t agent;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    const enum shim_pool kind = shim_pool_kind(pool, &agent);
    if (!kind)
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (!made || !size || size % GRANULE || flags || kind == SHIM_POOL_GROUP)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!shim_take(agent, size, true))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    uint64_t key;
    const int file = shim_make_shared_file(size, &key);
    pthread_mutex_lock(&lock);
    const hsa_status_t status = add_memory(file, size, pool, type, made);
    if (status)
        shim_give_back(agent, size, true);
    else
        find_memory(*made)->owner = agent;
    pthread_mutex_unlock(&lock);
    return status;
}

SHIM_API hsa_status_t hsa_amd_vmem_handle_release(struct vmem_handle handle)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    struct memory *memory = find_memory(handle);
    unsigned places = 0;
    for (const struct mapping *at = mappings; at; at = at->next)
        places += at->memory == memory;
    const bool ok = memory && memory->uses > places; /* it has more uses than mappings, so a handle is left */
    if (ok)
        drop(memory);
    pthread_mutex_unlock(&lock);
    return ok ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

SHIM_API hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(struct vmem_handle handle,
                                                                    hsa_amd_memory_pool_t *pool, int *type)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!pool || !type)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    const struct memory *memory = find_memory(handle);
    if (memory) {
        *pool = memory->pool;
        *type = memory->type;
    }
    pthread_mutex_unlock(&lock);
    return memory ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

SHIM_API hsa_status_t hsa_amd_vmem_export_shareable_handle(int *file, struct vmem_handle handle,
                                                           uint64_t flags)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!file || flags)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    const struct memory *memory = find_memory(handle);
    const int copy = memory ? dup(memory->file) : -1;
    pthread_mutex_unlock(&lock);
    if (!memory)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (copy < 0)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *file = copy;
    __atomic_store_n(&exported, true, __ATOMIC_RELEASE);
    return HSA_STATUS_SUCCESS;
}

/* The pool is known only if the memory is this process's. */
SHIM_API hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, struct vmem_handle *made)
{
    struct stat given, own;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!made || fstat(file, &given) || !S_ISREG(given.st_mode) || given.st_size <= 0 ||
        given.st_size % GRANULE)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    const struct memory *same = memories;
    while (same && (fstat(same->file, &own) || own.st_ino != given.st_ino || own.st_dev != given.st_dev))
        same = same->next;
    const hsa_amd_memory_pool_t pool = same ? same->pool : (hsa_amd_memory_pool_t){0};
    const hsa_status_t status =
        add_memory(dup(file), (size_t)given.st_size, pool, same ? same->type : 0, made);
    pthread_mutex_unlock(&lock);
    __atomic_store_n(&exported, true, __ATOMIC_RELEASE);
    return status;
}

/* ---- addresses ---- */

static void *reserve_at(void *address, size_t size, int protection)
{
    if (!address)
        return shim_map_pages(size, protection);
    void *got = mmap(address, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return got == MAP_FAILED ? NULL : got;
}

/* address: a hint. Without registration, the range is host memory of any size, which HIP 7 turns into managed
 * memory. */
SHIM_API hsa_status_t hsa_amd_vmem_address_reserve_align(void **made, size_t size, uint64_t address,
                                                         uint64_t alignment, uint64_t flags)
{
    enum { NO_REGISTER = 1 };
    const bool plain = flags == NO_REGISTER;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!made || !size || size > UINT64_MAX / 4 || (flags && !plain) || alignment & (alignment - 1) ||
        alignment > UINT64_MAX / 4)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const size_t requested = size;
    if (plain)
        size = (size + GRANULE - 1) / GRANULE * GRANULE;
    if (size % GRANULE)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const uint64_t more = alignment > GRANULE ? alignment : 0;
    char *got = reserve_at((void *)(uintptr_t)(address / GRANULE * GRANULE), size + more,
                           plain ? PROT_READ | PROT_WRITE : PROT_NONE);
    struct range *range = malloc(sizeof *range);
    if (!got || !range) {
        if (got)
            munmap(got, size + more);
        free(range);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    const uint64_t before = more ? -(uintptr_t)got & (more - 1) : 0;
    if (before)
        munmap(got, before);
    if (more > before)
        munmap(got + before + size, more - before);
    pthread_mutex_lock(&lock);
    *range =
        (struct range){.next = ranges, .low = (uintptr_t)got + before, .size = requested, .plain = plain};
    ranges = range;
    pthread_mutex_unlock(&lock);
    *made = got + before;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_vmem_address_reserve(void **made, size_t size, uint64_t address, uint64_t flags)
{
    return hsa_amd_vmem_address_reserve_align(made, size, address, 0, flags);
}

static struct mapping *find_mapping(uint64_t low, uint64_t size)
{
    struct mapping *at = mappings;
    while (at && (at->low >= low + size || at->low + at->size <= low))
        at = at->next;
    return at;
}

SHIM_API hsa_status_t hsa_amd_vmem_address_free(void *address, size_t size)
{
    const uint64_t low = (uintptr_t)address;
    hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    struct range **at = &ranges;
    while (*at && ((*at)->low != low || (*at)->size != size))
        at = &(*at)->next;
    struct range *range = *at;
    if (range)
        status = find_mapping(low, size) ? HSA_STATUS_ERROR_RESOURCE_FREE : HSA_STATUS_SUCCESS;
    if (!status) {
        *at = range->next;
        munmap(address, size);
        free(range);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- mappings ---- */

/* At first, neither the host nor a GPU has access. */
SHIM_API hsa_status_t hsa_amd_vmem_map(void *address, size_t size, size_t offset, struct vmem_handle handle,
                                       uint64_t flags)
{
    const uint64_t low = (uintptr_t)address;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!size || low % GRANULE || size % GRANULE || offset % GRANULE || flags || size > UINT64_MAX - low)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct mapping *made = calloc(1, sizeof *made);
    if (!made)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    pthread_mutex_lock(&lock);
    struct memory *memory = find_memory(handle);
    const struct range *range = ranges;
    while (range && (range->plain || low < range->low || low + size > range->low + range->size))
        range = range->next;
    const hsa_status_t status =
        !memory || !range ? HSA_STATUS_ERROR_INVALID_ALLOCATION
        : offset > memory->size || size > memory->size - offset || find_mapping(low, size)
            ? HSA_STATUS_ERROR_INVALID_ARGUMENT
            : HSA_STATUS_SUCCESS;
    if (!status) {
        *made =
            (struct mapping){.next = mappings, .low = low, .size = size, .offset = offset, .memory = memory};
        mappings = made;
        memory->uses++;
    }
    pthread_mutex_unlock(&lock);
    if (status)
        free(made);
    return status;
}

static hsa_status_t set_host_access(struct mapping *mapping, unsigned permissions)
{
    void *const at = (void *)(uintptr_t)mapping->low;
    const int can = (permissions & HSA_ACCESS_PERMISSION_RO ? PROT_READ : 0) |
                    (permissions & HSA_ACCESS_PERMISSION_WO ? PROT_WRITE : 0);
    void *got = can ? mmap(at, mapping->size, can, MAP_SHARED | MAP_FIXED, mapping->memory->file,
                           (off_t)mapping->offset)
                    : mmap(at, mapping->size, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (got == MAP_FAILED)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    mapping->host = permissions;
    return HSA_STATUS_SUCCESS;
}

/* GPUs with write access may also read. */
static hsa_status_t set_gpu_access(struct mapping *mapping, unsigned gpu, unsigned permissions)
{
    struct wm_machine *machine = shim_device()->gpus[gpu].machine;
    struct wm_diag diag = {0};
    if (mapping->gpus[gpu] == permissions)
        return HSA_STATUS_SUCCESS;
    if (mapping->gpus[gpu])
        wm_free(machine, mapping->low, NULL);
    mapping->gpus[gpu] = NO_ACCESS;
    const enum wm_status status =
        !permissions
            ? WM_OK
            : wm_map_host(machine, mapping->memory->host + mapping->offset, mapping->size, mapping->low,
                          permissions & HSA_ACCESS_PERMISSION_WO ? 0 : WM_READ_ONLY, "virtual memory", &diag);
    if (status)
        shim_complain("%s", diag.message);
    else
        mapping->gpus[gpu] = permissions;
    return shim_status(status);
}

static hsa_status_t set_access(struct mapping *mapping, const struct vmem_access *access)
{
    const int gpu = shim_gpu(access->agent);
    return gpu < 0 ? set_host_access(mapping, access->permissions)
                   : set_gpu_access(mapping, (unsigned)gpu, access->permissions);
}

/* Applies to all mappings in the range, which they must cover. */
SHIM_API hsa_status_t hsa_amd_vmem_set_access(void *address, size_t size, const struct vmem_access *access,
                                              size_t count)
{
    const uint64_t low = (uintptr_t)address;
    uint64_t covered = 0;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!size || !access || !count || size > UINT64_MAX - low)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (!shim_is_agent(access[i].agent))
            return HSA_STATUS_ERROR_INVALID_AGENT;
        else if ((unsigned)access[i].permissions > HSA_ACCESS_PERMISSION_RW)
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    for (const struct mapping *at = mappings; at; at = at->next)
        covered += at->low >= low && at->low + at->size <= low + size ? at->size : 0;
    if (covered != size)
        status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
    for (struct mapping *at = mappings; at; at = at->next)
        for (size_t i = 0; i < count && !status && at->low >= low && at->low + at->size <= low + size; i++)
            status = set_access(at, &access[i]);
    pthread_mutex_unlock(&lock);
    return status;
}

SHIM_API hsa_status_t hsa_amd_vmem_get_access(void *address, hsa_access_permission_t *permissions,
                                              hsa_agent_t agent)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!permissions)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    pthread_mutex_lock(&lock);
    const struct mapping *mapping = find_mapping((uintptr_t)address, 1);
    if (mapping)
        *permissions =
            (hsa_access_permission_t)(shim_gpu(agent) < 0 ? mapping->host : mapping->gpus[shim_gpu(agent)]);
    pthread_mutex_unlock(&lock);
    return mapping ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

SHIM_API hsa_status_t hsa_amd_vmem_unmap(void *address, size_t size)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    struct mapping **at = &mappings;
    while (*at && ((*at)->low != (uintptr_t)address || (*at)->size != size))
        at = &(*at)->next;
    struct mapping *mapping = *at;
    if (mapping) {
        for (unsigned i = 0; i < shim_device()->gpu_count; i++)
            set_gpu_access(mapping, i, NO_ACCESS);
        set_host_access(mapping, NO_ACCESS);
        *at = mapping->next;
        drop(mapping->memory);
        free(mapping);
    }
    pthread_mutex_unlock(&lock);
    return mapping ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

SHIM_API hsa_status_t hsa_amd_vmem_retain_alloc_handle(struct vmem_handle *handle, void *address)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!handle)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    const struct mapping *mapping = find_mapping((uintptr_t)address, 1);
    if (mapping) {
        mapping->memory->uses++;
        handle->handle = (uintptr_t)mapping->memory;
    }
    pthread_mutex_unlock(&lock);
    return mapping ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

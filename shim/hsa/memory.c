/* SPDX-License-Identifier: MIT */
/* Memory: allocations from pools, host memory that the program locks, copies. Memory of the host is mapped
 * into the machines of all GPUs at its own address and with its exact size; memory of a device exists in its
 * machine only, and in those of the GPUs that the program gives access to it. */
#include "blocks.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = WM_ALLOCATION_ALIGNMENT };

static uint64_t next_large;     /* under shim_memory.lock */
static bool shared_with_others; /* atomic; other processes may have mapped allocations */

/* ---- machines ---- */

static struct wm_machine *machine_of(hsa_agent_t agent)
{
    return shim_device()->gpus[shim_gpu(agent)].machine;
}

const struct shim_gpu *shim_gpu_at(uint64_t address)
{
    const struct shim_device *device = shim_device();
    const struct shim_gpu *any = NULL;
    for (unsigned i = 0; i < device->gpu_count; i++) {
        struct wm_allocation found = {.struct_size = sizeof found};
        if (wm_find_allocation(device->gpus[i].machine, address, false, &found, NULL))
            continue;
        any = &device->gpus[i];
        if (!found.is_host)
            return any;
    }
    return any;
}

/* ---- pools ---- */

/* mmap() alone returns random addresses. The set of a cache that a line is in depends on its address, so the
 * figures of a profile would differ from run to run. If the host uses the range already, the kernel chooses
 * another one. */
void *shim_map_pages(size_t size, int protection)
{
    static const uint64_t low = UINT64_C(0x400000000000), high = UINT64_C(0x500000000000);
    static const size_t step = 1 << 16;
    static uint64_t used;
    const uint64_t place = __atomic_fetch_add(&used, (size + 2 * step - 1) / step * step, __ATOMIC_RELAXED);
    void *got = mmap((void *)(uintptr_t)(low + place % (high - low)), size, protection,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return got == MAP_FAILED ? NULL : got;
}

static hsa_status_t allocate_host(size_t size, struct shim_block *block)
{
    enum { PADDING = 64 }; /* for wide accesses of the host across the end */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t mapped = (size + PADDING + page - 1) / page * page;
    void *memory = shim_map_pages(mapped, PROT_READ | PROT_WRITE);
    struct wm_diag diag = {0};
    if (!memory)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    shim_svm_unmapped((uintptr_t)memory, mapped); /* its unmapping may have been missed */
    shim_lose_locks((uintptr_t)memory, mapped);
    const enum wm_status status = shim_map_everywhere(memory, size, 0, 0, "memory of the host", &diag);
    if (status) {
        munmap(memory, mapped);
        shim_complain("%s", diag.message);
        return shim_status(status);
    }
    block->low = (uintptr_t)memory;
    block->mapped = mapped;
    return HSA_STATUS_SUCCESS;
}

static void release(const struct shim_block *block)
{
    const struct shim_device *device = shim_device();
    if (block->imported) {
        shim_free_everywhere(block->low);
        munmap(block->imported, block->mapped);
        return;
    }
    if (block->file)
        close(block->file); /* other processes that have mapped it keep it */
    shim_give_back(block->agent, block->size, true);
    if (block->mapped) {
        shim_free_everywhere(block->low);
        munmap((void *)(uintptr_t)block->low, block->mapped);
        return;
    }
    for (unsigned i = 0; i < device->gpu_count; i++)
        if (block->peers >> i & 1)
            wm_free(device->gpus[i].machine, block->low, NULL);
    wm_free(machine_of(block->agent), block->low, NULL);
}

/* Memory of 2 MiB and more begins at a multiple of that, as the thunk library aligns it: the device's
 * malloc() finds the start of a slab by the bits of a pointer (rocm-device-libs, ockl, dm.cl). */
#define LARGE      UINT64_C(0x200000)
#define LARGE_LOW  UINT64_C(0x180000000000)
#define LARGE_HIGH UINT64_C(0x200000000000)

/* Allocates at an aligned address. host: memory to use; NULL: new memory. */
static enum wm_status allocate_large(struct wm_machine *machine, void *host, size_t size, const char *name,
                                     uint64_t *low)
{
    enum { TRIES = 1000 };
    enum wm_status status = WM_BAD_ARGUMENT;
    pthread_mutex_lock(&shim_memory.lock);
    for (unsigned i = 0; i < TRIES && status == WM_BAD_ARGUMENT;
         i++) { /* freed addresses are reused only after all others */
        if (next_large < LARGE_LOW || next_large > LARGE_HIGH - size - LARGE)
            next_large = LARGE_LOW;
        *low = next_large;
        next_large = (next_large + size + 2 * LARGE - 1) / LARGE * LARGE; /* with a gap */
        status = host ? wm_map_host(machine, host, size, *low, 0, name, NULL)
                      : wm_allocate_at(machine, *low, size, 0, name, NULL);
    }
    pthread_mutex_unlock(&shim_memory.lock);
    return status;
}

static hsa_status_t allocate_device(size_t size, struct shim_block *block)
{
    static const char name[] = "memory of the device";
    struct wm_machine *machine = machine_of(block->agent);
    if (size >= LARGE)
        return shim_status(allocate_large(machine, NULL, size, name, &block->low));
    const enum wm_status status = wm_allocate(machine, size, 0, name, &block->low, NULL);
    if (status || block->low + size <= shim_address_end((unsigned)shim_gpu(block->agent)))
        return shim_status(status);
    wm_free(machine, block->low, NULL); /* the address belongs to the next GPU */
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

SHIM_API hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
                                                   void **made)
{
    struct shim_block block = {.size = size};
    (void)flags;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    block.pool = shim_pool_kind(pool, &block.agent);
    if (!block.pool)
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (block.pool == SHIM_POOL_GROUP)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (!made || !size)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (size > shim_capacity(block.agent))
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (!shim_take(block.agent, size, true))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    const hsa_status_t status =
        block.pool == SHIM_POOL_DEVICE ? allocate_device(size, &block) : allocate_host(size, &block);
    if (status) {
        shim_give_back(block.agent, size, true);
        return status;
    }
    shim_note_site(&block.site);
    pthread_mutex_lock(&shim_memory.lock);
    const bool ok = shim_block_add(&shim_memory.allocated, &block);
    pthread_mutex_unlock(&shim_memory.lock);
    if (!ok) {
        release(&block);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *made = (void *)(uintptr_t)block.low;
    return HSA_STATUS_SUCCESS;
}

/* Remembers the call site of the allocation. If there are too many, forgets the one with the lowest
 * address. */
static void keep_freed(const struct shim_block *block)
{
    enum { KEPT = 1 << 16 };
    if (!shim_observe_checks() || block->pool != SHIM_POOL_DEVICE || block->imported)
        return;
    if (shim_memory.freed.count == 2 * KEPT) {
        memmove(shim_memory.freed.blocks, shim_memory.freed.blocks + KEPT,
                KEPT * sizeof *shim_memory.freed.blocks);
        shim_memory.freed.count = KEPT;
    }
    shim_block_add(&shim_memory.freed, block); /* if there is no memory, reports lack this site */
}

static hsa_status_t free_block(void *pointer, bool imported)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    struct shim_block block = {0};
    pthread_mutex_lock(&shim_memory.lock);
    struct shim_block *found = shim_block_from(&shim_memory.allocated, (uintptr_t)pointer);
    if (found && !found->imported == !imported) {
        block = *found;
        keep_freed(found);
        shim_block_take_out(&shim_memory.allocated, found);
    }
    pthread_mutex_unlock(&shim_memory.lock);
    if (!block.size)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    release(&block);
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_memory_pool_free(void *pointer)
{
    return free_block(pointer, false);
}

/* ---- access ---- */

/* Gives a GPU access to another GPU's memory. The owner's check cannot see the stores of others, so it takes
 * all of the memory to be written. */
static hsa_status_t add_peer(struct shim_block *block, const struct shim_gpu *gpu)
{
    struct wm_machine *owner = machine_of(block->agent);
    struct wm_diag diag = {0};
    void *host = wm_host_pointer(owner, block->low, block->size);
    enum wm_status status =
        wm_map_host(gpu->machine, host, block->size, block->low, 0, "memory of another GPU", &diag);
    if (!status && shim_observe_checks())
        status = wm_write(owner, block->low, host, block->size, &diag);
    if (status)
        shim_complain("GPU %u gets no access to memory at 0x%llx: %s", gpu->number,
                      (unsigned long long)block->low, diag.message);
    else
        block->peers |= UINT32_C(1) << gpu->number;
    return shim_status(status);
}

/* Gives the GPUs of the mask `wanted` access to the device's memory, and revokes that of the others. */
static hsa_status_t set_peers(struct shim_block *block, uint32_t wanted)
{
    const struct shim_device *device = shim_device();
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (unsigned i = 0; i < device->gpu_count && !status; i++) {
        const bool has = block->peers >> i & 1, wants = wanted >> i & 1;
        if (i == (unsigned)shim_gpu(block->agent) || has == wants)
            continue;
        if (wants)
            status = add_peer(block, &device->gpus[i]);
        else
            wm_free(device->gpus[i].machine, block->low, NULL);
        if (!wants)
            block->peers &= ~(UINT32_C(1) << i);
    }
    return status;
}

SHIM_API hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents,
                                                  const uint32_t *flags, const void *pointer)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!count || !agents || flags)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!shim_is_agent(agents[i]))
            return HSA_STATUS_ERROR_INVALID_AGENT;
        if (shim_gpu(agents[i]) >= 0)
            wanted |= UINT32_C(1) << shim_gpu(agents[i]);
    }
    pthread_mutex_lock(&shim_memory.lock);
    struct shim_block *block = shim_block_with((uintptr_t)pointer);
    /* all GPUs have access to memory of the host */
    const hsa_status_t status = !block                            ? HSA_STATUS_ERROR_INVALID_ARGUMENT
                                : block->pool == SHIM_POOL_DEVICE ? set_peers(block, wanted)
                                                                  : HSA_STATUS_SUCCESS;
    pthread_mutex_unlock(&shim_memory.lock);
    return status;
}

/* ---- other processes ---- */

/* Whether the block contains the range, counted in whole pages, or is it. */
static bool covers(const struct shim_block *block, uint64_t low, uint64_t size, bool whole)
{
    const uint64_t pages = (block->size + PAGE - 1) / PAGE, offset = low - block->low;
    return whole ? !offset && (size + PAGE - 1) / PAGE == pages : size <= pages * PAGE - offset;
}

hsa_status_t shim_export(const void *pointer, uint64_t *size, uint64_t *offset, int (*make_file)(void *user),
                         void *user, int *file)
{
    struct wm_diag diag = {0};
    hsa_status_t status = HSA_STATUS_SUCCESS;
    pthread_mutex_lock(&shim_memory.lock);
    struct shim_block *block = shim_block_at(&shim_memory.allocated, (uintptr_t)pointer);
    if (!block || !covers(block, (uintptr_t)pointer, *size, !offset)) {
        status = (hsa_status_t)HSA_STATUS_ERROR_INVALID_ALLOCATION;
    } else if (block->imported || block->pool != SHIM_POOL_DEVICE) {
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    } else if (!block->file) {
        const int made = make_file(user);
        struct wm_machine *machine = machine_of(block->agent);
        enum wm_status shared = made < 0 ? WM_NO_MEMORY : wm_share(machine, block->low, made, &diag);
        if (!shared && shim_observe_checks()) /* the check cannot see the stores of other processes */
            shared = wm_write(machine, block->low, wm_host_pointer(machine, block->low, block->size),
                              block->size, &diag);
        if (!shared)
            block->file = made;
        else if (made >= 0)
            close(made);
        status = shim_status(shared);
    }
    if (!status) {
        __atomic_store_n(&shared_with_others, true, __ATOMIC_RELEASE);
        *size = block->size;
        *file = block->file;
        if (offset)
            *offset = (uintptr_t)pointer - block->low;
    }
    pthread_mutex_unlock(&shim_memory.lock);
    return status;
}

hsa_status_t shim_import(void *host, size_t mapped, uint64_t size, uint32_t gpus, void **made)
{
    struct shim_block block = {.size = size, .pool = SHIM_POOL_DEVICE, .imported = host, .mapped = mapped};
    block.agent.handle = SHIM_GPU + (uint64_t)__builtin_ctz(gpus);
    const enum wm_status placed =
        allocate_large(machine_of(block.agent), host, size, "memory of another process", &block.low);
    if (placed)
        return shim_status(placed);
    shim_note_site(&block.site);
    pthread_mutex_lock(&shim_memory.lock);
    hsa_status_t status = set_peers(&block, gpus);
    if (!status && !shim_block_add(&shim_memory.allocated, &block))
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    pthread_mutex_unlock(&shim_memory.lock);
    if (status)
        shim_free_everywhere(block.low);
    else
        __atomic_store_n(&shared_with_others, true, __ATOMIC_RELEASE);
    *made = (void *)(uintptr_t)block.low;
    return status;
}

SHIM_API hsa_status_t hsa_amd_ipc_memory_detach(void *pointer)
{
    return free_block(pointer, true) ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

/* ---- questions ---- */

static uint64_t seen_at(const struct shim_block *block)
{
    return block->seen ? block->seen : block->low;
}

static void describe(const struct shim_block *block, hsa_amd_pointer_info_t *info)
{
    const bool device = block->pool == SHIM_POOL_DEVICE;
    info->type = block->locks ? HSA_EXT_POINTER_TYPE_LOCKED : HSA_EXT_POINTER_TYPE_HSA;
    info->agentBaseAddress = (void *)(uintptr_t)seen_at(block);
    info->hostBaseAddress = device ? NULL : (void *)(uintptr_t)block->low;
    info->sizeInBytes = block->size;
    info->userData = block->user;
    info->agentOwner.handle = device ? block->agent.handle : SHIM_CPU;
    info->global_flags = device || block->pool == SHIM_POOL_COARSE
                             ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
                             : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
}

SHIM_API hsa_status_t hsa_amd_pointer_info(const void *pointer, hsa_amd_pointer_info_t *given,
                                           void *(*alloc)(size_t), uint32_t *count, hsa_agent_t **accessible)
{
    hsa_amd_pointer_info_t info = {.size = sizeof info, .type = HSA_EXT_POINTER_TYPE_UNKNOWN};
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!given || given->size < offsetof(hsa_amd_pointer_info_t, agentBaseAddress) ||
        (alloc && (!count || !accessible)))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (given->size < info.size)
        info.size = given->size;
    uint32_t gpus = 0;
    pthread_mutex_lock(&shim_memory.lock);
    const struct shim_block *block = shim_block_with((uintptr_t)pointer);
    if (block) {
        describe(block, &info);
        gpus = block->pool == SHIM_POOL_DEVICE ? block->peers | UINT32_C(1) << shim_gpu(block->agent)
                                               : UINT32_MAX;
    }
    pthread_mutex_unlock(&shim_memory.lock);
    memcpy(given, &info, info.size);
    if (!alloc)
        return HSA_STATUS_SUCCESS;
    *count = 0;
    *accessible = gpus ? alloc(shim_device()->gpu_count * sizeof **accessible) : NULL;
    if (gpus && !*accessible)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (unsigned i = 0; i < shim_device()->gpu_count; i++)
        if (gpus >> i & 1)
            (*accessible)[(*count)++].handle = SHIM_GPU + i;
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_amd_pointer_info_set_userdata(const void *pointer, void *user)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&shim_memory.lock);
    struct shim_block *block = shim_block_at(&shim_memory.allocated, (uintptr_t)pointer);
    if (block)
        block->user = user;
    pthread_mutex_unlock(&shim_memory.lock);
    return block ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static uint64_t distance_to(const struct shim_block *block, uint64_t address)
{
    const uint64_t low = seen_at(block), last = low + block->size - 1;
    return address < low ? low - address : address > last ? address - last : 0;
}

/* Whether part of the range is in a mapping that other processes may share. */
static bool is_shared(uint64_t low, uint64_t high)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], may[5];
    unsigned long long from, to;
    bool shared = !maps;
    while (maps && !shared && fgets(line, sizeof line, maps))
        shared =
            sscanf(line, "%llx-%llx %4s", &from, &to, may) == 3 && from < high && to > low && may[3] != 'p';
    if (maps)
        fclose(maps);
    return shared;
}

bool shim_others_have_memory(void)
{
    bool shared = shim_vmem_is_shared() || shim_others_have_signals() || shim_is_set(&shared_with_others);
    if (pthread_mutex_trylock(
            &shim_memory.lock)) /* the thread that holds it may wait for kernels to release the read lock */
        return true;
    for (size_t i = 0; i < shim_memory.locked.count && !shared; i++) {
        const struct shim_block *block = &shim_memory.locked.blocks[i];
        shared = !block->pool && is_shared(block->low, block->low + block->size);
    }
    pthread_mutex_unlock(&shim_memory.lock);
    return shared;
}

bool shim_nearest(const struct shim_gpu *gpu, uint64_t address, struct shim_allocation *near)
{
    enum { FAR = 1 << 30 }; /* allocations farther away are not mentioned */
    const struct shim_blocks *const lists[] = {&shim_memory.allocated, &shim_memory.locked};
    const struct shim_block *best = NULL;
    pthread_mutex_lock(&shim_memory.lock);
    for (size_t list = 0; list < SHIM_COUNT(lists); list++)
        for (size_t i = 0; i < lists[list]->count; i++)
            if (distance_to(&lists[list]->blocks[i], address) < (best ? distance_to(best, address) : FAR))
                best = &lists[list]->blocks[i];
    if (best)
        *near = (struct shim_allocation){.low = seen_at(best),
                                         .size = best->size,
                                         .kind = best->locks                      ? "registered memory"
                                                 : best->imported                 ? "another process's memory"
                                                 : best->pool == SHIM_POOL_DEVICE ? "device memory"
                                                                                  : "host memory",
                                         .site = best->site,
                                         .is_hidden = gpu && best->pool == SHIM_POOL_DEVICE &&
                                                      gpu->number != (unsigned)shim_gpu(best->agent) &&
                                                      !(best->peers >> gpu->number & 1)};
    uint64_t distance = best ? distance_to(best, address) : FAR;
    pthread_mutex_unlock(&shim_memory.lock);
    return shim_svm_nearest(gpu, address, &distance, near) || best;
}

bool shim_allocation_site(uint64_t low, struct shim_site *site)
{
    struct shim_allocation near;
    if (shim_nearest(NULL, low, &near) && near.low == low) {
        *site = near.site;
        return true;
    }
    pthread_mutex_lock(&shim_memory.lock);
    const struct shim_block *block = shim_block_from(&shim_memory.freed, low);
    if (block)
        *site = block->site;
    pthread_mutex_unlock(&shim_memory.lock);
    return block;
}

/* ---- copies ---- */

/* Whether the host can copy from or to its own memory: a wild pointer is an error, not a crash. */
static bool has_host(uint64_t address, size_t size, bool writes)
{
    bool writable;
    return !(address >= SHIM_SEEN_LOW && address < SHIM_SEEN_HIGH) &&
           shim_is_mapped(address, size, &writable) && (writable || !writes);
}

/* Whether one allocation contains all of these bytes. */
static bool holds(const struct wm_machine *machine, uint64_t address, size_t size)
{
    struct wm_allocation found = {.struct_size = sizeof found};
    return !wm_find_allocation(machine, address, false, &found, NULL) &&
           size <= found.size - (address - found.address);
}

/* Copies within and between machines, piece by piece, so that observers of the memory see a read and a write,
 * and not that the host may have changed what it reads. */
static hsa_status_t copy_between(const struct shim_gpu *to_gpu, uint64_t to, const struct shim_gpu *from_gpu,
                                 uint64_t from, size_t size)
{
    enum { PIECE = 16 << 10 };
    char bytes[PIECE];
    enum wm_status status =
        holds(to_gpu->machine, to, size) && holds(from_gpu->machine, from, size) ? WM_OK : WM_OUT_OF_RANGE;
    for (size_t done = 0; done < size && !status; done += PIECE) {
        const size_t count = size - done < PIECE ? size - done : PIECE;
        status = wm_read(from_gpu->machine, from + done, bytes, count, NULL);
        if (!status)
            status = wm_write(to_gpu->machine, to + done, bytes, count, NULL);
    }
    return shim_status(status);
}

/* Lets a check see a copy of the GPU's memory. */
static void show_copy(const struct shim_gpu *to_gpu, uint64_t to, const struct shim_gpu *from_gpu,
                      uint64_t from, size_t size, const struct shim_site *site)
{
    struct wm_allocation found = {.struct_size = sizeof found};
    const bool is_host =
        !to_gpu || (!wm_find_allocation(to_gpu->machine, to, false, &found, NULL) && found.is_host);
    struct shim_site now = {{NULL}};
    if (!shim_observe_checks() || (!is_host && to_gpu != from_gpu))
        return;
    if (!site)
        shim_note_site(&now);
    shim_observe_copy(from_gpu, is_host ? 0 : to, from, size, site ? site : &now);
}

/* Memory that no machine contains belongs to the host alone. */
hsa_status_t shim_copy(uint64_t to, uint64_t from, size_t size, const struct shim_site *site)
{
    hsa_status_t status;
    if (!size)
        return HSA_STATUS_SUCCESS;
    const struct shim_gpu *to_gpu = shim_gpu_at(to), *from_gpu = shim_gpu_at(from);
    if ((!to_gpu && !has_host(to, size, true)) || (!from_gpu && !has_host(from, size, false)))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (from_gpu) {
        status = to_gpu ? copy_between(to_gpu, to, from_gpu, from, size)
                        : shim_status(wm_read(from_gpu->machine, from, (void *)(uintptr_t)to, size, NULL));
        if (!status)
            show_copy(to_gpu, to, from_gpu, from, size, site);
        return status;
    }
    if (to_gpu)
        return shim_status(wm_write(to_gpu->machine, to, (const void *)(uintptr_t)from, size, NULL));
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
    return HSA_STATUS_SUCCESS;
}

SHIM_API hsa_status_t hsa_memory_copy(void *to, const void *from, size_t size)
{
    shim_refuse_child();
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return to && from ? shim_copy((uintptr_t)to, (uintptr_t)from, size, NULL)
                      : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

SHIM_API hsa_status_t hsa_amd_memory_fill(void *pointer, uint32_t value, size_t count)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!pointer || (uintptr_t)pointer % sizeof value || count > SIZE_MAX / sizeof value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const struct shim_gpu *gpu = shim_gpu_at((uintptr_t)pointer);
    uint32_t *words = gpu ? wm_host_pointer(gpu->machine, (uintptr_t)pointer, count * sizeof value) : NULL;
    if (!words)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        words[i] = value;
    return HSA_STATUS_SUCCESS;
}

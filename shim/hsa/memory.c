/* SPDX-License-Identifier: MIT */
/* Memory: allocations from pools, host memory that the program locks, copies. Memory of the host is mapped
 * into the machines of all GPUs at its own address and with its exact size; memory of a device exists in its
 * machine only, and in those of the GPUs that the program gives access to it. */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = WM_ALLOCATION_ALIGNMENT };

/* Something that the program allocated or locked. */
struct block {
    uint64_t low, size;
    enum shim_pool pool; /* its pool; 0: locked host memory */
    hsa_agent_t agent;   /* owner */
    uint32_t locks;      /* number of locks of the same range */
    uint64_t seen;       /* for locks, the address that kernels use; 0: no longer valid */
    uint32_t peers;      /* mask of the other GPUs with access, if it is memory of a device */
    size_t mapped;       /* bytes of the host's mapping, for munmap; 0: none */
    void *imported;      /* the mapping, if it was imported from another process */
    int file;            /* file of memory that other processes may have mapped; 0: none */
    void *user;
    struct shim_site site;
};

struct list {
    struct block *blocks; /* sorted by address */
    size_t count, room;
};

static const hsa_agent_t host_agent = {SHIM_CPU};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct list allocated, locked;                    /* locked blocks may overlap one another */
static struct list freed; /* memory of devices, whose addresses are not used again; for reports of checks */
static uint64_t next_seen, next_large;
static bool shared_with_others; /* atomic; other processes may have mapped allocations */

/* ---- lists ---- */

/* Index of the first block that begins above the address. */
static size_t above(const struct list *list, uint64_t address)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->blocks[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct block *find(const struct list *list, uint64_t address)
{
    for (size_t i = above(list, address); i-- > 0;) {
        if (address - list->blocks[i].low < list->blocks[i].size)
            return &list->blocks[i];
        if (list == &allocated) /* they do not overlap */
            break;
    }
    return NULL;
}

static struct block *find_exact(const struct list *list, uint64_t address)
{
    const size_t i = above(list, address);
    return i && list->blocks[i - 1].low == address ? &list->blocks[i - 1] : NULL;
}

static bool insert(struct list *list, const struct block *block)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        struct block *blocks = realloc(list->blocks, room * sizeof *blocks);
        if (!blocks)
            return false;
        list->blocks = blocks;
        list->room = room;
    }
    const size_t i = above(list, block->low);
    memmove(&list->blocks[i + 1], &list->blocks[i], (list->count - i) * sizeof *block);
    list->blocks[i] = *block;
    list->count++;
    return true;
}

static void take_out(struct list *list, const struct block *block)
{
    const size_t i = (size_t)(block - list->blocks);
    list->count--;
    memmove(&list->blocks[i], &list->blocks[i + 1], (list->count - i) * sizeof *block);
}

/* Finds a block by the address that kernels use. */
static struct block *find_seen(uint64_t address)
{
    for (size_t i = 0; i < locked.count; i++)
        if (locked.blocks[i].seen && address - locked.blocks[i].seen < locked.blocks[i].size)
            return &locked.blocks[i];
    return NULL;
}

/* Finds the block that contains the address. */
static struct block *find_any(uint64_t address)
{
    struct block *block = find(&allocated, address);
    if (!block)
        block = find(&locked, address);
    return block ? block : find_seen(address);
}

/* ---- machines ---- */

static struct wm_machine *machine_of(hsa_agent_t agent)
{
    return shim_device()->gpus[shim_gpu(agent)].machine;
}

static void free_everywhere(uint64_t address)
{
    for (unsigned i = 0; i < shim_device()->gpu_count; i++)
        wm_free(shim_device()->gpus[i].machine, address, NULL);
}

enum wm_status shim_map_everywhere(void *host, uint64_t size, uint64_t address, unsigned flags,
                                   const char *name, struct wm_diag *diag)
{
    const struct shim_device *device = shim_device();
    const uint64_t at = address ? address : (uintptr_t)host;
    for (unsigned i = 0; i < device->gpu_count; i++) {
        const enum wm_status status =
            wm_map_host(device->gpus[i].machine, host, size, address, flags, name, diag);
        while (status && i--)
            wm_free(device->gpus[i].machine, at, NULL);
        if (status)
            return status;
    }
    return WM_OK;
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

/* Invalidates locks at addresses that new memory of the runtime now has: HIP keeps locks of memory that the
 * program has freed, whose addresses the host reuses. */
void shim_lose_locks(uint64_t low, uint64_t size)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < locked.count && locked.blocks[i].low < low + size; i++) {
        struct block *block = &locked.blocks[i];
        if (block->pool || block->seen != block->low || block->low + block->size <= low)
            continue;
        free_everywhere(block->seen);
        block->seen = 0;
    }
    pthread_mutex_unlock(&lock);
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

static hsa_status_t allocate_host(size_t size, struct block *block)
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

static void release(const struct block *block)
{
    const struct shim_device *device = shim_device();
    if (block->imported) {
        free_everywhere(block->low);
        munmap(block->imported, block->mapped);
        return;
    }
    if (block->file)
        close(block->file); /* other processes that have mapped it keep it */
    shim_give_back(block->agent, block->size, true);
    if (block->mapped) {
        free_everywhere(block->low);
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
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < TRIES && status == WM_BAD_ARGUMENT;
         i++) { /* freed addresses are reused only after all others */
        if (next_large < LARGE_LOW || next_large > LARGE_HIGH - size - LARGE)
            next_large = LARGE_LOW;
        *low = next_large;
        next_large = (next_large + size + 2 * LARGE - 1) / LARGE * LARGE; /* with a gap */
        status = host ? wm_map_host(machine, host, size, *low, 0, name, NULL)
                      : wm_allocate_at(machine, *low, size, 0, name, NULL);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static hsa_status_t allocate_device(size_t size, struct block *block)
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
    struct block block = {.size = size};
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
    pthread_mutex_lock(&lock);
    const bool ok = insert(&allocated, &block);
    pthread_mutex_unlock(&lock);
    if (!ok) {
        release(&block);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *made = (void *)(uintptr_t)block.low;
    return HSA_STATUS_SUCCESS;
}

/* Remembers the call site of the allocation. If there are too many, forgets the one with the lowest
 * address. */
static void keep_freed(const struct block *block)
{
    enum { KEPT = 1 << 16 };
    if (!shim_observe_checks() || block->pool != SHIM_POOL_DEVICE || block->imported)
        return;
    if (freed.count == 2 * KEPT) {
        memmove(freed.blocks, freed.blocks + KEPT, KEPT * sizeof *freed.blocks);
        freed.count = KEPT;
    }
    insert(&freed, block); /* if there is no memory, reports lack this site */
}

static hsa_status_t free_block(void *pointer, bool imported)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    struct block block = {0};
    pthread_mutex_lock(&lock);
    struct block *found = find_exact(&allocated, (uintptr_t)pointer);
    if (found && !found->imported == !imported) {
        block = *found;
        keep_freed(found);
        take_out(&allocated, found);
    }
    pthread_mutex_unlock(&lock);
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
static hsa_status_t add_peer(struct block *block, const struct shim_gpu *gpu)
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
static hsa_status_t set_peers(struct block *block, uint32_t wanted)
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
    pthread_mutex_lock(&lock);
    struct block *block = find_any((uintptr_t)pointer);
    /* all GPUs have access to memory of the host */
    const hsa_status_t status = !block                            ? HSA_STATUS_ERROR_INVALID_ARGUMENT
                                : block->pool == SHIM_POOL_DEVICE ? set_peers(block, wanted)
                                                                  : HSA_STATUS_SUCCESS;
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- other processes ---- */

/* Whether the block contains the range, counted in whole pages, or is it. */
static bool covers(const struct block *block, uint64_t low, uint64_t size, bool whole)
{
    const uint64_t pages = (block->size + PAGE - 1) / PAGE, offset = low - block->low;
    return whole ? !offset && (size + PAGE - 1) / PAGE == pages : size <= pages * PAGE - offset;
}

hsa_status_t shim_export(const void *pointer, uint64_t *size, uint64_t *offset, int (*make_file)(void *user),
                         void *user, int *file)
{
    struct wm_diag diag = {0};
    hsa_status_t status = HSA_STATUS_SUCCESS;
    pthread_mutex_lock(&lock);
    struct block *block = find(&allocated, (uintptr_t)pointer);
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
    pthread_mutex_unlock(&lock);
    return status;
}

hsa_status_t shim_import(void *host, size_t mapped, uint64_t size, uint32_t gpus, void **made)
{
    struct block block = {.size = size, .pool = SHIM_POOL_DEVICE, .imported = host, .mapped = mapped};
    block.agent.handle = SHIM_GPU + (uint64_t)__builtin_ctz(gpus);
    const enum wm_status placed =
        allocate_large(machine_of(block.agent), host, size, "memory of another process", &block.low);
    if (placed)
        return shim_status(placed);
    shim_note_site(&block.site);
    pthread_mutex_lock(&lock);
    hsa_status_t status = set_peers(&block, gpus);
    if (!status && !insert(&allocated, &block))
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    pthread_mutex_unlock(&lock);
    if (status)
        free_everywhere(block.low);
    else
        __atomic_store_n(&shared_with_others, true, __ATOMIC_RELEASE);
    *made = (void *)(uintptr_t)block.low;
    return status;
}

SHIM_API hsa_status_t hsa_amd_ipc_memory_detach(void *pointer)
{
    return free_block(pointer, true) ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

/* ---- locks ---- */

/* Kernels see locked memory at the host's own address, as with drivers that have shared virtual memory
 * (libhsakmt, fmm_register_mem_svm_api), which HIP 7 relies on: it stores such an address for a managed
 * variable. HIP 5.2 relies on another address, as without; it is told by the copy engines, for which later
 * versions ask before they lock anything. Where the own address overlaps another lock or an allocation, it is
 * another one, too. The host has nothing there. */
#define SEEN_LOW  UINT64_C(0x200000000000)
#define SEEN_HIGH UINT64_C(0x400000000000)

static hsa_status_t map_lock(struct block *block, bool writable)
{
    enum { GAP = 1 << 16, TRIES = 1000 };
    static const char name[] = "registered memory";
    const unsigned flags = writable ? 0 : WM_READ_ONLY;
    struct wm_diag diag = {0};
    block->seen = block->low;
    if (shim_knows_engines() &&
        !shim_map_everywhere((void *)(uintptr_t)block->low, block->size, 0, flags, name, &diag))
        return HSA_STATUS_SUCCESS;
    for (unsigned i = 0; i < TRIES; i++) { /* an address is reused only after all others */
        if (next_seen < SEEN_LOW || next_seen > SEEN_HIGH - block->size - GAP)
            next_seen = SEEN_LOW;
        block->seen = next_seen + block->low % PAGE;
        next_seen = (block->seen + block->size + 2 * GAP) / GAP * GAP;
        if (!shim_map_everywhere((void *)(uintptr_t)block->low, block->size, block->seen, flags, name, &diag))
            return HSA_STATUS_SUCCESS;
    }
    block->seen = 0;
    shim_complain("%s", diag.message);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static void end_lock(const struct block *block)
{
    if (block->seen)
        free_everywhere(block->seen);
    shim_give_back(host_agent, block->size, true);
}

/* Like shim_is_mapped(), from the list of mappings. False also if there is no list. */
static bool is_listed(uint64_t low, uint64_t high, bool *writable)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], may[5];
    unsigned long long from, to;
    *writable = true;
    while (maps && low < high && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%llx-%llx %4s", &from, &to, may) != 3 || to <= low)
            continue;
        if (from > low || may[0] != 'r')
            break;
        *writable &= may[1] == 'w';
        low = to;
    }
    if (maps)
        fclose(maps);
    return low >= high;
}

/* Querying the pages is fastest if there are few; kernels before 5.14 do not support it. */
bool shim_is_mapped(uint64_t low, uint64_t size, bool *writable)
{
#ifndef MADV_POPULATE_WRITE
    enum { MADV_POPULATE_WRITE = 23 };
#endif
    enum { FEW = 4 << 20 };
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = low / page * page;
    *writable = true;
    if (low + size < low)
        return false;
    if (size <= FEW && !madvise((void *)(uintptr_t)start, low + size - start, MADV_POPULATE_WRITE))
        return true;
    return is_listed(low, low + size, writable);
}

static hsa_status_t lock_range(uint64_t low, size_t size, uint64_t *seen)
{
    struct block block = {.low = low, .size = size, .locks = 1};
    bool writable = true;
    struct block *same = find_exact(&locked, low);
    const struct block *own = find(&allocated, low);
    if (same && same->size == size) {
        if (!same->seen && !shim_is_mapped(low, size, &writable))
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        const hsa_status_t status = same->seen ? HSA_STATUS_SUCCESS : map_lock(same, writable);
        same->locks += !status;
        *seen = same->seen;
        return status;
    }
    if (own && size > own->size - (low - own->low))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (own) {
        block.seen = low;
        block.pool = own->pool;
        block.agent = own->agent;
    } else {
        if (!shim_is_mapped(low, size, &writable) || !shim_take(host_agent, size, true))
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        const hsa_status_t status = map_lock(&block, writable);
        if (status) {
            shim_give_back(host_agent, size, true);
            return status;
        }
    }
    *seen = block.seen;
    shim_note_site(&block.site);
    if (insert(&locked, &block))
        return HSA_STATUS_SUCCESS;
    if (!own)
        end_lock(&block);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

SHIM_API hsa_status_t hsa_amd_memory_lock(void *host, size_t size, hsa_agent_t *agents, int count,
                                          void **seen)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!host || !size || !seen || count < 0 || (count && !agents))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; i++)
        if (!shim_is_agent(agents[i]))
            return HSA_STATUS_ERROR_INVALID_AGENT;
    uint64_t address = 0;
    pthread_mutex_lock(&lock);
    const hsa_status_t status = lock_range((uintptr_t)host, size, &address);
    pthread_mutex_unlock(&lock);
    *seen = (void *)(uintptr_t)address;
    return status;
}

SHIM_API hsa_status_t hsa_amd_memory_lock_to_pool(void *host, size_t size, hsa_agent_t *agents, int count,
                                                  hsa_amd_memory_pool_t pool, uint32_t flags, void **seen)
{
    hsa_agent_t agent;
    const enum shim_pool kind = shim_pool_kind(pool, &agent);
    (void)flags; /* such as uncached: kernels see each store of the host at once */
    if (kind != SHIM_POOL_FINE && kind != SHIM_POOL_COARSE)
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    return hsa_amd_memory_lock(host, size, agents, count, seen);
}

SHIM_API hsa_status_t hsa_amd_memory_unlock(void *host)
{
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    struct block *block = find_exact(&locked, (uintptr_t)host);
    const bool found = block;
    if (found && !--block->locks) {
        if (!block->pool)
            end_lock(block);
        take_out(&locked, block);
    }
    pthread_mutex_unlock(&lock);
    return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* These are hints: copies can access all host memory, and kernels can access locked memory. */
SHIM_API hsa_status_t hsa_memory_register(void *pointer, size_t size)
{
    return pointer || !size ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

SHIM_API hsa_status_t hsa_memory_deregister(void *pointer, size_t size)
{
    return hsa_memory_register(pointer, size);
}

SHIM_API hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type)
{
    (void)type;
    return shim_is_agent(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

SHIM_API hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t *type)
{
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!type)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *type = HSA_AMD_COHERENCY_TYPE_COHERENT;
    return HSA_STATUS_SUCCESS;
}

/* ---- questions ---- */

static uint64_t seen_at(const struct block *block)
{
    return block->seen ? block->seen : block->low;
}

static void describe(const struct block *block, hsa_amd_pointer_info_t *info)
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
    pthread_mutex_lock(&lock);
    const struct block *block = find_any((uintptr_t)pointer);
    if (block) {
        describe(block, &info);
        gpus = block->pool == SHIM_POOL_DEVICE ? block->peers | UINT32_C(1) << shim_gpu(block->agent)
                                               : UINT32_MAX;
    }
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    struct block *block = find(&allocated, (uintptr_t)pointer);
    if (block)
        block->user = user;
    pthread_mutex_unlock(&lock);
    return block ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static uint64_t distance_to(const struct block *block, uint64_t address)
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
            &lock)) /* the thread that holds it may wait for kernels to release the read lock */
        return true;
    for (size_t i = 0; i < locked.count && !shared; i++) {
        const struct block *block = &locked.blocks[i];
        shared = !block->pool && is_shared(block->low, block->low + block->size);
    }
    pthread_mutex_unlock(&lock);
    return shared;
}

bool shim_nearest(const struct shim_gpu *gpu, uint64_t address, struct shim_allocation *near)
{
    enum { FAR = 1 << 30 }; /* allocations farther away are not mentioned */
    const struct list *const lists[] = {&allocated, &locked};
    const struct block *best = NULL;
    pthread_mutex_lock(&lock);
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
    pthread_mutex_unlock(&lock);
    return shim_svm_nearest(gpu, address, &distance, near) || best;
}

bool shim_allocation_site(uint64_t low, struct shim_site *site)
{
    struct shim_allocation near;
    if (shim_nearest(NULL, low, &near) && near.low == low) {
        *site = near.site;
        return true;
    }
    pthread_mutex_lock(&lock);
    const struct block *block = find_exact(&freed, low);
    if (block)
        *site = block->site;
    pthread_mutex_unlock(&lock);
    return block;
}

/* ---- copies ---- */

/* Whether the host can copy from or to its own memory: a wild pointer is an error, not a crash. */
static bool has_host(uint64_t address, size_t size, bool writes)
{
    bool writable;
    return !(address >= SEEN_LOW && address < SEEN_HIGH) && shim_is_mapped(address, size, &writable) &&
           (writable || !writes);
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

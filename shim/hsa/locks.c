/* SPDX-License-Identifier: MIT */
/* Host memory that the program locks for GPUs. */
#include "blocks.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = WM_ALLOCATION_ALIGNMENT };

static const hsa_agent_t host_agent = {SHIM_CPU};
static uint64_t next_seen;          /* under shim_memory.lock */
static bool locks_at_own_addresses; /* atomic */

/* Invalidates locks at addresses that new memory of the runtime now has: HIP keeps locks of memory that the
 * program has freed, whose addresses the host reuses. */
void shim_lose_locks(uint64_t low, uint64_t size)
{
    pthread_mutex_lock(&shim_memory.lock);
    for (size_t i = 0; i < shim_memory.locked.count && shim_memory.locked.blocks[i].low < low + size; i++) {
        struct shim_block *block = &shim_memory.locked.blocks[i];
        if (block->pool || block->seen != block->low || block->low + block->size <= low)
            continue;
        shim_free_everywhere(block->seen);
        block->seen = 0;
    }
    pthread_mutex_unlock(&shim_memory.lock);
}

void shim_lock_at_own_addresses(void)
{
    __atomic_store_n(&locks_at_own_addresses, true, __ATOMIC_RELEASE);
}

/* Kernels see locked memory at the host's own address, as with drivers that have shared virtual memory
 * (libhsakmt, fmm_register_mem_svm_api), which HIP 7 relies on: it stores such an address for a managed
 * variable. HIP 5.2 relies on another address, as without; it is told by the copy engines, for which later
 * versions ask before they lock anything. Where the own address overlaps another lock or an allocation, it is
 * another one, too. */
static hsa_status_t map_lock(struct shim_block *block, bool writable)
{
    enum { GAP = 1 << 16, TRIES = 1000 };
    static const char name[] = "registered memory";
    const unsigned flags = writable ? 0 : WM_READ_ONLY;
    struct wm_diag diag = {0};
    block->seen = block->low;
    if (shim_is_set(&locks_at_own_addresses) &&
        !shim_map_everywhere((void *)(uintptr_t)block->low, block->size, 0, flags, name, &diag))
        return HSA_STATUS_SUCCESS;
    for (unsigned i = 0; i < TRIES; i++) { /* an address is reused only after all others */
        if (next_seen < SHIM_SEEN_LOW || next_seen > SHIM_SEEN_HIGH - block->size - GAP)
            next_seen = SHIM_SEEN_LOW;
        block->seen = next_seen + block->low % PAGE;
        next_seen = (block->seen + block->size + 2 * GAP) / GAP * GAP;
        if (!shim_map_everywhere((void *)(uintptr_t)block->low, block->size, block->seen, flags, name, &diag))
            return HSA_STATUS_SUCCESS;
    }
    block->seen = 0;
    shim_complain("%s", diag.message);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static void end_lock(const struct shim_block *block)
{
    if (block->seen)
        shim_free_everywhere(block->seen);
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
    struct shim_block block = {.low = low, .size = size, .locks = 1};
    bool writable = true;
    struct shim_block *same = shim_block_from(&shim_memory.locked, low);
    const struct shim_block *own = shim_block_at(&shim_memory.allocated, low);
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
    if (shim_block_add(&shim_memory.locked, &block))
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
    pthread_mutex_lock(&shim_memory.lock);
    const hsa_status_t status = lock_range((uintptr_t)host, size, &address);
    pthread_mutex_unlock(&shim_memory.lock);
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
    pthread_mutex_lock(&shim_memory.lock);
    struct shim_block *block = shim_block_from(&shim_memory.locked, (uintptr_t)host);
    const bool found = block;
    if (found && !--block->locks) {
        if (!block->pool)
            end_lock(block);
        shim_block_take_out(&shim_memory.locked, block);
    }
    pthread_mutex_unlock(&shim_memory.lock);
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

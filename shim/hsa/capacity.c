/* SPDX-License-Identifier: MIT */
/* How much memory the GPUs and the host have, and how much of it is allocated.
 *
 * What programs ask for (pools, virtual memory) is limited to the size of the pool, so that the free memory
 * that libamdhip64 5.2 reports, the size less what it allocated, can be allocated. Whole pages, of these and
 * of loaded code objects, are limited to the memory of the product. It has 16 MiB more: rocminfo shows
 * 67092480 KB for the 64 GiB of an MI210. GPUs reach at most 15/16 of the host's memory, as with Linux
 * (amdgpu_amdkfd_gpuvm.c, max_system_mem_limit). */
#include "shim.h"

#include <unistd.h>

enum { PAGE = 4096, DRIVERS = 16 << 20 /* bytes of a GPU's memory that its driver reserves */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct {
    uint64_t requested, paged; /* bytes */
} used[1 + SHIM_GPUS];         /* [0]: of the host */

static uint64_t memory_of(hsa_agent_t agent)
{
    const int gpu = shim_gpu(agent);
    const uint64_t own = gpu < 0 ? 0 : shim_device()->gpus[gpu].product->memory_bytes;
    return own ? own : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t shim_capacity(hsa_agent_t agent)
{
    return memory_of(agent) - (shim_gpu(agent) < 0 ? 0 : DRIVERS);
}

static uint64_t pages_of(uint64_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

/* Bytes of whole pages that can still be allocated. The lock is held. */
static uint64_t pages_left(hsa_agent_t agent)
{
    const uint64_t all = memory_of(agent), most = shim_gpu(agent) < 0 ? all - all / 16 : all;
    return most - used[1 + shim_gpu(agent)].paged;
}

uint64_t shim_available(hsa_agent_t agent)
{
    pthread_mutex_lock(&lock);
    const uint64_t pages = pages_left(agent),
                   requested = shim_capacity(agent) - used[1 + shim_gpu(agent)].requested;
    pthread_mutex_unlock(&lock);
    return requested < pages ? requested : pages;
}

bool shim_take(hsa_agent_t agent, uint64_t size, bool requested)
{
    pthread_mutex_lock(&lock);
    const bool ok = size <= shim_capacity(agent) - (requested ? used[1 + shim_gpu(agent)].requested : 0) &&
                    pages_of(size) <= pages_left(agent);
    if (ok) {
        used[1 + shim_gpu(agent)].paged += pages_of(size);
        used[1 + shim_gpu(agent)].requested += requested ? size : 0;
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

void shim_give_back(hsa_agent_t agent, uint64_t size, bool requested)
{
    pthread_mutex_lock(&lock);
    used[1 + shim_gpu(agent)].paged -= pages_of(size);
    used[1 + shim_gpu(agent)].requested -= requested ? size : 0;
    pthread_mutex_unlock(&lock);
}

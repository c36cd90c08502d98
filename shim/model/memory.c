/* SPDX-License-Identifier: MIT */
/* The memory of the model's GPUs. libhsakmt says what it allocates and frees, but not which GPUs it maps it
 * to: that shows only in their apertures, where what is not mapped cannot be read. */
#include "shim/model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

struct block {
    uint64_t low, size;
    uint32_t flags;
    uint32_t machines; /* bit per GPU: its machine has it */
};
_Static_assert(SHIM_GPUS <= 32, "bits of a block");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct block *blocks;                             /* in no order: some hundred at most */
static size_t count, room;
static struct {
    const struct shim_gpu *gpu;
    char *base;
    uint64_t size;
} apertures[SHIM_GPUS];

void model_set_aperture(const struct shim_gpu *gpu, void *base, uint64_t size)
{
    pthread_mutex_lock(&lock);
    apertures[gpu->number].gpu = gpu;
    apertures[gpu->number].base = base;
    apertures[gpu->number].size = size;
    pthread_mutex_unlock(&lock);
}

void model_add_memory(uint64_t low, uint64_t size, uint32_t flags)
{
    pthread_mutex_lock(&lock);
    if (count == room) {
        const size_t more = room ? 2 * room : 64;
        struct block *grown = realloc(blocks, more * sizeof *grown);
        if (!grown) { /* the interface has no errors */
            fputs("wavemem: no memory\n", stderr);
            abort();
        }
        blocks = grown;
        room = more;
    }
    blocks[count++] = (struct block){.low = low, .size = size, .flags = flags};
    pthread_mutex_unlock(&lock);
}

static void unmap(struct block *block, unsigned gpu)
{
    wm_free(apertures[gpu].gpu->machine, block->low, NULL);
    block->machines &= ~(UINT32_C(1) << gpu);
}

void model_remove_memory(uint64_t low)
{
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < count && blocks[i].low != low)
        i++;
    if (i == count)
        shim_complain("memory at 0x%llx is freed, but was not allocated", (unsigned long long)low);
    for (unsigned gpu = 0; i < count && gpu < SHIM_GPUS; gpu++)
        if (blocks[i].machines >> gpu & 1)
            unmap(&blocks[i], gpu);
    if (i < count)
        blocks[i] = blocks[--count];
    pthread_mutex_unlock(&lock);
}

static bool is_readable(const void *address)
{
    char byte;
    const struct iovec to = {&byte, 1}, from = {(void *)address, 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 || errno != EFAULT;
}

static void map(struct block *block, const struct shim_gpu *gpu, void *host)
{
    struct wm_diag diag = {0};
    if (wm_map_host(gpu->machine, host, block->size, block->low,
                    block->flags & MODEL_MEMORY_WRITABLE ? 0 : WM_READ_ONLY,
                    block->flags & MODEL_MEMORY_VRAM ? "memory of the device" : "memory of the host", &diag))
        shim_complain("%s", diag.message);
    else
        block->machines |= UINT32_C(1) << gpu->number;
}

void model_update_memory(const struct shim_gpu *gpu)
{
    const unsigned number = gpu->number;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        struct block *block = &blocks[i];
        const uint64_t size = apertures[number].size;
        char *host = apertures[number].base + block->low;
        const bool is_there = block->low < size && block->size <= size - block->low && is_readable(host);
        const bool was_there = block->machines >> number & 1;
        if (is_there && !was_there)
            map(block, gpu, host);
        else if (!is_there && was_there)
            unmap(block, number);
    }
    pthread_mutex_unlock(&lock);
}

void *model_find(const struct shim_gpu *gpu, uint64_t address, uint64_t size, bool writable)
{
    struct wm_allocation found = {.struct_size = sizeof found};
    if (wm_find_allocation(gpu->machine, address, false, &found, NULL) || !found.is_host ||
        size > found.size - (address - found.address) || (writable && found.flags & WM_READ_ONLY))
        return NULL;
    return (char *)found.host + (address - found.address);
}

/* Bytes between the block and the address. */
static uint64_t distance(const struct block *block, uint64_t address)
{
    if (address < block->low)
        return block->low - address;
    return address - block->low < block->size ? 0 : address - block->low - block->size + 1;
}

bool shim_nearest(const struct shim_gpu *gpu, uint64_t address, struct shim_allocation *near)
{
    const struct block *best = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if (!best || distance(&blocks[i], address) < distance(best, address))
            best = &blocks[i];
    if (best)
        *near = (struct shim_allocation){.low = best->low,
                                         .size = best->size,
                                         .kind = best->flags & MODEL_MEMORY_VRAM ? "memory of the device"
                                                                                 : "memory of the host",
                                         .is_hidden = gpu && !(best->machines >> gpu->number & 1)};
    pthread_mutex_unlock(&lock);
    return best;
}

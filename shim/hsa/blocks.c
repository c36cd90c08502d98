/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <stdlib.h>

struct shim_memory shim_memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

size_t shim_blocks_above(const struct shim_blocks *list, uint64_t address)
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

struct shim_block *shim_block_at(const struct shim_blocks *list, uint64_t address)
{
    for (size_t i = shim_blocks_above(list, address); i-- > 0;) {
        if (address - list->blocks[i].low < list->blocks[i].size)
            return &list->blocks[i];
        if (list == &shim_memory.allocated) /* they do not overlap */
            break;
    }
    return NULL;
}

struct shim_block *shim_block_from(const struct shim_blocks *list, uint64_t address)
{
    const size_t i = shim_blocks_above(list, address);
    return i && list->blocks[i - 1].low == address ? &list->blocks[i - 1] : NULL;
}

bool shim_block_add(struct shim_blocks *list, const struct shim_block *block)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        struct shim_block *blocks = realloc(list->blocks, room * sizeof *blocks);
        if (!blocks)
            return false;
        list->blocks = blocks;
        list->room = room;
    }
    const size_t i = shim_blocks_above(list, block->low);
    memmove(&list->blocks[i + 1], &list->blocks[i], (list->count - i) * sizeof *block);
    list->blocks[i] = *block;
    list->count++;
    return true;
}

void shim_block_take_out(struct shim_blocks *list, const struct shim_block *block)
{
    const size_t i = (size_t)(block - list->blocks);
    list->count--;
    memmove(&list->blocks[i], &list->blocks[i + 1], (list->count - i) * sizeof *block);
}

struct shim_block *shim_block_seen(uint64_t address)
{
    for (size_t i = 0; i < shim_memory.locked.count; i++)
        if (shim_memory.locked.blocks[i].seen &&
            address - shim_memory.locked.blocks[i].seen < shim_memory.locked.blocks[i].size)
            return &shim_memory.locked.blocks[i];
    return NULL;
}

struct shim_block *shim_block_with(uint64_t address)
{
    struct shim_block *block = shim_block_at(&shim_memory.allocated, address);
    if (!block)
        block = shim_block_at(&shim_memory.locked, address);
    return block ? block : shim_block_seen(address);
}

void shim_free_everywhere(uint64_t address)
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

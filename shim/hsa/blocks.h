/* SPDX-License-Identifier: MIT */
/* What the program has allocated and locked. */
#ifndef SHIM_BLOCKS_H
#define SHIM_BLOCKS_H

#include "shim.h"

#include <pthread.h>

/* Something that the program has allocated or locked. */
struct shim_block {
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

struct shim_blocks {
    struct shim_block *blocks; /* sorted by address */
    size_t count, room;
};

struct shim_memory {
    pthread_mutex_t lock; /* guards what follows, and must be held by callers of the functions below */
    struct shim_blocks allocated, locked; /* locked blocks may overlap one another */
    /* Memory of devices, whose addresses are not used again; for reports of checks. */
    struct shim_blocks freed;
};
extern struct shim_memory shim_memory;

/* Where kernels see locks that are not at the host's own address; the host has nothing there. */
#define SHIM_SEEN_LOW  UINT64_C(0x200000000000)
#define SHIM_SEEN_HIGH UINT64_C(0x400000000000)

/* Index of the first block that begins above the address. */
size_t shim_blocks_above(const struct shim_blocks *list, uint64_t address);
/* The block of the list with the address, or that begins there; NULL: there is none. */
struct shim_block *shim_block_at(const struct shim_blocks *list, uint64_t address);
struct shim_block *shim_block_from(const struct shim_blocks *list, uint64_t address);
/* The block that kernels see at the address; the one that contains it, for the host or for kernels. */
struct shim_block *shim_block_seen(uint64_t address);
struct shim_block *shim_block_with(uint64_t address);
bool shim_block_add(struct shim_blocks *list, const struct shim_block *block); /* false: no memory */
void shim_block_take_out(struct shim_blocks *list, const struct shim_block *block);
/* Frees the memory at the address in the machines of all GPUs. */
void shim_free_everywhere(uint64_t address);

#endif

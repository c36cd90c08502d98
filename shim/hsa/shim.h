/* SPDX-License-Identifier: MIT */
/* Interfaces between the parts of the replacement for libhsa-runtime64.so.1. */
#ifndef SHIM_H
#define SHIM_H

#include "shim/aql/aql.h"

#include <hsa/hsa_ven_amd_loader.h>

/* ---- runtime.c ---- */

/* The GPUs of the process; they exist from the first hsa_init() on, until the process ends. Each has a
 * machine, with addresses of its own for its memory. */
struct shim_device {
    struct shim_gpu gpus[SHIM_GPUS];
    /* "amdgcn-amd-amdhsa--gfx900:xnack-", and from [SHIM_GPUS] on the generic ones: "" if there is none. */
    char isas[2 * SHIM_GPUS][64];
    unsigned gpu_count;
};

/* NULL before hsa_init(), and in a child that was forked after it; then every function fails without a lock.
 */
const struct shim_device *shim_device(void);
/* Ends such a child. For functions that cannot fail, and for copies, whose failure libamdhip64 5.2 does not
 * report. */
void shim_refuse_child(void);
/* The end of the address range from which the GPU's machine chooses addresses. */
uint64_t shim_address_end(unsigned gpu);
/* Converts a status of the machine to one of HSA. */
hsa_status_t shim_status(enum wm_status status);

/* ---- agents.c ---- */

/* Handles are small numbers, which differ from all pointers. GPUs and their instruction sets follow the first
 * one. */
enum { SHIM_CPU = 1, SHIM_GPU = 2, SHIM_ISA = 1 };
/* Pools of the first GPU; those of other GPUs follow, two for each. */
enum shim_pool {
    SHIM_POOL_FINE = 1, /* host memory, also for kernel arguments */
    SHIM_POOL_COARSE,   /* host memory */
    SHIM_POOL_DEVICE,
    SHIM_POOL_GROUP,
};

bool shim_is_agent(hsa_agent_t agent);
/* Returns the number of the GPU, or -1 if the agent is none. */
int shim_gpu(hsa_agent_t agent);
/* Returns the kind of the pool, and sets its agent; 0: there is no such pool. */
enum shim_pool shim_pool_kind(hsa_amd_memory_pool_t pool, hsa_agent_t *agent);
/* A row of a table of attributes. */
struct shim_fact {
    uint32_t attribute, size;
    const void *bytes;
};
/* Finds an attribute in a table. function: named in the message about a missing attribute; NULL: no
 * message. */
hsa_status_t shim_find_fact(const struct shim_fact *facts, size_t count, const char *function,
                            uint32_t attribute, void *value);

/* ---- capacity.c ---- */

/* The pool size of a GPU or the host, and how many bytes of it can still be allocated. */
uint64_t shim_capacity(hsa_agent_t agent);
uint64_t shim_available(hsa_agent_t agent);
/* Counts `size` bytes as allocated, until shim_give_back(); false: so many are not available. requested: by
 * the program, so that they are limited to the size of the pool. */
bool shim_take(hsa_agent_t agent, uint64_t size, bool requested);
void shim_give_back(hsa_agent_t agent, uint64_t size, bool requested);

/* ---- signals.c ---- */

struct shim_queue;
/* NULL: not the handle of a signal. */
amd_signal_t *shim_signal(hsa_signal_t signal);
hsa_status_t shim_signal_make(int64_t value, struct shim_queue *queue, hsa_signal_t *signal);
/* Returns the file that contains a signal, which this process continues to own, and the signal's number in
 * it. False: the signal was not made for other processes. */
bool shim_export_signal(hsa_signal_t signal, int *file, uint64_t *key, uint32_t *number, size_t *bytes);
/* Makes a handle of a signal in the file of another process, or of this one. The file stays the caller's. */
hsa_status_t shim_import_signal(int file, uint64_t key, uint32_t number, size_t bytes, hsa_signal_t *signal);
/* Whether other processes may change signals of this process. */
bool shim_others_have_signals(void);

/* ---- ipc.c ---- */

/* A file that other processes can open if they know the key; -1: none. */
int shim_make_shared_file(size_t bytes, uint64_t *key);

/* ---- queues.c ---- */

void shim_doorbell(struct shim_queue *queue);
/* Whether a queue has a packet that it could process but has not noticed yet. */
bool shim_packets_wait(void);

/* ---- events.c ---- */

/* Calls the program's handlers of memory faults. */
void shim_tell_fault(unsigned gpu, const struct wm_fault *fault);

/* ---- sites.c ---- */

/* The path of libamdhip64, if the address is in it; else NULL. */
const char *shim_hip_library(const void *address);

void shim_note_site(struct shim_site *site);

/* ---- quiescent.c ---- */

/* Like shim_asleep(): the calling thread sleeps until the condition holds, without a time limit. listener:
 * there is a time limit, but when it expires, the thread only waits again. */
int shim_asleep_for(hsa_signal_t signal, hsa_signal_condition_t condition, int64_t compare, bool listener);
/* Whether a wait that is limited to `limit` nanoseconds is a listener's. caller: the address that the wait
 * returns to, or NULL. */
bool shim_is_listener(const void *caller, hsa_signal_condition_t condition, int64_t compare, uint64_t limit);

/* ---- svm.c ---- */

/* Like shim_nearest(), for managed memory that is less than *distance away. */
bool shim_svm_nearest(const struct shim_gpu *gpu, uint64_t address, uint64_t *distance,
                      struct shim_allocation *near);
/* Called when the host has unmapped memory, or is about to. */
void shim_svm_unmapped(uint64_t low, uint64_t size);

/* ---- tasks.c ---- */

/* Completes the signal when all others are 0. */
hsa_status_t shim_complete_after(uint32_t count, const hsa_signal_t *signals, hsa_signal_t completion);

/* ---- vmem.c ---- */

/* Whether virtual memory is shared with other processes. */
bool shim_vmem_is_shared(void);

/* ---- blocks.c ---- */

/* Maps memory of the host into the machines of all GPUs; all or none. */
enum wm_status shim_map_everywhere(void *host, uint64_t size, uint64_t address, unsigned flags,
                                   const char *name, struct wm_diag *diag);

/* ---- locks.c ---- */

/* Whether the host may read this memory. *writable: whether it may also write it. */
bool shim_is_mapped(uint64_t low, uint64_t size, bool *writable);
/* Called when the range has new memory of the runtime: kernels no longer see locks of earlier memory
 * there. */
void shim_lose_locks(uint64_t low, uint64_t size);
/* Called when the runtime above has requested copy engines, so that it is HIP 5.6 or later. */
void shim_lock_at_own_addresses(void);

/* ---- memory.c ---- */

/* Whether other processes may change memory that kernels see; true also if that is not known. */
bool shim_others_have_memory(void);
/* Maps new pages at an address that depends only on the order of calls. NULL: no memory. */
void *shim_map_pages(size_t size, int protection);
/* The GPU that owns the memory; for host memory, any GPU with access to it. NULL: none. */
const struct shim_gpu *shim_gpu_at(uint64_t address);
/* Moves an allocation of a GPU to a file that make_file() returns, or -1, unless it is in one already. *size:
 * as the program says; set to the allocation's. offset: set to the pointer's; NULL: the pointer and the size
 * must be the whole allocation's. The file stays the runtime's. */
hsa_status_t shim_export(const void *pointer, uint64_t *size, uint64_t *offset, int (*make_file)(void *user),
                         void *user, int *file);
/* Gives the GPUs of a mask, at least one, access to `size` bytes of a mapping of the host. On success, the
 * runtime owns the mapping. */
hsa_status_t shim_import(void *host, size_t mapped, uint64_t size, uint32_t gpus, void **made);
/* Copies between any two addresses of host or device. site: where the program asked for it; NULL: now. */
hsa_status_t shim_copy(uint64_t to, uint64_t from, size_t size, const struct shim_site *site);

#endif

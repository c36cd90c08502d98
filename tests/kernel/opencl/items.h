/* SPDX-License-Identifier: MIT */
/* Runs the work-items of a kernel compiled for the host, one after the other on separate stacks, so that
 * barriers work: the slow and simple reference for the GPU's code. */
#ifndef TESTS_KERNEL_OPENCL_ITEMS_H
#define TESTS_KERNEL_OPENCL_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

enum { ITEMS_MOST = 1024 };

#pragma GCC visibility push(default) /* kernels are shared objects that use these symbols */

/* Runs `call(user)` for each work-item of the grid. The kernel queries its ids with the functions below.
 * False if out of memory. */
bool items_run(const uint32_t grid[3], const uint32_t workgroup[3], void (*call)(void *user), void *user);

/* Functions that opencl/host.clh declares for kernels. */
uint64_t items_global_id(uint32_t dimension);
uint64_t items_local_id(uint32_t dimension);
uint64_t items_group_id(uint32_t dimension);
uint64_t items_global_size(uint32_t dimension);
uint64_t items_local_size(uint32_t dimension);
uint64_t items_enqueued_local_size(uint32_t dimension);
uint64_t items_groups(uint32_t dimension);
uint32_t items_flat_id(void); /* in the workgroup */
uint32_t items_count(void);   /* of the workgroup */
void items_barrier(void);
/* Shares 16 bytes with all others of the workgroup and waits for theirs: entry i is from work-item i. */
const void *items_exchange(const void *value);

#pragma GCC visibility pop

#endif

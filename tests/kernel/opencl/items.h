/* SPDX-License-Identifier: MIT */
/* Runs the work-items of a kernel that was compiled for this machine, one after the other on stacks of their
 * own, so that barriers work: the slow and plain judge of what the GPU's code does. */
#ifndef TESTS_KERNEL_OPENCL_ITEMS_H
#define TESTS_KERNEL_OPENCL_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

enum { ITEMS_MOST = 1024 };

#pragma GCC visibility push(default) /* kernels are shared objects that look here */

/* Runs `call(user)` for each work-item of the grid. The kernel asks for its place with the functions below.
 * Returns false when there is no memory. */
bool items_run(const uint32_t grid[3], const uint32_t workgroup[3], void (*call)(void *user), void *user);

/* What opencl/host.clh declares for kernels. */
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
/* Gives 16 bytes to all others of the workgroup and waits for theirs: entry i is that of work-item i. */
const void *items_exchange(const void *value);

#pragma GCC visibility pop

#endif

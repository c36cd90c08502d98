// SPDX-License-Identifier: MIT
// In CU mode, waves of a workgroup share the vector cache, whose accesses stay in order.
// TARGETS: gfx1030 gfx1100 gfx1200
// COMPILE: -mcumode
#include "hip.h"

// RUN: bare_good -g 128 -b 128 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void bare_good(unsigned *data, unsigned *out)
{
    data[threadIdx.x] = threadIdx.x;
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
#if defined(__gfx1200__)
    asm volatile("s_barrier_signal -1\n s_barrier_wait -1");
#else
    asm volatile("s_barrier");
#endif
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
    out[threadIdx.x] = data[threadIdx.x ^ 64];
}

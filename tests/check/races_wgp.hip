// SPDX-License-Identifier: MIT
// Waves of a workgroup exchange data through global memory: in WGP mode (gfx10 and later) they have different vector caches, so a
// store must be complete before the barrier, and the cache be invalidated behind it.
#include "hip.h"

#define L threadIdx.x

typedef unsigned uint;

// Fences that need no instruction keep the compiler from moving accesses.
static __device__ inline void keep() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront"); }
// A barrier before which the compiler does not wait on its own.
static __device__ inline void barrier()
{
#if defined(__gfx1200__)
    asm volatile("s_barrier_signal -1\n s_barrier_wait -1");
#else
    asm volatile("s_barrier");
#endif
}
static __device__ inline void release() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); }
static __device__ inline void acquire() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); }

// RUN: bare -g 128 -b 128 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void bare(uint *data, uint *out)
{
    data[L] = L;
    keep();
    barrier();
    keep();
    out[L] = data[L ^ 64]; // FINDS gfx1*: race-release
}

// RUN: unreleased -g 128 -b 128 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void unreleased(uint *data, uint *out)
{
    data[L] = L;
    keep();
    barrier();
    acquire();
    out[L] = data[L ^ 64]; // FINDS gfx1*: race-release
}

// RUN: unacquired -g 128 -b 128 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void unacquired(uint *data, uint *out)
{
    data[L] = L;
    release();
    barrier();
    keep();
    out[L] = data[L ^ 64]; // FINDS gfx1*: race-acquire
}

// RUN: exchange_good -g 128 -b 128 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void exchange_good(uint *data, uint *out)
{
    data[L] = L;
    release();
    barrier();
    acquire();
    out[L] = data[L ^ 64];
}

// Of what the wave itself has stored, and of what an earlier barrier made known, its cache has nothing older.
// RUN: known_good -g 128 -b 128 --arg data=zero:u32:256 --arg out=zero:u32:128 --only race
extern "C" __global__ void known_good(uint *data, uint *out)
{
    data[L] = L;
    release();
    barrier();
    acquire();
    data[128 + L] = L;
    keep();
    barrier();
    keep();
    out[L] = data[L ^ 64] + data[128 + (L ^ 1)];
}

// Loads of the workgroup's scope bypass the cache.
// RUN: bypass_good -g 128 -b 128 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void bypass_good(uint *data, uint *out)
{
    data[L] = L;
    release();
    barrier();
    keep();
    out[L] = __hip_atomic_load(&data[L ^ 64], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

// One wave acquires what another workgroup has released, and the others read it behind a barrier without fences.
// RUN: passed_on -g 256 -b 128 --arg flag=zero:u32:1 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void passed_on(uint *flag, uint *data, uint *out)
{
    if (blockIdx.x == 0) {
        data[L] = L;
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
        __syncthreads();
        if (L == 0)
            __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    } else {
        if (L == 0)
            while (!__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
                ;
        if (L < 32)
            __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
        keep();
        barrier();
        keep();
        out[L] = data[L]; // FINDS gfx1*: race-acquire
    }
}

// RUN: passed_on_good -g 256 -b 128 --arg flag=zero:u32:1 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void passed_on_good(uint *flag, uint *data, uint *out)
{
    if (blockIdx.x == 0) {
        data[L] = L;
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
        __syncthreads();
        if (L == 0)
            __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    } else {
        if (L == 0)
            while (!__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
                ;
        if (L < 32)
            __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
        __syncthreads();
        out[L] = data[L];
    }
}

// A wave releases with the scope of the device behind a barrier, but the other wave's stores were in flight there.
// RUN: other_group -g 128 -b 64 --arg flag=zero:u32:1 --arg data=zero:u32:64 --arg out=zero:u32:64 --only race
extern "C" __global__ void other_group(uint *flag, uint *data, uint *out)
{
    if (blockIdx.x == 0) {
        data[L] = L;
        keep();
        barrier();
        if (L == 0)
            __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    } else {
        while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))
            ;
        out[L] = data[L]; // FINDS gfx1*: race-release
    }
}

// RUN: other_group_good -g 128 -b 64 --arg flag=zero:u32:1 --arg data=zero:u32:64 --arg out=zero:u32:64 --only race
extern "C" __global__ void other_group_good(uint *flag, uint *data, uint *out)
{
    if (blockIdx.x == 0) {
        data[L] = L;
        release();
        barrier();
        if (L == 0)
            __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    } else {
        while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))
            ;
        out[L] = data[L];
    }
}

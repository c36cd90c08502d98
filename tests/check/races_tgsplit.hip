// SPDX-License-Identifier: MIT
// In tgsplit mode, waves of a workgroup run on different compute units, with different vector caches.
// Source: LLVM AMDGPUUsage, "Memory Model GFX90A" and "GFX942": release and acquire of workgroup scope.
// TARGETS: gfx90a gfx942
// COMPILE: -mtgsplit
#include "hip.h"

#define L threadIdx.x
#define GROUP __HIP_MEMORY_SCOPE_WORKGROUP

// RUN: exchange_good -g 128 -b 128 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void exchange_good(unsigned *data, unsigned *out)
{
    data[L] = L;
    __syncthreads();
    out[L] = data[L ^ 64];
}

// RUN: exchange_bare -g 128 -b 128 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void exchange_bare(unsigned *data, unsigned *out)
{
    data[L] = L;
    __builtin_amdgcn_s_barrier();
    out[L] = data[L ^ 64]; // FINDS: race-release
}

// The stores are complete, but the other wave's cache may hold older data.
// RUN: exchange_stale -g 128 -b 128 --arg data=zero:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void exchange_stale(unsigned *data, unsigned *out)
{
    data[L] = L;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    out[L] = data[L ^ 64]; // FINDS: race-acquire
}

// RUN: flag_good -g 128 -b 128 --arg flag=zero:u32:1 --arg data=zero:u32:64 --arg out=zero:u32:64 --only race
extern "C" __global__ void flag_good(unsigned *flag, unsigned *data, unsigned *out)
{
    if (L < 64) {
        data[L] = L;
        __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, GROUP);
    } else {
        while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, GROUP))
            ;
        out[L - 64] = data[L - 64];
    }
}

// RUN: flag_relaxed -g 128 -b 128 --arg flag=zero:u32:1 --arg data=zero:u32:64 --arg out=zero:u32:64 --only race
extern "C" __global__ void flag_relaxed(unsigned *flag, unsigned *data, unsigned *out)
{
    if (L < 64) {
        data[L] = L;
        __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, GROUP);
    } else {
        while (!__hip_atomic_load(flag, __ATOMIC_RELAXED, GROUP))
            ;
        out[L - 64] = data[L - 64]; // FINDS: race-release
    }
}

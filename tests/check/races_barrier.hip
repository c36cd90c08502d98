// SPDX-License-Identifier: MIT
// Releases and acquires of the device's scope with a barrier in between: what one wave does, its workgroup's barrier passes on.
#include "hip.h"

#define L threadIdx.x
#define B blockIdx.x
#define AGENT __HIP_MEMORY_SCOPE_AGENT

typedef unsigned uint;

static __device__ inline void release() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); }
static __device__ inline void acquire() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }
static __device__ inline void set(uint *flag) { __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, AGENT); }
static __device__ inline void await(const uint *flag)
{
    while (!__hip_atomic_load(flag, __ATOMIC_RELAXED, AGENT))
        ;
}

// Each wave releases what it has stored, and behind the barrier one stores the flag.
// RUN: release_before -g 256 -b 128 --arg data=zero:u32:128 --arg flag=zero:u32:1 --arg out=zero:u32:128 --only race
extern "C" __global__ void release_before(uint *data, uint *flag, uint *out)
{
    if (B == 0) {
        data[L] = L;
        __syncthreads();
        if (L == 0)
            set(flag);
    } else {
        await(flag);
        acquire();
        out[L] = data[L ^ 64]; // FINDS gfx90a gfx942: race-release
    }
}

// RUN: release_before_good -g 256 -b 128 --arg data=zero:u32:128 --arg flag=zero:u32:1 --arg out=zero:u32:128 --only race
extern "C" __global__ void release_before_good(uint *data, uint *flag, uint *out)
{
    if (B == 0) {
        data[L] = L;
        release();
        __syncthreads();
        if (L == 0)
            set(flag);
    } else {
        await(flag);
        acquire();
        out[L] = data[L ^ 64];
    }
}

// Only the waves release whose stores the other workgroup reads.
// RUN: release_some_good -g 256 -b 128 --arg data=zero:u32:256 --arg flag=zero:u32:1 --arg out=zero:u32:128 --only race
extern "C" __global__ void release_some_good(uint *data, uint *flag, uint *out)
{
    if (B == 0) {
        data[L] = L;
        if (L >= 64)
            release();
        __syncthreads();
        if (L == 0)
            set(flag);
    } else {
        await(flag);
        acquire();
        out[L] = data[64 + L % 64];
    }
}

// The last workgroup reads what all have stored: one wave sees the count, and all of them acquire behind the barrier.
// RUN: last -g 512 -b 128 --arg data=zero:u32:512 --arg count=zero:u32:1 --arg out=zero:u32:128 --only race
extern "C" __global__ void last(uint *data, uint *count, uint *out)
{
    __shared__ uint is_last;
    data[B * 128 + L] = L;
    release();
    __syncthreads();
    if (L == 0)
        is_last = __hip_atomic_fetch_add(count, 1u, __ATOMIC_RELAXED, AGENT) == 3;
    __syncthreads();
    if (is_last) {
        uint sum = 0;
        for (uint i = 0; i < 4; i++)
            sum += data[i * 128 + L]; // FINDS: race-acquire
        out[L] = sum;
    }
}

// RUN: last_good -g 512 -b 128 --arg data=zero:u32:512 --arg count=zero:u32:1 --arg out=zero:u32:128 --only race
extern "C" __global__ void last_good(uint *data, uint *count, uint *out)
{
    __shared__ uint is_last;
    data[B * 128 + L] = L;
    release();
    __syncthreads();
    if (L == 0)
        is_last = __hip_atomic_fetch_add(count, 1u, __ATOMIC_RELAXED, AGENT) == 3;
    __syncthreads();
    if (is_last) {
        acquire();
        uint sum = 0;
        for (uint i = 0; i < 4; i++)
            sum += data[i * 128 + L];
        out[L] = sum;
    }
}

// A store finds no older data in caches: it needs no acquire.
// RUN: overwrite_good -g 256 -b 128 --arg data=zero:u32:128 --arg flag=zero:u32:1 --only race
extern "C" __global__ void overwrite_good(uint *data, uint *flag)
{
    if (B == 0) {
        data[L] = L;
        release();
        __syncthreads();
        if (L == 0)
            set(flag);
    } else {
        await(flag);
        data[L ^ 64] = 1;
    }
}

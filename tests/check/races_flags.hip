// SPDX-License-Identifier: MIT
// Loads that code does not tell from others: the first turn of a loop that waits, which compilers take out of it, and loads that
// only guess for a compare-and-swap. And flags within a workgroup.
#include "hip.h"

#define L threadIdx.x
#define B blockIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define AGENT __HIP_MEMORY_SCOPE_AGENT
#define GROUP __HIP_MEMORY_SCOPE_WORKGROUP

typedef unsigned uint;
typedef unsigned long long ulong;

// ---- flags in LDS ----

// RUN: flag_good -g 128 -b 128 --arg in=iota:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void flag_good(const uint *in, uint *out)
{
    __shared__ uint data[32], flag;
    if (L == 0)
        flag = 0;
    __syncthreads();
    if (L < 32) {
        data[L] = in[L];
        if (L == 0)
            __hip_atomic_store(&flag, 1u, __ATOMIC_RELEASE, GROUP);
    } else if (L >= 64) {
        while (!__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, GROUP))
            __builtin_amdgcn_s_sleep(1);
        out[L] = data[L & 31];
    }
}

// The data is stored behind the flag.
// RUN: flag_late -g 128 -b 128 --arg in=iota:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void flag_late(const uint *in, uint *out)
{
    __shared__ uint data[32], flag;
    if (L == 0)
        flag = 0;
    __syncthreads();
    if (L < 32) {
        if (L == 0)
            __hip_atomic_store(&flag, 1u, __ATOMIC_RELEASE, GROUP);
        data[L] = in[L];
    } else if (L >= 64) {
        while (!__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, GROUP))
            __builtin_amdgcn_s_sleep(1);
        out[L] = data[L & 31]; // FINDS: race-lds
    }
}

// RUN: count_good -g 128 -b 128 --arg in=iota:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void count_good(const uint *in, uint *out)
{
    __shared__ uint data[64], count;
    if (L == 0)
        count = 0;
    __syncthreads();
    if (L < 64) {
        data[L] = in[L];
        if (L % 32 == 0)
            __hip_atomic_fetch_add(&count, 1u, __ATOMIC_RELEASE, GROUP);
    } else {
        while (__hip_atomic_load(&count, __ATOMIC_ACQUIRE, GROUP) != 2)
            __builtin_amdgcn_s_sleep(1);
        out[L] = data[L & 63];
    }
}

// Nobody waits for the count: it only tells places, whose values may come later.
// RUN: append -g 128 -b 128 --arg in=iota:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void append(const uint *in, uint *out)
{
    __shared__ uint data[128], count;
    if (L == 0)
        count = 0;
    __syncthreads();
    const uint at = __hip_atomic_fetch_add(&count, 1u, __ATOMIC_RELAXED, GROUP);
    data[at] = in[L]; // FINDS: race-lds
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
    out[L] = data[127 - L]; // FINDS: race-lds
}

// ---- flags of a workgroup in global memory ----

// RUN: group_good -g 256 -b 128 --arg flag=zero:u32:2 --arg data=zero:u32:64 --arg out=zero:u32:128 --only race
extern "C" __global__ void group_good(uint *flag, uint *data, uint *out)
{
    if (L < 32) {
        data[B * 32 + L] = L;
        if (L == 0)
            __hip_atomic_store(&flag[B], 1u, __ATOMIC_RELEASE, GROUP);
    } else if (L >= 64) {
        while (!__hip_atomic_load(&flag[B], __ATOMIC_ACQUIRE, GROUP))
            __builtin_amdgcn_s_sleep(1);
        out[B * 64 + L - 64] = data[B * 32 + L % 32];
    }
}

// RUN: group_late -g 256 -b 128 --arg flag=zero:u32:2 --arg data=zero:u32:64 --arg out=zero:u32:128 --only race
extern "C" __global__ void group_late(uint *flag, uint *data, uint *out)
{
    if (L < 32) {
        if (L == 0)
            __hip_atomic_store(&flag[B], 1u, __ATOMIC_RELEASE, GROUP);
        data[B * 32 + L] = L;
    } else if (L >= 64) {
        while (!__hip_atomic_load(&flag[B], __ATOMIC_ACQUIRE, GROUP))
            __builtin_amdgcn_s_sleep(1);
        out[B * 64 + L - 64] = data[B * 32 + L % 32]; // FINDS gfx9*: race-global; FINDS gfx1*: race-release
    }
}

// ---- compare-and-swap ----

// The first value comes from a plain load, here a scalar one, and may end the loop before it begins.
// RUN: maximum_good -g 256 -b 64 --arg most=zero:u32:1 --arg in=iota:u32:256 --only race
extern "C" __global__ void maximum_good(uint *most, const uint *in)
{
    const uint value = in[I];
    uint old = *most;
    while (old < value) {
        const uint assumed = old;
        __hip_atomic_compare_exchange_strong(most, &old, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, AGENT);
        if (old == assumed)
            break;
    }
}

// RUN: checked_good -g 256 -b 64 --arg most=zero:u32:1 --arg in=iota:u32:256 --only race
extern "C" __global__ void checked_good(uint *most, const uint *in)
{
    const uint value = in[I];
    if (*most >= value)
        return;
    uint old = *most, assumed;
    do {
        assumed = old;
        if (assumed >= value)
            break;
        __hip_atomic_compare_exchange_strong(most, &old, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, AGENT);
    } while (old != assumed);
}

// A plain load and a plain store instead.
// RUN: maximum_lost -g 256 -b 64 --arg most=zero:u32:1 --arg in=iota:u32:256 --only race
extern "C" __global__ void maximum_lost(uint *most, const uint *in)
{
    if (L == 0 && *most < in[I]) // FINDS: race-global
        *most = in[I]; // FINDS: race-global
}

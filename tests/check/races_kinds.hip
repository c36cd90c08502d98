// SPDX-License-Identifier: MIT
// Stores that meet atomics, and lanes that store to one place.
#include "hip.h"

#define L threadIdx.x
#define B blockIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define AGENT __HIP_MEMORY_SCOPE_AGENT
#define GROUP __HIP_MEMORY_SCOPE_WORKGROUP

typedef unsigned uint;
typedef uint four __attribute__((ext_vector_type(4)));

// One wave clears the counts, and others add to them with no barrier in between: an addition without a result acquires nothing.
// RUN: cleared -g 256 -b 256 --arg in=iota:u32:256 --arg out=zero:u32:32 --only race
extern "C" __global__ void cleared(const uint *in, uint *out)
{
    __shared__ uint count[32];
    if (L < 32)
        count[L] = 0;
    __hip_atomic_fetch_add(&count[in[L] % 32], 1u, __ATOMIC_RELAXED, GROUP); // FINDS: race-mixed
    __syncthreads();
    if (L < 32)
        out[L] = count[L];
}

// RUN: cleared_good -g 256 -b 256 --arg in=iota:u32:256 --arg out=zero:u32:32 --only race
extern "C" __global__ void cleared_good(const uint *in, uint *out)
{
    __shared__ uint count[32];
    if (L < 32)
        count[L] = 0;
    __syncthreads();
    __hip_atomic_fetch_add(&count[in[L] % 32], 1u, __ATOMIC_RELAXED, GROUP);
    __syncthreads();
    if (L < 32)
        out[L] = count[L];
}

// Roots change by compare-and-swap, and one path is shortened by a plain store.
// RUN: shortened -g 256 -b 64 --arg parent=zero:u32:8 --only race
extern "C" __global__ void shortened(uint *parent)
{
    const uint at = I % 8;
    uint old = __hip_atomic_load(&parent[at], __ATOMIC_RELAXED, AGENT); // FINDS gfx942: race-mixed
    __hip_atomic_compare_exchange_strong(&parent[at], &old, old + 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED, AGENT); // FINDS gfx942: race-mixed
    if (L == 9)
        parent[1] = old; // FINDS gfx942 gfx1200: race-mixed
}

// RUN: shortened_good -g 256 -b 64 --arg parent=zero:u32:8 --only race
extern "C" __global__ void shortened_good(uint *parent)
{
    const uint at = I % 8;
    uint old = __hip_atomic_load(&parent[at], __ATOMIC_RELAXED, AGENT);
    __hip_atomic_compare_exchange_strong(&parent[at], &old, old + 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED, AGENT);
    if (L == 9)
        __hip_atomic_exchange(&parent[1], old, __ATOMIC_RELAXED, AGENT);
}

// Which lane's number remains is undefined. Of stores that may be relaxed atomics it is a note.
// RUN: winner -g 32 -b 32 --arg out=zero:u32:1 --only race
extern "C" __global__ void winner(uint *out)
{
    __hip_atomic_store(out, L, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WAVEFRONT); // FINDS: race-lanes
}

// RUN: winner_strict -g 32 -b 32 --arg out=zero:u32:1 --only race --strict
extern "C" __global__ void winner_strict(uint *out)
{
    *out = L; // FINDS: race-lanes
}

// No atomic stores so much.
// RUN: winner_of_four -g 32 -b 32 --arg out=zero:u32:4 --only race
extern "C" __global__ void winner_of_four(four *out)
{
    *out = four{L, 1, 2, 3}; // FINDS: race-lanes
}

// A chain of workgroups, as in scans with look-back. What a workgroup waits for behind its flag does not release the flag.
// RUN: chain -g 256 -b 64 --arg flag=zero:u32:4 --arg sum=zero:u32:4 --arg out=zero:u32:256 --only race
extern "C" __global__ void chain(uint *flag, uint *sum, uint *out)
{
    __shared__ uint before;
    if (L == 0) {
        before = 0;
        if (B) {
            while (!__hip_atomic_load(&flag[B - 1], __ATOMIC_ACQUIRE, AGENT))
                ;
            before = sum[B - 1]; // FINDS: race-release
        }
        sum[B] = before + B;
        __hip_atomic_store(&flag[B], 1u, __ATOMIC_RELAXED, AGENT);
    }
    __syncthreads();
    out[I] = before + L;
    __syncthreads();
    out[I] += 1;
}

// RUN: chain_good -g 256 -b 64 --arg flag=zero:u32:4 --arg sum=zero:u32:4 --arg out=zero:u32:256 --only race
extern "C" __global__ void chain_good(uint *flag, uint *sum, uint *out)
{
    __shared__ uint before;
    if (L == 0) {
        before = 0;
        if (B) {
            while (!__hip_atomic_load(&flag[B - 1], __ATOMIC_ACQUIRE, AGENT))
                ;
            before = sum[B - 1];
        }
        sum[B] = before + B;
        __hip_atomic_store(&flag[B], 1u, __ATOMIC_RELEASE, AGENT);
    }
    __syncthreads();
    out[I] = before + L;
    __syncthreads();
    out[I] += 1;
}

// Sums that others still add to are read plainly: it is the sum itself that is not atomic, and no flag is missing.
// RUN: running_sum -g 256 -b 64 --arg sum=zero:u32:64 --arg out=zero:u32:256 --only race
extern "C" __global__ void running_sum(uint *sum, uint *out)
{
    uint old = __hip_atomic_load(&sum[L], __ATOMIC_RELAXED, AGENT);
    while (!__hip_atomic_compare_exchange_strong(&sum[L], &old, old + I, __ATOMIC_RELAXED, __ATOMIC_RELAXED, AGENT)) // FINDS: race-mixed
        ;
    out[I] = sum[L];
}

// RUN: running_sum_good -g 256 -b 64 --arg sum=zero:u32:64 --arg out=zero:u32:256 --only race
extern "C" __global__ void running_sum_good(uint *sum, uint *out)
{
    uint old = __hip_atomic_load(&sum[L], __ATOMIC_RELAXED, AGENT);
    while (!__hip_atomic_compare_exchange_strong(&sum[L], &old, old + I, __ATOMIC_RELAXED, __ATOMIC_RELAXED, AGENT))
        ;
    out[I] = __hip_atomic_load(&sum[L], __ATOMIC_RELAXED, AGENT);
}

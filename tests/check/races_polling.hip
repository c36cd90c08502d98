// SPDX-License-Identifier: MIT
// Loops that wait, as compilers write them without optimization: variables in private memory, to which FLAT instructions go,
// masks in lanes of a VGPR that is spilled, and the first turn of a loop far from the others.
// COMPILE: -O0
#include "hip.h"

#define L __builtin_amdgcn_workitem_id_x()
#define GROUP __HIP_MEMORY_SCOPE_WORKGROUP
#define AWAIT(flag, value) while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, GROUP) != (value)) __builtin_amdgcn_s_sleep(1)
#define SIGNAL(flag, value) __hip_atomic_store(flag, value, __ATOMIC_RELEASE, GROUP)

typedef unsigned uint;

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
            SIGNAL(&flag, 1u);
    } else if (L >= 64) {
        AWAIT(&flag, 1);
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
            SIGNAL(&flag, 1u);
        data[L] = in[L];
    } else if (L >= 64) {
        AWAIT(&flag, 1);
        out[L] = data[L & 31]; // FINDS: race-lds
    }
}

// The loop has a counter: it does not wait.
// RUN: counted -g 128 -b 128 --arg in=iota:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void counted(const uint *in, uint *out)
{
    __shared__ uint data[32];
    if (L < 32) {
        data[L] = in[L];
    } else if (L >= 64) {
        uint i = 0;
        while (data[i] != 7 && i < 31) // FINDS: race-lds
            i++;
        out[L] = i;
    }
}

// RUN: variable_good -g 128 -b 128 --arg in=iota:u32:128 --arg out=zero:u32:128 --only race
extern "C" __global__ void variable_good(const uint *in, uint *out)
{
    __shared__ uint data[32], flag;
    if (L == 0)
        flag = 0;
    __syncthreads();
    if (L < 32) {
        data[L] = in[L];
        if (L == 0)
            SIGNAL(&flag, 1u);
    } else if (L >= 64) {
        uint seen;
        do
            seen = __hip_atomic_load(&flag, __ATOMIC_ACQUIRE, GROUP);
        while (seen == 0);
        out[L] = data[L & 31];
    }
}

// RUN: first_good -g 128 -b 128 --arg flag=zero:u32:1 --arg data=zero:u32:32 --arg out=zero:u32:128 --only race
extern "C" __global__ void first_good(uint *flag, uint *data, uint *out)
{
    if (L < 32) {
        data[L] = L;
        if (L == 0)
            SIGNAL(flag, 1u);
    } else if (L >= 64) {
        if (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, GROUP))
            do
                __builtin_amdgcn_s_sleep(2);
            while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, GROUP));
        out[L] = data[L & 31];
    }
}

// RUN: turns_good -g 128 -b 128 --arg out=zero:u32:128 --only race
extern "C" __global__ void turns_good(uint *out)
{
    __shared__ uint turn, sum;
    const uint me = L / 64;
    if (L == 0)
        turn = sum = 0;
    __syncthreads();
    if (L % 64 == 0)
        for (uint round = 0; round < 3; round++) {
            AWAIT(&turn, round * 2 + me);
            sum = sum + 1;
            SIGNAL(&turn, round * 2 + me + 1);
        }
    __syncthreads();
    out[L] = sum;
}

// The loop stores to LDS, behind the branch that closes it: it waits for nothing.
// RUN: body_behind -g 128 -b 128 --arg in=fill:u32:128:5 --arg out=zero:u32:128 --only race
extern "C" __global__ void body_behind(const uint *in, uint *out)
{
    __shared__ uint data[128];
    data[L] = in[L];
    __syncthreads();
    for (uint i = 0; i < 3; i++) {
        const uint common = data[i * 3]; // FINDS: race-lds
        if (common == 0)
            break;
        if (L == 0)
            data[i * 3] = common - 1; // FINDS gfx1200: race-lds
        __syncthreads();
    }
    out[L] = data[L];
}

// RUN: body_behind_good -g 128 -b 128 --arg in=fill:u32:128:5 --arg out=zero:u32:128 --only race
extern "C" __global__ void body_behind_good(const uint *in, uint *out)
{
    __shared__ uint data[128];
    data[L] = in[L];
    __syncthreads();
    for (uint i = 0; i < 3; i++) {
        const uint common = data[i * 3];
        __syncthreads();
        if (common == 0)
            break;
        if (L == 0)
            data[i * 3] = common - 1;
        __syncthreads();
    }
    out[L] = data[L];
}

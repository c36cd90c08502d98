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

// Peterson's algorithm. The code does not tell that both stores of `turn` are atomic: a note.
#define FLAG(at) __hip_atomic_load(at, __ATOMIC_SEQ_CST, GROUP)
#define SET(at, value) __hip_atomic_store(at, value, __ATOMIC_SEQ_CST, GROUP)
// RUN: peterson -g 128 -b 128 --arg out=zero:u32:128 --only race
extern "C" __global__ void peterson(uint *out)
{
    __shared__ uint flag[2], turn, sum;
    const uint me = L / 64;
    if (L < 2)
        flag[L] = turn = sum = 0;
    __syncthreads();
    if (L % 64 == 0)
        for (uint round = 0; round < 3; round++) {
            SET(&flag[me], 1u);
            SET(&turn, 1 - me); // FINDS: race-flags
            while (FLAG(&flag[1 - me]) && FLAG(&turn) == 1 - me)
                __builtin_amdgcn_s_sleep(1);
            sum = sum + 1;
            SET(&flag[me], 0u);
        }
    __syncthreads();
    out[L] = sum;
}

// Nobody waits.
// RUN: peterson_lost -g 128 -b 128 --arg out=zero:u32:128 --only race
extern "C" __global__ void peterson_lost(uint *out)
{
    __shared__ volatile uint sum;
    if (L == 0)
        sum = 0;
    __syncthreads();
    if (L % 64 == 0)
        for (uint round = 0; round < 3; round++) {
            sum = sum + 1; // FINDS: race-lds
        }
    __syncthreads();
    out[L] = sum;
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
        out[B * 64 + L - 64] = data[B * 32 + L % 32]; // FINDS: race-global
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

// ---- what waves read and store without a loop that waits ----

// The last wave of the workgroup adds the others' sums up.
// RUN: last_wave_good -g 256 -b 256 --arg out=zero:u32:1 --only race
extern "C" __global__ void last_wave_good(uint *out)
{
    __shared__ uint sums[8], count;
    const uint size = __builtin_amdgcn_wavefrontsize(), waves = 256 / size;
    if (L == 0)
        count = 0;
    __syncthreads();
    if (L % size == 0) {
        sums[L / size] = L;
        if (__hip_atomic_fetch_add(&count, 1u, __ATOMIC_ACQ_REL, GROUP) == waves - 1) {
            uint sum = 0;
            for (uint i = 0; i < waves; i++)
                sum += sums[i];
            *out = sum;
        }
    }
}

// RUN: last_wave -g 256 -b 256 --arg out=zero:u32:1 --only race
extern "C" __global__ void last_wave(uint *out)
{
    __shared__ uint sums[8], count;
    const uint size = __builtin_amdgcn_wavefrontsize(), waves = 256 / size;
    if (L == 0)
        count = 0;
    __syncthreads();
    if (L % size == 0) {
        const bool last = __hip_atomic_fetch_add(&count, 1u, __ATOMIC_ACQ_REL, GROUP) == waves - 1;
        sums[L / size] = L;
        if (last) {
            uint sum = 0;
            for (uint i = 0; i < waves; i++)
                sum += sums[i]; // FINDS: race-lds
            *out = sum;
        }
    }
}

// The same in global memory.
// RUN: last_wave_global_good -g 512 -b 256 --arg sums=zero:u32:16 --arg count=zero:u32:2 --arg out=zero:u32:2 --only race
extern "C" __global__ void last_wave_global_good(uint *sums, uint *count, uint *out)
{
    const uint size = __builtin_amdgcn_wavefrontsize(), waves = 256 / size;
    if (L % size == 0) {
        sums[B * 8 + L / size] = L;
        if (__hip_atomic_fetch_add(&count[B], 1u, __ATOMIC_ACQ_REL, GROUP) == waves - 1) {
            uint sum = 0;
            for (uint i = 0; i < waves; i++)
                sum += sums[B * 8 + i];
            out[B] = sum;
        }
    }
}

// Two buffers in LDS, one wave that fills them, and one that reads them and then tells that they are free.
// RUN: buffers_good -g 128 -b 128 --arg in=iota:u32:512 --arg out=zero:u32:512 --only race
extern "C" __global__ void buffers_good(const uint *in, uint *out)
{
    __shared__ uint buffer[2][64], full, empty;
    const uint size = __builtin_amdgcn_wavefrontsize(), lane = L % size;
    if (L == 0)
        full = empty = 0;
    __syncthreads();
    if (L >= 2 * size)
        return;
    for (uint i = 0; i < 8; i++)
        if (L < size) {
            while (i >= __hip_atomic_load(&empty, __ATOMIC_ACQUIRE, GROUP) + 2)
                __builtin_amdgcn_s_sleep(1);
            buffer[i & 1][lane] = in[i * size + lane];
            __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
            if (lane == 0)
                __hip_atomic_store(&full, i + 1, __ATOMIC_RELEASE, GROUP);
        } else {
            while (__hip_atomic_load(&full, __ATOMIC_ACQUIRE, GROUP) <= i)
                __builtin_amdgcn_s_sleep(1);
            out[i * size + lane] = buffer[i & 1][size - 1 - lane];
            __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
            if (lane == 0)
                __hip_atomic_store(&empty, i + 1, __ATOMIC_RELEASE, GROUP);
        }
}

// Waves meet by counting in LDS: each polls a count that it may have been the last to change.
// RUN: meeting_good -g 256 -b 256 --arg out=zero:u32:256 --only race
extern "C" __global__ void meeting_good(uint *out)
{
    __shared__ uint data[256], count;
    const uint waves = 256 / __builtin_amdgcn_wavefrontsize();
    if (L == 0)
        count = 0;
    __syncthreads();
    for (uint round = 0; round < 6; round++) {
        if (round % 2)
            out[L] += data[255 - L];
        else
            data[L] = L + round;
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
        if (__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) == 0)
            __hip_atomic_fetch_add(&count, 1u, __ATOMIC_RELEASE, GROUP);
        while (__hip_atomic_load(&count, __ATOMIC_ACQUIRE, GROUP) < waves * (round + 1))
            __builtin_amdgcn_s_sleep(1);
    }
}

// The counters are cleared by one wave, and the others do not wait for that.
// RUN: uncleared -g 256 -b 256 --arg in=rand:u32:256 --arg out=zero:u32:256 --only race
extern "C" __global__ void uncleared(const uint *in, uint *out)
{
    __shared__ uint count[16];
    if (L < 16)
        count[L] = 0;
    const uint rank = __hip_atomic_fetch_add(&count[in[L] >> 28], 1u, __ATOMIC_RELAXED, GROUP); // FINDS: race-mixed
    if (rank < 8)
        out[L] = rank;
}

// A slot that its reader frees, which stores nothing else.
// RUN: slot_good -g 64 -b 32 --arg full=zero:u32:2 --arg buffer=zero:u32:32 --arg out=zero:u32:32 --only race
extern "C" __global__ void slot_good(uint *full, uint *buffer, uint *out)
{
    uint sum = 0;
    for (uint i = 0; i < 6; i++)
        if (B == 0) {
            while (__hip_atomic_load(&full[1], __ATOMIC_ACQUIRE, AGENT) != i)
                __builtin_amdgcn_s_sleep(1);
            buffer[L] = i * 32 + L;
            __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
            if (L == 0)
                __hip_atomic_store(&full[0], i + 1, __ATOMIC_RELAXED, AGENT);
        } else {
            while (__hip_atomic_load(&full[0], __ATOMIC_ACQUIRE, AGENT) < i + 1)
                __builtin_amdgcn_s_sleep(1);
            sum += buffer[L];
            if (L == 0)
                __hip_atomic_store(&full[1], i + 1, __ATOMIC_RELEASE, AGENT);
        }
    if (B)
        out[L] = sum;
}

// A queue whose entries are read before a compare-and-swap takes them.
// RUN: queue -g 256 -b 64 --arg at=zero:u32:2 --arg items=zero:u32:64 --arg out=zero:u32:64 --only race
extern "C" __global__ void queue(uint *at, uint *items, uint *out)
{
    if (L)
        return;
    if (B == 0) {
        for (uint i = 0; i < 16; i++) {
            items[i] = i * i;
            __hip_atomic_store(&at[1], i + 1, __ATOMIC_RELAXED, AGENT);
        }
        return;
    }
#pragma unroll 1
    for (uint n = 0; n < 40; n++) {
        uint first = __hip_atomic_load(&at[0], __ATOMIC_ACQUIRE, AGENT);
        if (first >= __hip_atomic_load(&at[1], __ATOMIC_ACQUIRE, AGENT))
            continue;
        const uint item = items[first]; // FINDS: race-release
        if (__hip_atomic_compare_exchange_strong(&at[0], &first, first + 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, AGENT))
            out[first] = item;
    }
}

// SPDX-License-Identifier: MIT
// Kernels of waves of 64 lanes whose lanes 0-31 and 32-63 exchange data without a barrier, and corrected ones. The compiler
// leaves out barriers of kernels whose workgroups have at most 64 work-items; these may have 256.
// TARGETS: gfx900 gfx1030 gfx1100
// COMPILE: -mwavefrontsize64

// RUN: swap -g 512 -b 256 --arg out=uninit:u32:512 --only portability
kernel void swap(global uint *out)
{
    local volatile uint tile[256];
    const uint i = get_local_id(0);
    tile[i] = i;
    out[get_global_id(0)] = tile[i ^ 32]; // FINDS: wave-size
}

// RUN: swap_good -g 512 -b 256 --arg out=uninit:u32:512 --only portability
kernel void swap_good(global uint *out)
{
    local volatile uint tile[256];
    const uint i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[i ^ 32];
}

// Data that a wave stores so many barriers after its other half has read them that the numbers of barriers in
// records have begun again.
// RUN: long_good -g 256 -b 256 --arg data=iota:u32:256 --arg turns=uninit:u32:256 --only portability
kernel void long_good(global volatile uint *data, global volatile uint *turns)
{
    const uint i = get_local_id(0), value = data[i];
    for (uint n = 0; n < 20000; n++) {
        turns[i] = n;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    data[i ^ 32] = value;
}

// Lanes of one half may exchange data without a barrier, with any wave size.
// RUN: neighbours_good -g 512 -b 256 --arg out=uninit:u32:512 --only portability
kernel void neighbours_good(global uint *out)
{
    local volatile uint tile[256];
    const uint i = get_local_id(0);
    tile[i] = i;
    out[get_global_id(0)] = tile[i ^ 16];
}

// Workgroups of 32 are one wave in both.
// RUN: small_good -g 64 -b 32 --arg out=uninit:u32:64 --only portability
kernel void small_good(global uint *out)
{
    local volatile uint tile[32];
    const uint i = get_local_id(0);
    tile[i] = i;
    out[get_global_id(0)] = tile[i ^ 31];
}

// A reduction whose last steps have no barriers: a warp of 32 lanes would need them from 32 on only.
// RUN: reduce -g 256 -b 256 --arg in=iota:u32:256 --arg out=uninit:u32:1 --only portability
kernel void reduce(global const uint *in, global uint *out)
{
    local volatile uint tile[256];
    const uint i = get_local_id(0);
    tile[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 128)
        tile[i] += tile[i + 128];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 64) {
        tile[i] += tile[i + 64];
        tile[i] += tile[i + 32]; // FINDS: wave-size
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 32) {
        tile[i] += tile[i + 16];
        tile[i] += tile[i + 8];
        tile[i] += tile[i + 4];
        tile[i] += tile[i + 2];
        tile[i] += tile[i + 1];
    }
    if (i == 0)
        *out = tile[0];
}

// RUN: reduce_good -g 256 -b 256 --arg in=iota:u32:256 --arg out=uninit:u32:1 --only portability
kernel void reduce_good(global const uint *in, global uint *out)
{
    local volatile uint tile[256];
    const uint i = get_local_id(0);
    tile[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 128)
        tile[i] += tile[i + 128];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 64)
        tile[i] += tile[i + 64];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 32) {
        tile[i] += tile[i + 32];
        tile[i] += tile[i + 16];
        tile[i] += tile[i + 8];
        tile[i] += tile[i + 4];
        tile[i] += tile[i + 2];
        tile[i] += tile[i + 1];
    }
    if (i == 0)
        *out = tile[0];
}

// Global memory.
// RUN: global_swap -g 128 -b 128 --arg tile=uninit:u32:128 --arg out=uninit:u32:128 --only portability
kernel void global_swap(global uint *tile, global uint *out)
{
    const uint i = get_local_id(0);
    tile[i] = i;
    out[i] = tile[i ^ 32]; // FINDS: wave-size
}

// RUN: global_swap_good -g 128 -b 128 --arg tile=uninit:u32:128 --arg out=uninit:u32:128 --only portability
kernel void global_swap_good(global uint *tile, global uint *out)
{
    const uint i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = tile[i ^ 32];
}

// Atomics of both halves need no order, and one store of all lanes is no exchange.
// RUN: atomics_good -g 256 -b 256 --arg out=uninit:u32:1 --only portability
kernel void atomics_good(global uint *out)
{
    local uint count, flag;
    const uint i = get_local_id(0);
    if (i == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&count);
    flag = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0)
        *out = count + flag;
}

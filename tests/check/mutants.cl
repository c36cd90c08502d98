// SPDX-License-Identifier: MIT
// Correct kernels for mutants.py: examples, and some that communicate between workgroups. What they compute is used by a
// second kernel, so that a store that is missing is a value that nobody wrote. Buffers have no spare elements.

#include "../../examples/histogram.cl"
#undef GROUP
#include "../../examples/reduction.cl"
#undef GROUP
#include "../../examples/scan.cl"
#undef GROUP
#include "../../examples/spmv.cl"
#undef GROUP
#undef LANES
#include "../../examples/transpose.cl"
#undef TILE
#include "../../examples/waiting.cl"

kernel void use(global const uint *made, global uint *used)
{
    used[get_global_id(0)] = made[get_global_id(0)] + 1;
}

// RUN: histogram -g 512 -b 256 --arg words=rand:u32:1000:1 --arg bins=zero:u32:256 --arg n=4000
// RUN: reduce -g 512 -b 256 --arg in=iota:f32:700 --arg sums=uninit:f32:2 --arg n=700 --then -k use -g 2 -b 2 --arg made=same:sums --arg used=zero:u32:2
// RUN: scan_blocks -g 512 -b 256 --arg in=iota:u32:2000 --arg out=uninit:u32:2000 --arg totals=uninit:u32:2 --arg n=2000 --then -k use -g 2000 -b 200 --arg made=same:out --arg used=zero:u32:2000 --then -g 2 -b 2 --arg made=same:totals
// RUN: scan_add -g 2048 -b 256 --arg out=iota:u32:2000 --arg before=iota:u32:2 --arg n=2000
// RUN: spmv -g 256 -b 128 --arg row_start=iota:u32:33 --arg column=iota:u32:32 --arg value=iota:f32:32 --arg x=iota:f32:32 --arg y=uninit:f32:32 --arg rows=32 --then -k use -g 32 -b 32 --arg made=same:y --arg used=zero:u32:32
// RUN: transpose_naive -g 48,48 -b 16,16 --arg in=iota:f32:2304 --arg out=uninit:f32:2304 --arg n=48 --then -k use -g 2304 -b 64 --arg made=same:out --arg used=zero:u32:2304
// RUN: transpose_lds -g 48,48 -b 16,16 --arg in=iota:f32:2304 --arg out=uninit:f32:2304 --arg n=48 --then -k use -g 2304 -b 64 --arg made=same:out --arg used=zero:u32:2304
// RUN: transpose_unpadded -g 48,48 -b 16,16 --arg in=iota:f32:2304 --arg out=uninit:f32:2304 --arg n=48 --then -k use -g 2304 -b 64 --arg made=same:out --arg used=zero:u32:2304
// RUN: lookback_scan -g 1024 -b 256 --arg in=iota:u32:1024 --arg out=uninit:u32:1024 --arg state=zero:u64:4 --arg n=1024 --then -k use -g 1024 -b 64 --arg made=same:out --arg used=zero:u32:1024
// RUN: grid_barrier -g 512 -b 128 --arg arrived=zero:u32:1 --arg a=iota:u32:4 --arg b=uninit:u32:4 --arg steps=3 --then -k use -g 4 -b 4 --arg made=same:b --arg used=zero:u32:4
// RUN: spin_lock -g 512 -b 128 --arg lock=zero:u32:1 --arg number=zero:u32:1 --arg times=2
// RUN: chain -g 512 -b 128 --arg number=zero:u32:4 --arg first=0 --arg by=-1

// Tiles of two matrices in LDS: both barriers of the loop are needed.
// RUN: product -g 64,8 -b 16,8 --arg a=iota:f32:128 --arg b=iota:f32:1024 --arg c=uninit:f32:512 --then -k use -g 512 -b 64 --arg made=same:c --arg used=zero:u32:512
kernel void product(global const float *a, global const float *b, global float *c)
{
    local float left[8][8], right[8][16];
    const uint x = get_local_id(0), y = get_local_id(1);
    float sum = 0;
#pragma unroll 1
    for (uint k = 0; k < 16; k += 8) {
        if (x < 8)
            left[y][x] = a[y * 16 + k + x];
        right[y][x] = b[(k + y) * 64 + get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < 8; i++)
            sum += left[y][i] * right[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * 64 + get_global_id(0)] = sum;
}

// Each workgroup keeps what is above a threshold: places within it by a prefix sum in LDS, places in the output by an atomic.
// RUN: compact -g 512 -b 128 --arg in=iota:u32:512 --arg out=uninit:u32:256 --arg count=zero:u32:1 --arg limit=256 --then -k use -g 256 -b 64 --arg made=same:out --arg used=zero:u32:256
kernel void compact(global const uint *in, global uint *out, global uint *count, uint limit)
{
    local uint place[128], first;
    const uint l = get_local_id(0), value = in[get_global_id(0)], keep = value >= limit;
    place[l] = keep;
#pragma unroll 1
    for (uint d = 1; d < 128; d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint add = l >= d ? place[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        place[l] += add;
    }
    if (l == 127)
        first = atomic_add(count, place[127]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (keep)
        out[first + place[l] - 1] = value;
}

// A stencil with a halo, twice in LDS with two buffers.
// RUN: heat -g 256 -b 128 --arg in=iota:f32:260 --arg out=uninit:f32:256 --then -k use -g 256 -b 64 --arg made=same:out --arg used=zero:u32:256
kernel void heat(global const float *in, global float *out)
{
    local float one[132], two[130];
    const uint l = get_local_id(0), i = get_global_id(0);
    one[l] = in[i];
    if (l < 4)
        one[l + 128] = in[i + 128];
    barrier(CLK_LOCAL_MEM_FENCE);
    two[l] = one[l] + one[l + 1] + one[l + 2];
    if (l < 2)
        two[l + 128] = one[l + 128] + one[l + 129] + one[l + 130];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = two[l] + two[l + 1] + two[l + 2];
}

// The last workgroup adds up what all have written.
// RUN: total -g 512 -b 128 --arg in=iota:u32:512 --arg part=uninit:u32:4 --arg count=zero:u32:1 --arg out=uninit:u32:1 --then -k use -g 1 -b 1 --arg made=same:out --arg used=zero:u32:1
kernel void total(global const uint *in, global uint *part, global atomic_uint *count, global uint *out)
{
    local uint sum[128], last;
    const uint l = get_local_id(0);
    sum[l] = in[get_global_id(0)];
#pragma unroll 1
    for (uint step = 64; step; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step)
            sum[l] += sum[l + step];
    }
    if (l == 0) {
        part[get_group_id(0)] = sum[0];
        last = atomic_fetch_add_explicit(count, 1, memory_order_acq_rel, memory_scope_device) == get_num_groups(0) - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last && l < get_num_groups(0)) {
        sum[l] = part[l];
        if (l == 0)
            out[0] = part[0] + part[1] + part[2] + part[3];
    }
}

// Workgroup 0 hands 128 values to the other one, whose waves wait for one of them.
// RUN: hand_over -g 256 -b 128 --arg data=uninit:u32:128 --arg flag=zero:u32:1 --arg out=uninit:u32:128 --then -k use -g 128 -b 64 --arg made=same:out --arg used=zero:u32:128
kernel void hand_over(global uint *data, global atomic_uint *flag, global uint *out)
{
    const uint l = get_local_id(0);
    if (get_group_id(0) == 0) {
        data[l] = l;
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (l == 0)
            atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
        return;
    }
    if (l == 0)
        while (!atomic_load_explicit(flag, memory_order_acquire, memory_scope_device))
            ;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[l] = data[127 - l];
}

// SPDX-License-Identifier: MIT
// Barriers: each kernel with waves that do not meet, and with waves that do.
#define L get_local_id(0)
#define LDS CLK_LOCAL_MEM_FENCE

// RUN: branches -g 256 -b 256 --arg out=zero:u32:256 --only sync
kernel void branches(global uint *out) {
    local uint tile[256];
    tile[L] = L;
    if (L < 128) {
        barrier(LDS);
        out[L] = tile[L ^ 1];
    } else {
        barrier(LDS); // FINDS: different-barriers
        out[L] = tile[L ^ 2] + 1;
    }
}

// RUN: branches_good -g 256 -b 256 --arg out=zero:u32:256 --only sync
kernel void branches_good(global uint *out) {
    local uint tile[256];
    tile[L] = L;
    barrier(LDS);
    out[L] = L < 128 ? tile[L ^ 1] : tile[L ^ 2] + 1;
}

// Ended waves do not count at barriers.
// RUN: early_good -g 256 -b 256 --arg out=zero:u32:256 --arg n=128 --only sync
kernel void early_good(global uint *out, uint n) {
    local uint tile[256];
    if (L >= n)
        return;
    tile[L] = L;
    barrier(LDS);
    out[L] = tile[L ^ 1];
}

// Wave 1 waits for wave 0, which waits for it at the barrier.
// RUN: stuck -g 128 -b 128 --arg flag=zero:u32:1 --only sync
kernel void stuck(global atomic_uint *flag) {
    if (L >= 64)
        while (!__opencl_atomic_load(flag, memory_order_acquire, memory_scope_device))
            ;
    barrier(LDS); // FINDS: deadlock
    if (L == 0)
        __opencl_atomic_store(flag, 1, memory_order_release, memory_scope_device);
}

// RUN: stuck_good -g 128 -b 128 --arg flag=zero:u32:1 --only sync
kernel void stuck_good(global atomic_uint *flag) {
    if (L == 0)
        __opencl_atomic_store(flag, 1, memory_order_release, memory_scope_device);
    if (L >= 64)
        while (!__opencl_atomic_load(flag, memory_order_acquire, memory_scope_device))
            ;
    barrier(LDS);
}

// The last wave goes through the loop once more, and passes the last barrier only because the others have ended.
// RUN: once_more -g 256 -b 256 --arg out=zero:u32:256 --arg n=3
kernel void once_more(global uint *out, uint n) {
    local uint tile[256];
    uint sum = 0;
    for (uint i = 0; i < n + (get_local_id(0) >= 192); i++) {
        tile[get_local_id(0)] = sum + i;
        barrier(CLK_LOCAL_MEM_FENCE); // FINDS: different-barriers
        sum += tile[get_local_id(0) ^ 1];
    }
    out[get_global_id(0)] = sum;
}

// RUN: equally_often_good -g 256 -b 256 --arg out=zero:u32:256 --arg n=3
kernel void equally_often_good(global uint *out, uint n) {
    local uint tile[256];
    uint sum = 0;
    for (uint i = 0; i < n; i++) {
        tile[get_local_id(0)] = sum + i;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[get_local_id(0) ^ 1];
    }
    out[get_global_id(0)] = sum;
}

// Whole waves return between two barriers.
// RUN: between_good -g 256 -b 256 --arg out=zero:u32:256
kernel void between_good(global uint *out) {
    local uint tile[256];
    tile[get_local_id(0)] = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) >= 64)
        return;
    const uint sum = tile[get_local_id(0)] + tile[get_local_id(0) + 64];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[get_local_id(0) ^ 63];
}

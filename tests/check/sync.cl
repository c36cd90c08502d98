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

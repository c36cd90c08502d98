// SPDX-License-Identifier: MIT
// Races in LDS: each kernel without its barrier, and with it.
// RUN: reverse -g 256 -b 256 --arg out=zero:u32:256 --only race

#define G get_local_id(0)

kernel void reverse(global uint *out) {
    local uint tile[256];
    tile[G] = G; // FINDS: race-lds
    out[get_global_id(0)] = tile[255 - G]; // FINDS: race-lds
}

// RUN: reverse_good -g 256 -b 256 --arg out=zero:u32:256 --only race
kernel void reverse_good(global uint *out) {
    local uint tile[256];
    tile[G] = G;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[255 - G];
}

// The second store of the tile overwrites what others still read.
// RUN: refill -g 256 -b 256 --arg out=zero:u32:256 --arg n=4 --only race
kernel void refill(global uint *out, uint n) {
    local uint tile[256];
    uint sum = 0;
    for (uint i = 0; i < n; i++) {
        tile[G] = G + i; // FINDS: race-lds
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[255 - G]; // FINDS: race-lds
    }
    out[get_global_id(0)] = sum;
}

// RUN: refill_good -g 256 -b 256 --arg out=zero:u32:256 --arg n=4 --only race
kernel void refill_good(global uint *out, uint n) {
    local uint tile[256];
    uint sum = 0;
    for (uint i = 0; i < n; i++) {
        tile[G] = G + i;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[255 - G];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}

// Bytes: neighbouring waves share no byte, but dwords.
// RUN: bytes -g 256 -b 256 --arg out=zero:u32:256 --only race
kernel void bytes(global uint *out) {
    local uchar tile[257];
    tile[G] = G; // FINDS: race-lds
    tile[G + 1] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[G];
}

// RUN: bytes_good -g 256 -b 256 --arg out=zero:u32:256 --only race
kernel void bytes_good(global uint *out) {
    local uchar tile[260];
    tile[G + 1] = G;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[256 - G];
}

// The host may read the counter while others still add.
// RUN: counter -g 256 -b 256 --arg out=zero:u32:1 --only race
kernel void counter(global uint *out) {
    local uint count;
    if (G == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&count); // FINDS: race-mixed
    if (G == 0)
        out[0] = count;
}

// RUN: counter_good -g 256 -b 256 --arg out=zero:u32:1 --only race
kernel void counter_good(global uint *out) {
    local uint count;
    if (G == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (G == 0)
        out[0] = count;
}

// Lanes of one store.
// RUN: lanes -g 64 -b 64 --arg out=zero:u32:64 --only race
kernel void lanes(global uint *out) {
    out[G / 2] = G; // FINDS: race-lanes
}

// RUN: lanes_good -g 64 -b 64 --arg out=zero:u32:64 --only race
kernel void lanes_good(global uint *out) {
    out[G / 2] = G / 2;
}

// Workgroups.
// RUN: neighbour -g 256 -b 64 --arg data=zero:u32:512 --only race
kernel void neighbour(global uint *data) {
    uint i = get_global_id(0);
    data[i] = i; // FINDS: race-global
    data[256 + i] = data[(i + 64) % 256]; // FINDS: race-global
}

// RUN: neighbour_good -g 256 -b 64 --arg data=zero:u32:512 --only race
kernel void neighbour_good(global uint *data) {
    uint i = get_global_id(0);
    data[i] = i;
    data[256 + i] = data[i];
}

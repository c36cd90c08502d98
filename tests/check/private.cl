// SPDX-License-Identifier: MIT
// Private memory far out of bounds, where hardware keeps that of other waves: an access must be found whatever it meets
// there. 512, 1024 and 2048 elements are at distances of the pieces of memory that waves of 64 and 32 lanes have here.
// TARGETS: gfx600 gfx700 gfx803 gfx900 gfx90a gfx942 gfx1010 gfx1030 gfx1100 gfx1150 gfx1200

// RUN: store_far -g 256 -b 128 --arg out=iota:u32:512 --arg at=512
// RUN: store_far -g 256 -b 128 --arg out=iota:u32:512 --arg at=1024
// RUN: store_far -g 256 -b 128 --arg out=iota:u32:512 --arg at=2048
// RUN: store_far -g 256 -b 128 --arg out=iota:u32:512 --arg at=4096 -j2
// RUN: store_far -g 256 -b 128 --arg out=iota:u32:512 --arg at=65536
// RUN: store_far -g 256 -b 128 --arg out=iota:u32:512 --arg at=-1024
// RUN: store_far -g 256 -b 128 --arg out=iota:u32:512 --arg at=-2048
kernel void store_far(global uint *out, int at)
{
    uint values[32];
    const uint i = get_global_id(0);
    for (uint k = 0; k < 32; k++)
        values[k] = out[k];
    values[at] = 7; // FINDS: private-out-of-bounds
    out[256 + i] = values[out[i] % 32];
}

// RUN: load_far -g 256 -b 128 --arg out=iota:u32:512
kernel void load_far(global uint *out)
{
    uint values[32];
    const uint i = get_global_id(0);
    for (uint k = 0; k < 32; k++)
        values[k] = out[k];
    out[256 + i] = values[out[i] * 512]; // FINDS: private-out-of-bounds
}

// RUN: load_far_good -g 256 -b 128 --arg out=iota:u32:512
kernel void load_far_good(global uint *out)
{
    uint values[32];
    const uint i = get_global_id(0);
    for (uint k = 0; k < 32; k++)
        values[k] = out[k];
    out[256 + i] = values[out[i] * 5 % 32];
}

// RUN: unoptimized -g 256 -b 128 --arg out=iota:u32:512 --arg at=512
// RUN: unoptimized -g 256 -b 128 --arg out=iota:u32:512 --arg at=1024
// RUN: unoptimized -g 256 -b 128 --arg out=iota:u32:512 --arg at=2048
// RUN: unoptimized -g 256 -b 128 --arg out=iota:u32:512 --arg at=-2048
__attribute__((optnone, noinline)) kernel void unoptimized(global uint *out, int at)
{
    uint values[32];
    const uint i = get_global_id(0);
    values[i % 32] = 1;
    values[at] = 7;     // FINDS: private-out-of-bounds
    out[i] = values[i % 32];
}

// Bytes and 16 bytes: each size has steps of its own.
// RUN: bytes -g 64 -b 64 --arg out=zero:u32:64 --arg in=iota:u32:1024 --arg at=65536
// RUN: bytes -g 64 -b 64 --arg out=zero:u32:64 --arg in=iota:u32:1024 --arg at=131072
kernel void bytes(global uint *out, global const uint *in, int at)
{
    uchar values[1024];
    const uint i = get_global_id(0);
#pragma unroll 1
    for (uint k = 0; k < 1024; k++)
        values[in[k]] = k;
    values[in[i] + at] = 1; // FINDS: private-out-of-bounds
    out[i] = values[in[i]];
}

// RUN: quads -g 64 -b 64 --arg out=zero:u32:64 --arg in=iota:u32:64 --arg at=4096
// RUN: quads -g 64 -b 64 --arg out=zero:u32:64 --arg in=iota:u32:64 --arg at=8192
kernel void quads(global uint *out, global const uint *in, int at)
{
    uint4 values[64];
    const uint i = get_global_id(0);
#pragma unroll 1
    for (uint k = 0; k < 64; k++)
        values[in[k]] = k;
    values[in[i] + at] = 1; // FINDS: private-out-of-bounds
    out[i] = values[in[i]].x;
}

// A function of its own: its frame begins where the stack pointer is.
uint called(global const uint *in, int at);

// RUN: caller -g 256 -b 128 --arg out=zero:u32:256 --arg in=iota:u32:256 --arg at=16384
// RUN: caller -g 256 -b 128 --arg out=zero:u32:256 --arg in=iota:u32:256 --arg at=32768
kernel void caller(global uint *out, global const uint *in, int at)
{
    out[get_global_id(0)] = called(in, at);
}

__attribute__((noinline)) uint called(global const uint *in, int at)
{
    uint values[16];
#pragma unroll 1
    for (uint k = 0; k < 16; k++)
        values[in[k] + at] = k; // FINDS: private-out-of-bounds
    return values[in[get_global_id(0)] % 16 + at]; // FINDS: private-out-of-bounds
}

// A pointer of which nobody knows whether it is one to private memory or LDS, so FLAT accesses it.
#ifndef __gfx600__
// RUN: through_flat -g 256 -b 32 --arg out=zero:u32:256 --arg in=iota:u32:256 --arg at=2048
// TARGETS: gfx700 gfx803 gfx900 gfx90a gfx942 gfx1010 gfx1030 gfx1100 gfx1150 gfx1200
kernel void through_flat(global uint *out, global const uint *in, int at)
{
    local uint shared[32];
    uint values[32];
    uint *first = shared, *second = values;
    const uint i = get_global_id(0);
    shared[in[get_local_id(0)]] = 5;
    for (uint k = 0; k < 32; k++)
        values[in[k]] = in[k];
    uint *any = in[0] ? first : second;
    any[at] = 7; // FINDS: private-out-of-bounds
    out[i] = any[in[i] % 32];
}
#endif

// SPDX-License-Identifier: MIT
// Values that nobody wrote, and the same kernels with them written: in global memory and LDS.

// ---- global memory ----

// RUN: copy -g 64 -b 64 --arg in=uninit:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void copy(global const uint *in, global uint *out)
{
    out[get_global_id(0)] = in[get_global_id(0)]; // FINDS: uninit-global
}

// RUN: copy_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void copy_good(global const uint *in, global uint *out)
{
    out[get_global_id(0)] = in[get_global_id(0)];
}

// RUN: accumulate -g 64 -b 64 --arg in=iota:f32:64 --arg out=uninit:f32:64 --only uninit
kernel void accumulate(global const float *in, global float *out)
{
    out[get_global_id(0)] += in[get_global_id(0)]; // FINDS: uninit-global
}

// RUN: accumulate_good -g 64 -b 64 --arg in=iota:f32:64 --arg out=zero:f32:64 --only uninit
kernel void accumulate_good(global const float *in, global float *out)
{
    out[get_global_id(0)] += in[get_global_id(0)];
}

// RUN: bytes -g 64 -b 64 --arg in=uninit:u8:64 --arg out=uninit:u32:64 --only uninit
kernel void bytes(global const char *in, global int *out)
{
    out[get_global_id(0)] = in[get_global_id(0)] * 3; // FINDS: uninit-global
}

// RUN: bytes_good -g 64 -b 64 --arg in=iota:u8:64 --arg out=uninit:u32:64 --only uninit
kernel void bytes_good(global const char *in, global int *out)
{
    out[get_global_id(0)] = in[get_global_id(0)] * 3;
}

// Only half of the elements are written before the other half reads them.
// RUN: half_written -g 64 -b 64 --arg between=uninit:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void half_written(global uint *between, global uint *out)
{
    const size_t i = get_local_id(0);
    if (i < 32)
        between[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = between[63 - i]; // FINDS: uninit-global
}

// RUN: half_written_good -g 64 -b 64 --arg between=uninit:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void half_written_good(global uint *between, global uint *out)
{
    const size_t i = get_local_id(0);
    between[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = between[63 - i];
}

// A workgroup reads what an earlier one wrote.
// RUN: second_group_good -g 128 -b 64 --arg between=uninit:u32:64 --arg out=uninit:u32:128 --only uninit
kernel void second_group_good(global uint *between, global uint *out)
{
    if (get_group_id(0) == 0)
        between[get_local_id(0)] = 1;
    else
        out[get_global_id(0)] = between[get_local_id(0)];
}

// RUN: counter -g 64 -b 64 --arg count=uninit:u32:1 --only uninit
kernel void counter(global uint *count)
{
    atomic_inc(count); // FINDS: uninit-global
}

// RUN: counter_good -g 64 -b 64 --arg count=zero:u32:1 --only uninit
kernel void counter_good(global uint *count)
{
    atomic_inc(count);
}

// RUN: flag -g 64 -b 64 --arg flags=uninit:u32:1 --arg out=uninit:u32:64 --only uninit
kernel void flag(global const uint *flags, global uint *out)
{
    if (flags[0]) // FINDS: uninit-global
        out[get_global_id(0)] = 1;
}

// RUN: flag_good -g 64 -b 64 --arg flags=iota:u32:1 --arg out=uninit:u32:64 --only uninit
kernel void flag_good(global const uint *flags, global uint *out)
{
    if (flags[0])
        out[get_global_id(0)] = 1;
}

// RUN: bound -g 64 -b 64 --arg n=uninit:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void bound(global const uint *n, global uint *out)
{
    const size_t i = get_global_id(0);
    const uint last = n[i] & 7; // FINDS: uninit-global
    for (uint k = 0; k < last; k++)
        out[i] = k;
}

// RUN: bound_good -g 64 -b 64 --arg n=iota:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void bound_good(global const uint *n, global uint *out)
{
    const size_t i = get_global_id(0);
    const uint last = n[i] & 7;
    for (uint k = 0; k < last; k++)
        out[i] = k;
}

// RUN: scatter -g 64 -b 64 --arg index=uninit:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void scatter(global const uint *index, global uint *out)
{
    const uint at = index[get_global_id(0)] & 63; // FINDS: uninit-global
    out[at] = 1;
}

// RUN: scatter_good -g 64 -b 64 --arg index=iota:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void scatter_good(global const uint *index, global uint *out)
{
    const uint at = index[get_global_id(0)] & 63;
    out[at] = 1;
}

// ---- structs ----

struct padded {
    char small;
    long large;
};

struct pair {
    uint first, second;
};

// The three bytes, or seven, behind `small` are copied as well.
// RUN: padding_good -g 64 -b 64 --arg between=uninit:u64:128 --arg out=uninit:u64:128 --only uninit
kernel void padding_good(global struct padded *between, global struct padded *out)
{
    const size_t i = get_global_id(0);
    between[i].small = i;
    between[i].large = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = between[i];
}

// RUN: member -g 64 -b 64 --arg between=uninit:u32:128 --arg out=uninit:u32:64 --only uninit
kernel void member(global struct pair *between, global uint *out)
{
    const size_t i = get_global_id(0);
    between[i].first = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = between[i].second; // FINDS: uninit-global
}

// RUN: member_good -g 64 -b 64 --arg between=uninit:u32:128 --arg out=uninit:u32:64 --only uninit
kernel void member_good(global struct pair *between, global uint *out)
{
    const size_t i = get_global_id(0);
    between[i].first = i;
    between[i].second = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = between[i].second;
}

// As C's bit fields: bits 3 to 9 are set, and those around them stay as they were.
// RUN: fields_good -g 64 -b 64 --arg between=uninit:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void fields_good(global volatile uint *between, global uint *out)
{
    const size_t i = get_global_id(0);
    between[i] = (between[i] & ~(127u << 3)) | i << 3;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = between[i] >> 3 & 127;
}

// RUN: fields -g 64 -b 64 --arg between=uninit:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void fields(global volatile uint *between, global uint *out)
{
    const size_t i = get_global_id(0);
    between[i] = (between[i] & ~(127u << 3)) | i << 3; // FINDS: uninit-global
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = between[i] >> 10;
}

// OpenCL's vectors of three have four components, of which the last is nobody's.
// RUN: three_good -g 64 -b 64 --arg between=uninit:f32:256 --arg out=uninit:f32:256 --only uninit
kernel void three_good(global float3 *between, global float3 *out)
{
    const size_t i = get_global_id(0);
    vstore3((float3)(i, 1, 2), 0, (global float *)&between[i]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = between[i] * 2.0f;
}

// RUN: three -g 64 -b 64 --arg between=uninit:f32:256 --arg out=uninit:f32:64 --only uninit
kernel void three(global float4 *between, global float *out)
{
    const size_t i = get_global_id(0);
    vstore3((float3)(i, 1, 2), 0, (global float *)&between[i]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = between[i].w; // FINDS: uninit-global
}

// ---- LDS ----

// RUN: tile -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void tile(global uint *out)
{
    local uint tile[64];
    const size_t i = get_local_id(0);
    if (i < 60)
        tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[63 - i]; // FINDS: uninit-lds
}

// RUN: tile_good -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void tile_good(global uint *out)
{
    local uint tile[64];
    const size_t i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[63 - i];
}

// Every workgroup has its own LDS: what the first one wrote is not there for the second.
// RUN: first_group_only -g 128 -b 64 --arg out=uninit:u32:128 --only uninit
kernel void first_group_only(global uint *out)
{
    local uint tile[64];
    const size_t i = get_local_id(0);
    if (get_group_id(0) == 0)
        tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - i]; // FINDS: uninit-lds
}

// RUN: histogram -g 64 -b 64 --arg in=iota:u32:64 --arg out=uninit:u32:16 --only uninit
kernel void histogram(global const uint *in, global uint *out)
{
    local uint bins[16];
    const size_t i = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[in[i] & 15]); // FINDS: uninit-lds
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 16)
        out[i] = bins[i];
}

// RUN: histogram_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=uninit:u32:16 --only uninit
kernel void histogram_good(global const uint *in, global uint *out)
{
    local uint bins[16];
    const size_t i = get_local_id(0);
    if (i < 16)
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[in[i] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 16)
        out[i] = bins[i];
}

// The halo of the tile is missing.
// RUN: stencil -g 64 -b 64 --arg in=iota:f32:64 --arg out=uninit:f32:64 --only uninit
kernel void stencil(global const float *in, global float *out)
{
    local float tile[66];
    const size_t i = get_local_id(0);
    tile[i + 1] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[i] + tile[i + 2]; // FINDS: uninit-lds
}

// RUN: stencil_good -g 64 -b 64 --arg in=iota:f32:64 --arg out=uninit:f32:64 --only uninit
kernel void stencil_good(global const float *in, global float *out)
{
    local float tile[66];
    const size_t i = get_local_id(0);
    tile[i + 1] = in[i];
    if (i < 2)
        tile[i * 65] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[i] + tile[i + 2];
}

// The tail of the tile is not set although the sum includes it.
// RUN: sum -g 128 -b 128 --arg in=iota:f32:100 --arg out=uninit:f32:1 --arg n=100 --only uninit
kernel void sum(global const float *in, global float *out, uint n)
{
    local float tile[128];
    const size_t i = get_local_id(0);
    if (i < n)
        tile[i] = in[i];
    for (uint step = 64; step; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < step)
            tile[i] += tile[i + step]; // FINDS: uninit-lds
    }
    if (i == 0)
        out[0] = tile[0];
}

// RUN: sum_good -g 128 -b 128 --arg in=iota:f32:100 --arg out=uninit:f32:1 --arg n=100 --only uninit
kernel void sum_good(global const float *in, global float *out, uint n)
{
    local float tile[128];
    const size_t i = get_local_id(0);
    tile[i] = i < n ? in[i] : 0;
    for (uint step = 64; step; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < step)
            tile[i] += tile[i + step];
    }
    if (i == 0)
        out[0] = tile[0];
}

// Values that are loaded and not used.
// RUN: not_selected_good -g 64 -b 64 --arg out=uninit:u32:64 --only uninit
kernel void not_selected_good(global uint *out)
{
    local uint tile[64];
    const size_t i = get_local_id(0);
    if (i < 32)
        tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint value = tile[i];
    out[i] = i < 32 ? value : 7;
}

// RUN: vote -g 64 -b 64 --arg in=iota:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void vote(global const uint *in, global uint *out)
{
    local uint any;
    if (in[get_local_id(0)] > 100)
        any = in[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (any) // FINDS: uninit-lds
        out[get_local_id(0)] = 1;
}

// RUN: vote_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=uninit:u32:64 --only uninit
kernel void vote_good(global const uint *in, global uint *out)
{
    local uint any;
    if (get_local_id(0) == 0)
        any = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in[get_local_id(0)] > 10)
        any = in[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (any)
        out[get_local_id(0)] = 1;
}

// ---- comparisons that have one result for nearly all values ----

// RUN: equals -g 64 -b 64 --arg count=uninit:u32:1 --arg out=uninit:u32:64 --only uninit
kernel void equals(global const uint *count, global uint *out)
{
    if (*count == 77) // FINDS: uninit-global
        out[get_local_id(0)] = 1;
}

// RUN: equals_good -g 64 -b 64 --arg count=iota:u32:1 --arg out=uninit:u32:64 --only uninit
kernel void equals_good(global const uint *count, global uint *out)
{
    if (*count == 77)
        out[get_local_id(0)] = 1;
}

// RUN: equals_long -g 1 -b 1 --arg count=uninit:u64:1 --arg out=uninit:u32:64 --only uninit
kernel void equals_long(global const ulong *count, global uint *out)
{
    if (count[get_local_id(0)] == 0x123456789abcdef) // FINDS: uninit-global
        out[get_local_id(0)] = 1;
}

// RUN: below -g 64 -b 64 --arg count=uninit:u32:1 --arg out=uninit:u32:64 --only uninit
kernel void below(global const int *count, global uint *out)
{
    if (*count < -2147483000) // FINDS: uninit-global
        out[get_local_id(0)] = 1;
}

// RUN: above -g 64 -b 64 --arg limit=uninit:f32:1 --arg out=uninit:u32:64 --only uninit
kernel void above(global const float *limit, global uint *out)
{
    if (*limit > 1e38f) // FINDS: uninit-global
        out[get_local_id(0)] = 1;
}

// The second byte has no value, but the first one decides.
// RUN: decided_good -g 1 -b 1 --arg pair=uninit:u8:4 --arg out=uninit:u32:64 --only uninit
kernel void decided_good(global uchar *pair, global uint *out)
{
    pair[0] = 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (*(global const volatile ushort *)pair == 0x5502)
        out[get_local_id(0)] = 1;
}

// Each work-item writes one byte of a dword and uses another one.
// RUN: other_byte -g 64 -b 64 --arg between=uninit:u8:256 --arg out=uninit:u32:64 --only uninit
kernel void other_byte(global volatile uchar *between, global uint *out)
{
    const uint i = get_global_id(0);
    between[4 * i] = i;
    out[i] = ((global volatile uint *)between)[i] >> 24; // FINDS: uninit-global
}

// RUN: own_byte_good -g 64 -b 64 --arg between=uninit:u8:256 --arg out=uninit:u32:64 --only uninit
kernel void own_byte_good(global volatile uchar *between, global uint *out)
{
    const uint i = get_global_id(0);
    between[4 * i + 3] = i;
    out[i] = ((global volatile uint *)between)[i] >> 24;
}

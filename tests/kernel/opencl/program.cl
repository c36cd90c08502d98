// SPDX-License-Identifier: MIT
// Program-scope variables, tables with relocations, and the limits of a workgroup.

#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

global uint biases[4] = {5, 50, 500, 5000};
global uint *global pointer = biases + 2;
constant uint first[3] = {2, 3, 5}, second[3] = {7, 11, 13};
constant uint *constant tables[2] = {first, second};
constant char words[4][6] = {"zero", "one", "two", "three"};

typedef uint (*operation)(uint);
static uint twice(uint x) { return x * 2; }
static uint squared(uint x) { return x * x; }
static uint inverted(uint x) { return ~x; }
constant operation operations[3] = {twice, squared, inverted};

kernel void variables(global const uint *a, global uint *out)
{
    const size_t i = get_global_id(0);
    out[4 * i] = biases[a[i] & 3] + *pointer + pointer[1];
    out[4 * i + 1] = tables[a[i] & 1][a[i] % 3];
    out[4 * i + 2] = (uint)words[a[i] >> 4 & 3][a[i] & 3];
    out[4 * i + 3] = operations[i % 3](a[i]);
}

// A buffer of indices: each value read gives the next index.
kernel void chase(global const uint *a, global uint *out)
{
    const size_t i = get_global_id(0);
    uint at = (uint)i;
    for (int j = 0; j < 20; j++)
        at = a[at] % 5000;
    out[i] = at;
}

kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void widest(global const uint *a, global uint *out)
{
    local uint all[1024];
    const size_t l = get_local_id(0), i = get_global_id(0);
    all[l] = a[i];
    for (uint by = 512; by; by /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < by)
            all[l] += all[l + by] * 3;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = all[0] ^ (uint)l;
}

// All of the LDS.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void all_lds(global const uint *a, global uint *out)
{
    local uint all[16384];
    const uint l = get_local_id(0);
    for (uint j = 0; j < 64; j++)
        all[j * 256 + l] = a[(j * 256 + l) % 60000] + j;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0;
    for (uint j = 0; j < 64; j++)
        sum = sum * 31 + all[(l * 64 + j * 257) % 16384];
    out[get_global_id(0)] = sum;
}

kernel __attribute__((reqd_work_group_size(4, 4, 4))) void cube(global const float *a, global float *out)
{
    local float block[4][4][4];
    const size_t x = get_local_id(0), y = get_local_id(1), z = get_local_id(2), at = get_global_linear_id();
    block[z][y][x] = a[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[at] = block[x][z][y] - block[3 - z][x][y];
}

// 64-bit sums and addresses far from the pointer, and loops with lane-dependent trip counts.
kernel void far(global const ulong *a, global ulong *out)
{
    const size_t i = get_global_id(0);
    global const ulong *p = a + 20000;
    ulong sum = 0;
    for (long j = -(long)(a[i] % 97); j < (long)(a[i] % 13); j += 3)
        sum += p[j * 17] * (ulong)(j + 200) + (p[-j] >> (j & 31));
    out[i] = sum;
}

// Many live values: registers spill at the workgroup's register limit.
kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void spills(global const float *a, global float *out)
{
    float x[96];
    const size_t i = get_global_id(0);
#pragma unroll
    for (int j = 0; j < 96; j++)
        x[j] = a[i + j];
#pragma unroll
    for (int k = 1; k < 4; k++)
#pragma unroll
        for (int j = 0; j < 96; j++)
            x[j] = fma(x[(j * 5 + k) % 96], 0.5f, x[j]);
    float sum = 0;
#pragma unroll
    for (int j = 0; j < 96; j++)
        sum += x[j];
    out[i] = sum;
}

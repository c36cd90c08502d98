// SPDX-License-Identifier: MIT
// Memory errors that the hardware lets pass or reports as a page fault at best, and the same kernels without
// them. Each line that must be found says so.

// ---- global memory ----

// RUN: load_behind -g 256 -b 64 --arg in=iota:u32:256 --arg out=zero:u32:256
kernel void load_behind(global const uint *in, global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = in[i + 1]; // FINDS: out-of-bounds
}

// RUN: load_behind_good -g 256 -b 64 --arg in=iota:u32:257 --arg out=zero:u32:256
kernel void load_behind_good(global const uint *in, global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = in[i + 1];
}

// The grid is rounded up to whole workgroups, and the last work-items have no element.
// RUN: store_behind -g 256 -b 64 --arg out=zero:u32:250 --arg n=250
kernel void store_behind(global uint *out, uint n)
{
    const size_t i = get_global_id(0);
    if (i <= n)
        out[i] = n; // FINDS: out-of-bounds
}

// RUN: store_behind_good -g 256 -b 64 --arg out=zero:u32:250 --arg n=250
kernel void store_behind_good(global uint *out, uint n)
{
    const size_t i = get_global_id(0);
    if (i < n)
        out[i] = n;
}

// RUN: load_before -g 128 -b 64 --arg in=iota:u32:128 --arg out=zero:u32:128
kernel void load_before(global const uint *in, global uint *out)
{
    const int i = get_global_id(0);
    out[i] = in[i - 1]; // FINDS: out-of-bounds
}

// RUN: load_before_good -g 128 -b 64 --arg in=iota:u32:128 --arg out=zero:u32:128
kernel void load_before_good(global const uint *in, global uint *out)
{
    const int i = get_global_id(0);
    out[i] = i ? in[i - 1] : 0;
}

// Only one lane, by one byte.
// RUN: store_a_byte -g 64 -b 64 --arg out=zero:u8:13
kernel void store_a_byte(global uchar *out)
{
    const size_t i = get_global_id(0);
    if (i < 14)
        out[i] = i; // FINDS: out-of-bounds
}

// RUN: store_a_byte_good -g 64 -b 64 --arg out=zero:u8:13
kernel void store_a_byte_good(global uchar *out)
{
    const size_t i = get_global_id(0);
    if (i < 13)
        out[i] = i;
}

// Vectors of which the last one lies in part behind the end.
// RUN: load_vectors -g 64 -b 64 --arg in=iota:u32:254 --arg out=zero:u32:64
kernel void load_vectors(global const uint *in, global uint *out)
{
    const size_t i = get_global_id(0);
    const uint4 v = *(global const uint4 *)(in + 4 * i); // FINDS: out-of-bounds
    out[i] = v.x + v.y + v.z + v.w;
}

// RUN: load_vectors_good -g 64 -b 64 --arg in=iota:u32:256 --arg out=zero:u32:64
kernel void load_vectors_good(global const uint *in, global uint *out)
{
    const size_t i = get_global_id(0);
    const uint4 v = *(global const uint4 *)(in + 4 * i);
    out[i] = v.x + v.y + v.z + v.w;
}

// RUN: count_behind -g 256 -b 64 --arg bins=zero:u32:16 --arg values=iota:u32:256
kernel void count_behind(global uint *bins, global const uint *values)
{
    const uint bin = values[get_global_id(0)] % 17;
    atomic_inc(&bins[bin]); // FINDS: out-of-bounds
}

// RUN: count_behind_good -g 256 -b 64 --arg bins=zero:u32:17 --arg values=iota:u32:256
kernel void count_behind_good(global uint *bins, global const uint *values)
{
    const uint bin = values[get_global_id(0)] % 17;
    atomic_inc(&bins[bin]);
}

// A scalar load.
// RUN: load_uniform -g 64 -b 64 --arg in=iota:u32:16 --arg out=zero:u32:64 --arg n=16
kernel void load_uniform(global const uint *restrict in, global uint *restrict out, uint n)
{
    const uint last = in[n]; // FINDS: out-of-bounds
    out[get_global_id(0)] = last;
}

// RUN: load_uniform_good -g 64 -b 64 --arg in=iota:u32:16 --arg out=zero:u32:64 --arg n=16
kernel void load_uniform_good(global const uint *restrict in, global uint *restrict out, uint n)
{
    const uint last = in[n - 1];
    out[get_global_id(0)] = last;
}

// A stride in elements is used as one in rows.
// RUN: wrong_stride -g 32,8 -b 32,8 --arg in=iota:u32:256 --arg out=zero:u32:256 --arg width=32
kernel void wrong_stride(global const uint *in, global uint *out, uint width)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    out[y * width + x] = in[(y * width + x) * width]; // FINDS: out-of-bounds
}

// RUN: wrong_stride_good -g 32,8 -b 32,8 --arg in=iota:u32:256 --arg out=zero:u32:256 --arg width=32
kernel void wrong_stride_good(global const uint *in, global uint *out, uint width)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    out[y * width + x] = in[y * width + x];
}

// Offsets that reach from one array into the next: both are allocated, so nothing faults.
// RUN: reach_the_next -g 64 -b 64 --arg a=zero:u8:1024 --arg b=zero:u8:262144 --arg at=fill:u32:64:163840
kernel void reach_the_next(global uchar *restrict a, global uchar *restrict b, global const uint *at)
{
    const uint i = get_global_id(0);
    a[at[i] + i] = 1; // FINDS: other-allocation
    b[i] = 2;
}

// RUN: reach_the_next_good -g 64 -b 64 --arg a=zero:u8:1024 --arg b=zero:u8:262144 --arg at=fill:u32:64:960
kernel void reach_the_next_good(global uchar *restrict a, global uchar *restrict b, global const uint *at)
{
    const uint i = get_global_id(0);
    a[at[i] + i] = 1;
    b[i] = 2;
}

// RUN: load_null -g 64 -b 64 --arg in=null --arg out=zero:u32:64
kernel void load_null(global const uint *in, global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = in[i]; // FINDS: null-pointer
}

// RUN: load_null_good -g 64 -b 64 --arg in=null --arg out=zero:u32:64
kernel void load_null_good(global const uint *in, global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = in ? in[i] : 0;
}

struct pair {
    uint first, second;
};

// RUN: store_to_member_of_null -g 64 -b 64 --arg p=null
kernel void store_to_member_of_null(global struct pair *p)
{
    if (get_global_id(0) == 5)
        p->second = 1; // FINDS: null-pointer
}

// RUN: store_to_member_of_null_good -g 64 -b 64 --arg p=zero:u32:2
kernel void store_to_member_of_null_good(global struct pair *p)
{
    if (get_global_id(0) == 5)
        p->second = 1;
}

// ---- memory that a kernel must not change ----

// RUN: store_to_const -g 64 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64
kernel void store_to_const(global const uint *in, global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = in[i];
    ((global uint *)in)[i] = 0; // FINDS: const-store
}

// The same memory is also an argument without const.
// RUN: store_to_const_good -g 64 -b 64 --arg in=iota:u32:64 --arg out=same:in
kernel void store_to_const_good(global const uint *in, global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = in[i] + 1;
}

// RUN: store_to_constant -g 64 -b 64 --arg in=iota:u32:64
kernel void store_to_constant(constant uint *in)
{
    ((global uint *)(ulong)in)[get_global_id(0)] = 1; // FINDS: const-store
}

// RUN: store_to_constant_good -g 64 -b 64 --arg in=iota:u32:64
kernel void store_to_constant_good(global uint *in)
{
    in[get_global_id(0)] = 1;
}

// RUN: store_to_arguments -g 32 -b 32 --arg out=zero:u32:64 --arg n=7
kernel void store_to_arguments(global uint *out, uint n)
{
    global uint *arguments = (global uint *)(ulong)__builtin_amdgcn_kernarg_segment_ptr();
    out[get_global_id(0)] = n;
    arguments[2] = n + 1; // FINDS: kernarg-store
}

// RUN: store_to_arguments_good -g 32 -b 32 --arg out=zero:u32:64 --arg n=7
kernel void store_to_arguments_good(global uint *out, uint n)
{
    const uint next = n + 1;
    out[get_global_id(0)] = n;
    out[2] = next;
}

// RUN: store_to_code -g 64 -b 64 --arg out=zero:u32:64
kernel void store_to_code(global uint *out)
{
    ulong here;
    __asm__ volatile("s_getpc_b64 %0" : "=s"(here));
    out[get_global_id(0)] = 1;
    if (get_global_id(0) == 3)
        *(volatile global uint *)((here & ~3ul) - 8) = 0xbf800000; // FINDS: code-store
}

// RUN: store_to_code_good -g 64 -b 64 --arg out=zero:u32:64
kernel void store_to_code_good(global uint *out)
{
    out[get_global_id(0)] = 1;
}

constant uint table[64] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};

// RUN: store_to_table -g 32 -b 32 --arg out=zero:u32:64
kernel void store_to_table(global uint *out)
{
    const size_t i = get_global_id(0);
    ((volatile global uint *)(ulong)table)[i] = i; // FINDS: read-only-store
    out[i] = table[63 - i];
}

// RUN: store_to_table_good -g 32 -b 32 --arg out=zero:u32:64
kernel void store_to_table_good(global uint *out)
{
    const size_t i = get_global_id(0);
    out[i] = table[63 - i];
}

// ---- alignment ----

// RUN: misaligned_atomic -g 64 -b 64 --arg out=zero:u32:65
kernel void misaligned_atomic(global uint *out)
{
    atomic_add((global uint *)((global char *)out + 4 * get_local_id(0) + 2), 1u); // FINDS: misaligned
}

// RUN: misaligned_atomic_good -g 64 -b 64 --arg out=zero:u32:65
kernel void misaligned_atomic_good(global uint *out)
{
    atomic_add((global uint *)((global char *)out + 4 * get_local_id(0) + 4), 1u);
}

// RUN: misaligned_in_lds -g 64 -b 64 --arg out=zero:u32:64 --arg by=1
kernel void misaligned_in_lds(global uint *out, uint by)
{
    local uint sums[128];
    const uint i = get_local_id(0);
    sums[i] = sums[i + 64] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add((local uint *)((local char *)sums + 4 * i + by), i); // FINDS: misaligned
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = sums[i];
}

// RUN: misaligned_in_lds_good -g 64 -b 64 --arg out=zero:u32:64 --arg by=4
kernel void misaligned_in_lds_good(global uint *out, uint by)
{
    local uint sums[128];
    const uint i = get_local_id(0);
    sums[i] = sums[i + 64] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add((local uint *)((local char *)sums + 4 * i + by), i);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = sums[i];
}

// ---- apertures ----

// The address of a variable in LDS, as a number, is used as a global pointer.
// RUN: lds_as_global -g 64 -b 64 --arg out=zero:u32:64
kernel void lds_as_global(global uint *out)
{
    local uint values[64];
    const uint i = get_local_id(0);
    values[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    generic uint *p = &values[63 - i];
    out[i] = *(volatile global uint *)(ulong)p; // FINDS: aperture
}

// RUN: lds_as_global_good -g 64 -b 64 --arg out=zero:u32:64
kernel void lds_as_global_good(global uint *out)
{
    local uint values[64];
    const uint i = get_local_id(0);
    values[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    generic uint *p = &values[63 - i];
    out[i] = *(volatile generic uint *)p;
}

// ---- LDS ----

// RUN: store_behind_lds -g 64 -b 64 --arg out=zero:u32:64
kernel void store_behind_lds(global uint *out)
{
    local uint values[64];
    const uint i = get_local_id(0);
    values[i + 1] = i; // FINDS: lds-out-of-bounds
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = values[max(i, 1u)];
}

// RUN: store_behind_lds_good -g 64 -b 64 --arg out=zero:u32:64
kernel void store_behind_lds_good(global uint *out)
{
    local uint values[65];
    const uint i = get_local_id(0);
    if (i == 0)
        values[0] = 0;
    values[i + 1] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = values[63 - i];
}

// RUN: load_behind_lds -g 64 -b 64 --arg out=zero:u32:64 --arg at=iota:u32:64
kernel void load_behind_lds(global uint *out, global const uint *at)
{
    local uint values[32];
    const uint i = get_local_id(0);
    if (i < 32)
        values[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = values[at[i]]; // FINDS: lds-out-of-bounds
}

// RUN: load_behind_lds_good -g 64 -b 64 --arg out=zero:u32:64 --arg at=iota:u32:64
kernel void load_behind_lds_good(global uint *out, global const uint *at)
{
    local uint values[32];
    const uint i = get_local_id(0);
    if (i < 32)
        values[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = values[at[i] % 32];
}

// RUN: count_behind_lds -g 64 -b 64 --arg out=zero:u32:64 --arg at=iota:u32:64
kernel void count_behind_lds(global uint *out, global const uint *at)
{
    local uint bins[16];
    const uint i = get_local_id(0);
    if (i < 16)
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[at[i] % 17]); // FINDS: lds-out-of-bounds
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = bins[i % 16];
}

// RUN: count_behind_lds_good -g 64 -b 64 --arg out=zero:u32:64 --arg at=iota:u32:64
kernel void count_behind_lds_good(global uint *out, global const uint *at)
{
    local uint bins[16];
    const uint i = get_local_id(0);
    if (i < 16)
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[at[i] % 16]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = bins[i % 16];
}

// Functions that do not know which memory they are given.
void put(generic uint *to, uint at, uint value);
void put_good(generic uint *to, uint at, uint value);

// RUN: store_by_flat -g 64 -b 64 --arg out=zero:u32:64
kernel void store_by_flat(global uint *out)
{
    local uint values[64];
    const uint i = get_local_id(0);
    put(values, i + 8, i);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = i < 8 ? 0 : values[i];
}

__attribute__((noinline)) void put(generic uint *to, uint at, uint value)
{
    to[at] = value; // FINDS: lds-out-of-bounds
}

// RUN: store_by_flat_good -g 64 -b 64 --arg out=zero:u32:64
kernel void store_by_flat_good(global uint *out)
{
    local uint values[64];
    const uint i = get_local_id(0);
    put_good(values, i, i);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = values[63 - i];
}

__attribute__((noinline)) void put_good(generic uint *to, uint at, uint value)
{
    to[at] = value;
}

// ---- private memory ----

// RUN: load_behind_private -g 64 -b 64 --arg out=zero:u32:64 --arg at=iota:u32:64
kernel void load_behind_private(global uint *out, global const uint *at)
{
    uint values[32];
    const uint i = get_global_id(0);
    for (uint k = 0; k < 32; k++)
        values[at[k]] = i + k;
    out[i] = values[at[i] < 32 ? at[i] : at[i] + 32]; // FINDS: private-out-of-bounds
}

// RUN: load_behind_private_good -g 64 -b 64 --arg out=zero:u32:64 --arg at=iota:u32:64
kernel void load_behind_private_good(global uint *out, global const uint *at)
{
    uint values[32];
    const uint i = get_global_id(0);
    for (uint k = 0; k < 32; k++)
        values[at[k]] = i + k;
    out[i] = values[at[i] % 32];
}

// RUN: store_behind_private -g 64 -b 64 --arg out=zero:u32:64 --arg at=iota:u32:64
kernel void store_behind_private(global uint *out, global const uint *at)
{
    uint values[40];
    const uint i = get_global_id(0);
#pragma unroll 1
    for (uint k = 0; k < 64; k++)
        values[at[k]] = i + k; // FINDS: private-out-of-bounds
    out[i] = values[at[i] % 40];
}

// RUN: store_behind_private_good -g 64 -b 64 --arg out=zero:u32:64 --arg at=iota:u32:64
kernel void store_behind_private_good(global uint *out, global const uint *at)
{
    uint values[40];
    const uint i = get_global_id(0);
    for (uint k = 0; k < 40; k++)
        values[at[k]] = i + k;
    out[i] = values[at[i] % 40];
}

// SPDX-License-Identifier: MIT
// HIP kernels of every class, each with a common mistake and without it.
#include "hip.h"

#define L threadIdx.x
#define B blockIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define AGENT __HIP_MEMORY_SCOPE_AGENT
#define GROUP __HIP_MEMORY_SCOPE_WORKGROUP

typedef unsigned uint;
typedef unsigned long long ulong;

static __device__ inline void fence()
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

// ---- memory ----

// A grid-stride loop that goes one element too far.
// RUN: grid_stride -g 128 -b 64 --arg x=iota:f32:1000 --arg y=zero:f32:1000 --arg n=1000
extern "C" __global__ void grid_stride(const float *x, float *y, int n)
{
    for (int i = I; i <= n; i += 128)
        y[i] = 2 * x[i]; // FINDS: out-of-bounds
}

// RUN: grid_stride_good -g 128 -b 64 --arg x=iota:f32:1000 --arg y=zero:f32:1000 --arg n=1000
extern "C" __global__ void grid_stride_good(const float *x, float *y, int n)
{
    for (int i = I; i < n; i += 128)
        y[i] = 2 * x[i];
}

// Rows and columns exchanged: right for squares only.
// RUN: exchanged -g 64 -b 64 --arg in=iota:u32:3072 --arg out=zero:u32:3072 --arg height=48
extern "C" __global__ void exchanged(const uint *in, uint *out, uint height)
{
    for (uint y = 0; y < height; y++)
        out[L * 64 + y] = in[y * 64 + L]; // FINDS: out-of-bounds
}

// RUN: exchanged_good -g 64 -b 64 --arg in=iota:u32:3072 --arg out=zero:u32:3072 --arg height=48
extern "C" __global__ void exchanged_good(const uint *in, uint *out, uint height)
{
    for (uint y = 0; y < height; y++)
        out[L * height + y] = in[y * 64 + L];
}

extern __shared__ uint dynamic[];

// Half of the dynamic LDS that it needs.
// RUN: too_little_lds -g 128 -b 128 --lds 256 --arg out=zero:u32:128
extern "C" __global__ void too_little_lds(uint *out)
{
    dynamic[L] = L; // FINDS: lds-out-of-bounds
    __syncthreads();
    out[L] = L < 64 ? dynamic[63 - L] : 0;
}

// RUN: too_little_lds_good -g 128 -b 128 --lds 512 --arg out=zero:u32:128
extern "C" __global__ void too_little_lds_good(uint *out)
{
    dynamic[L] = L;
    __syncthreads();
    out[L] = L < 64 ? dynamic[63 - L] : 0;
}

// One double too many.
// RUN: doubles -g 64 -b 64 --arg out=zero:f64:63
extern "C" __global__ void doubles(double *out)
{
    out[L] = L; // FINDS: out-of-bounds
}

// RUN: doubles_good -g 64 -b 64 --arg out=zero:f64:64
extern "C" __global__ void doubles_good(double *out)
{
    out[L] = L;
}

// Counters of 8 bytes in a struct that is packed to 12.
// RUN: packed -g 64 -b 64 --arg data=zero:i8:768
extern "C" __global__ void packed(char *data)
{
    __hip_atomic_fetch_add((ulong *)(data + 12 * L), 1ull, __ATOMIC_RELAXED, AGENT); // FINDS: misaligned
}

// RUN: packed_good -g 64 -b 64 --arg data=zero:i8:1024
extern "C" __global__ void packed_good(char *data)
{
    __hip_atomic_fetch_add((ulong *)(data + 16 * L), 1ull, __ATOMIC_RELAXED, AGENT);
}

// An inlined function accesses the neighbour of the last element.
static __device__ float between(const float *table, int at);

// RUN: interpolate -g 64 -b 64 --arg table=iota:f32:64 --arg out=zero:f32:64
extern "C" __global__ void interpolate(const float *table, float *out)
{
    out[L] = between(table, L);
}

static __device__ float between(const float *table, int at)
{
    return 0.5f * (table[at] + table[at + 1]); // FINDS: out-of-bounds
}

// RUN: interpolate_good -g 64 -b 64 --arg table=iota:f32:65 --arg out=zero:f32:64
extern "C" __global__ void interpolate_good(const float *table, float *out)
{
    out[L] = between(table, L);
}

// ---- values that nobody wrote ----

// RUN: vote -g 64 -b 64 --arg in=zero:u32:64 --arg out=zero:u32:64 --only uninit
extern "C" __global__ void vote(const uint *in, uint *out)
{
    __shared__ uint any;
    if (in[L])
        any = 1;
    __syncthreads();
    out[L] = any; // FINDS: uninit-lds
}

// RUN: vote_good -g 64 -b 64 --arg in=zero:u32:64 --arg out=zero:u32:64 --only uninit
extern "C" __global__ void vote_good(const uint *in, uint *out)
{
    __shared__ uint any;
    any = 0;
    __syncthreads();
    if (in[L])
        any = 1;
    __syncthreads();
    out[L] = any;
}

struct particle {
    float position[3], mass;
};

// RUN: no_mass -g 64 -b 64 --arg p=uninit:f32:256 --arg out=zero:f32:64 --only uninit
extern "C" __global__ void no_mass(particle *p, float *out)
{
    for (int k = 0; k < 3; k++)
        p[L].position[k] = k;
    __syncthreads();
    out[L] = p[63 - L].position[2] * p[63 - L].mass; // FINDS: uninit-global
}

// RUN: no_mass_good -g 64 -b 64 --arg p=uninit:f32:256 --arg out=zero:f32:64 --only uninit
extern "C" __global__ void no_mass_good(particle *p, float *out)
{
    for (int k = 0; k < 3; k++)
        p[L].position[k] = k;
    p[L].mass = 1;
    __syncthreads();
    out[L] = p[63 - L].position[2] * p[63 - L].mass;
}

// A private table whose last element has no value.
// RUN: table -g 64 -b 64 --arg at=iota:u32:64 --arg out=zero:u32:64 --arg n=31 --only uninit
extern "C" __global__ void table(const uint *at, uint *out, uint n)
{
    uint values[32];
    for (uint k = 0; k < n; k++)
        values[at[k]] = k * k;
    out[L] = values[at[L] & 31]; // FINDS: uninit-scratch
}

// RUN: table_good -g 64 -b 64 --arg at=iota:u32:64 --arg out=zero:u32:64 --arg n=32 --only uninit
extern "C" __global__ void table_good(const uint *at, uint *out, uint n)
{
    uint values[32];
    for (uint k = 0; k < n; k++)
        values[at[k]] = k * k;
    out[L] = values[at[L] & 31];
}

// The loop bound itself.
// RUN: rows -g 64 -b 64 --arg first=uninit:u32:65 --arg out=zero:u32:64 --only uninit
extern "C" __global__ void rows(const uint *first, uint *out)
{
    uint sum = 0;
    for (uint i = first[L]; i < first[L + 1]; i++) // FINDS: uninit-global
        sum += i;
    out[L] = sum;
}

// RUN: rows_good -g 64 -b 64 --arg first=iota:u32:65 --arg out=zero:u32:64 --only uninit
extern "C" __global__ void rows_good(const uint *first, uint *out)
{
    uint sum = 0;
    for (uint i = first[L]; i < first[L + 1]; i++)
        sum += i;
    out[L] = sum;
}

// ---- races ----

// RUN: tree -g 256 -b 256 --arg in=iota:u32:256 --arg out=zero:u32:1 --only race
extern "C" __global__ void tree(const uint *in, uint *out)
{
    __shared__ uint sums[256];
    sums[L] = in[L];
    __syncthreads();
#pragma unroll 1
    for (uint step = 128; step; step /= 2)
        if (L < step)
            sums[L] += sums[L + step]; // FINDS: race-lds
    if (L == 0)
        out[0] = sums[0];
}

// RUN: tree_good -g 256 -b 256 --arg in=iota:u32:256 --arg out=zero:u32:1 --only race
extern "C" __global__ void tree_good(const uint *in, uint *out)
{
    __shared__ uint sums[256];
    sums[L] = in[L];
#pragma unroll 1
    for (uint step = 128; step; step /= 2) {
        __syncthreads();
        if (L < step)
            sums[L] += sums[L + step];
    }
    if (L == 0)
        out[0] = sums[0];
}

// Waves of 64 lanes need no barrier here, waves of 32 do.
// RUN: one_wave -g 64 -b 64 --arg out=zero:u32:64 --only race
extern "C" __global__ void one_wave(uint *out)
{
    __shared__ volatile uint tile[64];
    tile[L] = L; // FINDS gfx1*: race-lds
    __builtin_amdgcn_wave_barrier();
    out[L] = tile[63 - L]; // FINDS gfx1*: race-lds
}

// RUN: one_wave_good -g 64 -b 64 --arg out=zero:u32:64 --only race
extern "C" __global__ void one_wave_good(uint *out)
{
    __shared__ volatile uint tile[64];
    tile[L] = L;
    __syncthreads();
    out[L] = tile[63 - L];
}

// Inclusive sums in place: a barrier between reading and writing is missing.
// RUN: scan -g 256 -b 256 --arg data=iota:u32:256 --only race
extern "C" __global__ void scan(uint *data)
{
    __shared__ uint sums[256];
    sums[L] = data[L];
#pragma unroll 1
    for (uint step = 1; step < 256; step *= 2) {
        __syncthreads();
        if (L >= step)
            sums[L] += sums[L - step]; // FINDS: race-lds
    }
    __syncthreads();
    data[L] = sums[L];
}

// RUN: scan_good -g 256 -b 256 --arg data=iota:u32:256 --only race
extern "C" __global__ void scan_good(uint *data)
{
    __shared__ uint sums[256];
    sums[L] = data[L];
#pragma unroll 1
    for (uint step = 1; step < 256; step *= 2) {
        __syncthreads();
        const uint before = L >= step ? sums[L - step] : 0;
        __syncthreads();
        sums[L] += before;
    }
    data[L] = sums[L];
}

// RUN: bins -g 256 -b 256 --arg in=iota:u32:256 --arg out=zero:u32:64 --only race
extern "C" __global__ void bins(const uint *in, uint *out)
{
    __shared__ uint count[64];
    if (L < 64)
        count[L] = 0;
    __syncthreads();
    count[in[L] * 7 % 64]++; // FINDS: race-lds
    __syncthreads();
    if (L < 64)
        out[L] = count[L];
}

// RUN: bins_good -g 256 -b 256 --arg in=iota:u32:256 --arg out=zero:u32:64 --only race
extern "C" __global__ void bins_good(const uint *in, uint *out)
{
    __shared__ uint count[64];
    if (L < 64)
        count[L] = 0;
    __syncthreads();
    __hip_atomic_fetch_add(&count[in[L] * 7 % 64], 1u, __ATOMIC_RELAXED, GROUP);
    __syncthreads();
    if (L < 64)
        out[L] = count[L];
}

// A stencil in place reads what the neighbouring workgroup has overwritten.
// RUN: in_place -g 256 -b 64 --arg data=iota:f32:320 --only race
extern "C" __global__ void in_place(float *data)
{
    data[I] = 0.5f * (data[I] + data[I + 64]); // FINDS: race-global
}

// RUN: in_place_good -g 256 -b 64 --arg data=iota:f32:320 --arg out=zero:f32:256 --only race
extern "C" __global__ void in_place_good(const float *data, float *out)
{
    out[I] = 0.5f * (data[I] + data[I + 64]);
}

// CUDA's threadFenceReduction without its fence.
// RUN: last_block -g 256 -b 64 --arg part=zero:u32:4 --arg count=zero:u32:1 --arg out=zero:u32:1 --only race
extern "C" __global__ void last_block(uint *part, uint *count, uint *out)
{
    if (L)
        return;
    part[B] = B + 1;
    const uint before = __hip_atomic_fetch_add(count, 1u, __ATOMIC_RELAXED, AGENT);
    if (before == 3) {
        fence();
        uint sum = 0;
        for (uint i = 0; i < 4; i++)
            sum += part[i]; // FINDS: race-release
        out[0] = sum;
    }
}

// RUN: last_block_good -g 256 -b 64 --arg part=zero:u32:4 --arg count=zero:u32:1 --arg out=zero:u32:1 --only race
extern "C" __global__ void last_block_good(uint *part, uint *count, uint *out)
{
    if (L)
        return;
    part[B] = B + 1;
    fence();
    const uint before = __hip_atomic_fetch_add(count, 1u, __ATOMIC_RELAXED, AGENT);
    if (before == 3) {
        fence();
        uint sum = 0;
        for (uint i = 0; i < 4; i++)
            sum += part[i];
        out[0] = sum;
    }
}

// ---- barriers ----

// The barrier is in a loop that half of the waves leave early and then come to another.
// RUN: uneven -g 128 -b 128 --arg out=zero:u32:128 --only sync
extern "C" __global__ void uneven(uint *out)
{
    __shared__ volatile uint tile[128];
    for (uint i = 0; i < (L < 64 ? 2 : 3); i++) {
        tile[L] = i;
        __syncthreads(); // FINDS gfx9* gfx10* gfx11*: different-barriers
    }
    out[L] = tile[127 - L];
    __syncthreads(); // FINDS: different-barriers
    tile[L] = 0;
    __syncthreads();
    out[L] += tile[L ^ 64];
}

// RUN: uneven_good -g 128 -b 128 --arg out=zero:u32:128 --only sync
extern "C" __global__ void uneven_good(uint *out)
{
    __shared__ volatile uint tile[128];
    for (uint i = 0; i < 3; i++) {
        if (L >= 64 || i < 2)
            tile[L] = i;
        __syncthreads();
    }
    out[L] = tile[127 - L];
    __syncthreads();
    tile[L] = 0;
    __syncthreads();
    out[L] += tile[L ^ 64];
}

// One half of the waves is a barrier ahead of the other, so that they load and compute in turn: all execute the barriers of the
// loop.
// RUN: ping_pong -g 256 -b 256 --arg in=iota:u32:256 --arg out=zero:u32:256 --only sync
extern "C" __global__ void ping_pong(const uint *in, uint *out)
{
    uint sum = 0;
    if (L >= 128)
        __builtin_amdgcn_s_barrier(); // FINDS: shifted-barriers
#pragma unroll 1
    for (uint i = 0; i < 4; i++) {
        sum += ((const volatile uint *)in)[L];
        __builtin_amdgcn_s_barrier();
        sum *= 3;
        __builtin_amdgcn_s_barrier();
    }
    if (L < 128)
        __builtin_amdgcn_s_barrier();
    out[L] = sum;
}

// The barrier behind the loop is missing.
// RUN: ping_pong_short -g 256 -b 256 --arg in=iota:u32:256 --arg out=zero:u32:256 --only sync
// TARGETS: gfx9* gfx10* gfx11*
extern "C" __global__ void ping_pong_short(const uint *in, uint *out)
{
    uint sum = 0;
    if (L >= 128)
        __builtin_amdgcn_s_barrier(); // FINDS: different-barriers
#pragma unroll 1
    for (uint i = 0; i < 4; i++) {
        sum += ((const volatile uint *)in)[L];
        __builtin_amdgcn_s_barrier(); // FINDS: different-barriers
        sum *= 3;
        __builtin_amdgcn_s_barrier(); // FINDS: different-barriers
    }
    out[L] = sum;
}

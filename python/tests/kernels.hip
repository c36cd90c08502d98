// SPDX-License-Identifier: MIT
// HIP kernels of python/tests/test_hip.py, without HIP's headers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

typedef _Float16 half;

struct Index {
    unsigned x, y, z;
};

static __device__ Index thread() { return {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()}; }
static __device__ Index block() { return {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()}; }
static __device__ Index size() { return {__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z()}; }
static __device__ unsigned item() { return block().x * size().x + thread().x; }

extern "C" __global__ void saxpy(float a, const float *x, float *y, unsigned n)
{
    if (item() < n)
        y[item()] = a * x[item()] + y[item()];
}

// Sums of each block, through static and dynamic shared memory.
extern __shared__ int dynamic[];
extern "C" __global__ void sums(const int *in, int *out)
{
    __shared__ int part[256];
    const unsigned t = thread().x;
    part[t] = in[item()];
    dynamic[t] = -in[item()];
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
    __builtin_amdgcn_s_barrier();
    for (unsigned step = size().x / 2; step; step /= 2) {
        if (t < step) {
            part[t] += part[t + step];
            dynamic[t] += dynamic[t + step];
        }
        __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
        __builtin_amdgcn_s_barrier();
    }
    if (t == 0)
        out[block().x] = part[0] - 2 * dynamic[0];
}

extern "C" __global__ void histogram(const unsigned *in, unsigned *bins, float *total)
{
    __atomic_fetch_add(&bins[in[item()] % 16], 1u, __ATOMIC_RELAXED);
    __atomic_fetch_add(total, 0.5f, __ATOMIC_RELAXED);
}

// Halves: packed and single, with conversions.
extern "C" __global__ void halves(const half *a, const half *b, half *out, float *wide, short *integers)
{
    const unsigned i = item();
    const half x = a[i], y = b[i];
    half z = x * y + (half)1;
    if (x < y)
        z = -z;
    out[i] = z > (half)2 ? z / y : z - x;
    wide[i] = (float)x * (float)y;
    integers[i] = (short)((short)x << 3) ^ (short)y;
}

struct Pair {
    int first;
    double second;
    short third[3];
};

template <typename T> static __device__ T square(T x) { return x * x; }

extern "C" __global__ void by_value(Pair pair, double *out, long scale)
{
    const unsigned i = item();
    out[i] = square(pair.second) * i + pair.first + pair.third[i % 3] * (double)scale;
}

// Where each work-item of a three-dimensional grid is.
extern "C" __global__ void __launch_bounds__(64) places(unsigned *out, unsigned width, unsigned height)
{
    const unsigned x = block().x * size().x + thread().x, y = block().y * size().y + thread().y,
                   z = block().z * size().z + thread().z;
    out[(z * height + y) * width + x] = x | y << 8 | z << 16 | thread().x << 24;
}

// Private memory that is indexed, a loop, a switch.
extern "C" __global__ void collatz(const unsigned *in, unsigned *out)
{
    unsigned n = in[item()] % 1000 + 1, counts[4] = {0, 0, 0, 0};
    while (n != 1) {
        counts[n % 4]++;
        n = n % 2 ? 3 * n + 1 : n / 2;
    }
    unsigned code = 0;
    for (unsigned k = 0; k < 4; k++)
        switch (k) {
        case 0: code += counts[0]; break;
        case 1: code += counts[1] * 3; break;
        case 2: code ^= counts[2] << 8; break;
        default: code += counts[3] * 7; break;
        }
    out[item()] = code;
}

// Lanes: what the neighbour has, and how many lanes before this one have an odd value.
extern "C" __global__ void lanes(const int *in, int *out)
{
    const int mine = in[item()];
    const unsigned lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    const int neighbour = __builtin_amdgcn_ds_bpermute((lane ^ 1) * 4, mine);
    const unsigned long odd = __builtin_amdgcn_ballot_w64(mine & 1);
    out[item()] = neighbour * 64 + __builtin_popcountl(odd & ((1ul << lane) - 1));
}

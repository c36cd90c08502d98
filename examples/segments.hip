// SPDX-License-Identifier: MIT
// Reduces segments of an array, a workgroup each: lanes exchange within waves, waves through dynamic shared memory.
// The operation is a template argument.
#include "hip.h"

struct add {
    template <class T> __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
    template <class T> static constexpr T identity = 0;
};

struct maximum {
    template <class T> __device__ T operator()(T a, T b) const
    {
        return a > b ? a : b;
    }
    template <class T> static constexpr T identity = T(1) << (8 * sizeof(T) - 1); // of signed integers
};

// result[s] = op over in[start[s]] to in[start[s + 1] - 1], for segment s = blockIdx.x.
// Needs sizeof(T) bytes of dynamic shared memory for each wave of the workgroup.
template <class T, class Op> __global__ void reduce_segments(T *result, const T *in, const unsigned *start)
{
    extern __shared__ __attribute__((aligned(16))) char memory[];
    T *of_wave = reinterpret_cast<T *>(memory);
    const Op op;
    const unsigned lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    T value = Op::template identity<T>;
    for (unsigned i = start[blockIdx.x] + threadIdx.x; i < start[blockIdx.x + 1]; i += blockDim.x)
        value = op(value, in[i]);
    for (unsigned distance = 32; distance; distance /= 2)
        value = op(value, __shfl(value, lane ^ distance));
    if (lane == 0)
        of_wave[wave] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < (blockDim.x + 63) / 64; w++)
            value = op(value, of_wave[w]);
        result[blockIdx.x] = value;
    }
}

template __global__ void reduce_segments<long, add>(long *, const long *, const unsigned *);
template __global__ void reduce_segments<int, maximum>(int *, const int *, const unsigned *);

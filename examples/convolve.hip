// SPDX-License-Identifier: MIT
// A one-dimensional convolution: a tile with its halo in dynamic shared memory, the weights in a struct by value.
#include "hip.h"

namespace filter {

template <class T, int radius> struct weights {
    T at[2 * radius + 1];
};

// out[i] = sum of in[i + k] * weights.at[k + radius]; what is outside counts as zero.
// Needs (blockDim.x + 2 * radius) * sizeof(T) bytes of dynamic shared memory.
template <class T, int radius>
__global__ void convolve(T *out, const T *in, unsigned n, weights<T, radius> weights)
{
    extern __shared__ __attribute__((aligned(16))) char memory[];
    T *tile = reinterpret_cast<T *>(memory);
    const int first = static_cast<int>(blockIdx.x * blockDim.x) - radius;
    for (unsigned i = threadIdx.x; i < blockDim.x + 2 * radius; i += blockDim.x) {
        const int place = first + static_cast<int>(i);
        tile[i] = place >= 0 && place < static_cast<int>(n) ? in[place] : T(0);
    }
    __syncthreads();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    T sum = 0;
    for (int k = 0; k <= 2 * radius; k++)
        sum += tile[threadIdx.x + k] * weights.at[k];
    if (i < n)
        out[i] = sum;
}

template __global__ void convolve(float *, const float *, unsigned, weights<float, 3>);
template __global__ void convolve(double *, const double *, unsigned, weights<double, 8>);

} // namespace filter

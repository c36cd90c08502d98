// SPDX-License-Identifier: MIT
// A sum in one launch: the last workgroup, found with a counter behind __threadfence(), adds what the others stored.
#include "array.h"

__device__ unsigned finished;

__global__ void sum(const int *in, int n, long long *partial, long long *out)
{
    __shared__ long long words[256];
    __shared__ bool last;
    long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += in[i];
    words[threadIdx.x] = mine;
    __syncthreads();
    for (int k = 128; k; k /= 2) {
        if (threadIdx.x < k)
            words[threadIdx.x] += words[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x) {
        partial[blockIdx.x] = words[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && !threadIdx.x) {
        long long all = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            all += __hip_atomic_load(&partial[b], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        *out = all;
    }
}

int main()
{
    const int n = 100000, blocks = 40;
    std::vector<int> in(n);
    long long expected = 0;
    for (int i = 0; i < n; i++)
        expected += in[i] = i * 7919 % 100003 - 50000;
    const device_array<int> given(in);
    const device_array<long long> partial(blocks), out(1);
    for (int round = 0; round < 3; round++) { // the counter wraps
        sum<<<blocks, 256>>>(given, n, partial, out);
        CHECK(out.get()[0] == expected);
    }
    return 0;
}

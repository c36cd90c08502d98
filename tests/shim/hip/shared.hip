// SPDX-License-Identifier: MIT
// Static and dynamic LDS, barriers, atomics.
#include "check.h"
#include <vector>

__global__ void reduce(const int *p, int n, int *out)
{
    __shared__ int sums[256];
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    sums[threadIdx.x] = i < n ? p[i] : 0;
    __syncthreads();
    for (unsigned k = 128; k; k /= 2) {
        if (threadIdx.x < k)
            sums[threadIdx.x] += sums[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x)
        atomicAdd(out, sums[0]);
}

__global__ void reverse(int *p)
{
    extern __shared__ int copy[];
    copy[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}

int main()
{
    const int n = 100000;
    std::vector<int> values(n);
    int *p, *out, sum = 0, result = -1, back[128];
    for (int i = 0; i < n; i++)
        sum += values[i] = i % 97;
    HIP(hipMalloc(&p, n * sizeof(int)));
    HIP(hipMalloc(&out, sizeof(int)));
    HIP(hipMemcpy(p, values.data(), n * sizeof(int), hipMemcpyHostToDevice));
    HIP(hipMemset(out, 0, sizeof(int)));
    reduce<<<(n + 255) / 256, 256>>>(p, n, out);
    HIP(hipMemcpy(&result, out, sizeof(int), hipMemcpyDeviceToHost));
    CHECK(result == sum);
    reverse<<<1, 128, 128 * sizeof(int)>>>(p);
    HIP(hipMemcpy(back, p, sizeof back, hipMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++)
        CHECK(back[i] == values[127 - i]);
    return 0;
}

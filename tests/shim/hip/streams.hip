// SPDX-License-Identifier: MIT
// Streams that wait for events of others, a callback, times of events.
#include "check.h"
#include <atomic>

__global__ void fill(int *p, int n, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = value;
}

__global__ void add(int *p, const int *q, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += q[i];
}

static std::atomic<int> called;

static void callback(hipStream_t, hipError_t status, void *user)
{
    CHECK(status == hipSuccess);
    called += *static_cast<int *>(user);
}

int main()
{
    const int n = 10000, blocks = (n + 255) / 256;
    int *a, *b, *host, five = 5;
    hipStream_t one, other;
    hipEvent_t begin, filled, end;
    float milliseconds = -1;
    HIP(hipStreamCreate(&one));
    HIP(hipStreamCreate(&other));
    HIP(hipEventCreate(&begin));
    HIP(hipEventCreate(&filled));
    HIP(hipEventCreate(&end));
    HIP(hipMalloc(&a, n * sizeof(int)));
    HIP(hipMalloc(&b, n * sizeof(int)));
    HIP(hipHostMalloc(&host, n * sizeof(int)));
    HIP(hipEventRecord(begin, one));
    fill<<<blocks, 256, 0, one>>>(a, n, 3);
    fill<<<blocks, 256, 0, other>>>(b, n, 4);
    HIP(hipEventRecord(filled, other));
    HIP(hipStreamWaitEvent(one, filled, 0));
    add<<<blocks, 256, 0, one>>>(a, b, n);
    HIP(hipEventRecord(end, one));
    HIP(hipStreamAddCallback(one, callback, &five, 0));
    HIP(hipMemcpyAsync(host, a, n * sizeof(int), hipMemcpyDeviceToHost, one));
    HIP(hipStreamSynchronize(one));
    for (int i = 0; i < n; i++)
        CHECK(host[i] == 7);
    CHECK(called == 5);
    CHECK(hipStreamQuery(other) == hipSuccess);
    HIP(hipEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds > 0 && milliseconds < 60000);
    HIP(hipHostFree(host));
    HIP(hipStreamDestroy(one));
    HIP(hipStreamDestroy(other));
    return 0;
}

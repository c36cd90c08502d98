// SPDX-License-Identifier: MIT
// Several GPUs: memory, variables and streams of each, copies between them, and kernels that read the other's memory.
#include "../check.h"
#include <vector>

__device__ int variable;

__global__ void fill(int *p, int value)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = value + blockIdx.x * blockDim.x + threadIdx.x;
    if (!blockIdx.x && !threadIdx.x)
        variable = value;
}

__global__ void sum(const int *p, const int *q, int *r)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    r[i] = p[i] + q[i] + variable;
}

int main()
{
    const int n = 1024;
    const size_t bytes = n * sizeof(int);
    int count = 0, can = 0, current = -1, own = 0;
    int *memory[2];
    hipStream_t streams[2];
    HIP(hipGetDeviceCount(&count));
    CHECK(count == 2);
    for (int gpu = 0; gpu < 2; gpu++) {
        hipDeviceProp_t properties;
        HIP(hipSetDevice(gpu));
        HIP(hipGetDevice(&current));
        CHECK(current == gpu);
        HIP(hipGetDeviceProperties(&properties, gpu));
        CHECK(properties.pciBusID == 3 + gpu);
        HIP(hipDeviceCanAccessPeer(&can, gpu, 1 - gpu));
        CHECK(can == 1);
        HIP(hipDeviceEnablePeerAccess(1 - gpu, 0));
        HIP(hipMalloc(&memory[gpu], 2 * bytes));
        HIP(hipStreamCreate(&streams[gpu]));
        fill<<<n / 256, 256, 0, streams[gpu]>>>(memory[gpu], 1000 * (gpu + 1));
    }
    for (int gpu = 0; gpu < 2; gpu++) {
        hipPointerAttribute_t attributes;
        HIP(hipSetDevice(gpu));
        HIP(hipStreamSynchronize(streams[gpu]));
        HIP(hipPointerGetAttributes(&attributes, memory[gpu]));
        CHECK(attributes.device == gpu);
        HIP(hipMemcpyFromSymbol(&own, HIP_SYMBOL(variable), sizeof own));
        CHECK(own == 1000 * (gpu + 1));
    }
    std::vector<int> values(n);
    sum<<<n / 256, 256, 0, streams[1]>>>(memory[0], memory[1], memory[1] + n); // on GPU 1
    HIP(hipStreamSynchronize(streams[1]));
    HIP(hipMemcpyPeer(memory[0] + n, 0, memory[1] + n, 1, bytes));
    HIP(hipMemcpy(values.data(), memory[0] + n, bytes, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK(values[i] == 1000 + 2000 + 2 * i + 2000);
    HIP(hipMemcpyPeerAsync(memory[1], 1, memory[0], 0, bytes, streams[1]));
    HIP(hipMemcpyAsync(values.data(), memory[1], bytes, hipMemcpyDeviceToHost, streams[1]));
    HIP(hipStreamSynchronize(streams[1]));
    for (int i = 0; i < n; i++)
        CHECK(values[i] == 1000 + i);
    for (int gpu = 0; gpu < 2; gpu++) {
        HIP(hipSetDevice(gpu));
        HIP(hipStreamDestroy(streams[gpu]));
        HIP(hipFree(memory[gpu]));
    }
    return 0;
}

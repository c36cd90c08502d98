// SPDX-License-Identifier: MIT
// Function pointers, and malloc() and free() on the device, which ask the host for memory.
#include "check.h"

__device__ int increment(int x)
{
    return x + 1;
}

__device__ int triple(int x)
{
    return x * 3;
}

__global__ void call(int *p)
{
    int (*function)(int) = p[threadIdx.x] & 1 ? increment : triple;
    p[threadIdx.x] = function(p[threadIdx.x]);
}

__global__ void allocate(int **out)
{
    int *p = static_cast<int *>(malloc(16 * sizeof(int)));
    p[3] = threadIdx.x;
    out[threadIdx.x] = p;
}

__global__ void release(int **in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x][3];
    free(in[threadIdx.x]);
}

int main()
{
    int **pointers, *p, values[64];
    HIP(hipMalloc(&pointers, 64 * sizeof *pointers));
    HIP(hipMalloc(&p, sizeof values));
    allocate<<<1, 64>>>(pointers);
    release<<<1, 64>>>(pointers, p);
    HIP(hipMemcpy(values, p, sizeof values, hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        CHECK(values[i] == i);
    call<<<1, 64>>>(p);
    HIP(hipMemcpy(values, p, sizeof values, hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        CHECK(values[i] == (i & 1 ? i + 1 : 3 * i));
    return 0;
}

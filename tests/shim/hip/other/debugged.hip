// SPDX-License-Identifier: MIT
// Two kernels, one of which is launched twice; for `wavemem exec --debug`.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void fill(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i * 3; // fills
}

__global__ void twice(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2; // doubles
}

int main()
{
    int *p, out[256];
    if (hipMalloc(&p, sizeof out) != hipSuccess)
        return 1;
    fill<<<4, 64>>>(p, 256);
    twice<<<4, 64>>>(p, 256);
    twice<<<4, 64>>>(p, 256);
    if (hipMemcpy(out, p, sizeof out, hipMemcpyDeviceToHost) != hipSuccess)
        return 1;
    printf("out[10] = %d\n", out[10]);
    return 0;
}

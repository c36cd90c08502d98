// SPDX-License-Identifier: MIT
// A kernel that stores past the end of an allocation.
#include <hip/hip_runtime.h>

__global__ void past_the_end(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    int *p;
    if (hipMalloc(&p, 1000 * sizeof(int)) != hipSuccess)
        return 1;
    past_the_end<<<8, 128>>>(p);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}

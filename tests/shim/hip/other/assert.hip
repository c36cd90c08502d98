// SPDX-License-Identifier: MIT
// A failing assert().
#include <cassert>
#include <hip/hip_runtime.h>

__global__ void few(int n)
{
    assert(threadIdx.x < n);
}

int main()
{
    few<<<1, 64>>>(63);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}

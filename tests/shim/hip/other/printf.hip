// SPDX-License-Identifier: MIT
// printf() on the device; ends with exit code 5.
#include <cstdio>
#include <hip/hip_runtime.h>

__global__ void say(int n)
{
    printf("lane %d of %d, %s %.2f\n", static_cast<int>(threadIdx.x), n, "text", 0.5 * threadIdx.x);
}

int main()
{
    say<<<1, 3>>>(7);
    return hipDeviceSynchronize() == hipSuccess ? 5 : 1;
}

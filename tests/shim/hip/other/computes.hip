// SPDX-License-Identifier: MIT
// A kernel that never ends, but does not wait either.
#include <hip/hip_runtime.h>

__global__ void compute(volatile unsigned *p)
{
    for (;;)
        *p = *p + 1;
}

int main()
{
    unsigned *p;
    if (hipMalloc(&p, sizeof *p) != hipSuccess)
        return 1;
    compute<<<1, 64>>>(p);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}

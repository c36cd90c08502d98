// SPDX-License-Identifier: MIT
// A kernel that waits for what nobody does.
#include <hip/hip_runtime.h>

__global__ void wait(int *p)
{
    while (!__hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM))
        __builtin_amdgcn_s_sleep(1);
}

int main()
{
    int *p;
    if (hipMalloc(&p, sizeof *p) != hipSuccess || hipMemset(p, 0, sizeof *p) != hipSuccess)
        return 1;
    wait<<<1, 64>>>(p);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}

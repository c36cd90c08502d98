// SPDX-License-Identifier: MIT
// A cooperative launch whose workgroups read what others wrote before grid.sync().
#include "check.h"
#include <hip/hip_cooperative_groups.h>
#include <vector>

__global__ void exchange(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = i;
    cooperative_groups::this_grid().sync();
    p[n + i] = p[n - 1 - i];
}

int main()
{
    int n = 8 * 256, *p;
    std::vector<int> values(2 * n);
    HIP(hipMalloc(&p, 2 * n * sizeof(int)));
    void *arguments[] = {&p, &n};
    HIP(hipLaunchCooperativeKernel(reinterpret_cast<void *>(exchange), dim3(8), dim3(256), arguments, 0, 0));
    HIP(hipMemcpy(values.data(), p, 2 * n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK(values[n + i] == n - 1 - i);
    return 0;
}

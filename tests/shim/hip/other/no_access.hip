// SPDX-License-Identifier: MIT
// A kernel that writes to another GPU's memory: allowed only after hipDeviceEnablePeerAccess, which an argument asks for.
#include "../check.h"

__global__ void put(int *p)
{
    p[threadIdx.x] = threadIdx.x;
}

int main(int argc, char **)
{
    int *memory, values[64];
    HIP(hipSetDevice(1));
    HIP(hipMalloc(&memory, sizeof values));
    HIP(hipSetDevice(0));
    if (argc > 1)
        HIP(hipDeviceEnablePeerAccess(1, 0));
    put<<<1, 64>>>(memory);
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(values, memory, sizeof values, hipMemcpyDeviceToHost));
    CHECK(values[63] == 63);
    return 0;
}

// SPDX-License-Identifier: MIT
// Managed memory and variables: the host and kernels take turns; hints; attributes of pointers.
#include "array.h"

__managed__ int shared_counter = 5;

__global__ void step(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += i;
    if (!i)
        shared_counter *= 2;
}

int main()
{
    const int n = 5000;
    int *p, value = -1;
    hipPointerAttribute_t attributes;
    HIP(hipMallocManaged(&p, n * sizeof *p));
    HIP(hipMemAdvise(p, n * sizeof *p, hipMemAdviseSetPreferredLocation, 0));
    for (int i = 0; i < n; i++)
        p[i] = 7;
    for (int round = 1; round <= 3; round++) {
        step<<<(n + 255) / 256, 256>>>(p, n);
        HIP(hipDeviceSynchronize());
        CHECK(shared_counter == 5 << round);
        for (int i = 0; i < n; i++)
            CHECK(p[i] == 7 + round * i);
    }
    HIP(hipPointerGetAttributes(&attributes, p));
    CHECK(attributes.isManaged);
    HIP(hipMemcpy(&value, p + 9, sizeof value, hipMemcpyDefault));
    CHECK(value == 34);
    HIP(hipFree(p));
    return 0;
}

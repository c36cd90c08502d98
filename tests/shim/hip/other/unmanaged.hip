// SPDX-License-Identifier: MIT
// A kernel writes behind managed memory ("behind"), or to managed memory that was freed ("freed").
#include "../check.h"
#include <cstring>

__global__ void put(int *p)
{
    *p = 1;
}

int main(int, char **arguments)
{
    int *p;
    HIP(hipMallocManaged(&p, 10000 * sizeof *p));
    p[0] = 5;
    put<<<1, 1>>>(p);
    HIP(hipDeviceSynchronize());
    CHECK(p[0] == 1);
    if (!std::strcmp(arguments[1], "freed"))
        HIP(hipFree(p));
    else
        p += 10000;
    put<<<1, 1>>>(p);
    HIP(hipDeviceSynchronize());
    return 0;
}

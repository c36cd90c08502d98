// SPDX-License-Identifier: MIT
// LLVM loads seven floats with one instruction for eight. Nothing follows them in the object, so that the eighth is in
// the rest of the page, which hardware can read.
#include "../array.h"

__constant__ float weights[7];

__global__ void sum(float *out)
{
    float total = 0;
    for (int i = 0; i < 7; i++)
        total += weights[i];
    *out = total;
}

int main()
{
    const device_array<float> out(1);
    const float values[7] = {1, 2, 4, 8, 16, 32, 64};
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(weights), values, sizeof values));
    sum<<<1, 1>>>(out);
    CHECK(out.get()[0] == 127);
    return 0;
}

// SPDX-License-Identifier: MIT
// Constant memory and variables: addresses, sizes, parts of them, copies in streams.
#include "array.h"

struct settings {
    int scale;
    float offsets[7];
};

__constant__ settings chosen = {3, {0.5f, 1.5f}};
__constant__ int numbers[100];
__device__ int results[100];
__device__ unsigned long long counter = 40;

__global__ void use(float *out)
{
    const int i = threadIdx.x;
    out[i] = chosen.scale * chosen.offsets[i % 7];
    results[i] = numbers[i] * 2;
    if (!i)
        counter += 2;
}

int main()
{
    const device_array<float> out(100);
    void *address;
    size_t size;
    int in[100], back[100];
    unsigned long long count = 0;
    settings now = {5, {1, 2, 3, 4, 5, 6, 7}};
    for (int i = 0; i < 100; i++)
        in[i] = i * i;
    HIP(hipGetSymbolSize(&size, HIP_SYMBOL(numbers)));
    CHECK(size == sizeof in);
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(numbers), in, sizeof in));
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(numbers), &in[9], 4, 40 * 4)); // one in the middle
    use<<<1, 100>>>(out);
    const std::vector<float> first = out.get(); // with the initial values
    HIP(hipMemcpyFromSymbol(back, HIP_SYMBOL(results), sizeof back));
    for (int i = 0; i < 100; i++) {
        CHECK(first[i] == (i % 7 == 0 ? 1.5f : i % 7 == 1 ? 4.5f : 0));
        CHECK(back[i] == 2 * (i == 40 ? 81 : i * i));
    }
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    HIP(hipMemcpyToSymbolAsync(HIP_SYMBOL(chosen), &now, sizeof now, 0, hipMemcpyHostToDevice, stream));
    use<<<1, 100, 0, stream>>>(out);
    HIP(hipMemcpyFromSymbolAsync(&count, HIP_SYMBOL(counter), sizeof count, 0, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(count == 44 && out.get()[99] == 5 * (99 % 7 + 1));
    HIP(hipGetSymbolAddress(&address, HIP_SYMBOL(results)));
    HIP(hipMemcpy(back, static_cast<int *>(address) + 3, 8, hipMemcpyDeviceToHost));
    CHECK(back[0] == 18 && back[1] == 32);
    HIP(hipStreamDestroy(stream));
    return 0;
}

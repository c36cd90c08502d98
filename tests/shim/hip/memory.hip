// SPDX-License-Identifier: MIT
// Symbols; pinned, registered, managed and pitched memory; copies of all directions and of many sizes.
#include "check.h"
#include <cstring>
#include <vector>

__device__ int counter;
__constant__ float factors[4];

__global__ void use_symbols(float *out)
{
    out[threadIdx.x] = factors[threadIdx.x];
    if (!threadIdx.x)
        counter += 5;
}

__global__ void twice(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2;
}

static void symbols()
{
    const float in[4] = {1, 2, 3, 4};
    float *p, out[4] = {0};
    int count = 10;
    HIP(hipMalloc(&p, sizeof out));
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(factors), in, sizeof in));
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(counter), &count, sizeof count));
    use_symbols<<<1, 4>>>(p);
    HIP(hipMemcpy(out, p, sizeof out, hipMemcpyDeviceToHost));
    HIP(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
    CHECK(!std::memcmp(in, out, sizeof in));
    CHECK(count == 15);
}

static void double_and_check(int *host, int *device, int n)
{
    for (int i = 0; i <= n; i++)
        host[i] = i;
    twice<<<(n + 63) / 64, 64>>>(device, n);
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(host[i] == 2 * i);
    CHECK(host[n] == n);
}

static void shared_with_host()
{
    const int n = 1000;
    int *host, *device, *managed;
    HIP(hipHostMalloc(&host, (n + 1) * sizeof(int), hipHostMallocMapped));
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0));
    double_and_check(host, device, n);
    HIP(hipHostFree(host));
    std::vector<int> own(n + 1);
    HIP(hipHostRegister(own.data(), n * sizeof(int), 0));
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), own.data(), 0));
    double_and_check(own.data(), device, n);
    HIP(hipHostUnregister(own.data()));
    HIP(hipMallocManaged(&managed, (n + 1) * sizeof(int)));
    double_and_check(managed, managed, n);
    HIP(hipFree(managed));
}

static void pitched()
{
    const size_t width = 100, height = 50;
    std::vector<char> in(width * height), out(width * height);
    char *p;
    size_t pitch = 0;
    for (size_t i = 0; i < in.size(); i++)
        in[i] = static_cast<char>(i * 7);
    HIP(hipMallocPitch(reinterpret_cast<void **>(&p), &pitch, width, height));
    CHECK(pitch >= width);
    HIP(hipMemcpy2D(p, pitch, in.data(), width, width, height, hipMemcpyHostToDevice));
    HIP(hipMemcpy2D(out.data(), width, p, pitch, width, height, hipMemcpyDeviceToHost));
    CHECK(in == out);
}

// Small copies are staged, large ones lock the host's memory.
static void copies()
{
    for (size_t size : {size_t(1), size_t(4095), size_t(100000), size_t(1 << 20), size_t((9 << 20) + 3)}) {
        std::vector<unsigned char> in(size + 64), out(size + 64, 0xee);
        unsigned char *p, *q;
        for (size_t i = 0; i < in.size(); i++)
            in[i] = static_cast<unsigned char>(i * 31 >> 3);
        HIP(hipMalloc(&p, size));
        HIP(hipMalloc(&q, size));
        HIP(hipMemcpy(p, in.data() + 5, size, hipMemcpyHostToDevice));
        HIP(hipMemcpy(q, p, size, hipMemcpyDeviceToDevice));
        HIP(hipMemcpy(out.data() + 9, q, size, hipMemcpyDeviceToHost));
        CHECK(!std::memcmp(in.data() + 5, out.data() + 9, size));
        CHECK(out[8] == 0xee && out[9 + size] == 0xee);
        HIP(hipFree(p));
        HIP(hipFree(q));
    }
}

int main()
{
    symbols();
    shared_with_host();
    pitched();
    copies();
    return 0;
}

// SPDX-License-Identifier: MIT
// Fills of 8, 16 and 32 bits, copies by driver's names, copies that overlap kernels of other streams.
#include "array.h"

__global__ void square(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= p[i];
}

int main()
{
    const int n = 4096, parts = 4, part = n / parts;
    const device_array<unsigned char> bytes(1000);
    hipDeviceptr_t at = static_cast<unsigned char *>(bytes);
    HIP(hipMemsetD8(at, 0x5a, 1000));
    HIP(hipMemsetD16(static_cast<unsigned char *>(bytes) + 100, 0x1234, 50));
    HIP(hipMemsetD32(static_cast<unsigned char *>(bytes) + 400, 0x01020304, 25));
    const std::vector<unsigned char> got = bytes.get();
    for (int i = 0; i < 1000; i++)
        CHECK(got[i] == (i >= 100 && i < 200   ? (i & 1 ? 0x12 : 0x34)
                         : i >= 400 && i < 500 ? 4 - i % 4
                                               : 0x5a));
    std::vector<unsigned char> copy(1000);
    const device_array<unsigned char> other(1000);
    HIP(hipMemcpyDtoD(static_cast<unsigned char *>(other), at, 1000));
    HIP(hipMemcpyDtoH(copy.data(), static_cast<unsigned char *>(other), 1000));
    CHECK(copy == got);

    int *host;
    HIP(hipHostMalloc(&host, n * sizeof *host));
    const device_array<int> p(n);
    hipStream_t streams[parts];
    for (int i = 0; i < n; i++)
        host[i] = i;
    for (int s = 0; s < parts; s++) {
        int *mine = static_cast<int *>(p) + s * part;
        HIP(hipStreamCreate(&streams[s]));
        HIP(hipMemcpyAsync(mine, host + s * part, part * sizeof(int), hipMemcpyHostToDevice, streams[s]));
        square<<<part / 64, 64, 0, streams[s]>>>(mine, part);
        HIP(hipMemcpyAsync(host + s * part, mine, part * sizeof(int), hipMemcpyDeviceToHost, streams[s]));
    }
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(host[i] == i * i);
    for (hipStream_t stream : streams)
        HIP(hipStreamDestroy(stream));
    HIP(hipHostFree(host));
    return 0;
}

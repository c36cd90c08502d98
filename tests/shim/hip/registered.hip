// SPDX-License-Identifier: MIT
// Registered and pinned memory: offsets, flags, what pointers are.
#include "array.h"

__global__ void negate(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = -p[i];
}

static int type_of(const hipPointerAttribute_t &what)
{
#if HIP_VERSION_MAJOR < 6
    return what.memoryType;
#else
    return what.type;
#endif
}

int main()
{
    const int n = 3000;
    std::vector<int> own(n + 100);
    int *device, *pinned;
    unsigned flags = 0;
    hipPointerAttribute_t what;
    for (size_t i = 0; i < own.size(); i++)
        own[i] = int(i) + 1;
    HIP(hipHostRegister(own.data() + 50, n * sizeof(int), hipHostRegisterMapped));
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), own.data() + 50, 0));
    negate<<<(n + 255) / 256, 256>>>(device, n);
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < n + 100; i++)
        CHECK(own[i] == (i >= 50 && i < 50 + n ? -(i + 1) : i + 1));
    HIP(hipHostUnregister(own.data() + 50));
    CHECK(hipHostUnregister(own.data() + 50) != hipSuccess);
    (void)hipGetLastError();

    HIP(hipHostMalloc(&pinned, n * sizeof(int), hipHostMallocMapped | hipHostMallocPortable));
    HIP(hipHostGetFlags(&flags, pinned));
    CHECK((flags & hipHostMallocMapped) && (flags & hipHostMallocPortable));
    HIP(hipPointerGetAttributes(&what, pinned + 5));
    CHECK(type_of(what) == hipMemoryTypeHost);
    HIP(hipPointerGetAttributes(&what, [&] {
        HIP(hipMalloc(&device, 100));
        return device;
    }()));
    CHECK(type_of(what) == hipMemoryTypeDevice && what.device == 0 && what.devicePointer == device);
#if HIP_VERSION_MAJOR < 6
    CHECK(hipPointerGetAttributes(&what, own.data()) == hipErrorInvalidValue);
    (void)hipGetLastError();
#else
    HIP(hipPointerGetAttributes(&what, own.data()));
    CHECK(type_of(what) == hipMemoryTypeUnregistered);
#endif
    hipDeviceptr_t base;
    size_t size;
    HIP(hipMemGetAddressRange(&base, &size, device + 7));
    CHECK(base == device && size == 100);
    HIP(hipFree(device));
    HIP(hipHostFree(pinned));
    return 0;
}

// SPDX-License-Identifier: MIT
// Properties and attributes of the device, which agree, and its memory.
#include "array.h"
#include <cstring>

int main()
{
    hipDeviceProp_t p;
    char name[256];
    int value = 0, count = 0, device = -1;
    size_t free_before, free_after, total, bytes;
    HIP(hipGetDeviceCount(&count));
    HIP(hipGetDevice(&device));
    HIP(hipGetDeviceProperties(&p, device));
    HIP(hipDeviceGetName(name, sizeof name, device));
    CHECK(count >= 1 && device == 0 && !std::strcmp(name, p.name));
    const struct {
        hipDeviceAttribute_t attribute;
        int expected;
    } attributes[] = {
        {hipDeviceAttributeWarpSize, p.warpSize},
        {hipDeviceAttributeMaxThreadsPerBlock, 1024},
        {hipDeviceAttributeMaxBlockDimX, p.maxThreadsDim[0]},
        {hipDeviceAttributeMaxGridDimX, p.maxGridSize[0]},
        {hipDeviceAttributeMultiprocessorCount, p.multiProcessorCount},
        {hipDeviceAttributeMaxSharedMemoryPerBlock, 65536},
        {hipDeviceAttributeClockRate, p.clockRate},
        {hipDeviceAttributeL2CacheSize, p.l2CacheSize},
        {hipDeviceAttributeComputeCapabilityMajor, p.major},
        {hipDeviceAttributeCooperativeLaunch, 1},
        {hipDeviceAttributeIntegrated, 0},
    };
    for (const auto &a : attributes) {
        HIP(hipDeviceGetAttribute(&value, a.attribute, device));
        CHECK(value == a.expected);
    }
    CHECK(!std::strncmp(p.gcnArchName, "gfx", 3));
    CHECK(p.warpSize == (p.major >= 10 ? 32 : 64));
    CHECK(p.l2CacheSize >= 1 << 20 && p.clockRate > 500000); // kHz
    HIP(hipDeviceTotalMem(&bytes, device));
    HIP(hipMemGetInfo(&free_before, &total));
    CHECK(bytes == p.totalGlobalMem && total == bytes && free_before <= total);
    {
        const device_array<char> memory(64 << 20);
        HIP(hipMemGetInfo(&free_after, &total));
        CHECK(free_before - free_after >= 64 << 20);
    }
    CHECK(hipSetDevice(count) == hipErrorInvalidDevice);
    CHECK(hipGetDeviceProperties(&p, -1) == hipErrorInvalidDevice);
    HIP(hipSetDevice(0));
    HIP(hipRuntimeGetVersion(&value));
    CHECK(value > 0);
    (void)hipGetLastError();
    return 0;
}

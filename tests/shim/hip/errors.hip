// SPDX-License-Identifier: MIT
// Errors come back as codes, and the program goes on.
#include "array.h"
#include <cstring>

__global__ void store(int *p)
{
    *p = 7;
}

int main()
{
    const device_array<int> p(1);
    void *memory;
    int host = 0;
    hipModule_t module;
    hipStream_t stream;
    hipEvent_t event;
    float milliseconds;
    (void)hipGetLastError();
    CHECK(hipMalloc(&memory, size_t(1) << 50) == hipErrorOutOfMemory);
    CHECK(hipPeekAtLastError() == hipErrorOutOfMemory);
    CHECK(hipGetLastError() == hipErrorOutOfMemory);
    CHECK(hipGetLastError() == hipSuccess);
    CHECK(hipFree(&host) == hipErrorInvalidValue);
    CHECK(hipFree(nullptr) == hipSuccess);
    CHECK(hipMemcpy(p, nullptr, 4, hipMemcpyHostToDevice) == hipErrorInvalidValue);
    CHECK(hipMemset(nullptr, 0, 4) == hipErrorInvalidValue);
    CHECK(hipModuleLoad(&module, "/no/such/file") == hipErrorFileNotFound);
    CHECK(hipEventCreate(nullptr) == hipErrorInvalidValue);
    CHECK(hipStreamCreate(nullptr) == hipErrorInvalidValue);
    HIP(hipStreamCreate(&stream));
    HIP(hipEventCreate(&event));
    CHECK(hipEventElapsedTime(&milliseconds, event, event) == hipErrorInvalidHandle); // never recorded
    (void)hipGetLastError();
    store<<<1, 1025>>>(p); // too many work-items
    CHECK(hipGetLastError() == (HIP_VERSION_MAJOR == 6 ? hipErrorInvalidValue : hipErrorInvalidConfiguration));
    store<<<1, 1>>>(p);
    HIP(hipGetLastError());
    CHECK(p.get()[0] == 7);
    CHECK(!std::strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory"));
    HIP(hipEventDestroy(event));
    HIP(hipStreamDestroy(stream));
    return 0;
}

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

// Memory that is freed and allocated again, larger and smaller, often at the same address.
static void again()
{
    for (int round = 0; round < 40; round++) {
        const int n = 1 + (round * 7919) % 30000;
        int *p;
        HIP(hipMallocManaged(&p, n * sizeof *p));
        for (int i = 0; i < n; i++)
            p[i] = round;
        step<<<(n + 255) / 256, 256>>>(p, n);
        HIP(hipDeviceSynchronize());
        CHECK(p[0] == round && p[n - 1] == round + n - 1);
        HIP(hipFree(p));
    }
}

static int attribute(hipMemRangeAttribute which, const void *p, size_t size)
{
    int value = -100;
    HIP(hipMemRangeGetAttribute(&value, sizeof value, which, p, size));
    return value;
}

// Hints change what the range says about itself, and nothing else.
static void hints()
{
    enum { PAGES = 64, PAGE = 4096, SIZE = PAGES * PAGE };
    char *p;
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    HIP(hipMallocManaged(&p, SIZE));
    for (int i = 0; i < SIZE; i++)
        p[i] = static_cast<char>(i * 7);
    CHECK(attribute(hipMemRangeAttributeReadMostly, p, SIZE) == 0);
    CHECK(attribute(hipMemRangeAttributePreferredLocation, p, SIZE) == hipInvalidDeviceId);
    CHECK(attribute(hipMemRangeAttributeLastPrefetchLocation, p, SIZE) == hipInvalidDeviceId);
    HIP(hipMemAdvise(p, SIZE, hipMemAdviseSetReadMostly, 0));
    CHECK(attribute(hipMemRangeAttributeReadMostly, p, SIZE) == 1);
    HIP(hipMemAdvise(p + 8 * PAGE, PAGE, hipMemAdviseUnsetReadMostly, 0));
    CHECK(attribute(hipMemRangeAttributeReadMostly, p, SIZE) == 0);
    CHECK(attribute(hipMemRangeAttributeReadMostly, p, 8 * PAGE) == 1);
    CHECK(attribute(hipMemRangeAttributeReadMostly, p + 9 * PAGE, PAGE) == 1);
    HIP(hipMemAdvise(p, SIZE, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
    CHECK(attribute(hipMemRangeAttributePreferredLocation, p, SIZE) == hipCpuDeviceId);
    HIP(hipMemAdvise(p, PAGE, hipMemAdviseSetPreferredLocation, 0));
    CHECK(attribute(hipMemRangeAttributePreferredLocation, p, PAGE) == 0);
    CHECK(attribute(hipMemRangeAttributePreferredLocation, p, SIZE) == hipInvalidDeviceId); // not the same everywhere
    HIP(hipMemAdvise(p, SIZE, hipMemAdviseUnsetPreferredLocation, 0));
    HIP(hipMemAdvise(p, SIZE, hipMemAdviseSetAccessedBy, 0));
    CHECK(attribute(hipMemRangeAttributeAccessedBy, p, SIZE) == 0);
    HIP(hipMemAdvise(p, SIZE, hipMemAdviseUnsetAccessedBy, 0));
    CHECK(attribute(hipMemRangeAttributeAccessedBy, p, SIZE) == hipInvalidDeviceId);
    HIP(hipMemPrefetchAsync(p, SIZE, 0, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(attribute(hipMemRangeAttributeLastPrefetchLocation, p, SIZE) == 0);
    step<<<1, 256, 0, stream>>>(reinterpret_cast<int *>(p), SIZE / 4);
    HIP(hipMemPrefetchAsync(p, SIZE, hipCpuDeviceId, stream));
    HIP(hipStreamSynchronize(stream));
    CHECK(attribute(hipMemRangeAttributeLastPrefetchLocation, p, SIZE) == hipCpuDeviceId);
    for (int i = 4 * 256; i < SIZE; i++)
        CHECK(p[i] == static_cast<char>(i * 7));
    CHECK(hipMemAdvise(&stream, 0, hipMemAdviseSetReadMostly, 0) == hipErrorInvalidValue);
    CHECK(hipMemPrefetchAsync(p, SIZE + 1, 0, stream) == hipErrorInvalidValue);
    HIP(hipFree(p));
    HIP(hipStreamDestroy(stream));
}

// The host changes one half while a kernel changes the other.
static void concurrent()
{
    const int n = 100000;
    int *p, is = 0;
    HIP(hipDeviceGetAttribute(&is, hipDeviceAttributeConcurrentManagedAccess, 0));
    CHECK(is == 1);
    HIP(hipDeviceGetAttribute(&is, hipDeviceAttributeManagedMemory, 0));
    CHECK(is == 1);
    HIP(hipMallocManaged(&p, 2 * n * sizeof *p));
    HIP(hipMemset(p, 0, 2 * n * sizeof *p));
    HIP(hipDeviceSynchronize());
    step<<<(n + 255) / 256, 256>>>(p, n);
    for (int i = n; i < 2 * n; i++)
        p[i] += i;
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < 2 * n; i++)
        CHECK(p[i] == i);
    HIP(hipFree(p));
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
    again();
    hints();
    concurrent();
    return 0;
}

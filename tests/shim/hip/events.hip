// SPDX-License-Identifier: MIT
// Events: their order, times that add up, queries, flags.
#include "array.h"

__global__ void spin(int *p, int rounds)
{
    int x = *p;
    for (int i = 0; i < rounds; i++)
        x = x * 3 + 1;
    *p = x;
}

int main()
{
    const device_array<int> p(std::vector<int>(1, 1));
    hipEvent_t events[4], untimed;
    hipStream_t stream;
    float whole, parts = 0;
    HIP(hipStreamCreate(&stream));
    for (hipEvent_t &event : events)
        HIP(hipEventCreateWithFlags(&event, hipEventBlockingSync));
    HIP(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    for (hipEvent_t event : events) {
        HIP(hipEventRecord(event, stream));
        spin<<<1, 1, 0, stream>>>(p, 20000);
    }
    HIP(hipEventRecord(untimed, stream));
    HIP(hipEventSynchronize(untimed));
    for (int i = 0; i < 4; i++)
        CHECK(hipEventQuery(events[i]) == hipSuccess);
    HIP(hipEventElapsedTime(&whole, events[0], events[3]));
    for (int i = 0; i < 3; i++) {
        float part;
        HIP(hipEventElapsedTime(&part, events[i], events[i + 1]));
        CHECK(part > 0); // a kernel lies between them
        parts += part;
    }
    CHECK(parts > 0.99f * whole && parts < 1.01f * whole);
    CHECK(hipEventElapsedTime(&whole, events[0], untimed) == hipErrorInvalidHandle);
    (void)hipGetLastError();
    unsigned expected = 1;
    for (int i = 0; i < 4 * 20000; i++)
        expected = expected * 3 + 1;
    CHECK(p.get()[0] == int(expected));
    for (hipEvent_t event : events)
        HIP(hipEventDestroy(event));
    HIP(hipEventDestroy(untimed));
    HIP(hipStreamDestroy(stream));
    return 0;
}

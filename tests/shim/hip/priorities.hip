// SPDX-License-Identifier: MIT
// Streams with priorities and flags; the legacy stream waits for them, except for those that do not block.
#include "array.h"

enum { N = 3000 };

__global__ void add(unsigned *p, unsigned value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        p[i] = 3 * p[i] + value;
}

int main()
{
    int least, greatest, priority;
    unsigned flags;
    hipStream_t low, high, loose;
    HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest < least); // smaller numbers come first
    HIP(hipStreamCreateWithPriority(&low, hipStreamDefault, least));
    HIP(hipStreamCreateWithPriority(&high, hipStreamDefault, greatest));
    HIP(hipStreamCreateWithFlags(&loose, hipStreamNonBlocking));
    HIP(hipStreamGetPriority(high, &priority));
    CHECK(priority == greatest);
    HIP(hipStreamGetPriority(low, &priority));
    CHECK(priority == least);
    HIP(hipStreamGetFlags(loose, &flags));
    CHECK(flags == hipStreamNonBlocking);
    const device_array<unsigned> p(std::vector<unsigned>(N, 1)), q(std::vector<unsigned>(N, 2));
    HIP(hipDeviceSynchronize());
    unsigned expected = 1;
    for (unsigned i = 0; i < 10; i++) {
        add<<<(N + 255) / 256, 256, 0, low>>>(p, i);
        add<<<(N + 255) / 256, 256>>>(p, 2 * i); // after it
        add<<<(N + 255) / 256, 256, 0, high>>>(p, 5); // after both
        add<<<(N + 255) / 256, 256>>>(p, 9); // in front of the next round
        expected = 3 * (3 * (3 * (3 * expected + i) + 2 * i) + 5) + 9;
    }
    add<<<(N + 255) / 256, 256, 0, loose>>>(q, 4);
    HIP(hipStreamSynchronize(loose));
    CHECK(q.get() == std::vector<unsigned>(N, 10));
    CHECK(p.get() == std::vector<unsigned>(N, expected));
    for (hipStream_t stream : {low, high, loose})
        HIP(hipStreamDestroy(stream));
    return 0;
}

// SPDX-License-Identifier: MIT
// Streams that wait for values in memory, which the host, a kernel or another stream writes; all conditions.
#include "array.h"

__global__ void store(unsigned *p, unsigned value)
{
    __hip_atomic_store(p, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

__global__ void copy(int *to, const int *from)
{
    *to = *from + 1;
}

int main()
{
    void *memory;
    hipStream_t one, other;
    HIP(hipExtMallocWithFlags(&memory, 8, hipMallocSignalMemory));
    HIP(hipStreamCreate(&one));
    HIP(hipStreamCreate(&other));
    unsigned *flag = static_cast<unsigned *>(memory);
    const device_array<int> a(std::vector<int>{10}), b(1), c(1);
    const struct {
        unsigned flags, wanted, before, after;
    } waits[] = {
        {hipStreamWaitValueEq, 5, 4, 5},
        {hipStreamWaitValueGte, 7, 6, 9},
        {hipStreamWaitValueAnd, 0x10, 0x0f, 0x30},
        {hipStreamWaitValueNor, 0xfffffff0, 0xffffffff, 0x0e}, // ~(value | wanted) is not 0
    };
    for (const auto &wait : waits) {
        HIP(hipStreamWriteValue32(one, flag, wait.before, 0));
        HIP(hipStreamSynchronize(one));
        HIP(hipStreamWaitValue32(one, flag, wait.wanted, wait.flags));
        copy<<<1, 1, 0, one>>>(b, a);
        CHECK(hipStreamQuery(one) == hipErrorNotReady);
        store<<<1, 1, 0, other>>>(flag, wait.after);
        HIP(hipStreamSynchronize(one));
        CHECK(b.get()[0] == 11);
        (void)hipGetLastError();
    }
    // a chain of two streams by values alone
    HIP(hipStreamWriteValue32(one, flag, 0, 0));
    HIP(hipStreamSynchronize(one));
    HIP(hipStreamWaitValue32(other, flag, 1, hipStreamWaitValueEq));
    copy<<<1, 1, 0, other>>>(c, b);
    copy<<<1, 1, 0, one>>>(b, b);
    HIP(hipStreamWriteValue32(one, flag, 1, 0));
    HIP(hipStreamSynchronize(other));
    CHECK(c.get()[0] == 13);
    HIP(hipStreamDestroy(one));
    HIP(hipStreamDestroy(other));
    HIP(hipFree(memory));
    return 0;
}

// SPDX-License-Identifier: MIT
// A kernel that waits for the host, which waits for the kernel: neither is a deadlock.
#include "check.h"
#include <chrono>
#include <thread>

__global__ void answer(int *question, int *reply)
{
    for (int round = 1; round <= 3; round++) {
        while (__hip_atomic_load(question, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) < round)
            __builtin_amdgcn_s_sleep(1);
        __hip_atomic_store(reply, 10 * round, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    }
}

int main()
{
    int *p;
    HIP(hipHostMalloc(&p, 2 * sizeof(int), hipHostMallocCoherent));
    p[0] = p[1] = 0;
    answer<<<1, 1>>>(p, p + 1);
    for (int round = 1; round <= 3; round++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        __atomic_store_n(&p[0], round, __ATOMIC_RELEASE);
        while (__atomic_load_n(&p[1], __ATOMIC_ACQUIRE) != 10 * round)
            std::this_thread::yield();
    }
    HIP(hipDeviceSynchronize());
    return 0;
}

// SPDX-License-Identifier: MIT
// A kernel sends numbers to a host thread through a ring of eight in pinned memory: both sides poll.
#include "check.h"
#include <thread>

enum { ROOM = 8, COUNT = 100 };

struct ring {
    int slots[ROOM];
    unsigned written, read;
};

__global__ void send(ring *r)
{
    for (unsigned i = 0; i < COUNT; i++) {
        while (i - __hip_atomic_load(&r->read, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) >= ROOM)
            __builtin_amdgcn_s_sleep(1);
        r->slots[i % ROOM] = int(i * i);
        __hip_atomic_store(&r->written, i + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    }
}

int main()
{
    ring *r;
    long sum = 0, expected = 0;
    HIP(hipHostMalloc(&r, sizeof *r, hipHostMallocCoherent));
    *r = {};
    std::thread receiver([&] {
        for (unsigned i = 0; i < COUNT; i++) {
            while (__atomic_load_n(&r->written, __ATOMIC_ACQUIRE) <= i)
                std::this_thread::yield();
            sum += r->slots[i % ROOM];
            __atomic_store_n(&r->read, i + 1, __ATOMIC_RELEASE);
        }
    });
    send<<<1, 1>>>(r);
    HIP(hipDeviceSynchronize());
    receiver.join();
    for (int i = 0; i < COUNT; i++)
        expected += i * i;
    CHECK(sum == expected);
    HIP(hipHostFree(r));
    return 0;
}

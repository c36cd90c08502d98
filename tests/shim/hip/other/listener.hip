// SPDX-License-Identifier: MIT
// A kernel that prints, waits for the host, and prints again. With an argument the host lets it go on, with another one
// it looks at the stream in the meantime.
#include "../check.h"
#include <chrono>
#include <thread>

__global__ void wait(int *p)
{
    printf("before\n");
    while (!__hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM))
        __builtin_amdgcn_s_sleep(1);
    printf("after\n");
}

int main(int argc, char **)
{
    int *p;
    std::thread thread;
    HIP(hipHostMalloc(&p, sizeof *p));
    *p = 0;
    wait<<<1, 1>>>(p);
    if (argc > 1)
        thread = std::thread([p] {
            std::this_thread::sleep_for(std::chrono::milliseconds(400));
            __atomic_store_n(p, 1, __ATOMIC_SEQ_CST);
        });
    while (argc > 2 && hipStreamQuery(nullptr) == hipErrorNotReady)
        ;
    HIP(hipDeviceSynchronize());
    if (argc > 1)
        thread.join();
    return 0;
}

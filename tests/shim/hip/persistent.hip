// SPDX-License-Identifier: MIT
// A persistent kernel: four workgroups take jobs that the host adds while they run, until it says stop.
#include "check.h"
#include <thread>

enum { JOBS = 40 };

struct board {
    int posted, taken, stop;
    int in[JOBS], out[JOBS], done[JOBS];
};

__global__ void serve(board *b)
{
    __shared__ int job;
    for (;;) {
        if (!threadIdx.x) {
            job = -1;
            while (job < 0) {
                int next = __hip_atomic_load(&b->taken, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
                if (next < __hip_atomic_load(&b->posted, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM)) {
                    if (__hip_atomic_compare_exchange_strong(&b->taken, &next, next + 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED,
                                                             __HIP_MEMORY_SCOPE_SYSTEM))
                        job = next;
                } else if (__hip_atomic_load(&b->stop, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM)) {
                    job = JOBS;
                } else {
                    __builtin_amdgcn_s_sleep(2);
                }
            }
        }
        __syncthreads();
        const int mine = job;
        __syncthreads();
        if (mine == JOBS)
            return;
        if (!threadIdx.x)
            b->out[mine] = 0;
        __syncthreads();
        __hip_atomic_fetch_add(&b->out[mine], b->in[mine] + int(threadIdx.x), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        __syncthreads();
        if (!threadIdx.x)
            __hip_atomic_store(&b->done[mine], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
        __syncthreads(); // clang 15 would join both conditions: the first lane would leave a loop of the others
    }
}

int main()
{
    board *b;
    HIP(hipHostMalloc(&b, sizeof *b, hipHostMallocCoherent));
    *b = {};
    serve<<<4, 64>>>(b);
    for (int i = 0; i < JOBS; i++) {
        b->in[i] = 10 * i;
        __atomic_store_n(&b->posted, i + 1, __ATOMIC_RELEASE);
        if (i % 8 == 7) // wait for the answer now and then
            while (!__atomic_load_n(&b->done[i], __ATOMIC_ACQUIRE))
                std::this_thread::yield();
    }
    __atomic_store_n(&b->stop, 1, __ATOMIC_RELEASE);
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < JOBS; i++)
        CHECK(b->done[i] && b->out[i] == 64 * 10 * i + 63 * 64 / 2);
    HIP(hipHostFree(b));
    return 0;
}

// SPDX-License-Identifier: MIT
// Callbacks of streams run in order, between the operations around them.
#include "array.h"
#include <atomic>

__global__ void increment(int *p)
{
    __hip_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

struct note {
    int *counter, *seen;
    std::atomic<int> *order;
    int place;
};

static void look(hipStream_t, hipError_t status, void *user)
{
    note *n = static_cast<note *>(user);
    CHECK(status == hipSuccess);
    *n->seen = __atomic_load_n(n->counter, __ATOMIC_ACQUIRE);
    n->place = (*n->order)++;
}

int main()
{
    int *counters, seen[2][6];
    std::atomic<int> order[2] = {};
    note notes[2][6];
    hipStream_t streams[2];
    HIP(hipHostMalloc(&counters, 2 * sizeof *counters, hipHostMallocCoherent));
    counters[0] = counters[1] = 0;
    for (int s = 0; s < 2; s++) {
        HIP(hipStreamCreate(&streams[s]));
        for (int i = 0; i < 6; i++) {
            notes[s][i] = {&counters[s], &seen[s][i], &order[s], -1};
            for (int k = 0; k <= i; k++)
                increment<<<1, 1, 0, streams[s]>>>(&counters[s]);
            HIP(hipStreamAddCallback(streams[s], look, &notes[s][i], 0));
        }
    }
    for (int s = 0; s < 2; s++) {
        HIP(hipStreamSynchronize(streams[s]));
        for (int i = 0; i < 6; i++)
            CHECK(notes[s][i].place == i && seen[s][i] == (i + 1) * (i + 2) / 2);
        HIP(hipStreamDestroy(streams[s]));
    }
    HIP(hipHostFree(counters));
    return 0;
}

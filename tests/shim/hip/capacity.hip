// SPDX-License-Identifier: MIT
// The memory of a GPU has an end: what hipMemGetInfo calls free can be allocated, not more, and what is freed can be
// allocated again. A request that is refused changes nothing.
#include "check.h"

#include <vector>

static size_t free_bytes()
{
    size_t free, total;
    HIP(hipMemGetInfo(&free, &total));
    CHECK(free <= total);
    return free;
}

// From HIP 6 on, the last 320 MiB count as taken, although they can be allocated.
static const size_t hidden = HIP_VERSION_MAJOR < 6 ? 0 : 320 << 20;

// Allocates pieces until there is no memory; returns their bytes.
static size_t take_all(std::vector<void *> &taken, size_t piece)
{
    size_t sum = 0;
    for (;;) {
        void *p = nullptr;
        const size_t before = free_bytes();
        const hipError_t error = hipMalloc(&p, piece);
        if (error != hipSuccess) {
            CHECK(error == hipErrorOutOfMemory);
            CHECK(free_bytes() == before);
            return sum;
        }
        CHECK(before + hidden >= piece && free_bytes() <= (before > piece ? before - piece : 0) + 1024);
        taken.push_back(p);
        sum += piece;
    }
}

static void give_back(std::vector<void *> &taken)
{
    for (void *p : taken)
        HIP(hipFree(p));
    taken.clear();
}

static void pieces(size_t total)
{
    std::vector<void *> taken;
    void *small, *large;
    const size_t before = free_bytes();
    for (size_t piece : {total / 3, static_cast<size_t>(100) << 20, static_cast<size_t>(16) << 20}) {
        const size_t sum = take_all(taken, piece);
        CHECK(sum <= total);
        CHECK(sum + piece > total - total / 50 - (before - free_bytes() - sum)); // at most 2 % lost
        give_back(taken);
        CHECK(free_bytes() == before);
    }
    // Half is left: three quarters are refused, but not a page, and a quarter is there.
    HIP(hipMalloc(&large, total / 2));
    void *p;
    CHECK(hipMalloc(&p, total / 4 * 3) == hipErrorOutOfMemory);
    HIP(hipMalloc(&small, 100));
    HIP(hipMalloc(&p, total / 4));
    HIP(hipMemset(small, 1, 100));
    HIP(hipFree(p));
    HIP(hipFree(small));
    HIP(hipFree(large));
    CHECK(free_bytes() == before);
}

// Memory of the host is not the GPU's, and has an end, too.
static void hosts()
{
    void *p;
    const size_t before = free_bytes();
    HIP(hipHostMalloc(&p, 64 << 20, 0));
    CHECK(free_bytes() == before);
    HIP(hipHostFree(p));
    std::vector<void *> taken;
    hipError_t error = hipSuccess;
    while (taken.size() < 4096 && (error = hipHostMalloc(&p, static_cast<size_t>(1) << 30, 0)) == hipSuccess)
        taken.push_back(p); // reserved but never touched
    CHECK(error == hipErrorOutOfMemory || taken.size() == 4096);
    for (void *one : taken)
        HIP(hipHostFree(one));
    HIP(hipHostMalloc(&p, 64 << 20, 0));
    HIP(hipHostFree(p));
}

int main()
{
    size_t free, total;
    hipDeviceProp_t properties;
    HIP(hipMemGetInfo(&free, &total));
    HIP(hipGetDeviceProperties(&properties, 0));
    CHECK(properties.totalGlobalMem == total && free > total - total / 50);
    void *p;
    CHECK(hipMalloc(&p, total + 4096) == hipErrorOutOfMemory);
    CHECK(hipMalloc(&p, static_cast<size_t>(1) << 60) == hipErrorOutOfMemory);
    pieces(total);
    hosts();
    return 0;
}

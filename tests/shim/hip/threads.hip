// SPDX-License-Identifier: MIT
// Four host threads, each with a stream and memory of its own, and an allocation per round while the others' kernels run.
#include "check.h"
#include <thread>
#include <vector>

__global__ void step(unsigned *p)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = p[i] * 3 + i;
}

static void work(unsigned seed)
{
    const unsigned n = 1024, rounds = 20;
    std::vector<unsigned> values(n, seed), expected(n, seed);
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    for (unsigned round = 0; round < rounds; round++) {
        unsigned *p;
        HIP(hipMalloc(&p, n * sizeof *p));
        HIP(hipMemcpyAsync(p, values.data(), n * sizeof *p, hipMemcpyHostToDevice, stream));
        step<<<n / 64, 64, 0, stream>>>(p);
        HIP(hipMemcpyAsync(values.data(), p, n * sizeof *p, hipMemcpyDeviceToHost, stream));
        HIP(hipStreamSynchronize(stream));
        HIP(hipFree(p));
        for (unsigned i = 0; i < n; i++)
            expected[i] = expected[i] * 3 + i;
        CHECK(values == expected);
    }
    HIP(hipStreamDestroy(stream));
}

int main()
{
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
    return 0;
}

// SPDX-License-Identifier: MIT
// Host threads with streams of their own that hand data to the next thread with events.
#include "array.h"
#include <condition_variable>
#include <mutex>
#include <thread>

enum { THREADS = 3, ROUNDS = 8, N = 500 };

__global__ void twice_plus(int *p, int k)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        p[i] = 2 * p[i] + k;
}

int main()
{
    const device_array<int> p(std::vector<int>(N, 1));
    std::mutex mutex;
    std::condition_variable changed;
    hipEvent_t last;
    int turn = 0, expected = 1;
    HIP(hipEventCreate(&last));
    HIP(hipEventRecord(last, nullptr));
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; t++)
        threads.emplace_back([&, t] {
            hipStream_t stream;
            HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
            for (int round = 0; round < ROUNDS; round++) {
                std::unique_lock<std::mutex> lock(mutex);
                changed.wait(lock, [&] { return turn == THREADS * round + t; });
                HIP(hipStreamWaitEvent(stream, last, 0));
                twice_plus<<<(N + 63) / 64, 64, 0, stream>>>(p, turn % 5);
                HIP(hipEventRecord(last, stream));
                turn++;
                changed.notify_all();
            }
            HIP(hipStreamSynchronize(stream));
            HIP(hipStreamDestroy(stream));
        });
    for (std::thread &thread : threads)
        thread.join();
    for (int i = 0; i < THREADS * ROUNDS; i++)
        expected = int(2u * unsigned(expected) + unsigned(i % 5));
    CHECK(p.get() == std::vector<int>(N, expected));
    HIP(hipEventDestroy(last));
    return 0;
}

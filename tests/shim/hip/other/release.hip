// SPDX-License-Identifier: MIT
// Kernels that wait for what the host does after a while, when all its other threads wait, too: none is a deadlock.
#include "../check.h"
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void wait_for(int *p)
{
    while (!__hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM))
        __builtin_amdgcn_s_sleep(1);
}

static int *flag; // of the host

static void pause_a_while()
{
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
}

static void set_flag(int)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static void by_thread()
{
    *flag = 0;
    wait_for<<<1, 64>>>(flag);
    std::thread thread([] { pause_a_while(); set_flag(0); });
    HIP(hipDeviceSynchronize());
    thread.join();
}

// A thread that another one wakes copies to memory of the device.
static void by_copy()
{
    std::mutex mutex;
    std::condition_variable changed;
    bool go = false;
    hipStream_t waits, copies;
    int *p, one = 1;
    HIP(hipMalloc(&p, sizeof *p));
    HIP(hipMemset(p, 0, sizeof *p));
    HIP(hipDeviceSynchronize());
    HIP(hipStreamCreateWithFlags(&waits, hipStreamNonBlocking));
    HIP(hipStreamCreateWithFlags(&copies, hipStreamNonBlocking));
    wait_for<<<1, 64, 0, waits>>>(p);
    std::thread copier([&] {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return go; });
        HIP(hipMemcpyAsync(p, &one, sizeof one, hipMemcpyHostToDevice, copies));
        HIP(hipStreamSynchronize(copies));
    });
    std::thread waker([&] {
        pause_a_while();
        std::lock_guard<std::mutex> lock(mutex);
        go = true;
        changed.notify_one();
    });
    HIP(hipStreamSynchronize(waits));
    copier.join();
    waker.join();
}

static void by_signal_handler()
{
    *flag = 0;
    std::signal(SIGALRM, set_flag);
    wait_for<<<1, 64>>>(flag);
    alarm(1);
    HIP(hipDeviceSynchronize());
}

static void by_process()
{
    int *shared = (int *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *seen;
    HIP(hipHostRegister(shared, 4096, hipHostRegisterMapped));
    HIP(hipHostGetDevicePointer((void **)&seen, shared, 0));
    const pid_t child = fork();
    if (!child) {
        pause_a_while();
        __atomic_store_n(shared, 1, __ATOMIC_RELEASE);
        _exit(0);
    }
    wait_for<<<1, 64>>>(seen);
    HIP(hipDeviceSynchronize());
    CHECK(waitpid(child, nullptr, 0) == child);
}

int main()
{
    HIP(hipHostMalloc(&flag, sizeof *flag, hipHostMallocCoherent));
    by_thread();
    by_copy();
    by_signal_handler();
    by_process();
    return 0;
}

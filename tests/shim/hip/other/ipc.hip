// SPDX-License-Identifier: MIT
// Two processes use the same memory of the GPU, and an event of one of them.
#include "../check.h"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 3000, LARGE = 1 << 20 };

__global__ void add(int *p, int n, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value * i;
}

__global__ void copy(int *to, const int *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

static int to_child[2], to_parent[2];

template <typename T> static void send(int file, const T &value)
{
    CHECK(write(file, &value, sizeof value) == sizeof value);
}

template <typename T> static T receive(int file)
{
    T value;
    CHECK(read(file, &value, sizeof value) == sizeof value);
    return value;
}

static hipError_t open(int **p, const hipIpcMemHandle_t &handle)
{
    return hipIpcOpenMemHandle(reinterpret_cast<void **>(p), handle, hipIpcMemLazyEnablePeerAccess);
}

// What is no handle, or no longer one, is an error.
static void wrong_handles(const hipIpcMemHandle_t &right)
{
    int *p;
    unsigned state = 1;
    for (size_t byte = 0; byte < 32; byte++)
        for (int bit = 0; bit < 8; bit += 3) {
            hipIpcMemHandle_t wrong = right;
            wrong.reserved[byte] = static_cast<char>(wrong.reserved[byte] ^ 1 << bit);
            if (open(&p, wrong) == hipSuccess) // the size, a little, or a part without a meaning
                HIP(hipIpcCloseMemHandle(p));
        }
    for (int i = 0; i < 1000; i++) {
        hipIpcMemHandle_t wrong = right;
        for (size_t k = 0; k < 32; k++) {
            state = state * 1664525 + 1013904223;
            wrong.reserved[k] = static_cast<char>(state >> 24);
        }
        CHECK(open(&p, wrong) != hipSuccess);
    }
}

static int child()
{
    int *small, *again, *large, *own, one;
    const hipIpcMemHandle_t first = receive<hipIpcMemHandle_t>(to_child[0]), second = receive<hipIpcMemHandle_t>(to_child[0]);
    const hipIpcEventHandle_t event_handle = receive<hipIpcEventHandle_t>(to_child[0]);
    hipEvent_t event;
    HIP(hipIpcOpenEventHandle(&event, event_handle));
    HIP(hipEventSynchronize(event));
    HIP(open(&small, first));
    HIP(open(&large, second));
    HIP(open(&again, first));
    add<<<(N + 63) / 64, 64>>>(small, N, 10);
    add<<<(LARGE + 63) / 64, 64>>>(large, LARGE, 1);
    HIP(hipMemcpy(&one, again + 7, sizeof one, hipMemcpyDeviceToHost)); // both are the same memory
    CHECK(one == 7 * 11);
    HIP(hipMalloc(&own, N * sizeof *own));
    copy<<<(N + 63) / 64, 64>>>(own, small, N);
    HIP(hipMemcpy(&one, own + N - 1, sizeof one, hipMemcpyDeviceToHost));
    CHECK(one == (N - 1) * 11);
    HIP(hipIpcCloseMemHandle(again));
    wrong_handles(first);
    send(to_parent[1], 1);
    CHECK(receive<int>(to_child[0]) == 2); // the parent has written
    HIP(hipMemcpy(&one, small + 100, sizeof one, hipMemcpyDeviceToHost));
    CHECK(one == -100);
    HIP(hipIpcCloseMemHandle(small));
    send(to_parent[1], 3);
    CHECK(receive<int>(to_child[0]) == 4); // the parent has freed all
    CHECK(open(&small, first) != hipSuccess);
    HIP(hipMemcpy(&one, large + LARGE - 1, sizeof one, hipMemcpyDeviceToHost)); // what is mapped stays
    CHECK(one == LARGE - 1);
    HIP(hipIpcCloseMemHandle(large));
    CHECK(hipIpcCloseMemHandle(large) != hipSuccess);
    HIP(hipEventDestroy(event));
    return 0;
}

static void parent()
{
    int *small, *large, one, *pinned;
    hipIpcMemHandle_t first, second, none;
    hipIpcEventHandle_t event_handle;
    hipEvent_t event;
    HIP(hipMalloc(&small, N * sizeof *small));
    HIP(hipMalloc(&large, LARGE * sizeof *large));
    HIP(hipHostMalloc(&pinned, 100, 0));
    HIP(hipMemset(small, 0, N * sizeof *small));
    HIP(hipMemset(large, 0, LARGE * sizeof *large));
    HIP(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
    HIP(hipIpcGetMemHandle(&first, small));
    HIP(hipIpcGetMemHandle(&second, large));
    CHECK(hipIpcGetMemHandle(&none, nullptr) != hipSuccess);
    CHECK(hipIpcGetMemHandle(&none, &one) != hipSuccess);
    CHECK(hipIpcGetMemHandle(&none, pinned) != hipSuccess);
    HIP(hipIpcGetEventHandle(&event_handle, event));
    add<<<(N + 63) / 64, 64>>>(small, N, 1);
    HIP(hipEventRecord(event));
    HIP(hipDeviceSynchronize());
    send(to_child[1], first);
    send(to_child[1], second);
    send(to_child[1], event_handle);
    CHECK(receive<int>(to_parent[0]) == 1); // the child has added
    HIP(hipMemcpy(&one, small + 5, sizeof one, hipMemcpyDeviceToHost));
    CHECK(one == 55);
    HIP(hipMemcpy(&one, large + 12345, sizeof one, hipMemcpyDeviceToHost));
    CHECK(one == 12345);
    one = -100;
    HIP(hipMemcpy(small + 100, &one, sizeof one, hipMemcpyHostToDevice));
    send(to_child[1], 2);
    CHECK(receive<int>(to_parent[0]) == 3);
    HIP(hipFree(small));
    HIP(hipFree(large));
    send(to_child[1], 4);
    HIP(hipHostFree(pinned));
}

int main()
{
    int status;
    CHECK(!pipe(to_child) && !pipe(to_parent));
    const pid_t process = fork(); // before either uses the GPU
    if (!process)
        return child();
    parent();
    CHECK(waitpid(process, &status, 0) == process && WIFEXITED(status) && !WEXITSTATUS(status));
    return 0;
}

// SPDX-License-Identifier: MIT
// Two kernels: fill is launched with 1 to 6 workgroups, twice with 6 and 1. Ends as its argument says, by default with
// exit code 7.
#include "../check.h"
#include <cstring>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

__global__ void fill(int *p, int value)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void twice(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

static void throw_error(hipStream_t, hipError_t, void *)
{
    throw std::runtime_error("from a callback");
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int *p, value, status;
    HIP(hipMalloc(&p, 6 * 256 * sizeof *p));
    for (int i = 1; i <= 6; i++)
        fill<<<i, 256>>>(p, i + 9);
    twice<<<6, 256>>>(p);
    HIP(hipMemcpy(&value, p + 256, sizeof value, hipMemcpyDeviceToHost));
    twice<<<1, 256>>>(p);
    HIP(hipDeviceSynchronize());
    if (!std::strcmp(how, "abort"))
        std::abort();
    if (!std::strcmp(how, "throw")) { // on a thread of the runtime
        HIP(hipStreamAddCallback(nullptr, throw_error, nullptr, 0));
        HIP(hipDeviceSynchronize());
        pause();
    }
    if (!std::strcmp(how, "fork")) { // the child leaves HIP alone
        if (!fork())
            std::exit(0);
        CHECK(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
    }
    std::printf("%d\n", value);
    return 7;
}

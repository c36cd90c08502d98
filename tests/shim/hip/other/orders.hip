// SPDX-License-Identifier: MIT
// Results that depend on the order of workgroups, memory that nobody wrote, and stores to memory of the host:
// orders [last|host|unwritten|partly].
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 256, LARGE = 80 << 20 };

// The workgroup that stores last decides.
__global__ void last(unsigned *out)
{
    out[threadIdx.x] = blockIdx.x; // last
}

__global__ void same(unsigned *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static bool ok(hipError_t error)
{
    if (error != hipSuccess)
        printf("%s\n", hipGetErrorString(error));
    return error == hipSuccess;
}

// Copies memory whose first bytes alone somebody wrote, which HIP does in pieces.
static bool copy_large(void)
{
    unsigned *memory, *host = static_cast<unsigned *>(malloc(LARGE));
    const bool done = host && ok(hipMalloc(&memory, LARGE)) && ok(hipMemset(memory, 0, 64)) &&
                      ok(hipMemcpy(host, memory, LARGE, hipMemcpyDeviceToHost)); // large
    free(host);
    return done;
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    unsigned host[COUNT], *memory, *pinned, *copy;
    if (!ok(hipMalloc(&memory, sizeof host)) || !ok(hipMalloc(&copy, sizeof host)) || !ok(hipHostMalloc(&pinned, sizeof host, 0)))
        return 9;
    if (!strcmp(what, "unwritten")) {
        same<<<4, COUNT / 4>>>(pinned);
        if (!ok(hipMemcpy(copy, memory, sizeof host, hipMemcpyDeviceToDevice)))
            return 9;
        return ok(hipMemcpy(host, copy, sizeof host, hipMemcpyDeviceToHost)) ? 0 : 9; // copies
    }
    if (!strcmp(what, "partly")) {
        same<<<4, COUNT / 4>>>(pinned);
        return copy_large() ? 0 : 9;
    }
    if (!ok(hipMemset(memory, 0, sizeof host)))
        return 9;
    memset(pinned, 0, sizeof host);
    for (int i = 0; i < 3; i++)
        same<<<4, COUNT / 4>>>(memory);
    if (!strcmp(what, "last"))
        last<<<8, 64>>>(memory);
    if (!strcmp(what, "host"))
        same<<<4, COUNT / 4>>>(pinned);
    if (!ok(hipMemcpy(host, memory, sizeof host, hipMemcpyDeviceToHost)))
        return 9;
    for (int i = 0; i < COUNT; i++)
        if (host[i] != (!strcmp(what, "last") && i < 64 ? 7u : 3u) || pinned[i] != !strcmp(what, "host"))
            return 8;
    return 0;
}

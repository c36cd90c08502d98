// SPDX-License-Identifier: MIT
// Launches a kernel, waits on the host until a file exists, and launches another one. usage: between FILE
#include <cstdio>
#include <hip/hip_runtime.h>
#include <unistd.h>

__global__ void first(int *p)
{
    p[threadIdx.x] = threadIdx.x;
}

__global__ void second(int *p)
{
    p[threadIdx.x] += 100;
}

int main(int, char **arguments)
{
    int *p, out[64];
    (void)hipMalloc(&p, sizeof out);
    first<<<1, 64>>>(p);
    (void)hipDeviceSynchronize();
    puts("waits");
    fflush(stdout);
    while (access(arguments[1], F_OK))
        usleep(1000);
    second<<<1, 64>>>(p);
    (void)hipMemcpy(out, p, sizeof out, hipMemcpyDeviceToHost);
    printf("out[10] = %d\n", out[10]);
    return 0;
}

// SPDX-License-Identifier: MIT
// Launches do not grow memory.
#include "check.h"
#include <cstring>

__global__ void increment(int *p)
{
    ++*p;
}

static long resident_kilobytes()
{
    char line[128];
    long kilobytes = 0;
    FILE *file = std::fopen("/proc/self/status", "r");
    while (std::fgets(line, sizeof line, file))
        if (!std::strncmp(line, "VmRSS:", 6))
            kilobytes = std::strtol(line + 6, nullptr, 10);
    std::fclose(file);
    return kilobytes;
}

int main()
{
    const int rounds = 5000;
    int *p, count = 0;
    HIP(hipMalloc(&p, sizeof *p));
    HIP(hipMemset(p, 0, sizeof *p));
    for (int i = 0; i < rounds; i++)
        increment<<<1, 1>>>(p);
    HIP(hipDeviceSynchronize());
    const long before = resident_kilobytes();
    for (int i = 0; i < rounds; i++)
        increment<<<1, 1>>>(p);
    HIP(hipMemcpy(&count, p, sizeof count, hipMemcpyDeviceToHost));
    CHECK(count == 2 * rounds);
    CHECK(resident_kilobytes() - before < 4096);
    return 0;
}

// SPDX-License-Identifier: MIT
// printf() of the device in all formats against the host's.
#include "check.h"
#include <cstring>
#include <string>
#include <unistd.h>

// HIP 5.2 takes no argument for the width of a string.
#define FORMATS(print)                                                                                       \
    print("%d %i %5d|%-5d|%05d|%+d\n", 42, -42, 7, 7, 7, 7);                                                   \
    print("%u %x %X %#x %o\n", 3000000000u, 0xbeefu, 0xbeefu, 255u, 8u);                                       \
    print("%ld %lld %lu %llx\n", -5000000000l, -5000000000ll, 5000000000ul, 0x123456789abcdefull);            \
    print("%hd %hhd\n", short(-3), static_cast<signed char>(-4));                                              \
    print("%f %.3f %10.2f|%-10.2f|%e %.2E %g %G\n", 1.5, 2.0 / 3, 3.14159, 3.14159, 12345.678, 0.00012, 1e-5, 1e20); \
    print("%a %A\n", 1.0, 0.5);                                                                                \
    print("%c%c %% %s\n", 'o', 'k', "text");                                                                   \
    print("no arguments\n");                                                                                   \
    print("%s and %s: %d\n", "one", "two", 3);                                                                 \
    print("%*d|%-*d|%.*f\n", 6, 1, 6, 2, 1, 2.55);                                                             \
    print("%zu %p\n", sizeof(int), static_cast<void *>(nullptr))

__global__ void say()
{
    FORMATS(printf);
}

__global__ void many(int n)
{
    printf("%d/%d\n", int(blockIdx.x * blockDim.x + threadIdx.x), n);
}

template <typename Launch> static std::string output_of(Launch launch)
{
    char name[] = "/tmp/formatsXXXXXX", text[1 << 16] = "";
    const int file = mkstemp(name), before = dup(1);
    CHECK(file >= 0 && before >= 0);
    std::fflush(stdout);
    CHECK(dup2(file, 1) == 1);
    launch();
    std::fflush(stdout);
    CHECK(dup2(before, 1) == 1);
    const ssize_t size = pread(file, text, sizeof text - 1, 0);
    close(before);
    close(file);
    unlink(name);
    return std::string(text, size_t(size));
}

int main()
{
    const std::string device = output_of([] {
        say<<<1, 1>>>();
        HIP(hipDeviceSynchronize());
    });
    const std::string host = output_of([] { FORMATS(std::printf); });
    if (device != host)
        std::fprintf(stderr, "device:\n%shost:\n%s", device.c_str(), host.c_str());
    CHECK(device == host);
    const std::string lines = output_of([] {
        many<<<4, 64>>>(256);
        HIP(hipDeviceSynchronize());
    });
    for (int i = 0; i < 256; i++) // in any order
        CHECK(("\n" + lines).find("\n" + std::to_string(i) + "/256\n") != std::string::npos);
    return 0;
}

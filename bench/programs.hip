// SPDX-License-Identifier: MIT
// Times of a whole HIP program: launches, copies, and two kernels whose times AMD publishes for its own emulator. Prints
// a line each: name, milliseconds, and of a kernel the milliseconds published for rocjitsu with eight threads.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void check(hipError_t error, const char *what)
{
    if (error != hipSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
        std::exit(2);
    }
}
#define CHECK(call) check(call, #call)

__global__ void nothing() {}

__global__ void copy(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

__global__ void transpose(const __half *in, __half *out, int side)
{
    __shared__ __half tile[32][33];
    for (unsigned y = threadIdx.y; y < 32; y += 8)
        tile[y][threadIdx.x] = in[(blockIdx.y * 32 + y) * side + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (unsigned y = threadIdx.y; y < 32; y += 8)
        out[(blockIdx.x * 32 + y) * side + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}

// The least of several runs, after one that is not counted.
template <typename Work> static double milliseconds(Work work, int runs = 5)
{
    double least = 1e30;
    for (int i = 0; i <= runs; i++) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
        if (i)
            least = std::min(least, taken.count());
    }
    return least;
}

int main()
{
    const bool small = std::getenv("WAVEMEM_BENCH_SMALL");
    const int launches = small ? 10 : 1000, n = small ? 1 << 16 : 8388608, side = small ? 256 : 2048;
    const size_t megabyte = 1 << 20, large = small ? megabyte : 64 * megabyte;

    std::printf("launch, in a row: %g\n", milliseconds([&] {
                                             for (int i = 0; i < launches; i++)
                                                 nothing<<<1, 1>>>();
                                             CHECK(hipDeviceSynchronize());
                                         }) / launches);
    std::printf("launch and wait: %g\n", milliseconds([&] {
                                            for (int i = 0; i < launches; i++) {
                                                nothing<<<1, 1>>>();
                                                CHECK(hipDeviceSynchronize());
                                            }
                                        }) / launches);

    std::vector<char> from(large, 1), to(large);
    void *device;
    CHECK(hipMalloc(&device, large));
    for (size_t size : {megabyte, large}) {
        const double host = milliseconds([&] { std::memcpy(to.data(), from.data(), size); });
        const double up = milliseconds([&] { CHECK(hipMemcpy(device, from.data(), size, hipMemcpyHostToDevice)); });
        const double down = milliseconds([&] { CHECK(hipMemcpy(to.data(), device, size, hipMemcpyDeviceToHost)); });
        std::printf("memcpy of %zu MiB: %g\nhipMemcpy of %zu MiB to the device: %g\nhipMemcpy of %zu MiB from it: %g\n",
                    size / megabyte, host, size / megabyte, up, size / megabyte, down);
    }

    std::vector<float> floats(n);
    for (int i = 0; i < n; i++)
        floats[i] = static_cast<float>(i);
    float *in, *out;
    CHECK(hipMalloc(&in, n * sizeof(float)));
    CHECK(hipMalloc(&out, n * sizeof(float)));
    CHECK(hipMemcpy(in, floats.data(), n * sizeof(float), hipMemcpyHostToDevice));
    const double copied = milliseconds([&] {
        copy<<<(n + 255) / 256, 256>>>(in, out, n);
        CHECK(hipDeviceSynchronize());
    });
    std::vector<float> back(n);
    CHECK(hipMemcpy(back.data(), out, n * sizeof(float), hipMemcpyDeviceToHost));
    std::printf("copy of %d floats: %g 390\n", n, copied);

    const dim3 tiles(side / 32, side / 32), block(32, 8);
    __half *square = reinterpret_cast<__half *>(in), *turned = reinterpret_cast<__half *>(out);
    const double transposed = milliseconds([&] {
        transpose<<<tiles, block>>>(square, turned, side);
        CHECK(hipDeviceSynchronize());
    });
    std::vector<unsigned short> before(size_t(side) * side), after(before.size());
    CHECK(hipMemcpy(before.data(), square, before.size() * 2, hipMemcpyDeviceToHost));
    CHECK(hipMemcpy(after.data(), turned, after.size() * 2, hipMemcpyDeviceToHost));
    std::printf("transpose of %d x %d halves: %g 410\n", side, side, transposed);
    for (int i = 0; i < side * side; i++)
        if (after[i] != before[i % side * side + i / side] || back[i % n] != floats[i % n])
            return 1;
    return 0;
}

// SPDX-License-Identifier: MIT
// Dynamic LDS beside static LDS, in several arrays, up to all of the 64 KiB.
#include "array.h"

__global__ void transpose(const int *in, int *out, int side)
{
    extern __shared__ char memory[];
    int *tile = reinterpret_cast<int *>(memory);
    int *extra = tile + side * side;
    __shared__ int fixed[64];
    for (int i = threadIdx.x; i < side * side; i += blockDim.x)
        tile[i] = in[i];
    fixed[threadIdx.x] = threadIdx.x;
    extra[threadIdx.x] = 1000;
    __syncthreads();
    for (int i = threadIdx.x; i < side * side; i += blockDim.x)
        out[i] = tile[i % side * side + i / side] + fixed[i % 64] + extra[i % 64];
}

__global__ void fill(int *out, int words)
{
    extern __shared__ int all[];
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        all[i] = 3 * i;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        sum += all[words - 1 - i] % 7;
    atomicAdd(out, sum);
}

int main()
{
    for (int side : {8, 50, 100}) {
        std::vector<int> in(side * side);
        for (size_t i = 0; i < in.size(); i++)
            in[i] = int(i * 13);
        const device_array<int> given(in), out(in.size());
        transpose<<<1, 64, (side * side + 64) * sizeof(int)>>>(given, out, side);
        HIP(hipGetLastError());
        const std::vector<int> got = out.get();
        for (int i = 0; i < side * side; i++)
            CHECK(got[i] == in[i % side * side + i / side] + i % 64 + 1000);
    }
    const int words = 65536 / sizeof(int);
    int expected = 0;
    for (int i = 0; i < words; i++)
        expected += 3 * i % 7;
    const device_array<int> sum(std::vector<int>(1));
    fill<<<1, 256, 65536>>>(sum, words);
    HIP(hipGetLastError());
    CHECK(sum.get()[0] == expected);
    return 0;
}

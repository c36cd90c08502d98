// SPDX-License-Identifier: MIT
// The occupancy functions: limits by LDS and by the size of workgroups.
#include "array.h"
#include <algorithm>

__global__ void plain(int *p)
{
    p[threadIdx.x] = 1;
}

__global__ void with_lds(int *p)
{
    __shared__ int words[5000]; // 20000 bytes: three of them fit into 64 KiB
    words[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

int main()
{
    hipDeviceProp_t properties;
    int blocks = 0, more_lds = 0, grid = 0, block = 0;
    HIP(hipGetDeviceProperties(&properties, 0));
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_lds, 64, 0));
    const int share = properties.major >= 10 ? 131072 / 65536 : 1; // HIP counts in pairs of units from gfx10 on
    CHECK(blocks == share * 65536 / 20000);
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&more_lds, with_lds, 64, 20000)); // and as much dynamic LDS
    CHECK(more_lds == share * 65536 / 40000);
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 1024, 0));
    CHECK(blocks >= 1 && blocks * 1024 <= properties.maxThreadsPerMultiProcessor);
    HIP(hipOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    CHECK(block > 0 && block <= properties.maxThreadsPerBlock && block % properties.warpSize == 0);
    CHECK(grid >= properties.multiProcessorCount);
    HIP(hipOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 128));
    CHECK(block <= 128);
    hipFuncAttributes attributes;
    HIP(hipFuncGetAttributes(&attributes, reinterpret_cast<const void *>(with_lds)));
    CHECK(attributes.sharedSizeBytes == 20000 && attributes.maxThreadsPerBlock == 1024 && attributes.numRegs > 0);
    return 0;
}

// SPDX-License-Identifier: MIT
// Cooperative groups of a workgroup and of parts of it.
#include "array.h"
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sums(const int *in, int *of_tiles, int *of_block)
{
    __shared__ int partial[16];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int sum = in[block.thread_rank()];
    for (unsigned k = tile.size() / 2; k; k /= 2)
        sum += tile.shfl_down(sum, k);
    if (!tile.thread_rank()) {
        of_tiles[block.thread_rank() / 16] = sum;
        partial[block.thread_rank() / 16] = sum;
    }
    block.sync();
    if (!block.thread_rank()) {
        int all = 0;
        for (unsigned i = 0; i < block.size() / 16; i++)
            all += partial[i];
        *of_block = all;
    }
}

int main()
{
    std::vector<int> in(256);
    int all = 0;
    for (int i = 0; i < 256; i++)
        all += in[i] = i * i % 101;
    const device_array<int> values(in), tiles(16), block(1);
    sums<<<1, dim3(16, 16)>>>(values, tiles, block);
    const std::vector<int> of_tiles = tiles.get();
    for (int t = 0; t < 16; t++) {
        int sum = 0;
        for (int i = 0; i < 16; i++)
            sum += in[16 * t + i];
        CHECK(of_tiles[t] == sum);
    }
    CHECK(block.get()[0] == all);
    return 0;
}

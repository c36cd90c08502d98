// SPDX-License-Identifier: MIT
// Grids and workgroups in three dimensions; all ways to launch a kernel.
#include "array.h"

__global__ __launch_bounds__(256) void number(unsigned *out)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
                   z = blockIdx.z * blockDim.z + threadIdx.z;
    const unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    out[(z * height + y) * width + x] = x | y << 10 | z << 20;
}

static void check(const device_array<unsigned> &out, dim3 grid, dim3 block)
{
    const unsigned width = grid.x * block.x, height = grid.y * block.y, depth = grid.z * block.z;
    const std::vector<unsigned> got = out.get();
    for (unsigned z = 0; z < depth; z++)
        for (unsigned y = 0; y < height; y++)
            for (unsigned x = 0; x < width; x++)
                CHECK(got[(z * height + y) * width + x] == (x | y << 10 | z << 20));
}

int main()
{
    const struct {
        dim3 grid, block;
    } shapes[] = {{dim3(7), dim3(33)}, {dim3(3, 5), dim3(16, 9)}, {dim3(2, 3, 4), dim3(5, 4, 3)}, {dim3(1, 1, 50), dim3(1, 1, 4)}};
    for (const auto &shape : shapes) {
        const size_t count = size_t(shape.grid.x) * shape.grid.y * shape.grid.z * shape.block.x * shape.block.y * shape.block.z;
        const device_array<unsigned> one(count), two(count), three(count);
        unsigned *p = three;
        void *arguments[] = {&p};
        number<<<shape.grid, shape.block>>>(one);
        hipLaunchKernelGGL(number, shape.grid, shape.block, 0, 0, two);
        HIP(hipLaunchKernel(reinterpret_cast<void *>(number), shape.grid, shape.block, arguments, 0, 0));
        check(one, shape.grid, shape.block);
        check(two, shape.grid, shape.block);
        check(three, shape.grid, shape.block);
    }
    return 0;
}

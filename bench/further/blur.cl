/* SPDX-License-Identifier: MIT */
/* Convolution of the rows of an image with 2 * RADIUS + 1 taps, through a tile with halo in local memory. */
#define RADIUS 8
#define TILE   128
#define ROWS   2

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1))) void
blur_rows(__global const float *in, __global float *out, __constant float *tap, int width, int height)
{
    __local float tile[ROWS][TILE + 2 * RADIUS];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int x = get_global_id(0), y = min((int)get_global_id(1), height - 1);
    __global const float *row = in + y * width;

    tile[ly][lx + RADIUS] = row[min(x, width - 1)];
    if (lx < RADIUS) {
        tile[ly][lx] = row[max(x - RADIUS, 0)];
        tile[ly][lx + TILE + RADIUS] = row[min(x + TILE, width - 1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= width || (int)get_global_id(1) >= height)
        return;
    float sum = 0;
    for (int i = -RADIUS; i <= RADIUS; i++)
        sum += tap[RADIUS + i] * tile[ly][lx + RADIUS + i];
    out[y * width + x] = sum;
}

/* SPDX-License-Identifier: MIT */
/* A generation of Conway's game of life on a torus, with a byte per cell. */
__kernel void life(__global const uchar *now, __global uchar *next, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    int left = (x + width - 1) % width, right = (x + 1) % width;
    int up = (y + height - 1) % height, down = (y + 1) % height;
    int alive = now[up * width + left] + now[up * width + x] + now[up * width + right] + now[y * width + left] +
                now[y * width + right] + now[down * width + left] + now[down * width + x] + now[down * width + right];
    next[y * width + x] = alive == 3 || (alive == 2 && now[y * width + x]);
}

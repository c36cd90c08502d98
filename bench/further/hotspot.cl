/* SPDX-License-Identifier: MIT */
/* One step of a chip's temperature: a five-point stencil on a tile with halo in local memory. Neighbours beyond the
 * chip's edges have the temperature of the edge. */
#define TILE    16
#define AMBIENT 80.0f

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
hotspot(__global const float *temperature, __global const float *power, __global float *result, int width, int height,
        float rx, float ry, float rz, float step)
{
    __local float tile[TILE + 2][TILE + 2];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int x = get_global_id(0), y = get_global_id(1);
    const int column = min(x, width - 1), row = min(y, height - 1);

    tile[ly + 1][lx + 1] = temperature[row * width + column];
    if (lx == 0)
        tile[ly + 1][0] = temperature[row * width + max(x - 1, 0)];
    if (lx == TILE - 1)
        tile[ly + 1][TILE + 1] = temperature[row * width + min(x + 1, width - 1)];
    if (ly == 0)
        tile[0][lx + 1] = temperature[max(y - 1, 0) * width + column];
    if (ly == TILE - 1)
        tile[TILE + 1][lx + 1] = temperature[min(y + 1, height - 1) * width + column];
    barrier(CLK_LOCAL_MEM_FENCE);

    if (x >= width || y >= height)
        return;
    const float t = tile[ly + 1][lx + 1];
    result[y * width + x] = t + step * (power[y * width + x] + (tile[ly][lx + 1] + tile[ly + 2][lx + 1] - 2.0f * t) * ry +
                                        (tile[ly + 1][lx] + tile[ly + 1][lx + 2] - 2.0f * t) * rx + (AMBIENT - t) * rz);
}

/* SPDX-License-Identifier: MIT */
/* An n x n matrix is transposed twice: straight, and through a tile in LDS. */

/* Loads run along rows of `in`, so the stores run down columns of `out`: neighbouring lanes are a row apart.
 */
kernel void transpose_naive(global const float *restrict in, global float *restrict out, uint n)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n)
        out[x * n + y] = in[y * n + x];
}

#define TILE 16

/* Loads and stores both run along rows; the turn happens in LDS, whose rows are padded by one element so that
 * a column falls into different banks. */
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
transpose_lds(global const float *restrict in, global float *restrict out, uint n)
{
    local float tile[TILE][TILE + 1];
    const uint column = get_local_id(0), row = get_local_id(1);
    const uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;

    if (left + column < n && top + row < n)
        tile[row][column] = in[(top + row) * n + left + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + column < n && left + row < n)
        out[(left + row) * n + top + column] = tile[column][row];
}

/* The same without the padding: a column of the tile falls into two banks, and LDS gives one word at a time. */
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
transpose_unpadded(global const float *restrict in, global float *restrict out, uint n)
{
    local float tile[TILE][TILE];
    const uint column = get_local_id(0), row = get_local_id(1);
    const uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;

    if (left + column < n && top + row < n)
        tile[row][column] = in[(top + row) * n + left + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + column < n && left + row < n)
        out[(left + row) * n + top + column] = tile[column][row];
}

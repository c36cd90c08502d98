/* SPDX-License-Identifier: MIT */
/* The cheapest ways through a grid from its first row, by dynamic programming: each dispatch walks over `rows` rows
 * in local memory. A workgroup's valid range shrinks by a column on either side with each row. */
#define BLOCK 256

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void
pathfinder(__global const int *wall, __global const int *source, __global int *result, int columns, int first_row,
           int rows)
{
    __local int previous[BLOCK], current[BLOCK];
    const int lx = get_local_id(0);
    const int x = (int)get_group_id(0) * (BLOCK - 2 * rows) - rows + lx;
    const bool inside = x >= 0 && x < columns;
    const int left = x > 0 ? lx - 1 : lx, right = x < columns - 1 ? lx + 1 : lx;
    bool computed = false;

    if (inside)
        previous[lx] = source[x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < rows; i++) {
        computed = inside && lx > i && lx < BLOCK - 1 - i;
        if (computed)
            current[lx] = min(previous[lx], min(previous[left], previous[right])) + wall[(first_row + i) * columns + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == rows - 1)
            break;
        if (computed)
            previous[lx] = current[lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (computed)
        result[x] = current[lx];
}

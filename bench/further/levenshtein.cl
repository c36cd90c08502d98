/* SPDX-License-Identifier: MIT */
/* Edit distance of pairs of strings: a workgroup per pair walks over the antidiagonals of the table, of which it
 * keeps three in local memory. */
#define LENGTH 128

__kernel __attribute__((reqd_work_group_size(LENGTH, 1, 1))) void
levenshtein(__global const uchar *left, __global const uchar *right, __global uint *distance)
{
    __local uint diagonal[3][LENGTH + 1];
    __local uchar other[LENGTH];
    const uint pair = get_group_id(0);
    const int row = get_local_id(0) + 1;
    const uchar mine = left[pair * LENGTH + row - 1];

    other[row - 1] = right[pair * LENGTH + row - 1];
    if (row == 1)
        diagonal[0][0] = 0;
    for (int d = 1; d <= 2 * LENGTH; d++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        __local uint *now = diagonal[d % 3];
        __local const uint *before = diagonal[(d + 2) % 3];
        __local const uint *earlier = diagonal[(d + 1) % 3];
        const int column = d - row;
        if (row == 1 && d <= LENGTH)
            now[0] = d;
        if (column == 0)
            now[row] = d;
        else if (column > 0 && column <= LENGTH)
            now[row] = min(min(before[row - 1], before[row]) + 1, earlier[row - 1] + (mine != other[column - 1]));
    }
    if (row == LENGTH)
        distance[pair] = diagonal[2 * LENGTH % 3][LENGTH];
}

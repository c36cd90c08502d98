/* SPDX-License-Identifier: MIT */
/* LU decomposition of many 16 x 16 matrices in place, without pivoting: a workgroup per matrix, in local memory. */
#define N 16

__kernel __attribute__((reqd_work_group_size(N, N, 1))) void lu(__global float *matrices)
{
    __local float m[N][N];
    const int column = get_local_id(0), row = get_local_id(1);
    __global float *element = matrices + (get_group_id(0) * N + row) * N + column;

    m[row][column] = *element;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < N - 1; k++) {
        if (column == k && row > k)
            m[row][k] /= m[k][k];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row > k && column > k)
            m[row][column] -= m[row][k] * m[k][column];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *element = m[row][column];
}

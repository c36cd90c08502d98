/* SPDX-License-Identifier: MIT */
/* y = A^T x, with A in rows: a work-item per column. */
__kernel void atx(__global const float *a, __global const float *x, __global float *y, uint rows, uint columns)
{
    uint column = get_global_id(0);
    if (column >= columns)
        return;
    float sum = 0;
    for (uint row = 0; row < rows; row++)
        sum += a[row * columns + column] * x[row];
    y[column] = sum;
}

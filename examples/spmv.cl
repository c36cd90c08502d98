/* SPDX-License-Identifier: MIT */
/* y = A * x for a sparse matrix in CSR form, eight lanes to a row: they read a row's elements side by side
 * and add their parts in LDS. */
#define GROUP 128
#define LANES 8

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
spmv(global const uint *restrict row_start, global const uint *restrict column,
     global const float *restrict value, global const float *restrict x, global float *restrict y, uint rows)
{
    local float part[GROUP];
    const uint item = get_local_id(0), lane = item % LANES, row = get_global_id(0) / LANES;

    float sum = 0;
    if (row < rows) {
        const uint end = row_start[row + 1];
        for (uint i = row_start[row] + lane; i < end; i += LANES)
            sum = fma(value[i], x[column[i]], sum);
    }
    part[item] = sum;
    for (uint width = LANES / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width)
            part[item] += part[item + width];
    }
    if (lane == 0 && row < rows)
        y[row] = part[item];
}

/* SPDX-License-Identifier: MIT */
/* y = A * x: a workgroup per row, four columns at a time, then a tree in local memory. */
#define GROUP 64

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gemv(__global const float4 *a, __global const float4 *x,
                                                                    __global float *y, uint columns)
{
    __local float sum[GROUP];
    uint id = get_local_id(0), row = get_group_id(0);
    float mine = 0;
    for (uint i = id; i < columns / 4; i += GROUP)
        mine += dot(a[row * (columns / 4) + i], x[i]);
    sum[id] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = GROUP / 2; step > 0; step >>= 1) {
        if (id < step)
            sum[id] += sum[id + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0)
        y[row] = sum[0];
}

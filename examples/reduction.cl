/* SPDX-License-Identifier: MIT */
/* The sum of n floats: each workgroup leaves one partial sum; a second dispatch of one workgroup adds those.
 */
#define GROUP 256

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce(global const float *restrict in,
                                                                      global float *restrict sums, uint n)
{
    local float partial[GROUP];
    const uint item = get_local_id(0);

    float sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    partial[item] = sum;
    for (uint width = GROUP / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width)
            partial[item] += partial[item + width];
    }
    if (item == 0)
        sums[get_group_id(0)] = partial[0];
}

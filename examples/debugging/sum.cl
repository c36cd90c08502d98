/* SPDX-License-Identifier: MIT */
/* Sums of 256 floats each. The loop ends too early. */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void sum(global const float *in, global float *out)
{
    local float part[256];
    const uint item = get_local_id(0);
    part[item] = in[get_global_id(0)];
    for (uint width = 128; width > 1; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width)
            part[item] += part[item + width];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        out[get_group_id(0)] = part[0];
}

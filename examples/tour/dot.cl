/* SPDX-License-Identifier: MIT */
/* Dot products, one partial sum per workgroup, with a missing barrier. */
kernel void dot_product(global const float *a, global const float *b, global float *partial, local float *scratch)
{
    uint i = get_global_id(0), l = get_local_id(0);
    scratch[l] = a[i] * b[i];
    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
#ifdef FIXED
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        if (l < step)
            scratch[l] += scratch[l + step];
#ifndef FIXED
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    if (l == 0)
        partial[get_group_id(0)] = scratch[0];
}

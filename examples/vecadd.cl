/* SPDX-License-Identifier: MIT */
/* c = a + b, one element per work-item: the smallest kernel that is worth running. */
kernel void vecadd(global const float *restrict a, global const float *restrict b, global float *restrict c,
                   uint n)
{
    const uint i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}

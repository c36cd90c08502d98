/* SPDX-License-Identifier: MIT */
/* Two kernels: the first makes indices into a table of 64 elements, some of which are too large. */
kernel void make_index(global int *index)
{
    const int i = get_global_id(0);
    index[i] = i * i % 67;
}

kernel void gather(global const float *table, global const int *index, global float *out)
{
    const int i = get_global_id(0);
    out[i] = table[index[i]];
}

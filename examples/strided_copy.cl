/* SPDX-License-Identifier: MIT */
/* Gathers every stride-th element: at a stride of 16 floats, each lane reads from a cache line of its own. */
kernel void strided_copy(global const float *restrict in, global float *restrict out, uint n, uint stride)
{
    const uint i = get_global_id(0);
    if (i < n)
        out[i] = in[i * stride];
}

/* SPDX-License-Identifier: MIT */
/* Scales rows of 4 floats to length 1. A row of zeros has none. */
kernel void normalise(global const float *in, global float *out)
{
    const uint row = get_global_id(0);
    float square = 0;
    for (uint i = 0; i < 4; i++)
        square += in[4 * row + i] * in[4 * row + i];
    const float scale = 1 / sqrt(square);
    for (uint i = 0; i < 4; i++)
        out[4 * row + i] = in[4 * row + i] * scale;
}

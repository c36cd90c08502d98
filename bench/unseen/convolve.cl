/* SPDX-License-Identifier: MIT */
/* Convolution with 5 x 5 weights in constant memory. What lies outside of the image counts as zero. */
#define RADIUS 2
#define SIDE   (2 * RADIUS + 1)

__kernel void convolve(__global const float *in, __global float *out, __constant float *weight, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int sx = x + dx, sy = y + dy;
            if (sx >= 0 && sx < width && sy >= 0 && sy < height)
                sum += in[sy * width + sx] * weight[(dy + RADIUS) * SIDE + dx + RADIUS];
        }
    out[y * width + x] = sum;
}

/* SPDX-License-Identifier: MIT */
/* Bilateral filter: a mean over a window, weighed by distance in space and in value. */
#define RADIUS 2

__kernel void bilateral(__global const float *in, __global float *out, int width, int height, float space, float range)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    const float centre = in[y * width + x];
    float sum = 0, weights = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            const float value = in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
            const float difference = value - centre;
            const float weight = exp(-(dx * dx + dy * dy) * space - difference * difference * range);
            sum += weight * value;
            weights += weight;
        }
    out[y * width + x] = sum / weights;
}

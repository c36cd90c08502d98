/* SPDX-License-Identifier: MIT */
/* One step of heat flow on a grid: each point moves towards the mean of its four neighbours. Points outside
 * have the value of the nearest edge point, so that no heat is lost. */
kernel void stencil2d(global const float *restrict in, global float *restrict out, uint width, uint height,
                      float rate)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    const uint west = x > 0 ? x - 1 : x, east = min(x + 1, width - 1);
    const uint north = y > 0 ? y - 1 : y, south = min(y + 1, height - 1);
    const float here = in[y * width + x];
    const float around =
        (in[y * width + west] + in[y * width + east]) + (in[north * width + x] + in[south * width + x]);
    out[y * width + x] = fma(rate, fma(-4.0f, here, around), here);
}

/* SPDX-License-Identifier: MIT */
/* How many steps each point of the plane takes to escape. Every multiply-add is written as one fma and
 * nothing else may be contracted, so that the counts are the same on all conforming hardware. */
#pragma OPENCL FP_CONTRACT OFF

kernel void mandelbrot(global uint *restrict counts, uint width, uint height, float left, float top,
                       float pitch, uint limit)
{
    const uint column = get_global_id(0), row = get_global_id(1);
    if (column >= width || row >= height)
        return;

    const float cx = fma((float)column, pitch, left), cy = fma((float)row, -pitch, top);
    float x = 0, y = 0, xx = 0, yy = 0;
    uint count = 0;
    while (count < limit && xx + yy <= 4.0f) {
        y = fma(x + x, y, cy);
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        count++;
    }
    counts[row * width + column] = count;
}

/* SPDX-License-Identifier: MIT */
/* A Julia set in double: how many steps z = z * z + c takes to leave the circle of radius 2. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void julia(__global uint *counts, uint width, uint height, double left, double top, double pitch, double cr,
                    double ci, uint limit)
{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    double re = fma((double)x, pitch, left), im = fma((double)y, -pitch, top);
    uint count = 0;
    while (count < limit) {
        double re2 = re * re, im2 = im * im;
        if (re2 + im2 > 4.0)
            break;
        im = fma(2.0 * re, im, ci);
        re = re2 - im2 + cr;
        count++;
    }
    counts[y * width + x] = count;
}

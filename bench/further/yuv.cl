/* SPDX-License-Identifier: MIT */
/* RGB, three bytes per pixel, to planes Y, U and V (BT.601, studio swing). */
__kernel void rgb_to_yuv(__global const uchar *rgb, __global uchar *y, __global uchar *u, __global uchar *v,
                         int pixels)
{
    int i = get_global_id(0);
    if (i >= pixels)
        return;
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    y[i] = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
    u[i] = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128;
    v[i] = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
}

/* SPDX-License-Identifier: MIT */
/* A box blur of a grey image, with two mistakes: it reads beyond the image, and lanes run down its columns. */
kernel void blur(global const float *src, global float *dst, int width, int height)
{
#ifdef FIXED
    int x = get_global_id(0), y = get_global_id(1);
#else
    int y = get_global_id(0), x = get_global_id(1);
#endif
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
#ifdef FIXED
            sum += src[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
#else
            sum += src[(y + dy) * width + x + dx];
#endif
    dst[y * width + x] = sum / 9;
}

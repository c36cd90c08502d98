/* SPDX-License-Identifier: MIT */
/* Edges of an image of bytes: the length of Sobel's gradient. Pixels beyond the edges are those of the edge. */
__kernel void sobel(__global const uchar *in, __global uchar *out, int width, int height)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    const int left = max(x - 1, 0), right = min(x + 1, width - 1);
    __global const uchar *above = in + max(y - 1, 0) * width, *row = in + y * width;
    __global const uchar *below = in + min(y + 1, height - 1) * width;

    int gx = above[right] - above[left] + 2 * (row[right] - row[left]) + below[right] - below[left];
    int gy = below[left] - above[left] + 2 * (below[x] - above[x]) + below[right] - above[right];
    out[y * width + x] = convert_uchar_sat_rte(sqrt((float)(gx * gx + gy * gy)));
}

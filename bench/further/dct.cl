/* SPDX-License-Identifier: MIT */
/* Discrete cosine transform of 8 x 8 blocks of an image: rows, then columns, through local memory. */
#define N     8
#define WIDTH 32

__kernel __attribute__((reqd_work_group_size(WIDTH, N, 1))) void
dct8x8(__global const float *in, __global float *out, __constant float *basis, int width)
{
    __local float block[N][WIDTH], half_way[N][WIDTH];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int x = get_global_id(0), y = get_global_id(1);
    const int first = lx & ~(N - 1), u = lx & (N - 1);

    block[ly][lx] = x < width ? in[y * width + x] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < N; k++)
        sum += basis[u * N + k] * block[ly][first + k];
    half_way[ly][lx] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0;
    for (int k = 0; k < N; k++)
        sum += basis[ly * N + k] * half_way[k][lx];
    if (x < width)
        out[y * width + x] = sum;
}

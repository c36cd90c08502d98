/* SPDX-License-Identifier: MIT */
/* Forward FFTs of 1024 complex points, one per workgroup: Stockham's form, five passes of radix 4 through
 * LDS. twiddle[i] is exp(-2 pi i / 1024). Workgroups beyond `batch` do nothing. */
#define POINTS 1024
#define GROUP  (POINTS / 4)

static float2 multiply(float2 a, float2 b)
{
    return (float2)(fma(a.x, b.x, -a.y * b.y), fma(a.x, b.y, a.y * b.x));
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void fft1k(global const float2 *restrict in,
                                                                     global float2 *restrict out,
                                                                     global const float2 *restrict twiddle,
                                                                     uint batch)
{
    local float2 point[POINTS];
    const uint item = get_local_id(0), start = get_group_id(0) * POINTS;
    if (get_group_id(0) >= batch)
        return;

    float2 v[4];
    for (uint i = 0; i < 4; i++)
        v[i] = in[start + item + i * GROUP];

    for (uint done = 1; done < POINTS; done *= 4) { /* points of the transforms that are finished */
        const uint k = item % done, turn = k * (POINTS / 4 / done);
        for (uint i = 1; i < 4; i++)
            v[i] = multiply(v[i], twiddle[i * turn]);

        const float2 even = v[0] + v[2], odd = v[0] - v[2], sum = v[1] + v[3], difference = v[1] - v[3];
        const float2 turned = (float2)(difference.y, -difference.x); /* -i times the difference */
        const float2 result[4] = {even + sum, odd + turned, even - sum, odd - turned};

        const uint place = (item - k) * 4 + k;
        for (uint i = 0; i < 4; i++)
            point[place + i * done] = result[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < 4; i++)
            v[i] = point[item + i * GROUP];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < 4; i++)
        out[start + item + i * GROUP] = v[i];
}

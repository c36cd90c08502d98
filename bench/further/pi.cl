/* SPDX-License-Identifier: MIT */
/* Monte Carlo estimate of pi: counts points of the unit square that are inside the circle. */
uint xorshift32(uint *state)
{
    uint x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

__kernel void pi(__global uint *hits, uint seed, uint points)
{
    __local uint sum[256];
    uint id = get_local_id(0);
    uint state = (get_global_id(0) + 1) * seed | 1;
    uint inside = 0;
    for (uint i = 0; i < points; i++) {
        float x = (xorshift32(&state) >> 8) * 0x1p-24f;
        float y = (xorshift32(&state) >> 8) * 0x1p-24f;
        if (fma(x, x, y * y) < 1.0f)
            inside++;
    }
    sum[id] = inside;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_way = get_local_size(0) / 2; half_way > 0; half_way /= 2) {
        if (id < half_way)
            sum[id] += sum[id + half_way];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0)
        atomic_add(hits, sum[0]);
}

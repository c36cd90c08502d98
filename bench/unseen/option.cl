/* SPDX-License-Identifier: MIT */
/* Monte Carlo pricing of a European call: each work-item averages the payoff of its own pairs of paths, with normal
 * numbers by Box and Muller from a linear congruential generator. */
uint next(uint *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

__kernel void option(__global float *price, uint items, uint seed, uint pairs, float spot, float strike, float drift,
                     float volatility, float discount)
{
    uint id = get_global_id(0);
    if (id >= items)
        return;
    uint state = (id + 1) * seed;
    float sum = 0;
    for (uint i = 0; i < pairs; i++) {
        float u = (next(&state) + 1) * 0x1p-24f;
        float v = next(&state) * 0x1p-24f;
        float radius = sqrt(-2.0f * log(u));
        float angle = 2.0f * M_PI_F * v;
        float up = spot * exp(drift + volatility * radius * cos(angle));
        float down = spot * exp(drift + volatility * radius * sin(angle));
        sum += fmax(up - strike, 0.0f) + fmax(down - strike, 0.0f);
    }
    price[id] = discount * sum / (2 * pairs);
}

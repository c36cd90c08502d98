/* SPDX-License-Identifier: MIT */
/* Gradient noise in two dimensions, with hashed gradients, summed over octaves. */
uint hash(int x, int y)
{
    uint h = (uint)x * 0x85ebca6bu + (uint)y * 0xc2b2ae35u;
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}

float slope(uint h, float x, float y)
{
    float u = h & 4 ? y : x, v = h & 4 ? x : y;
    return (h & 1 ? -u : u) + (h & 2 ? -2.0f * v : 2.0f * v);
}

float fade(float t)
{
    return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f);
}

float noise(float x, float y)
{
    float fx = floor(x), fy = floor(y);
    int ix = (int)fx, iy = (int)fy;
    x -= fx;
    y -= fy;
    float top = mix(slope(hash(ix, iy), x, y), slope(hash(ix + 1, iy), x - 1.0f, y), fade(x));
    float bottom = mix(slope(hash(ix, iy + 1), x, y - 1.0f), slope(hash(ix + 1, iy + 1), x - 1.0f, y - 1.0f), fade(x));
    return mix(top, bottom, fade(y));
}

__kernel void perlin(__global float *out, int width, int height, float frequency, int octaves)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float sum = 0, amplitude = 0.5f;
    for (int i = 0; i < octaves; i++) {
        sum += amplitude * noise(x * frequency, y * frequency);
        frequency *= 2.0f;
        amplitude *= 0.5f;
    }
    out[y * width + x] = sum;
}

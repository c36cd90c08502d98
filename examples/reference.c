/* SPDX-License-Identifier: MIT */
/* References for the example kernels: plain C, sharing no code with them. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void reference_vecadd(const float *a, const float *b, float *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

void reference_saxpy(float alpha, const float *x, const float *y, float *result, size_t n)
{
    for (size_t i = 0; i < n; i++)
        result[i] = fmaf(alpha, x[i], y[i]);
}

void reference_strided_copy(const float *in, float *out, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i * stride];
}

void reference_transpose(const float *in, float *out, size_t n)
{
    for (size_t row = 0; row < n; row++)
        for (size_t column = 0; column < n; column++)
            out[column * n + row] = in[row * n + column];
}

bool reference_sgemm(size_t m, size_t n, size_t k, float alpha, const float *a, const float *b, float beta,
                     const float *c, float *result)
{
    double *sum = malloc(n * sizeof(*sum));
    if (!sum)
        return false;
    for (size_t row = 0; row < m; row++) {
        for (size_t column = 0; column < n; column++)
            sum[column] = 0;
        for (size_t i = 0; i < k; i++)
            for (size_t column = 0; column < n; column++)
                sum[column] += (double)a[row * k + i] * b[i * n + column];
        for (size_t column = 0; column < n; column++)
            result[row * n + column] = (float)(alpha * sum[column] + (double)beta * c[row * n + column]);
    }
    free(sum);
    return true;
}

float reference_sum(const float *in, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += in[i];
    return (float)sum;
}

void reference_histogram(const uint32_t *words, size_t bytes, uint32_t bins[256])
{
    memset(bins, 0, 256 * sizeof(*bins));
    for (size_t i = 0; i < bytes; i++)
        bins[(words[i / 4] >> (8 * (i % 4))) % 256]++;
}

void reference_nbody(const float *position, const float *velocity, float *new_position, float *new_velocity,
                     size_t n, float softening, float step)
{
    for (size_t i = 0; i < n; i++) {
        double pull[3] = {0, 0, 0};
        for (size_t j = 0; j < n; j++) {
            double to[3], square = softening;
            for (int axis = 0; axis < 3; axis++) {
                to[axis] = (double)position[j * 4 + axis] - position[i * 4 + axis];
                square += to[axis] * to[axis];
            }
            const double strength = position[j * 4 + 3] / (square * sqrt(square));
            for (int axis = 0; axis < 3; axis++)
                pull[axis] += strength * to[axis];
        }
        for (int axis = 0; axis < 3; axis++) {
            const double speed = velocity[i * 4 + axis] + pull[axis] * step;
            new_velocity[i * 4 + axis] = (float)speed;
            new_position[i * 4 + axis] = (float)(position[i * 4 + axis] + speed * step);
        }
        new_velocity[i * 4 + 3] = 0;
        new_position[i * 4 + 3] = position[i * 4 + 3];
    }
}

void reference_mandelbrot(uint32_t *counts, size_t width, size_t height, float left, float top, float pitch,
                          uint32_t limit)
{
    for (size_t row = 0; row < height; row++) {
        for (size_t column = 0; column < width; column++) {
            const float cx = fmaf((float)column, pitch, left), cy = fmaf((float)row, -pitch, top);
            float x = 0, y = 0;
            uint32_t count;
            for (count = 0; count < limit; count++) {
                const float xx = x * x, yy = y * y;
                if (xx + yy > 4)
                    break;
                y = fmaf(2 * x, y, cy);
                x = xx - yy + cx;
            }
            counts[row * width + column] = count;
        }
    }
}

/* ---- SHA-256 ---- */

/* The largest r with r^power <= value. */
static uint64_t integer_root(unsigned __int128 value, int power)
{
    uint64_t root = 0;
    for (int bit = power == 2 ? 47 : 35; bit >= 0; bit--) { /* enough for 311 * 2^64 and 311 * 2^96 */
        const uint64_t candidate = root | UINT64_C(1) << bit;
        unsigned __int128 product = (unsigned __int128)candidate * candidate;
        if (power == 3)
            product *= candidate;
        if (product <= value)
            root = candidate;
    }
    return root;
}

/* FIPS 180-4, 4.2.2 and 5.3.3: the first 32 bits of the fractions of the cube roots of the first 64 primes,
 * and of the square roots of the first eight. */
void reference_sha256_constants(struct sha256_constants *constants)
{
    int found = 0;
    for (uint32_t candidate = 2; found < 64; candidate++) {
        bool prime = true;
        for (uint32_t i = 2; i * i <= candidate; i++)
            prime = prime && candidate % i != 0;
        if (!prime)
            continue;
        constants->k[found] = (uint32_t)integer_root((unsigned __int128)candidate << 96, 3);
        if (found < 8)
            constants->hash[found] = (uint32_t)integer_root((unsigned __int128)candidate << 64, 2);
        found++;
    }
}

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* FIPS 180-4, 6.2.2. */
static void sha256_block(uint32_t hash[8], const uint8_t block[64], const uint32_t k[64])
{
    uint32_t w[64], v[8];
    for (int t = 0; t < 64; t++) {
        if (t < 16) {
            w[t] = (uint32_t)block[t * 4] << 24 | (uint32_t)block[t * 4 + 1] << 16 |
                   (uint32_t)block[t * 4 + 2] << 8 | block[t * 4 + 3];
            continue;
        }
        const uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    memcpy(v, hash, sizeof(v));
    for (int t = 0; t < 64; t++) {
        const uint32_t a = v[0], e = v[4];
        const uint32_t choice = (e & v[5]) ^ (~e & v[6]);
        const uint32_t majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        const uint32_t t1 = v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + choice + k[t] + w[t];
        const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + majority;
        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        hash[i] += v[i];
}

void reference_sha256(const struct sha256_constants *constants, const uint8_t *message, size_t length,
                      uint8_t digest[32])
{
    uint32_t hash[8];
    memcpy(hash, constants->hash, sizeof(hash));

    /* FIPS 180-4, 5.1.1: a one bit, zeros, and the length in bits, to the end of a block. */
    const size_t whole = length / 64, rest = length % 64, tail = rest < 56 ? 64 : 128;
    uint8_t last[128] = {0};
    if (rest > 0)
        memcpy(last, message + whole * 64, rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++)
        last[tail - 1 - i] = (uint8_t)((uint64_t)length * 8 >> (8 * i));

    for (size_t i = 0; i < whole; i++)
        sha256_block(hash, message + i * 64, constants->k);
    for (size_t i = 0; i < tail; i += 64)
        sha256_block(hash, last + i, constants->k);
    for (int i = 0; i < 32; i++)
        digest[i] = (uint8_t)(hash[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- sparse matrices, spectra, grids ---- */

void reference_spmv(const uint32_t *row_start, const uint32_t *column, const float *value, const float *x,
                    float *y, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        double sum = 0;
        for (uint32_t i = row_start[row]; i < row_start[row + 1]; i++)
            sum += (double)value[i] * x[column[i]];
        y[row] = (float)sum;
    }
}

bool reference_dft(const float *in, float *out, size_t n)
{
    double *cosine = malloc(2 * n * sizeof(*cosine));
    if (!cosine)
        return false;
    double *sine = cosine + n;
    for (size_t i = 0; i < n; i++) {
        cosine[i] = cos(2 * M_PI * (double)i / (double)n);
        sine[i] = sin(2 * M_PI * (double)i / (double)n);
    }
    for (size_t frequency = 0; frequency < n; frequency++) {
        double real = 0, imaginary = 0;
        for (size_t i = 0; i < n; i++) {
            const size_t turn = frequency * i % n;
            real += in[i * 2] * cosine[turn] + in[i * 2 + 1] * sine[turn];
            imaginary += in[i * 2 + 1] * cosine[turn] - in[i * 2] * sine[turn];
        }
        out[frequency * 2] = (float)real;
        out[frequency * 2 + 1] = (float)imaginary;
    }
    free(cosine);
    return true;
}

/* Heat flows between neighbours, so the total is conserved; nothing crosses the edge. */
bool reference_heat(const float *in, float *out, size_t width, size_t height, float rate, unsigned steps)
{
    const size_t n = width * height;
    double *heat = malloc(2 * n * sizeof(*heat));
    if (!heat)
        return false;
    double *next = heat + n;
    for (size_t i = 0; i < n; i++)
        heat[i] = in[i];
    for (unsigned step = 0; step < steps; step++) {
        memcpy(next, heat, n * sizeof(*next));
        for (size_t y = 0; y < height; y++) {
            for (size_t x = 0; x < width; x++) {
                const size_t here = y * width + x, neighbour[2] = {here + 1, here + width};
                const bool inside[2] = {x + 1 < width, y + 1 < height};
                for (int i = 0; i < 2; i++) {
                    if (!inside[i])
                        continue;
                    const double flow = rate * (heat[here] - heat[neighbour[i]]);
                    next[here] -= flow;
                    next[neighbour[i]] += flow;
                }
            }
        }
        memcpy(heat, next, n * sizeof(*next));
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (float)heat[i];
    free(heat);
    return true;
}

void reference_exclusive_scan(const uint32_t *in, uint32_t *out, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
}

static double normal(double x)
{
    return 0.5 * (1 + erf(x / sqrt(2)));
}

void reference_blackscholes(const float *price, const float *strike, const float *years, float *call,
                            float *put, size_t n, float rate, float volatility)
{
    for (size_t i = 0; i < n; i++) {
        const double s = price[i], k = strike[i], t = years[i], v = volatility;
        const double d1 = (log(s / k) + (rate + v * v / 2) * t) / (v * sqrt(t));
        const double present = k * exp(-(double)rate * t);
        const double value = s * normal(d1) - present * normal(d1 - v * sqrt(t));
        call[i] = (float)value;
        put[i] = (float)(value + present - s); /* put-call parity */
    }
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void reference_sort(const uint32_t *in, uint32_t *out, size_t n)
{
    memcpy(out, in, n * sizeof(*out));
    qsort(out, n, sizeof(*out), ascending);
}

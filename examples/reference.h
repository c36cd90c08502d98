/* SPDX-License-Identifier: MIT */
/* References for the example kernels: plain C, sharing no code with them; floats are computed in double with
 * different algorithms. */
#ifndef WAVEMEM_EXAMPLES_REFERENCE_H
#define WAVEMEM_EXAMPLES_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void reference_vecadd(const float *a, const float *b, float *c, size_t n);
void reference_saxpy(float alpha, const float *x, const float *y, float *result, size_t n);
void reference_strided_copy(const float *in, float *out, size_t n, size_t stride);
void reference_transpose(const float *in, float *out, size_t n);
/* result = alpha * a * b + beta * c; false when out of memory. a is m x k, b is k x n, row-major. */
bool reference_sgemm(size_t m, size_t n, size_t k, float alpha, const float *a, const float *b, float beta,
                     const float *c, float *result);
float reference_sum(const float *in, size_t n);
void reference_histogram(const uint32_t *words, size_t bytes, uint32_t bins[256]);
/* Positions and velocities have four floats: x, y, z, and mass or unused. */
void reference_nbody(const float *position, const float *velocity, float *new_position, float *new_velocity,
                     size_t n, float softening, float step);
/* Computed in float with the same fma operations as the example, because counts must be equal. */
void reference_mandelbrot(uint32_t *counts, size_t width, size_t height, float left, float top, float pitch,
                          uint32_t limit);
struct sha256_constants {
    uint32_t k[64], hash[8];
};
void reference_sha256_constants(struct sha256_constants *constants);
/* SHA-256 of a message of any length, according to FIPS 180-4. */
void reference_sha256(const struct sha256_constants *constants, const uint8_t *message, size_t length,
                      uint8_t digest[32]);
void reference_spmv(const uint32_t *row_start, const uint32_t *column, const float *value, const float *x,
                    float *y, size_t rows);
/* The discrete Fourier transform of n complex points by its definition. */
bool reference_dft(const float *in, float *out, size_t n);
/* `steps` steps of heat flow on a grid; false when out of memory. */
bool reference_heat(const float *in, float *out, size_t width, size_t height, float rate, unsigned steps);
void reference_exclusive_scan(const uint32_t *in, uint32_t *out, size_t n);
void reference_blackscholes(const float *price, const float *strike, const float *years, float *call,
                            float *put, size_t n, float rate, float volatility);
void reference_sort(const uint32_t *in, uint32_t *out, size_t n);

#endif

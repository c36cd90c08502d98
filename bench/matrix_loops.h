/* SPDX-License-Identifier: MIT */
/* Products of matrices as a program for the host would make them: the peers of matrix.c. */
#ifndef WAVEMEM_BENCH_MATRIX_LOOPS_H
#define WAVEMEM_BENCH_MATRIX_LOOPS_H

#include <stdint.h>

/* D += A B, of m x k and k x n elements in rows, with m and n multiples of 4 and 16. bf16 in pairs along k:
 * words of A, and of B in rows of pairs; false if the host has no instruction for it. */
void bench_product_f32(float *d, const float *a, const float *b, unsigned m, unsigned n, unsigned k);
void bench_product_f64(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k);
_Bool bench_product_bf16(float *d, const uint32_t *a, const uint32_t *b, unsigned m, unsigned n, unsigned k);

#endif

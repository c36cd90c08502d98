/* SPDX-License-Identifier: MIT */
/* Loops over vectors as wide as the host's, built with all of its instructions and with sums fused with
 * products. Four rows of D at a time are in registers. */
#include "matrix_loops.h"

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

enum { ROWS = 4 };

#define PRODUCT(name, type)                                                                                  \
    void name(type *d, const type *a, const type *b, unsigned m, unsigned n, unsigned k)                     \
    {                                                                                                        \
        typedef type vector __attribute__((vector_size(BYTES), aligned(sizeof(type))));                      \
        enum { LANES = sizeof(vector) / sizeof(type), PARTS = 16 / LANES };                                  \
        for (unsigned j = 0; j < n; j += 16)                                                                 \
            for (unsigned i = 0; i < m; i += ROWS) {                                                         \
                vector sum[ROWS][PARTS];                                                                     \
                for (unsigned r = 0; r < ROWS; r++)                                                          \
                    for (unsigned p = 0; p < PARTS; p++)                                                     \
                        sum[r][p] = *(const vector *)(d + (i + r) * n + j + p * LANES);                      \
                for (unsigned x = 0; x < k; x++)                                                             \
                    for (unsigned p = 0; p < PARTS; p++) {                                                   \
                        const vector row = *(const vector *)(b + x * n + j + p * LANES);                     \
                        for (unsigned r = 0; r < ROWS; r++)                                                  \
                            sum[r][p] += a[(i + r) * k + x] * row;                                           \
                    }                                                                                        \
                for (unsigned r = 0; r < ROWS; r++)                                                          \
                    for (unsigned p = 0; p < PARTS; p++)                                                     \
                        *(vector *)(d + (i + r) * n + j + p * LANES) = sum[r][p];                            \
            }                                                                                                \
    }

PRODUCT(bench_product_f32, float)
PRODUCT(bench_product_f64, double)

_Bool bench_product_bf16(float *d, const uint32_t *a, const uint32_t *b, unsigned m, unsigned n, unsigned k)
{
#ifdef __AVX512BF16__
    for (unsigned j = 0; j < n; j += 16)
        for (unsigned i = 0; i < m; i += ROWS) {
            __m512 sum[ROWS];
            for (unsigned r = 0; r < ROWS; r++)
                sum[r] = _mm512_loadu_ps(d + (i + r) * n + j);
            for (unsigned x = 0; x < k / 2; x++) {
                const __m512bh row = (__m512bh)_mm512_loadu_si512(b + x * n + j);
                for (unsigned r = 0; r < ROWS; r++)
                    sum[r] = _mm512_dpbf16_ps(sum[r],
                                              (__m512bh)_mm512_set1_epi32((int)a[(i + r) * k / 2 + x]), row);
            }
            for (unsigned r = 0; r < ROWS; r++)
                _mm512_storeu_ps(d + (i + r) * n + j, sum[r]);
        }
    return 1;
#else
    (void)d, (void)a, (void)b, (void)m, (void)n, (void)k;
    return 0;
#endif
}

/* SPDX-License-Identifier: MIT */
/* y = A x with a thread per row. Neighbouring threads are a row apart, unless A is stored by columns. */
#include <hip/hip_runtime.h>

extern "C" __global__ void matvec(const float *A, const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < cols; c++)
#ifdef BY_COLUMNS
        sum += A[c * rows + row] * x[c];
#else
        sum += A[row * cols + c] * x[c];
#endif
    y[row] = sum;
}

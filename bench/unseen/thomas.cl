/* SPDX-License-Identifier: MIT */
/* Tridiagonal systems by Thomas' algorithm: a work-item per system. Row i of all systems is stored together. */
__kernel void thomas(__global const float *lower, __global const float *diagonal, __global const float *upper,
                     __global const float *right, __global float *scratch, __global float *x, int rows, int systems)
{
    int at = get_global_id(0);
    if (at >= systems)
        return;
    float c = upper[at] / diagonal[at], d = right[at] / diagonal[at];
    scratch[at] = c;
    x[at] = d;
    for (int i = 1; i < rows; i++) {
        at += systems;
        float divisor = diagonal[at] - lower[at] * c;
        c = upper[at] / divisor;
        d = (right[at] - lower[at] * d) / divisor;
        scratch[at] = c;
        x[at] = d;
    }
    for (int i = rows - 2; i >= 0; i--) {
        at -= systems;
        d = x[at] - scratch[at] * d;
        x[at] = d;
    }
}

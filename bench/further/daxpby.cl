/* SPDX-License-Identifier: MIT */
/* y = alpha * x + beta * y in double, with a grid stride. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void daxpby(uint n, double alpha, __global const double *x, double beta, __global double *y)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        y[i] = fma(alpha, x[i], beta * y[i]);
}

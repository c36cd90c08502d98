// SPDX-License-Identifier: MIT
// Floating-point exceptions in code that keeps its variables in private memory.
// COMPILE: -O0

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// RUN: divide -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void divide(global float *out)
{
    const float i = get_global_id(0);
    float quotient = 1 / i; // FINDS: float-division-by-zero
    quotient = quotient + 1;
    out[get_global_id(0)] = quotient;
}

// RUN: guarded_good -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void guarded_good(global float *out)
{
    const float i = get_global_id(0);
    float quotient = 1 / i;
    if (i == 0)
        quotient = 0;
    out[get_global_id(0)] = quotient;
}

// RUN: double_product -g 64 -b 64 --arg out=uninit:f64:64 --only float
kernel void double_product(global double *out)
{
    const double i = get_global_id(0);
    double product = i * DBL_MAX; // FINDS: float-overflow
    out[get_global_id(0)] = product;
}

// RUN: half_sum -g 64 -b 64 --arg out=uninit:f16:64 --only float
kernel void half_sum(global half *out)
{
    const half i = get_global_id(0);
    half sum = i + (half)65504; // FINDS: float-overflow
    out[get_global_id(0)] = sum;
}

// RUN: converted -g 64 -b 64 --arg out=uninit:u32:64 --only float
kernel void converted(global uint *out)
{
    const float i = get_global_id(0);
    uint number = (uint)(i - 5); // FINDS: float-conversion
    out[get_global_id(0)] = number;
}

// RUN: functions_good -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void functions_good(global float *out)
{
    const float i = get_global_id(0);
    out[get_global_id(0)] = sqrt(i) + exp(-10 * i) + log(i + 1) + pow(i, 1.5f) + sin(i) + cos(1000000 * i) + tanh(i) + atan2(i, i) +
                            cbrt(i) + rsqrt(i + 1) + fmod(i, 3) + exp2(-100 * i) + erf(i) + hypot(i, i);
}

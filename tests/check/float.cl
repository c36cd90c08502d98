// SPDX-License-Identifier: MIT
// Floating-point exceptions in compiled code: expansions of division, roots, exp and log compute infinities and NaNs that
// they do not return.

// COMPILE: -cl-fp32-correctly-rounded-divide-sqrt

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// RUN: divide -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void divide(global float *out)
{
    const float i = get_global_id(0);
    out[get_global_id(0)] = (i + 1) / i; // FINDS: float-division-by-zero
}

// RUN: divide_good -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void divide_good(global float *out)
{
    const float i = get_global_id(0);
    out[get_global_id(0)] = i / (i + 1);
}

// RUN: divide_zeros -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void divide_zeros(global float *out)
{
    const float i = get_global_id(0);
    out[get_global_id(0)] = i / (i * 3); // FINDS: float-invalid
}

// RUN: divide_f64 -g 64 -b 64 --arg out=uninit:f64:64 --only float
kernel void divide_f64(global double *out)
{
    const double i = get_global_id(0);
    out[get_global_id(0)] = (i + 1) / i; // FINDS: float-division-by-zero
}

// RUN: divide_f64_good -g 64 -b 64 --arg out=uninit:f64:64 --only float
kernel void divide_f64_good(global double *out)
{
    const double i = get_global_id(0);
    out[get_global_id(0)] = i / (i + 1);
}

// RUN: divide_f16 -g 64 -b 64 --arg out=uninit:f16:64 --only float
kernel void divide_f16(global half *out)
{
    const half i = get_global_id(0);
    out[get_global_id(0)] = (i + 1) / i; // FINDS: float-division-by-zero
}

// The quotient is infinite, and the store does not take it.
// RUN: guarded_good -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void guarded_good(global float *out)
{
    const float i = get_global_id(0), quotient = 1 / i;
    out[get_global_id(0)] = i == 0 ? 0 : quotient;
}

// RUN: functions_good -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void functions_good(global float *out)
{
    const float i = get_global_id(0);
    out[get_global_id(0)] = sqrt(i) + exp(-10 * i) + log(i + 1) + pow(i, 1.5f) + sin(i) + cos(1000000 * i) + tanh(i) + atan2(i, i) +
                            cbrt(i) + rsqrt(i + 1) + fmod(i, 3) + exp2(-100 * i) + erf(i) + hypot(i, i);
}

// RUN: functions_f64_good -g 64 -b 64 --arg out=uninit:f64:64 --only float
kernel void functions_f64_good(global double *out)
{
    const double i = get_global_id(0);
    out[get_global_id(0)] = sqrt(i) + exp(-20 * i) + log(i + 1) + pow(i, 1.5) + sin(i) + cos(1000000 * i) + tanh(i) + atan2(i, i) +
                            cbrt(i) + rsqrt(i + 1) + fmod(i, 3);
}

// RUN: overflow -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void overflow(global float *out)
{
    const float i = get_global_id(0);
    out[get_global_id(0)] = 1e37f * i; // FINDS: float-overflow
}

// RUN: negative_root -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void negative_root(global float *out)
{
    const float i = get_global_id(0);
    out[get_global_id(0)] = native_sqrt(2 - i); // FINDS: float-invalid
}

// RUN: converted -g 64 -b 64 --arg out=uninit:u32:64 --only float
kernel void converted(global uint *out)
{
    const float i = get_global_id(0);
    out[get_global_id(0)] = (uint)(i - 5); // FINDS: float-conversion
}

// RUN: converted_good -g 64 -b 64 --arg out=uninit:u32:64 --only float
kernel void converted_good(global uint *out)
{
    const float i = get_global_id(0);
    out[get_global_id(0)] = convert_uint_sat(i - 5) + (uint)(i * 100) / (get_global_id(0) + 1);
}

// LDS is memory: what is stored there is reported.
// RUN: through_lds -g 64 -b 64 --arg out=uninit:f32:64 --only float
kernel void through_lds(global float *out)
{
    local float tile[64];
    const uint l = get_local_id(0);
    tile[l] = native_recip((float)l); // FINDS: float-division-by-zero
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - l];
}

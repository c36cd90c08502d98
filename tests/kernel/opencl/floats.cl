// SPDX-License-Identifier: MIT
// Floats of 16, 32 and 64 bits: operators and functions with a single correct result, on all classes of
// values.

#define FLOATS_OF(T, N) \
    kernel void arithmetic_##T##N(global const T##N *any_a, global const T##N *any_b, global const T##N *any_c, \
                                  global T##N *out) \
    { \
        const size_t i = get_global_id(0); \
        const T##N x = any_a[i], y = any_b[i], z = any_c[i]; \
        global T##N *o = out + 8 * i; \
        o[0] = x + y; \
        o[1] = x - y * z; \
        o[2] = x * y; \
        o[3] = fma(x, y, z); \
        o[4] = fma(-x, y, fabs(z)); \
        o[5] = fmin(x, y) + (T##N)(T)1; \
        o[6] = fmax(x, z) * (T##N)(T)2; \
        o[7] = -(x + fabs(y)) * (T##N)(T)0.5f; \
    } \
    kernel void rounding_##T##N(global const T##N *any_a, global const T##N *b, global T##N *out) \
    { \
        const size_t i = get_global_id(0); \
        const T##N x = any_a[i], y = b[i]; \
        global T##N *o = out + 8 * i; \
        o[0] = floor(x); \
        o[1] = rint(x); \
        o[2] = floor(y) + rint(y); \
        o[3] = sqrt(fabs(y)); \
        o[4] = sqrt(x); \
    }
FLOATS_OF(half, )
FLOATS_OF(half, 2)
FLOATS_OF(half, 3)
FLOATS_OF(half, 4)
FLOATS_OF(float, )
FLOATS_OF(float, 2)
FLOATS_OF(float, 4)
FLOATS_OF(double, )
FLOATS_OF(double, 2)

#define SCALARS(T) \
    kernel void quotients_##T(global const T *any_a, global const T *any_b, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        const T x = any_a[i], y = any_b[i]; \
        global T *o = out + 8 * i; \
        o[0] = x / y; \
        o[1] = (T)1 / x; \
        o[2] = x / (T)3; \
        o[3] = ceil(x); \
        o[4] = trunc(x); \
        o[5] = round(x); \
        o[6] = copysign(x, y); \
        o[7] = sign(x) + (T)0; /* of NaN: either zero */ \
    } \
    kernel void comparisons_##T(global const T *any_a, global const T *any_b, global const T *any_c, global int *out, \
                                global T *chosen) \
    { \
        const size_t i = get_global_id(0); \
        const T x = any_a[i], y = i % 3 ? any_b[i] : x, z = any_c[i]; \
        global int *o = out + 16 * i; \
        o[0] = x < y; \
        o[1] = x <= y; \
        o[2] = x == y; \
        o[3] = x != y; \
        o[4] = !(x < y); \
        o[5] = !(x >= y); \
        o[6] = isnan(x); \
        o[7] = isinf(x); \
        o[8] = signbit(x) != 0; \
        o[9] = isunordered(x, y); \
        o[10] = islessgreater(x, y); \
        o[11] = isnan(x + y) + 2 * isinf(x * y); \
        chosen[4 * i] = x < y ? x : z; \
        chosen[4 * i + 1] = x > (T)0 ? y : -z; \
        chosen[4 * i + 2] = clamp(z, (T)-2, (T)2); \
        chosen[4 * i + 3] = fmin(fmax(x, y), z); \
    }
SCALARS(half)
SCALARS(float)
SCALARS(double)

// Sums and products of mixed sizes: fused mixed-precision instructions on targets that have them.
kernel void mixed(global const half *a, global const half *b, global const float *c, global float *out,
                  global half *narrow)
{
    const size_t i = get_global_id(0);
    const float x = (float)a[i] * (float)b[i] + c[i];
    out[4 * i] = x;
    out[4 * i + 1] = fma((float)a[i], (float)b[i], c[i]);
    out[4 * i + 2] = fma((float)a[i], -c[i], (float)b[i]);
    out[4 * i + 3] = fma(fabs((float)a[i]), c[i + 1], c[i]);
    // The first two are exact as float: v_fma_mixlo rounds once, but v_fma and v_cvt twice, and clang takes either.
    narrow[4 * i] = (half)fma((float)a[i], 0.5f, trunc(c[i]));
    narrow[4 * i + 1] = (half)((trunc(c[i] * 16) + 0.25f) * 3.0f);
    narrow[4 * i + 2] = (half)fma((float)a[i], (float)b[i], (float)b[i + 1]);
    narrow[4 * i + 3] = a[i] * (half)2 - (half)c[i];
}

kernel void halves_in_memory(global const half *any_a, global const float *b, global float *out, global half *back)
{
    const size_t i = get_global_id(0);
    out[8 * i] = vload_half(i, any_a);
    vstore4(vload_half4(i, any_a), 2 * i + 1, out);
    vstore_half(b[i], 5 * i, back);
    vstore_half_rtz(b[i] * 1.0001f, 5 * i + 1, back);
    vstore_half_rtp(b[i] / 3.0f, 5 * i + 2, back);
    vstore_half_rtn(b[i] * 1000.0f, 5 * i + 3, back);
    vstore_half(out[8 * i], 5 * i + 4, back);
}

// SPDX-License-Identifier: MIT
// Integers of 8 to 64 bits: operators and built-in functions, scalar and in vectors.

#define OPERATORS(T, SHIFT) \
    kernel void operators_##T(global const T *a, global const T *b, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        const T x = a[i], y = b[i]; \
        global T *o = out + 16 * i; \
        const T divisor = y == 0 || y == (T)-1 ? 3 : y; \
        o[0] = x + y; \
        o[1] = x - y; \
        o[2] = x * y; \
        o[3] = x / divisor; \
        o[4] = x % divisor; \
        o[5] = x << (y & SHIFT); \
        o[6] = x >> (y & SHIFT); \
        o[7] = (x & y) ^ ~(x | y); \
        o[8] = -x; \
        o[9] = x < y ? x : (T)7; \
        o[10] = (x == y) + 2 * (x != y) + 4 * (x >= y) + 8 * (x > y); \
        o[11] = x && !y; \
        o[12] = x * (T)10 + y / (T)10 + x % (T)7; \
        o[13] = x * x * y - x; \
        o[14] = (T)((x & y) << 3) | (T)(x >> 5); \
        o[15] = ((x >> 1) & (T)0x55) * ((y >> 2) | (T)1); \
    }
OPERATORS(char, 7)
OPERATORS(uchar, 7)
OPERATORS(short, 15)
OPERATORS(ushort, 15)
OPERATORS(int, 31)
OPERATORS(uint, 31)
OPERATORS(long, 63)
OPERATORS(ulong, 63)

// abs_diff of half the range: for 32 and 64 bits rocm-device-libs 5.2.3 uses a signed subtraction, which the
// compiler assumes not to overflow.
#define FUNCTIONS(T) \
    kernel void functions_##T(global const T *a, global const T *b, global const T *c, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        const T x = a[i], y = b[i], z = c[i]; \
        global T *o = out + 20 * i; \
        o[0] = abs(x); \
        o[1] = abs_diff((T)(x >> 1), (T)(y >> 1)); \
        o[2] = add_sat(x, y); \
        o[3] = sub_sat(x, y); \
        o[4] = hadd(x, y); \
        o[5] = rhadd(x, y); \
        o[6] = max(x, y); \
        o[7] = min(x, y); \
        o[8] = clamp(z, min(x, y), max(x, y)); \
        o[9] = clz(x); \
        o[10] = popcount(x); \
        o[11] = rotate(x, y); \
        o[12] = mul_hi(x, y); \
        o[13] = mad_hi(x, y, z); \
        o[14] = mad_sat(x, y, z); \
        o[15] = bitselect(x, y, z); \
        o[16] = rotate(x, (T)3); \
        o[17] = add_sat(mul_hi(x, z), sub_sat(y, z)); \
    }
FUNCTIONS(char)
FUNCTIONS(uchar)
FUNCTIONS(short)
FUNCTIONS(ushort)
FUNCTIONS(int)
FUNCTIONS(uint)
FUNCTIONS(long)
FUNCTIONS(ulong)

// Vectors: packed instructions for two 16-bit elements, splits and odd sizes for others.
#define VECTORS(T, N) \
    kernel void vectors_##T##N(global const T##N *a, global const T##N *b, global const T##N *c, global T##N *out) \
    { \
        const size_t i = get_global_id(0); \
        const T##N x = a[i], y = b[i], z = c[i]; \
        global T##N *o = out + 8 * i; \
        o[0] = x + y * z; \
        o[1] = max(x, y) - min(y, z); \
        o[2] = add_sat(x, y); \
        o[3] = sub_sat(mul_hi(x, y), z); \
        o[4] = (x << (T)3) ^ (y >> (T)2); \
        o[5] = rotate(x, y) + clz(z); \
        o[6] = clamp(x, (T##N)(T)3, (T##N)(T)100); \
    }
VECTORS(char, 4)
VECTORS(uchar, 2)
VECTORS(uchar, 8)
VECTORS(short, 2)
VECTORS(ushort, 2)
VECTORS(short, 4)
VECTORS(ushort, 3)
VECTORS(int, 2)
VECTORS(uint, 4)
VECTORS(long, 2)

kernel void upsamples(global const uint *a, global const uint *b, global ulong *out)
{
    const size_t i = get_global_id(0);
    const uint x = a[i], y = b[i];
    global ulong *o = out + 10 * i;
    o[0] = upsample((char)x, (uchar)y);
    o[1] = upsample((uchar)x, (uchar)y);
    o[2] = upsample((short)x, (ushort)y);
    o[3] = upsample((ushort)x, (ushort)y);
    o[4] = upsample((int)x, y);
    o[5] = upsample(x, y);
    o[6] = mul24((int)(x << 8) >> 8, (int)(y << 8) >> 8);
    o[7] = mul24(x & 0xffffff, y & 0xffffff);
    o[8] = mad24((int)(x << 8) >> 8, (int)(y << 8) >> 8, (int)x);
    o[9] = mad24(x & 0xffffff, y & 0xffffff, y);
}

kernel void casts(global const ulong *a, global ulong *out)
{
    const size_t i = get_global_id(0);
    const ulong x = a[i];
    global ulong *o = out + 12 * i;
    o[0] = (ulong)(long)(char)x;
    o[1] = (uchar)x;
    o[2] = (ulong)(long)(short)x;
    o[3] = (ushort)x;
    o[4] = (ulong)(long)(int)x;
    o[5] = (uint)x;
    o[6] = as_ulong(as_uchar8(x).s76543210);
    o[7] = as_ulong(as_short4(x).wzyx + (short4)(1, 2, 3, 4));
    o[8] = as_ulong(as_int2(x).yx * (int2)(3, 5));
    o[9] = (bool)x;
    o[10] = as_uint(as_char4((uint)x) - as_char4((uint)(x >> 32)));
    o[11] = as_ushort((char2)((char)x, (char)(x >> 8)));
}

// Bit fields, wide products and multi-word sums, as in hashes and big numbers.
kernel void multiword(global const uint4 *a, global const uint4 *b, global uint4 *sum, global uint8 *product)
{
    const size_t i = get_global_id(0);
    const uint x[4] = {a[i].x, a[i].y, a[i].z, a[i].w}, y[4] = {b[i].x, b[i].y, b[i].z, b[i].w};
    uint s[4], p[8] = {0};
    ulong carry = 0;
    for (int j = 0; j < 4; j++) {
        carry += (ulong)x[j] + y[j];
        s[j] = (uint)carry;
        carry >>= 32;
    }
    for (int j = 0; j < 4; j++) {
        ulong high = 0;
        for (int k = 0; k < 4; k++) {
            high += (ulong)x[j] * y[k] + p[j + k];
            p[j + k] = (uint)high;
            high >>= 32;
        }
        p[j + 4] = (uint)high;
    }
    sum[i] = (uint4)(s[0], s[1], s[2], s[3]);
    product[i] = (uint8)(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]);
}

#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
struct fields {
    uint a : 3, b : 7, c : 13;
    int d : 9;
};

kernel void bit_fields(global const uint *in, global uint *out)
{
    const size_t i = get_global_id(0);
    struct fields f;
    f.a = in[i];
    f.b = in[i] >> 3;
    f.c = in[i] >> 5;
    f.d = (int)in[i] >> 7;
    f.c += f.a * f.b;
    f.d -= (int)f.b;
    out[4 * i] = f.a;
    out[4 * i + 1] = f.b;
    out[4 * i + 2] = f.c;
    out[4 * i + 3] = (uint)f.d;
}

// SPDX-License-Identifier: MIT
// convert_*() between all types, with saturation and every rounding.
//
// rocm-device-libs 5.2.3 converts NaN to the lowest integer with saturation ("should" be 0), uses a wrong
// rounding from short to half, and clamps int and long to 16 bits on the way to half: not tested here.

#define FROM_INTEGER(T, FROM) \
    kernel void T##_from_##FROM(global const FROM *a, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        out[2 * i] = convert_##T(a[i]); \
        out[2 * i + 1] = convert_##T##_sat(a[i]); \
    }
#define FROM_FLOAT(T, FROM) \
    kernel void T##_from_##FROM(global const FROM *any_a, global const FROM *b, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        const FROM x = isnan(any_a[i]) ? b[i] : any_a[i]; \
        global T *o = out + 8 * i; \
        o[0] = convert_##T##_sat(x); \
        o[1] = convert_##T##_sat_rte(x); \
        o[2] = convert_##T##_sat_rtz(x); \
        o[3] = convert_##T##_sat_rtp(x); \
        o[4] = convert_##T##_sat_rtn(x); \
        o[5] = convert_##T(fabs(b[i])); \
        o[6] = convert_##T##_sat_rte(b[i]); \
    }
#define FLOAT_FROM(T, ANY, FROM) \
    kernel void T##_from_##FROM(global const FROM *ANY##a, global T *out) \
    { \
        const size_t i = get_global_id(0); \
        global T *o = out + 5 * i; \
        o[0] = convert_##T(ANY##a[i]); \
        o[1] = convert_##T##_rte(ANY##a[i]); \
        o[2] = convert_##T##_rtz(ANY##a[i]); \
        o[3] = convert_##T##_rtp(ANY##a[i]); \
        o[4] = convert_##T##_rtn(ANY##a[i]); \
    }
#define INTEGERS_FROM(F, FROM) \
    F(char, FROM) F(uchar, FROM) F(short, FROM) F(ushort, FROM) F(int, FROM) F(uint, FROM) F(long, FROM) F(ulong, FROM)
INTEGERS_FROM(FROM_INTEGER, char)
INTEGERS_FROM(FROM_INTEGER, uchar)
INTEGERS_FROM(FROM_INTEGER, short)
INTEGERS_FROM(FROM_INTEGER, ushort)
INTEGERS_FROM(FROM_INTEGER, int)
INTEGERS_FROM(FROM_INTEGER, uint)
INTEGERS_FROM(FROM_INTEGER, long)
INTEGERS_FROM(FROM_INTEGER, ulong)
INTEGERS_FROM(FROM_FLOAT, half)
INTEGERS_FROM(FROM_FLOAT, float)
INTEGERS_FROM(FROM_FLOAT, double)
#define HALF_FROM(FROM) \
    kernel void half_from_##FROM(global const FROM *a, global half *out) \
    { \
        const size_t i = get_global_id(0); \
        const FROM x = a[i] % (FROM)32767; \
        out[3 * i] = convert_half(x); \
        out[3 * i + 1] = convert_half_rte(x); \
        out[3 * i + 2] = convert_half_rtz(x); \
    }
HALF_FROM(char)
HALF_FROM(uchar)
HALF_FROM(short)
HALF_FROM(ushort)
HALF_FROM(int)
HALF_FROM(uint)
HALF_FROM(long)
HALF_FROM(ulong)
FLOAT_FROM(half, any_, half)
FLOAT_FROM(half, any_, float)
FLOAT_FROM(half, any_, double)
#define FLOATS_FROM(ANY, FROM) FLOAT_FROM(float, ANY, FROM) FLOAT_FROM(double, ANY, FROM)
FLOATS_FROM(, char)
FLOATS_FROM(, uchar)
FLOATS_FROM(, short)
FLOATS_FROM(, ushort)
FLOATS_FROM(, int)
FLOATS_FROM(, uint)
FLOATS_FROM(, long)
FLOATS_FROM(, ulong)
FLOATS_FROM(any_, half)
FLOATS_FROM(any_, float)
FLOATS_FROM(any_, double)

kernel void in_vectors(global const float4 *any_a, global const uchar4 *b, global const short2 *c, global uchar4 *bytes,
                       global float4 *floats, global half2 *halves)
{
    const size_t i = get_global_id(0);
    bytes[i] = convert_uchar4_sat(any_a[i]);
    floats[i] = convert_float4(b[i]);
    halves[i] = convert_half2(c[i]);
}

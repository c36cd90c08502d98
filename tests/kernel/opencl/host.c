/* SPDX-License-Identifier: MIT */
/* Conversions and fma of halves for the host reference: computed from exact values with the specified
 * rounding.
 *
 * Source: The OpenCL C Specification 3.0, sections 6.4.3 and 7.2. */
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(default)
uint64_t host_convert(int to, int from, int rounding, int saturate, uint64_t bits);
uint16_t host_fma_half(uint16_t a, uint16_t b, uint16_t c);
#pragma GCC visibility pop

enum type { I8, U8, I16, U16, I32, U32, I64, U64, F16, F32, F64 };
enum rounding { DEFAULT, RTE, RTZ, RTP, RTN };

static_assert(__LDBL_MANT_DIG__ >= 64, "a long double holds every value of every type");

struct format {
    int mantissa, lowest,
        highest; /* bits including the hidden one, exponents of the lowest and highest bit */
};
static const struct format formats[] = {
    [F16] = {11, -24, 15}, [F32] = {24, -149, 127}, [F64] = {53, -1074, 1023}};

/* The integral value that `x` rounds to. */
static long double integral(long double x, int rounding)
{
    const long double below = floorl(x);
    switch (rounding) {
    case RTZ:
        return x < 0 ? ceill(x) : below;
    case RTP:
        return ceill(x);
    case RTN:
        return below;
    default:
        if (x - below != 0.5L)
            return x - below < 0.5L ? below : below + 1;
        return fmodl(below, 2) == 0 ? below : below + 1;
    }
}

static long double value_of(enum type type, uint64_t bits)
{
    switch (type) {
    case I8:
        return (int8_t)bits;
    case U8:
        return (uint8_t)bits;
    case I16:
        return (int16_t)bits;
    case U16:
        return (uint16_t)bits;
    case I32:
        return (int32_t)bits;
    case U32:
        return (uint32_t)bits;
    case I64:
        return (int64_t)bits;
    case U64:
        return bits;
    case F16: {
        const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
        const long double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                                 : exponent     ? ldexpl(1024 + mantissa, exponent - 25)
                                                : ldexpl(mantissa, -24);
        return bits & 0x8000 ? -size : size;
    }
    case F32: {
        const uint32_t low = (uint32_t)bits;
        float x;
        memcpy(&x, &low, 4);
        return x;
    }
    default: {
        double x;
        memcpy(&x, &bits, 8);
        return x;
    }
    }
}

static uint64_t to_integer(enum type type, long double x, int rounding, bool saturate)
{
    const bool is_signed = type % 2 == 0;
    const int bits = 8 << type / 2;
    const long double low = is_signed ? -ldexpl(1, bits - 1) : 0;
    const long double high = ldexpl(1, is_signed ? bits - 1 : bits) - 1;
    if (x != x)
        return 0;
    x = integral(x, rounding == DEFAULT ? RTZ : rounding);
    if (saturate)
        x = x < low ? low : x > high ? high : x;
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

/* The bits of the format's number that `x` rounds to. */
static uint64_t to_float(enum type type, long double x, int rounding)
{
    const struct format *format = &formats[type];
    long double r = x;
    if (x != 0 && isfinite(x)) {
        int exponent;
        frexpl(x, &exponent);
        const int place =
            exponent - format->mantissa > format->lowest ? exponent - format->mantissa : format->lowest;
        r = ldexpl(integral(ldexpl(x, -place), rounding), place);
        const long double most = ldexpl(2 - ldexpl(1, 1 - format->mantissa), format->highest);
        if (fabsl(r) > most) {
            const bool stays = rounding == RTZ || (rounding == RTP && x < 0) || (rounding == RTN && x > 0);
            r = copysignl(stays ? most : INFINITY, x);
        }
        r = copysignl(r, x);
    }
    if (type == F64) {
        const double d = (double)r;
        uint64_t bits;
        memcpy(&bits, &d, 8);
        return bits;
    }
    if (type == F32) {
        const float f = (float)r;
        uint32_t bits;
        memcpy(&bits, &f, 4);
        return bits;
    }
    const uint64_t sign = signbit(r) ? 0x8000 : 0;
    if (r != r)
        return 0x7e00;
    if (isinf(r))
        return sign | 0x7c00;
    int exponent;
    frexpl(r, &exponent);
    if (fabsl(r) < 0x1p-14L)
        return sign | (uint64_t)ldexpl(fabsl(r), 24);
    return sign + ((uint64_t)(exponent + 14) << 10) + ((uint64_t)ldexpl(fabsl(r), 11 - exponent) - 1024);
}

static bool is_float(enum type type)
{
    return type >= F16;
}

uint64_t host_convert(int to, int from, int rounding, int saturate, uint64_t bits)
{
    /* Integer conversions without saturation keep the low bits; long double would do so only up to 2^64. */
    if (!is_float(to) && !is_float(from) && !saturate)
        return from % 2 == 0 ? (uint64_t)(int64_t)value_of(from, bits) : bits;
    const long double x = value_of(from, bits);
    return is_float(to) ? to_float(to, x, rounding) : to_integer(to, x, rounding, saturate);
}

uint16_t host_fma_half(uint16_t a, uint16_t b, uint16_t c)
{
    /* The lowest bit of the product is 2^-48 and the highest of the addend 2^15: the sum fits in 64 bits. */
    return (uint16_t)to_float(F16, value_of(F16, a) * value_of(F16, b) + value_of(F16, c), RTE);
}

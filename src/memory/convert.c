/* SPDX-License-Identifier: MIT */
/* Converts values between memory formats and registers, exactly, with integer arithmetic.
 *
 * Loads round once, to nearest even; whether the hardware rounds normalized values correctly is not published
 * (approx). 32-bit floats are truncated to halves: RDNA 3 ISA, "D16". Stores of floats clamp and round to
 * nearest even (CLRX, "GCN memory handling"), to USCALED and SSCALED toward zero, and stores of integers keep
 * the low bits (ROCm/rocm-systems, emulation/rocjitsu); a NaN is stored as 0, except in floats. Unverified:
 * finite numbers too large for an unsigned float become the largest finite one (as in OpenGL's
 * EXT_packed_float), in a half infinity; stores of SNORM_OGL; the 8 bits of X24_8_32 FLOAT are UINT. */
#include "memory/format.h"

#include <math.h>
#include <string.h>

struct real {
    enum { FINITE, INFINITE, NOT_A_NUMBER } class;
    bool negative;
    uint64_t digits; /* times 2^exponent; the lowest bit may be sticky */
    int exponent;
    uint32_t payload; /* of a NaN, scaled to 23 bits */
};

struct float_kind {
    int exponent_bits, digits; /* digits: without the implicit 1 */
    bool sign;
};

static const struct float_kind float_32 = {8, 23, true}, float_16 = {5, 10, true}, float_11 = {5, 6, false},
                               float_10 = {5, 5, false};

enum rounding { NEAREST_EVEN, TOWARD_ZERO };

static int lowest_exponent(const struct float_kind *kind)
{
    return 2 - (1 << (kind->exponent_bits - 1));
}

static struct real unpack(const struct float_kind *kind, uint32_t bits)
{
    const uint32_t digits = bits & ((1u << kind->digits) - 1);
    const int top = (1 << kind->exponent_bits) - 1, exponent = (int)(bits >> kind->digits) & top;
    struct real r = {.negative = kind->sign && bits >> (kind->digits + kind->exponent_bits) & 1};
    if (exponent == top) {
        r.class = digits ? NOT_A_NUMBER : INFINITE;
        r.payload = digits << (float_32.digits - kind->digits);
        return r;
    }
    r.digits = exponent ? digits | 1u << kind->digits : digits;
    r.exponent = lowest_exponent(kind) - kind->digits + (exponent ? exponent - 1 : 0);
    return r;
}

/* digits / 2^shift, rounded. */
static uint64_t shift_right(uint64_t digits, int shift, enum rounding rounding)
{
    for (; shift > 62; shift -= 31)
        digits = digits >> 31 | ((digits & 0x7fffffff) != 0);
    if (shift <= 0)
        return digits << -shift;
    const uint64_t kept = digits >> shift, rest = digits & ((1ULL << shift) - 1), half = 1ULL << (shift - 1);
    return kept + (rounding == NEAREST_EVEN && (rest > half || (rest == half && kept & 1)));
}

/* Overflow gives infinity, or the largest finite number if the float is unsigned or rounding is toward zero.
 */
static uint32_t pack(const struct float_kind *kind, struct real r, enum rounding rounding)
{
    const int digits = kind->digits;
    const uint32_t infinity = ((1u << kind->exponent_bits) - 1) << digits;
    const uint32_t sign = kind->sign && r.negative ? 1u << (digits + kind->exponent_bits) : 0;
    if (r.class == NOT_A_NUMBER) {
        const uint32_t payload = r.payload >> (float_32.digits - digits);
        return sign | infinity | (payload ? payload : 1u << (digits - 1));
    }
    if (r.negative && !kind->sign)
        return 0;
    if (r.class == INFINITE)
        return sign | infinity;
    if (!r.digits)
        return sign;
    const int lowest = lowest_exponent(kind), own = 63 - __builtin_clzll(r.digits) + r.exponent;
    const int exponent = own > lowest ? own : lowest;
    if (exponent - lowest > 1 << kind->exponent_bits)
        return sign | (kind->sign && rounding == NEAREST_EVEN ? infinity : infinity - 1);
    const uint64_t rounded = shift_right(r.digits, exponent - digits - r.exponent, rounding);
    const uint64_t bits =
        ((uint64_t)(exponent - lowest) << digits) + rounded; /* the leading 1 adds 1 to the exponent */
    if (bits >= infinity)
        return sign | (kind->sign && rounding == NEAREST_EVEN ? infinity : infinity - 1);
    return sign | (uint32_t)bits;
}

/* numerator / denominator, each below 2^25. */
static struct real ratio(int64_t numerator, uint32_t denominator)
{
    const uint64_t magnitude = (uint64_t)(numerator < 0 ? -numerator : numerator);
    const int shift = __builtin_clzll(magnitude | 1) - 2;
    const uint64_t scaled = magnitude << shift;
    return (struct real){.negative = numerator < 0,
                         .digits = scaled / denominator << 1 | (scaled % denominator != 0),
                         .exponent = -shift - 1};
}

static struct real of_double(double x)
{
    int exponent;
    const double fraction = frexp(x, &exponent);
    return (struct real){.digits = (uint64_t)ldexp(fraction, 53), .exponent = exponent - 53};
}

/* r * scale - minus, halved if `minus` is 1, rounded and clamped. r and scale have at most 24 bits. */
static int64_t to_integer(struct real r, uint32_t scale, unsigned minus, enum rounding rounding,
                          int64_t least, int64_t most)
{
    enum { PLACES = 20 };
    if (r.class == NOT_A_NUMBER)
        return 0;
    if (r.class == INFINITE || (r.digits && 63 - __builtin_clzll(r.digits) + r.exponent > 17))
        return r.negative ? least : most;
    r.digits *= scale;
    for (; r.exponent < -PLACES; r.exponent++) /* shift lower bits into a sticky bit */
        r.digits = r.digits >> 1 | (r.digits & 1);
    const int places = r.exponent < 0 ? -r.exponent : 0;
    int64_t value = (int64_t)(r.digits << (r.exponent + places));
    value = (r.negative ? -value : value) - ((int64_t)minus << places);
    const uint64_t magnitude =
        shift_right((uint64_t)(value < 0 ? -value : value), places + (int)minus, rounding);
    const int64_t rounded = value < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
    return rounded < least ? least : rounded > most ? most : rounded;
}

static const struct float_kind *float_of(unsigned bits)
{
    return bits == 32 ? &float_32 : bits == 16 ? &float_16 : bits == 11 ? &float_11 : &float_10;
}

/* The number type of component `i`, with the exceptions for alpha and X24_8_32. */
static enum wmi_number number_of(const struct wmi_format *format, unsigned i)
{
    if (format->number == WMI_NUMBER_FLOAT && format->layout->bits[i] == 8)
        return WMI_NUMBER_UINT;
    return i == 3 && format->number == WMI_NUMBER_SRGB ? WMI_NUMBER_UNORM : format->number;
}

/* The same for loads, which may take the fourth component for unsigned. */
static enum wmi_number loaded_number_of(const struct wmi_format *format, unsigned i)
{
    static const enum wmi_number unsigned_of[WMI_NUMBER_COUNT] = {
        [WMI_NUMBER_UNORM] = WMI_NUMBER_UNORM,     [WMI_NUMBER_SNORM] = WMI_NUMBER_UNORM,
        [WMI_NUMBER_USCALED] = WMI_NUMBER_USCALED, [WMI_NUMBER_SSCALED] = WMI_NUMBER_USCALED,
        [WMI_NUMBER_UINT] = WMI_NUMBER_UINT,       [WMI_NUMBER_SINT] = WMI_NUMBER_UINT,
        [WMI_NUMBER_SNORM_OGL] = WMI_NUMBER_UNORM,
    };
    return i == 3 && format->unsigned_alpha ? unsigned_of[format->number] : number_of(format, i);
}

static double linear_of_srgb(double x)
{
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static uint32_t load_component(enum wmi_number number, unsigned bits, uint32_t raw, bool half)
{
    const struct float_kind *to = half ? &float_16 : &float_32;
    const int64_t sign_extended = (int32_t)(raw << (32 - bits)) >> (32 - bits);
    const uint32_t most = (uint32_t)((1ULL << bits) - 1), top = most >> 1;
    switch (number) {
    case WMI_NUMBER_UNORM:
        return pack(to, ratio(raw, most), NEAREST_EVEN);
    case WMI_NUMBER_SNORM:
        return pack(to, ratio(sign_extended < -(int64_t)top ? -(int64_t)top : sign_extended, top),
                    NEAREST_EVEN);
    case WMI_NUMBER_USCALED:
        return pack(to, ratio(raw, 1), NEAREST_EVEN);
    case WMI_NUMBER_SSCALED:
        return pack(to, ratio(sign_extended, 1), NEAREST_EVEN);
    case WMI_NUMBER_UINT:
        return half ? raw & 0xffff : raw;
    case WMI_NUMBER_SINT:
        return half ? (uint32_t)sign_extended & 0xffff : (uint32_t)sign_extended;
    case WMI_NUMBER_SNORM_OGL:
        return pack(to, ratio(2 * sign_extended + 1, most), NEAREST_EVEN);
    case WMI_NUMBER_SRGB:
        return wmi_float_of_srgb(raw / 255.0, half);
    default:
        return float_of(bits) == to
                   ? raw
                   : pack(to, unpack(float_of(bits), raw), bits == 32 ? TOWARD_ZERO : NEAREST_EVEN);
    }
}

/* The caller keeps the low `bits` of the result. */
static uint32_t store_component(enum wmi_number number, unsigned bits, uint32_t value, bool half)
{
    const struct float_kind *from = half ? &float_16 : &float_32;
    const uint32_t most = (uint32_t)((1ULL << bits) - 1), top = most >> 1;
    const uint32_t register_value = half ? value & 0xffff : value;
    switch (number) {
    case WMI_NUMBER_UNORM:
        return (uint32_t)to_integer(unpack(from, register_value), most, 0, NEAREST_EVEN, 0, most);
    case WMI_NUMBER_SNORM:
        return (uint32_t)to_integer(unpack(from, register_value), top, 0, NEAREST_EVEN, -(int64_t)top, top);
    case WMI_NUMBER_USCALED:
        return (uint32_t)to_integer(unpack(from, register_value), 1, 0, TOWARD_ZERO, 0, most);
    case WMI_NUMBER_SSCALED:
        return (uint32_t)to_integer(unpack(from, register_value), 1, 0, TOWARD_ZERO, -(int64_t)top - 1, top);
    case WMI_NUMBER_UINT:
        return register_value;
    case WMI_NUMBER_SINT:
        return half ? (uint32_t)(int16_t)register_value : register_value;
    case WMI_NUMBER_SNORM_OGL:
        return (uint32_t)to_integer(unpack(from, register_value), most, 1, NEAREST_EVEN, -(int64_t)top - 1,
                                    top);
    case WMI_NUMBER_SRGB: {
        const struct real r = unpack(from, register_value);
        double x = r.class == NOT_A_NUMBER || r.negative ? 0
                   : r.class == INFINITE                 ? 1
                                                         : ldexp((double)r.digits, r.exponent);
        x = x > 1 ? 1 : x;
        x = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
        return (uint32_t)(x * 255 + 0.5);
    }
    default:
        return float_of(bits) == from ? register_value
                                      : pack(float_of(bits), unpack(from, register_value), NEAREST_EVEN);
    }
}

/* ---- 5_9_9_9: three numbers of 9 bits times 2^(e - 24), e in the upper 5 bits ---- */

static bool shares_exponent(const struct wmi_format *format)
{
    return format->layout->bits[0] == 9;
}

/* Source: OpenGL's EXT_texture_shared_exponent; unverified that the hardware rounds in this way. */
static uint32_t share_exponent(const uint32_t value[4], bool half)
{
    const uint32_t largest = 0x477f8000; /* 65408 = 511 * 2^7 */
    uint32_t bits[3], most = 0;
    for (unsigned i = 0; i < 3; i++) {
        const struct real r = unpack(half ? &float_16 : &float_32, half ? value[i] & 0xffff : value[i]);
        bits[i] = r.negative || r.class == NOT_A_NUMBER ? 0 : pack(&float_32, r, NEAREST_EVEN);
        bits[i] = bits[i] > largest ? largest : bits[i]; /* positive floats order as integers */
        most = bits[i] > most ? bits[i] : most;
    }
    int exponent = (int)(most >> 23) - 127;
    exponent = (exponent < -16 ? -16 : exponent) + 16;
    for (;; exponent++) {
        uint32_t word = (uint32_t)exponent << 27;
        bool fits = true;
        for (unsigned i = 0; i < 3; i++) {
            struct real r = unpack(&float_32, bits[i]);
            const int shift = exponent - 24 - 1 - r.exponent; /* keep one extra bit to round half up */
            const uint64_t twice = shift > 40 ? 0 : shift_right(r.digits, shift, TOWARD_ZERO);
            const uint64_t digits = (twice + 1) >> 1;
            fits &= digits < 512;
            word |= (uint32_t)(digits & 511) << (9 * i);
        }
        if (fits)
            return word;
    }
}

static uint32_t load_shared(uint32_t word, unsigned i, bool half)
{
    const struct real r = {.digits = word >> (9 * i) & 511, .exponent = (int)(word >> 27) - 24};
    return pack(half ? &float_16 : &float_32, r, NEAREST_EVEN);
}

/* ---- elements ---- */

void wmi_format_load(const struct wmi_format *format, const unsigned char *from, bool half, uint32_t value[4])
{
    const struct wmi_format_layout *layout = format->layout;
    uint32_t words[4] = {0};
    memcpy(words, from, layout->bytes);
    for (unsigned i = 0; i < 4; i++) {
        value[i] = 0;
        if (i >= layout->components)
            continue;
        const unsigned bits = layout->bits[i], shift = layout->shift[i];
        const uint32_t raw = words[shift / 32] >> shift % 32 & (uint32_t)((1ULL << bits) - 1);
        value[i] = shares_exponent(format) ? load_shared(words[0], i, half)
                                           : load_component(loaded_number_of(format, i), bits, raw, half);
    }
}

void wmi_format_store(const struct wmi_format *format, const uint32_t value[4], bool half, unsigned char *to)
{
    const struct wmi_format_layout *layout = format->layout;
    uint32_t words[4] = {0};
    for (unsigned i = 0; i < layout->components; i++) {
        const unsigned bits = layout->bits[i], shift = layout->shift[i];
        const uint32_t raw = store_component(number_of(format, i), bits, value[i], half);
        words[shift / 32] |= (raw & (uint32_t)((1ULL << bits) - 1)) << shift % 32;
    }
    if (shares_exponent(format))
        words[0] = share_exponent(value, half);
    memcpy(to, words, layout->bytes);
}

uint32_t wmi_float_of_ratio(int64_t numerator, uint32_t denominator, bool half)
{
    return pack(half ? &float_16 : &float_32, ratio(numerator, denominator), NEAREST_EVEN);
}

uint32_t wmi_float_of_srgb(double x, bool half)
{
    return pack(half ? &float_16 : &float_32, of_double(linear_of_srgb(x)), NEAREST_EVEN);
}

uint32_t wmi_half_of_float(uint32_t value)
{
    return pack(&float_16, unpack(&float_32, value), NEAREST_EVEN);
}

uint32_t wmi_float_of_half(uint32_t value)
{
    return pack(&float_32, unpack(&float_16, value & 0xffff), NEAREST_EVEN);
}

/* ---- DST_SEL ---- */

enum { SELECT_ONE = 1, SELECT_X = 4 };

void wmi_format_select_load(const struct wmi_format *format, unsigned select, bool half, uint32_t value[4])
{
    const bool integer = format->number == WMI_NUMBER_UINT || format->number == WMI_NUMBER_SINT;
    const uint32_t one = integer ? 1 : half ? 0x3c00 : 0x3f800000;
    uint32_t from[4];
    if (select == WMI_SELECT_IDENTITY)
        return;
    memcpy(from, value, sizeof from);
    for (unsigned i = 0; i < 4; i++) {
        const unsigned s = select >> (3 * i) & 7;
        value[i] = s >= SELECT_X ? from[s - SELECT_X] : s == SELECT_ONE ? one : 0; /* 2 and 3 are reserved */
    }
}

/* Unverified: if several values select the same component, the first wins. */
void wmi_format_select_store(unsigned select, uint32_t value[4])
{
    uint32_t from[4];
    if (select == WMI_SELECT_IDENTITY)
        return;
    memcpy(from, value, sizeof from);
    memset(value, 0, sizeof from);
    for (unsigned i = 4; i-- > 0;) {
        const unsigned s = select >> (3 * i) & 7;
        if (s >= SELECT_X)
            value[s - SELECT_X] = from[i];
    }
}

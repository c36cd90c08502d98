/* SPDX-License-Identifier: MIT */
/* Binary floating point in integer arithmetic. */
#include "exact.h"

const struct format exact_f16 = {10, 5}, exact_f32 = {23, 8}, exact_f64 = {52, 11};

typedef unsigned __int128 wide;

static int bias(const struct format *f)
{
    return (1 << (f->exponent - 1)) - 1;
}

static uint64_t fraction_of(const struct format *f, uint64_t bits)
{
    return bits & ((UINT64_C(1) << f->fraction) - 1);
}

static int exponent_of(const struct format *f, uint64_t bits)
{
    return (int)(bits >> f->fraction) & ((1 << f->exponent) - 1);
}

bool exact_negative(const struct format *f, uint64_t bits)
{
    return bits >> (f->fraction + f->exponent) & 1;
}

enum kind exact_kind(const struct format *f, uint64_t bits)
{
    const int exponent = exponent_of(f, bits);
    const uint64_t fraction = fraction_of(f, bits);

    if (exponent == (1 << f->exponent) - 1)
        return !fraction ? INFINITE : fraction >> (f->fraction - 1) ? QUIET : SIGNALLING;
    return exponent ? NORMAL : fraction ? DENORMAL : ZERO;
}

bool exact_is_nan(const struct format *f, uint64_t bits)
{
    return exact_kind(f, bits) >= QUIET;
}

uint64_t exact_quiet(const struct format *f, uint64_t bits)
{
    return exact_is_nan(f, bits) ? bits | UINT64_C(1) << (f->fraction - 1) : bits;
}

uint64_t exact_zero(const struct format *f, bool negative)
{
    return (uint64_t)negative << (f->fraction + f->exponent);
}

uint64_t exact_infinity(const struct format *f, bool negative)
{
    return exact_zero(f, negative) | ((UINT64_C(1) << f->exponent) - 1) << f->fraction;
}

uint64_t exact_default_nan(const struct format *f, bool negative)
{
    return exact_infinity(f, negative) | UINT64_C(1) << (f->fraction - 1);
}

uint64_t exact_flush(const struct format *f, uint64_t bits)
{
    return exact_kind(f, bits) == DENORMAL ? exact_zero(f, exact_negative(f, bits)) : bits;
}

struct number exact_value(const struct format *f, uint64_t bits)
{
    const int exponent = exponent_of(f, bits);

    return (struct number){exact_negative(f, bits),
                           fraction_of(f, bits) | (uint64_t)(exponent != 0) << f->fraction,
                           (exponent ? exponent : 1) - bias(f) - f->fraction};
}

struct number exact_product(struct number a, struct number b)
{
    return (struct number){a.negative != b.negative, a.digits * b.digits, a.scale + b.scale};
}

static int top_bit(wide x)
{
    const uint64_t high = (uint64_t)(x >> 64);

    return high ? 127 - __builtin_clzll(high) : x ? 63 - __builtin_clzll((uint64_t)x) : -1;
}

/* x / 2^by; the bits shifted out are ORed into the last bit. */
static wide shift_right(wide x, int by)
{
    if (by <= 0)
        return x;
    if (by > 127)
        return x != 0;
    return x >> by | ((x & (((wide)1 << by) - 1)) != 0);
}

struct number exact_sum(struct number a, struct number b, enum direction direction)
{
    if (!a.digits || !b.digits) {
        if (!a.digits && !b.digits)
            a.negative = a.negative == b.negative ? a.negative : direction == DOWNWARD;
        return a.digits || !b.digits ? a : b;
    }
    if (a.scale < b.scale) {
        const struct number swap = a;
        a = b;
        b = swap;
    }
    /* a's digits are shifted up as far as possible, b's down for the rest. */
    int up = 123 - top_bit(a.digits);
    if (up > a.scale - b.scale)
        up = a.scale - b.scale;
    a.digits <<= up;
    a.scale -= up;
    b.digits = shift_right(b.digits, a.scale - b.scale);
    if (a.negative == b.negative)
        a.digits += b.digits;
    else if (a.digits >= b.digits)
        a.digits -= b.digits;
    else
        a = (struct number){b.negative, b.digits - a.digits, a.scale};
    if (!a.digits)
        a.negative = direction == DOWNWARD;
    return a;
}

int exact_compare(struct number a, struct number b)
{
    b.negative = !b.negative;
    const struct number gap = exact_sum(a, b, TO_EVEN);

    return !gap.digits ? 0 : gap.negative ? -1 : 1;
}

/* x's digits without the last `cut`, rounded. */
static wide cut_digits(struct number x, int cut, enum direction direction)
{
    if (cut <= 0)
        return x.digits << -cut;
    if (cut > 125) {
        x.digits = x.digits != 0;
        cut = 2;
    }
    const wide kept = x.digits >> cut, rest = x.digits & (((wide)1 << cut) - 1), half = (wide)1 << (cut - 1);

    switch (direction) {
    case TO_EVEN:
        return kept + (rest > half || (rest == half && (kept & 1)));
    case UPWARD:
        return kept + (rest && !x.negative);
    case DOWNWARD:
        return kept + (rest && x.negative);
    default:
        return kept;
    }
}

uint64_t exact_round(const struct format *f, struct number x, enum direction direction, bool flush, bool late)
{
    const int lowest = 1 - bias(f) - f->fraction;
    const int top = top_bit(x.digits);
    int cut = top - f->fraction; /* leaves fraction + 1 digits */

    if (top < 0)
        return exact_zero(f, x.negative);
    if (flush && !late) {
        const wide kept = cut_digits(x, cut, direction);
        const int scale = x.scale + cut + (kept >> (f->fraction + 1) ? 1 : 0);
        if (scale < lowest)
            return exact_zero(f, x.negative);
    }
    if (x.scale + cut < lowest)
        cut = lowest - x.scale;
    wide kept = cut_digits(x, cut, direction);
    int scale = x.scale + cut;
    if (kept >> (f->fraction + 1)) {
        kept >>= 1;
        scale++;
    }
    const bool denormal = !(kept >> f->fraction);
    if (denormal && flush)
        return exact_zero(f, x.negative);
    const int exponent = denormal ? 0 : scale + f->fraction + bias(f);
    if (exponent >= (1 << f->exponent) - 1) {
        const bool away = direction == TO_EVEN || (direction == UPWARD && !x.negative) ||
                          (direction == DOWNWARD && x.negative);
        return exact_infinity(f, x.negative) - !away;
    }
    return exact_zero(f, x.negative) | (uint64_t)exponent << f->fraction | fraction_of(f, (uint64_t)kept);
}

struct number exact_integral(struct number x, enum direction direction)
{
    if (x.scale >= 0)
        return x;
    return (struct number){x.negative, cut_digits(x, -x.scale, direction), 0};
}

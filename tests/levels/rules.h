/* SPDX-License-Identifier: MIT */
/* Independent implementation of the float bodies' rules, for one lane and in exact arithmetic: the results
 * that the level tests expect. */
#ifndef WM_TEST_RULES_H
#define WM_TEST_RULES_H

#include "exact.h"

struct lane {
    uint64_t a, b, c, d; /* d: previous value of the result register */
    uint32_t mode;
    bool clamp;
    bool bit; /* second result: the lane's bit of a mask */
};

static inline enum direction direction_of(const struct format *f, uint32_t mode)
{
    return (enum direction)((f == &exact_f32 ? mode : mode >> 2) & 3);
}

static inline bool flushes_in(const struct format *f, uint32_t mode)
{
    return !(mode >> (f == &exact_f32 ? 4 : 6) & 1);
}

static inline bool flushes_out(const struct format *f, uint32_t mode)
{
    return !(mode >> (f == &exact_f32 ? 5 : 7) & 1);
}

static inline uint64_t input(const struct format *f, uint64_t bits, uint32_t mode)
{
    return flushes_in(f, mode) ? exact_flush(f, bits) : bits;
}

static inline uint64_t output(const struct format *f, uint64_t bits, uint32_t mode)
{
    return flushes_out(f, mode) ? exact_flush(f, bits) : bits;
}

/* FP16_OVFL: what is too large for f16 becomes the largest number. */
static inline uint64_t rounded(const struct format *f, struct number x, uint32_t mode)
{
    const uint64_t r = exact_round(f, x, direction_of(f, mode), flushes_out(f, mode), f == &exact_f16);

    return f == &exact_f16 && mode >> 23 & 1 && exact_kind(f, r) == INFINITE ? r - 1 : r;
}

static inline bool is(const struct format *f, uint64_t bits, enum kind kind)
{
    return exact_kind(f, bits) == kind;
}

/* The first NaN of three, or the default NaN, which is negative (captured on gfx1201). */
static inline uint64_t nan_of(const struct format *f, uint64_t a, uint64_t b, uint64_t c)
{
    return exact_is_nan(f, a)   ? exact_quiet(f, a)
           : exact_is_nan(f, b) ? exact_quiet(f, b)
           : exact_is_nan(f, c) ? exact_quiet(f, c)
                                : exact_default_nan(f, true);
}

static inline uint64_t negated(const struct format *f, uint64_t x)
{
    return x ^ exact_zero(f, true);
}

/* a * b + c rounded once; a NaN result is chosen among na, nb, nc. */
static inline uint64_t fused(const struct format *f, uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    const uint64_t x = input(f, a, mode), y = input(f, b, mode), z = input(f, c, mode);
    const bool negative = exact_negative(f, x) != exact_negative(f, y);

    if (exact_is_nan(f, x) || exact_is_nan(f, y))
        return nan_of(f, x, y, y);
    if ((is(f, x, INFINITE) && is(f, y, ZERO)) || (is(f, x, ZERO) && is(f, y, INFINITE)))
        return exact_default_nan(f, true); /* before a NaN in c */
    if (exact_is_nan(f, z))
        return nan_of(f, z, z, z);
    if (is(f, x, INFINITE) || is(f, y, INFINITE)) {
        if (is(f, z, INFINITE) && exact_negative(f, z) != negative)
            return exact_default_nan(f, true);
        return exact_infinity(f, negative);
    }
    if (is(f, z, INFINITE))
        return z;
    return rounded(f,
                   exact_sum(exact_product(exact_value(f, x), exact_value(f, y)), exact_value(f, z),
                             direction_of(f, mode)),
                   mode);
}

static inline uint64_t one_of(const struct format *f)
{
    return ((UINT64_C(1) << (f->exponent - 1)) - 1) << f->fraction;
}

static inline uint64_t sum(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    const uint64_t x = input(f, a, mode), y = input(f, b, mode);

    if (exact_is_nan(f, x) || exact_is_nan(f, y))
        return nan_of(f, x, y, y);
    return fused(f, x, one_of(f), y, mode);
}

static inline uint64_t product(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    const uint64_t x = input(f, a, mode), y = input(f, b, mode);

    if (exact_is_nan(f, x) || exact_is_nan(f, y))
        return nan_of(f, x, y, y);
    return fused(f, x, y, exact_zero(f, exact_negative(f, x) != exact_negative(f, y)), mode);
}

static inline uint32_t without_denormals(uint32_t mode)
{
    return mode & ~0xf0u;
}

static inline uint64_t unfused(const struct format *f, uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    const uint32_t flush = without_denormals(mode);

    if (exact_is_nan(f, a) || exact_is_nan(f, b))
        return nan_of(f, a, b, b);
    return sum(f, product(f, a, b, flush), c, flush);
}

static inline uint64_t legacy(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    if (is(f, input(f, a, mode), ZERO) || is(f, input(f, b, mode), ZERO))
        return 0;
    return product(f, a, b, mode);
}

static inline bool is_unordered(const struct format *f, uint64_t a, uint64_t b)
{
    return exact_is_nan(f, a) || exact_is_nan(f, b);
}

static inline bool is_less(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    const uint64_t x = input(f, a, mode), y = input(f, b, mode);

    if (is_unordered(f, x, y))
        return false;
    if (is(f, x, INFINITE) || is(f, y, INFINITE))
        return x != y && (is(f, x, INFINITE) ? exact_negative(f, x) : !exact_negative(f, y));
    return exact_compare(exact_value(f, x), exact_value(f, y)) < 0;
}

/* FMA with the legacy rule: if a factor is 0, the result is c. */
static inline uint64_t fused_legacy(uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    const struct format *f = &exact_f32;
    mode &= ~0x30u; /* denormals are flushed: measured on gfx1201 */
    const uint64_t z = input(f, c, mode);

    if (!is(f, input(f, a, mode), ZERO) && !is(f, input(f, b, mode), ZERO))
        return fused(f, a, b, c, mode);
    if (is(f, z, ZERO))
        return z;
    return sum(f, z, exact_zero(f, false), mode);
}

static inline uint64_t bf16_of(uint64_t x)
{
    return exact_is_nan(&exact_f32, x) ? x >> 16 | 0x40 : (x + 0x7fff + (x >> 16 & 1)) >> 16;
}

/* V_MIN_F32 and V_MAX_F32 of the Vega ISA, line by line. */
static inline uint64_t least(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    const uint64_t x = input(f, a, mode), y = input(f, b, mode);

    if (mode & 0x200 && is(f, x, SIGNALLING))
        return exact_quiet(f, x);
    if (mode & 0x200 && is(f, y, SIGNALLING))
        return exact_quiet(f, y);
    if (exact_is_nan(f, x))
        return y;
    if (exact_is_nan(f, y))
        return x;
    if (is(f, x, ZERO) && is(f, y, ZERO))
        return exact_negative(f, x) ? x : y;
    if (is(f, x, INFINITE))
        return exact_negative(f, x) ? x : y;
    if (is(f, y, INFINITE))
        return exact_negative(f, y) ? y : x;
    return exact_compare(exact_value(f, x), exact_value(f, y)) < 0 ? x : y;
}

static inline uint64_t greatest(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    const uint64_t x = input(f, a, mode), y = input(f, b, mode);

    if (exact_is_nan(f, x) || exact_is_nan(f, y))
        return least(f, a, b, mode);
    return negated(f, least(f, negated(f, x), negated(f, y), mode));
}

/* V_MIN_NUM_F32 and V_MAX_NUM_F32 of the RDNA 4 ISA: the first of two NaNs, regardless of MODE. */
static inline uint64_t least_number(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    if (exact_is_nan(f, a) && exact_is_nan(f, b))
        return exact_quiet(f, a);
    return exact_is_nan(f, a)   ? input(f, b, mode)
           : exact_is_nan(f, b) ? input(f, a, mode)
                                : least(f, a, b, mode);
}

static inline uint64_t greatest_number(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    return exact_is_nan(f, a) || exact_is_nan(f, b) ? least_number(f, a, b, mode) : greatest(f, a, b, mode);
}

/* V_MINIMUM_F32 and V_MAXIMUM_F32 of the RDNA 4 ISA: NaN if a source is NaN. */
static inline uint64_t lowest(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    return exact_is_nan(f, a) || exact_is_nan(f, b) ? nan_of(f, a, b, b) : least(f, a, b, mode);
}

static inline uint64_t highest(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    return exact_is_nan(f, a) || exact_is_nan(f, b) ? nan_of(f, a, b, b) : greatest(f, a, b, mode);
}

/* V_MULLIT_F32 of the RDNA 3 ISA. */
static inline uint64_t lit(uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    const struct format *f = &exact_f32;
    const uint64_t exponent = input(f, c, mode), least_number = 0xff7fffff;

    if (b == least_number || b == exact_infinity(f, true) || exact_is_nan(f, b) ||
        exact_is_nan(f, exponent) || is(f, exponent, ZERO) || exact_negative(f, exponent))
        return least_number;
    if (is(f, input(f, a, mode), ZERO) || is(f, input(f, b, mode), ZERO)) /* measured on gfx1201 */
        return 0;
    return product(f, a, b, mode);
}

static inline uint64_t middle(const struct format *f, uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    a = input(f, a, mode);
    b = input(f, b, mode);
    c = input(f, c, mode);
    if (exact_is_nan(f, a) || exact_is_nan(f, b) || exact_is_nan(f, c))
        return least(f, least(f, a, b, mode), c, mode);
    const uint64_t top = greatest(f, greatest(f, a, b, mode), c, mode);
    if (top == a)
        return greatest(f, b, c, mode);
    if (top == b)
        return greatest(f, a, c, mode);
    return greatest(f, a, b, mode);
}

static inline uint64_t integral(const struct format *f, uint64_t a, enum direction direction, uint32_t mode)
{
    const uint64_t x = input(f, a, mode);

    if (exact_is_nan(f, x) || is(f, x, INFINITE))
        return exact_quiet(f, x);
    return exact_round(f, exact_integral(exact_value(f, x), direction), TO_EVEN, false, false);
}

static inline uint64_t fract(const struct format *f, uint64_t a, uint32_t mode)
{
    const uint64_t x = input(f, a, mode);

    if (exact_is_nan(f, x))
        return exact_quiet(f, x);
    if (is(f, x, INFINITE))
        return exact_default_nan(f, true);
    struct number low = exact_integral(exact_value(f, x), DOWNWARD);
    low.negative = !low.negative;
    const uint64_t r = rounded(f, exact_sum(exact_value(f, x), low, direction_of(f, mode)), mode);
    return r == one_of(f) ? r - 1 : is(f, r, ZERO) ? 0 : r; /* +0 in all modes: captured on gfx1201 */
}

static inline int digits_of(unsigned __int128 x)
{
    int n = 0;
    for (; x; x >>= 1)
        n++;
    return n;
}

static inline int64_t frexp_exponent(const struct format *f, uint64_t a, uint32_t mode)
{
    const uint64_t x = input(f, a, mode);

    if (is(f, x, ZERO) || is(f, x, INFINITE) || exact_is_nan(f, x))
        return 0;
    return digits_of(exact_value(f, x).digits) + exact_value(f, x).scale;
}

static inline uint64_t frexp_significand(const struct format *f, uint64_t a, uint32_t mode)
{
    const uint64_t x = input(f, a, mode);

    if (is(f, x, ZERO) || is(f, x, INFINITE) || exact_is_nan(f, x))
        return exact_quiet(f, x);
    struct number n = exact_value(f, x);
    n.scale = -digits_of(n.digits);
    return exact_round(f, n, TO_EVEN, false, false);
}

static inline uint64_t scaled(const struct format *f, uint64_t a, int64_t by, uint32_t mode)
{
    const uint64_t x = input(f, a, mode);

    if (is(f, x, ZERO) || is(f, x, INFINITE) || exact_is_nan(f, x))
        return exact_quiet(f, x);
    struct number n = exact_value(f, x);
    n.scale += (int)(by > 10000 ? 10000 : by < -10000 ? -10000 : by);
    return rounded(f, n, mode);
}

/* The relation of two operands. */
enum relation { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static inline enum relation relation(const struct format *f, uint64_t a, uint64_t b, uint32_t mode)
{
    const uint64_t x = input(f, a, mode), y = input(f, b, mode);

    if (exact_is_nan(f, x) || exact_is_nan(f, y))
        return UNORDERED;
    if (x == y || (is(f, x, ZERO) && is(f, y, ZERO)))
        return EQUAL;
    return least(f, x, y, mode) == x ? LESS : GREATER;
}

static inline uint32_t class_bit(const struct format *f, uint64_t x)
{
    static const uint8_t negative[] = {5, 4, 3, 2, 1, 0}, positive[] = {6, 7, 8, 9, 1, 0};

    return 1u << (exact_negative(f, x) ? negative : positive)[exact_kind(f, x)];
}

/* Converts toward zero, saturating; NaN gives 0. */
static inline int64_t integer(const struct format *f, uint64_t x, int64_t low, int64_t high,
                              enum direction direction)
{
    if (exact_is_nan(f, x))
        return 0;
    if (is(f, x, INFINITE))
        return exact_negative(f, x) ? low : high;
    const struct number n = exact_integral(exact_value(f, x), direction);
    const int size = digits_of(n.digits) + n.scale;
    if (size > 40)
        return n.negative ? low : high;
    const int64_t whole = (int64_t)(n.scale >= 0 ? n.digits << n.scale : n.digits >> -n.scale);
    const int64_t value = n.negative ? -whole : whole;
    return value < low ? low : value > high ? high : value;
}

static inline uint64_t of_integer(const struct format *f, int64_t x, uint32_t mode)
{
    return rounded(f, (struct number){x < 0, (uint64_t)(x < 0 ? -x : x), 0}, mode);
}

/* Converts between formats. */
static inline uint64_t converted(const struct format *from, const struct format *to, uint64_t a,
                                 uint32_t mode)
{
    const uint64_t x = input(from, a, mode);
    const int gap = to->fraction - from->fraction;

    if (is(from, x, INFINITE))
        return exact_infinity(to, exact_negative(from, x));
    if (exact_is_nan(from, x)) {
        const uint64_t payload = x & ((UINT64_C(1) << from->fraction) - 1);
        return exact_quiet(to, exact_default_nan(to, exact_negative(from, x)) |
                                   (gap >= 0 ? payload << gap : payload >> -gap));
    }
    return rounded(to, exact_value(from, x), mode);
}

/* a * b + c of f32 rounded once to f16. */
static inline uint64_t fused_half(uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    const struct format *f = &exact_f32;
    const uint64_t x = input(f, a, mode), y = input(f, b, mode), z = input(f, c, mode);

    if (exact_kind(f, x) < INFINITE && exact_kind(f, y) < INFINITE && exact_kind(f, z) < INFINITE)
        return rounded(&exact_f16,
                       exact_sum(exact_product(exact_value(f, x), exact_value(f, y)), exact_value(f, z),
                                 direction_of(&exact_f16, mode)),
                       mode);
    return converted(f, &exact_f16, fused(f, a, b, c, mode), mode);
}

static inline uint64_t clamped(const struct format *f, uint64_t x, uint32_t mode)
{
    if (exact_is_nan(f, x))
        return mode & 0x100 ? 0 : x;
    if (exact_negative(f, x))
        return 0;
    return x > one_of(f) ? one_of(f) : x;
}

/* [low, 1] scaled by `top`, to nearest even. */
static inline int64_t normalized(const struct format *f, uint64_t x, bool with_sign)
{
    const int64_t top = with_sign ? 32767 : 65535;

    if (exact_is_nan(f, x) || (exact_negative(f, x) && !with_sign))
        return 0;
    if ((x & ~exact_zero(f, true)) >= one_of(f))
        return exact_negative(f, x) ? -top : top;
    struct number n = exact_product(exact_value(f, x), (struct number){false, (uint64_t)top, 0});
    n = exact_integral(n, TO_EVEN);
    return n.negative ? -(int64_t)n.digits : (int64_t)n.digits;
}

static inline uint64_t fixed_up(const struct format *f, uint64_t q, uint64_t d, uint64_t n, uint32_t mode)
{
    d = input(f, d, mode);
    n = input(f, n, mode);
    const bool negative = exact_negative(f, d) != exact_negative(f, n);
    const int gap = (int)(n >> f->fraction & ((1u << f->exponent) - 1)) -
                    (int)(d >> f->fraction & ((1u << f->exponent) - 1));

    if (exact_is_nan(f, n))
        return exact_quiet(f, n);
    if (exact_is_nan(f, d))
        return exact_quiet(f, d);
    if ((is(f, d, ZERO) && is(f, n, ZERO)) || (is(f, d, INFINITE) && is(f, n, INFINITE)))
        return exact_default_nan(f, true);
    if (is(f, d, ZERO) || is(f, n, INFINITE))
        return exact_infinity(f, negative);
    if (is(f, d, INFINITE) || is(f, n, ZERO))
        return exact_zero(f, negative);
    /* Out of range: the nearest number in the direction of rounding; denormal quotients stay. */
    const enum direction direction = direction_of(f, mode);
    const bool away = direction == (negative ? DOWNWARD : UPWARD);
    if (f != &exact_f16) {
        if (gap < (f == &exact_f32 ? -150 : -1075))
            return exact_zero(f, negative) | (away ? 1 : 0);
        if (exact_is_nan(f, q) || is(f, q, INFINITE))
            return exact_infinity(f, negative) - (direction == TO_EVEN || away ? 0 : 1);
        return (q & ~exact_zero(f, true)) | exact_zero(f, negative);
    }
    if (exact_is_nan(f, q))
        return exact_quiet(f, (q & ~exact_zero(f, true)) | exact_zero(f, negative));
    return output(f, (input(f, q, mode) & ~exact_zero(f, true)) | exact_zero(f, negative), mode);
}

/* An operand that is copied only. */
static inline uint64_t moved(const struct format *f, uint64_t x, uint32_t mode)
{
    x = input(f, x, mode);
    return exact_is_nan(f, x) ? exact_quiet(f, x) : x;
}

static inline uint64_t packed(uint64_t low, uint64_t high)
{
    return (low & 0xffff) | (high & 0xffff) << 16;
}

/* A NaN saturates by its sign: captured on gfx1201. */
static inline uint64_t floor_integer(uint64_t a, uint32_t mode)
{
    if (exact_is_nan(&exact_f32, a))
        return exact_negative(&exact_f32, a) ? 0x80000000 : 0x7fffffff;
    return (uint32_t)integer(&exact_f32, input(&exact_f32, a, mode), INT32_MIN, INT32_MAX, DOWNWARD);
}

/* floor(x + 1/2) */
static inline uint64_t nearest_up(uint64_t a, uint32_t mode)
{
    const uint64_t x = input(&exact_f32, a, mode);

    if (exact_is_nan(&exact_f32, x))
        return floor_integer(x, mode);
    if (is(&exact_f32, x, INFINITE))
        return (uint32_t)integer(&exact_f32, x, INT32_MIN, INT32_MAX, TOWARD_ZERO);
    const struct number moved = exact_sum(exact_value(&exact_f32, x), (struct number){false, 1, -1}, TO_EVEN);
    const struct number low = exact_integral(moved, DOWNWARD);
    const int64_t limit = low.negative ? -(int64_t)INT32_MIN : INT32_MAX;
    if (digits_of(low.digits) + low.scale > 40 ||
        (int64_t)(low.digits << (low.scale > 0 ? low.scale : 0)) > limit)
        return (uint32_t)(low.negative ? INT32_MIN : INT32_MAX);
    const uint32_t value = (uint32_t)(low.digits << (low.scale > 0 ? low.scale : 0));
    return low.negative ? -value : value;
}

/* c with byte b replaced, rounded to nearest even: measured on gfx1201. */
static inline uint64_t with_byte(uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    const uint64_t value = (uint64_t)integer(&exact_f32, input(&exact_f32, a, mode), 0, 255, TO_EVEN);
    const unsigned shift = (b & 3) * 8;

    return (c & ~(UINT64_C(255) << shift)) | value << shift;
}

/* V_MAD_LEGACY_F32; a NaN result is the first NaN of the sources. */
static inline uint64_t unfused_legacy(uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
    const struct format *f = &exact_f32;
    const uint32_t flush = without_denormals(mode);
    const uint64_t r = sum(f, legacy(f, a, b, flush), c, flush);

    return exact_is_nan(f, r) ? nan_of(f, a, b, c) : r;
}

/* ---- cube maps: V_CUBEID_F32 and following of the Vega ISA; denormals as captured on gfx1201 by bjacob/goc
 * ---- */

static inline bool is_below_zero(uint64_t x, uint32_t mode)
{
    return relation(&exact_f32, x, 0, without_denormals(mode)) == LESS;
}

/* The axis of the largest magnitude, as 0, 1, 2 for x, y, z; on ties z before y before x. */
static inline int cube_axis(uint64_t x, uint64_t y, uint64_t z, uint32_t mode)
{
    const struct format *f = &exact_f32;
    const uint64_t sign = exact_zero(f, true);
    const int at_least = GREATER | EQUAL;

    mode = without_denormals(mode);
    x &= ~sign;
    y &= ~sign;
    z &= ~sign;
    if (relation(f, z, x, mode) & at_least && relation(f, z, y, mode) & at_least)
        return 2;
    return relation(f, y, x, mode) & at_least ? 1 : 0;
}

static inline uint64_t cube_face(uint64_t x, uint64_t y, uint64_t z, uint32_t mode)
{
    const uint64_t at[3] = {x, y, z};
    const int axis = cube_axis(x, y, z, mode);

    return of_integer(&exact_f32, 2 * axis + is_below_zero(at[axis], mode), mode);
}

static inline uint64_t cube_s(uint64_t x, uint64_t y, uint64_t z, uint32_t mode)
{
    const struct format *f = &exact_f32;
    const int axis = cube_axis(x, y, z, mode);
    const uint64_t side = axis == 0 ? z : x;
    const bool turned = axis == 2 ? is_below_zero(z, mode) : axis == 0 && !is_below_zero(x, mode);

    return exact_quiet(f, turned ? negated(f, side) : side);
}

static inline uint64_t cube_t(uint64_t x, uint64_t y, uint64_t z, uint32_t mode)
{
    const struct format *f = &exact_f32;
    const int axis = cube_axis(x, y, z, mode);
    const uint64_t side = axis == 1 ? z : y;

    return exact_quiet(f, axis != 1 || is_below_zero(y, mode) ? negated(f, side) : side);
}

static inline uint64_t cube_major(uint64_t x, uint64_t y, uint64_t z, uint32_t mode)
{
    const struct format *f = &exact_f32;
    const uint64_t at[3] = {x, y, z};
    const uint64_t r = product(f, at[cube_axis(x, y, z, mode)], 0x40000000, without_denormals(mode));

    return r == exact_zero(f, true) ? 0 : r;
}

/* ---- division ---- */

/* V_DIV_SCALE by encoded exponents: the first row that applies, as captured on gfx1100 and gfx1201.
 * *post: whether v_div_fmas must scale the quotient back. */
static inline uint64_t div_scale(const struct format *f, uint64_t value, uint64_t denominator,
                                 uint64_t numerator, uint32_t mode, bool *post)
{
    const bool is_f32 = f == &exact_f32;
    const int far = is_f32 ? 96 : 768, step = is_f32 ? 64 : 128, last = (1 << f->exponent) - 1;
    const uint64_t v = input(f, value, mode), d = input(f, denominator, mode), n = input(f, numerator, mode);
    const int d_field = (int)(d >> f->fraction) & last, n_field = (int)(n >> f->fraction) & last;
    const bool is_d = relation(f, v, d, mode) == EQUAL, is_n = relation(f, v, n, mode) == EQUAL;
    const int gap = n_field - d_field;
    const struct {
        bool applies;
        int of_denominator, of_numerator;
        bool post;
    } rules[] = {
        {gap >= far, step, 0, true},
        {d_field == 0, step, step, false},
        {d_field >= last - 2 && gap <= -far, -step, 0, true},
        {d_field >= last - 2, -step, -step, false},
        {gap <= -far, 0, step, true},
        {n_field <= (is_f32 ? 24 : 53), step, step, false},
        {true, 0, 0, false},
    };
    unsigned i = 0;

    while (!rules[i].applies)
        i++;
    *post = rules[i].post;
    if (is(f, d, ZERO) || is(f, n, ZERO))
        return exact_default_nan(f, true);
    /* A value that is neither, which compilers do not write, is scaled where both are. */
    const int both = rules[i].of_denominator == rules[i].of_numerator ? rules[i].of_numerator : 0;
    const int by = is_d ? rules[i].of_denominator : is_n ? rules[i].of_numerator : both;
    return by ? scaled(f, v, by, mode) : exact_quiet(f, v);
}

/* ---- output modifiers ---- */

/* OMOD, bits 1:0, has no effect in IEEE mode or if output denormals are enabled, but if bit 2 is set (gfx12).
 * Zeros and denormals become +0; what becomes denormal, a zero of its sign. */
static inline uint64_t output_modified(const struct format *f, uint64_t bits, uint32_t omod, uint32_t mode)
{
    static const int power[4] = {0, 1, 2, -1};

    if (!(omod & 4) && (mode & 0x200 || !flushes_out(f, mode)))
        return bits;
    if (exact_is_nan(f, bits) || is(f, bits, INFINITE))
        return bits;
    if (is(f, bits, ZERO) || is(f, bits, DENORMAL))
        return 0;
    struct number n = exact_value(f, bits);
    n.scale += power[omod & 3];
    return exact_flush(f, rounded(f, n, mode));
}

#endif

/* SPDX-License-Identifier: MIT */
/* v_cvt_scalef32_*: conversions between f32, f16 or bf16 and floats of 8, 6 and 4 bits, divided by (to the
 * small ones) or multiplied by (from them) a power of two, the exponent of an f32. An exponent of 255 makes
 * NaNs.
 *
 * Sources: CDNA 4 ISA, which names but does not define the conversions; AMD's model of them for hosts
 * (amd_hip_ocp_host.hpp of HIP): one rounding, results too large for f32, f16 and bf16 are infinite, those
 * too large for 6 and 4 bits the largest number. OCP Microscaling Formats (MX) 1.0. */
#include "arithmetic/small_float.h"
#include "sem/bodies.h"

enum {
    PAIR = 2,
    ALL = 32, /* elements of *_pk32_* and *_2xpk16_* */
    SMALL_DWORDS = 6,
    SOME = 16, /* at most, elements of *_pk8_* and *_pk16_* */
    MOST_DWORDS = 16,
    NO_SCALE = 128, /* the exponent of a scale that is NaN */
    QUIET_NAN = 0x7fc00000,
};

static bool saturates(const char *frame)
{
    return ((const struct wmi_frame *)(const void *)frame)->mode >> 23 & 1; /* FP16_OVFL */
}

static int exponent_of(uint32_t scale)
{
    return (int)(scale >> 23 & 0xff) - 127;
}

static uint32_t op_sel(const struct wmi_op *op)
{
    return op->x >> WMI_X_OP_SEL & 15;
}

static uint32_t next_seed(uint32_t seed)
{
    return seed << 1 ^ (seed >> 31 ? 197 : 0); /* V_PRNG_B32 */
}

/* Significand (with its leading one at bit 23, 0 for zero) and exponent of a finite f32. */
static uint32_t split(uint32_t bits, int *exponent)
{
    const uint32_t field = bits >> 23 & 0xff;
    uint32_t m = (bits & 0x7fffff) | (field ? 0x800000 : 0);
    *exponent = (int)(field ? field : 1) - 127;
    for (; m && !(m & 0x800000); m <<= 1)
        --*exponent;
    return m;
}

static bool is_finite(uint32_t bits)
{
    return (bits & 0x7f800000) != 0x7f800000;
}

/* The f32 times 2^by. What leaves f32's range stays far out of that of all small floats. */
static uint32_t moved(uint32_t bits, int by)
{
    int e;
    if (by == NO_SCALE || by == -NO_SCALE)
        return (bits & 0x80000000u) | QUIET_NAN;
    if (!is_finite(bits))
        return bits;
    const uint32_t sign = bits & 0x80000000u, m = split(bits, &e);
    e += by;
    if (!m)
        return sign;
    if (e > 127)
        return sign | 0x7f7fffff;
    if (e < -126)
        return sign | (e < -149 ? 0 : m >> (-126 - e));
    return sign | (uint32_t)(e + 127) << 23 | (m & 0x7fffff);
}

/* A value of a small float times 2^by, rounded to nearest even to a format with infinities: f32, f16, bf16.
 */
static uint32_t widened(uint32_t bits, int by, unsigned exponent_bits, unsigned fraction)
{
    const uint32_t top = (1u << exponent_bits) - 1, sign = bits >> 31 << (exponent_bits + fraction);
    const int least = 2 - (1 << (exponent_bits - 1));
    int e;
    if (by == NO_SCALE || (bits & 0x7fffffff) > 0x7f800000)
        return sign | top << fraction | 1u << (fraction - 1);
    if (!is_finite(bits))
        return sign | top << fraction;
    const uint32_t m = split(bits, &e);
    e += by;
    const int cut = 23 - (int)fraction + (e < least ? least - e : 0), drop = cut > 26 ? 26 : cut;
    if (!m)
        return sign;
    const uint32_t half = drop ? 1u << (drop - 1) : 0, rest = m & ((1u << drop) - 1);
    const uint32_t kept = (m >> drop) + (drop && (rest > half || (rest == half && m >> drop & 1)));
    const uint32_t code = kept + (e > least ? (uint32_t)(e - least) << fraction : 0);
    return sign | (code < top << fraction ? code : top << fraction);
}

enum wide { F32, F16, BF16 };

static uint32_t to_wide(uint32_t code, enum wmi_small_float format, int by, enum wide to)
{
    const uint32_t bits = wmi_f32_of_small(code, format);
    return to == F32   ? widened(bits, by, 8, 23)
           : to == F16 ? widened(bits, by, 5, 10)
                       : widened(bits, by, 8, 7);
}

/* f32 of element `at` of packed halves, or of a row of f32. */
static uint32_t from_wide(const wmi_word *rows, unsigned lane, unsigned at, enum wide from)
{
    if (from == F32)
        return rows[WMI_LANES * at + lane];
    const uint32_t half = rows[WMI_LANES * (at / 2) + lane] >> 16 * (at % 2) & 0xffff;
    return from == BF16 ? half << 16 : wmi_f32_of_small(half, WMI_SMALL_F16);
}

static unsigned bits_of(enum wmi_small_float format)
{
    return 1u + wmi_small_layouts[format].exponent + wmi_small_layouts[format].fraction;
}

static uint32_t to_small(const char *frame, uint32_t bits, enum wmi_small_float format, uint32_t scale,
                         const uint32_t *seed)
{
    const struct wmi_small_rounding rounding = {seed != NULL, saturates(frame), seed ? *seed : 0};
    return wmi_small_of_f32(moved(bits, -exponent_of(scale)), format, &rounding);
}

/* Stores `count` codes in the part of d that op_sel[3:2] (a byte) or op_sel[3] (a half) selects. */
static void put_part(const struct wmi_op *op, wmi_word *d, uint32_t codes, unsigned bits)
{
    const unsigned at = bits == 16 ? 16 * (op_sel(op) >> 3) : 8 * (op_sel(op) >> 2);
    const uint32_t mask = ((1u << bits) - 1) << at;
    *d = (*d & ~mask) | (codes << at & mask);
}

/* ---- two values, or one ---- */

/* a, b: f32, c: scale; or a: two halves, b: scale. */
static void narrow_pair(char *frame, const struct wmi_op *op, enum wmi_small_float format, enum wide from)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c);
    wmi_word *d = wmi_row(frame, op->d);
    const unsigned bits = bits_of(format);
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t scale = from == F32 ? c[i] : b[i];
        const uint32_t low = from_wide(a, i, 0, from), high = from == F32 ? b[i] : from_wide(a, i, 1, from);
        if (lanes->row[i])
            put_part(op, d + i,
                     to_small(frame, low, format, scale, NULL) | to_small(frame, high, format, scale, NULL)
                                                                     << bits,
                     2 * bits);
    }
}

/* a: `count` values, b: seed, c: scale. */
static void narrow_random(char *frame, const struct wmi_op *op, enum wmi_small_float format, enum wide from,
                          unsigned count)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c);
    wmi_word *d = wmi_row(frame, op->d);
    const unsigned bits = bits_of(format);
    for (unsigned i = 0; i < WMI_LANES; i++) {
        uint32_t seed = b[i], codes = 0;
        for (unsigned k = 0; k < count; k++, seed = next_seed(seed))
            codes |= to_small(frame, from_wide(a, i, k, from), format, c[i], &seed) << k * bits;
        if (lanes->row[i])
            put_part(op, d + i, codes, count * bits);
    }
}

/* a: codes, of which op_sel selects a byte or, for pairs of bytes, a half; b: scale. */
static void widen(char *frame, const struct wmi_op *op, enum wmi_small_float format, enum wide to,
                  unsigned count)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);
    wmi_word *d = wmi_row(frame, op->d);
    const unsigned bits = bits_of(format), select = op_sel(op);
    const unsigned at = count * bits == 16 ? 16 * (select & 1) : 8 * (select & 3);
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t codes = a[i] >> at;
        const int by = exponent_of(b[i]);
        const uint32_t low = to_wide(codes, format, by, to), high = to_wide(codes >> bits, format, by, to);
        if (!lanes->row[i])
            continue;
        if (count == 1 && to == F16)
            put_part(op, d + i, low, 16);
        else
            d[i] = count == 1 || to == F32 ? low : low | high << 16;
        if (count == PAIR && to == F32)
            d[WMI_LANES + i] = high;
    }
}

/* ---- 32 values ---- */

static void put_codes(wmi_word *d, unsigned lane, const uint8_t *codes)
{
    uint32_t words[SMALL_DWORDS] = {0};
    for (unsigned k = 0; k < ALL; k++) {
        const unsigned at = 6 * k;
        words[at / 32] |= (uint32_t)codes[k] << at % 32;
        if (at % 32 > 26)
            words[at / 32 + 1] |= (uint32_t)codes[k] >> (32 - at % 32);
    }
    for (unsigned w = 0; w < SMALL_DWORDS; w++)
        d[WMI_LANES * w + lane] = words[w];
}

static uint32_t code_at(const wmi_word *a, unsigned lane, unsigned k)
{
    const unsigned at = 6 * k, next = at / 32 + (at % 32 > 26);
    const uint64_t two = a[WMI_LANES * (at / 32) + lane] | (uint64_t)a[WMI_LANES * next + lane] << 32;
    return (uint32_t)(two >> at % 32) & 63;
}

/* a: values, and further ones in b if it is not the seed or scale, alternating; `scale`, `seed`: rows or
 * NULL. */
static void narrow_all(char *frame, const struct wmi_op *op, enum wmi_small_float format, enum wide from,
                       bool alternate, const wmi_word *scale, const wmi_word *seeds)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);
    for (unsigned i = 0; i < WMI_LANES; i++) {
        uint8_t codes[ALL];
        uint32_t seed = seeds ? seeds[i] : 0;
        for (unsigned k = 0; k < ALL; k++, seed = next_seed(seed)) {
            const uint32_t x =
                alternate ? from_wide(k % 2 ? b : a, i, k / 2, from) : from_wide(a, i, k, from);
            codes[k] = (uint8_t)to_small(frame, x, format, scale[i], seeds ? &seed : NULL);
        }
        if (lanes->row[i])
            put_codes(wmi_row(frame, op->d), i, codes);
    }
}

static void widen_all(char *frame, const struct wmi_op *op, enum wmi_small_float format, enum wide to)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);
    wmi_word *d = wmi_row(frame, op->d);
    for (unsigned i = 0; i < WMI_LANES; i++) {
        uint32_t values[ALL];
        for (unsigned k = 0; k < ALL; k++)
            values[k] = to_wide(code_at(a, i, k), format, exponent_of(b[i]), to);
        if (!lanes->row[i])
            continue;
        for (unsigned k = 0; k < (to == F32 ? ALL : ALL / 2); k++)
            d[WMI_LANES * k + i] = to == F32 ? values[k] : values[2 * k] | values[2 * k + 1] << 16;
    }
}

/* ---- 8 or 16 values. A number has 16 bits of the seed, which goes on after each second one; the scale of
 * the wide results is a byte, an exponent itself. Source: CDNA 5 ISA, V_CVT_SCALEF32_SR_PK8_FP4_F32 and the
 * following, "Conversion with Scale". ---- */

static void put_bits(wmi_word *d, unsigned lane, const uint32_t *codes, unsigned count, unsigned bits)
{
    uint32_t words[MOST_DWORDS + 1] = {0};
    for (unsigned k = 0; k < count; k++) {
        const uint64_t code = (uint64_t)codes[k] << k * bits % 32;
        words[k * bits / 32] |= (uint32_t)code;
        words[k * bits / 32 + 1] |= (uint32_t)(code >> 32);
    }
    for (unsigned w = 0; w < count * bits / 32; w++)
        d[WMI_LANES * w + lane] = words[w];
}

/* scale, seeds: rows; seeds may be NULL. */
static void narrow_some(char *frame, const struct wmi_op *op, enum wmi_small_float format, enum wide from,
                        unsigned count, const wmi_word *scale, const wmi_word *seeds)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a);
    for (unsigned i = 0; i < WMI_LANES; i++) {
        uint32_t codes[SOME], seed = seeds ? seeds[i] : 0;
        for (unsigned k = 0; k < count; k++) {
            const uint32_t bits = k % 2 ? seed & 0xffff0000 : seed << 16;
            codes[k] = to_small(frame, from_wide(a, i, k, from), format, scale[i], seeds ? &bits : NULL);
            seed = k % 2 ? next_seed(seed) : seed;
        }
        if (lanes->row[i])
            put_bits(wmi_row(frame, op->d), i, codes, count, bits_of(format));
    }
}

static void widen_some(char *frame, const struct wmi_op *op, enum wmi_small_float format, enum wide to,
                       unsigned count)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);
    wmi_word *d = wmi_row(frame, op->d);
    const unsigned bits = bits_of(format), select = op->y >> WMI_Y_TABLE & 3;
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const int by = (int)(b[i] >> 8 * select & 0xff) - 127;
        uint32_t values[SOME];
        for (unsigned k = 0; k < count; k++) {
            const unsigned at = k * bits, next = at / 32 + (at % 32 + bits > 32);
            const uint64_t two = a[WMI_LANES * (at / 32) + i] | (uint64_t)a[WMI_LANES * next + i] << 32;
            values[k] = to_wide((uint32_t)(two >> at % 32), format, by, to);
        }
        if (lanes->row[i])
            put_bits(d, i, values, count, to == F32 ? 32 : 16);
    }
}

/* ---- without a scale ---- */

/* f16 of the lowest byte of a, or of its two lowest. */
static void widen_to_f16(char *frame, const struct wmi_op *op, enum wmi_small_float format, unsigned count)
{
    const wmi_word *a = wmi_row(frame, op->a);
    wmi_word r[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        r[i] = to_wide(a[i], format, 0, F16) | (count == PAIR ? to_wide(a[i] >> 8, format, 0, F16) << 16 : 0);
    WMI_MASKED_LOOP(u32, r[i]);
}

/* The two halves of a, in the low half of d. */
static void narrow_halves(char *frame, const struct wmi_op *op, enum wmi_small_float format)
{
    const struct wmi_small_rounding rounding = {.saturates = saturates(frame)};
    const wmi_word *a = wmi_row(frame, op->a);
    wmi_word r[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++)
        r[i] = wmi_small_of_f32(from_wide(a, i, 0, F16), format, &rounding) |
               wmi_small_of_f32(from_wide(a, i, 1, F16), format, &rounding) << 8;
    WMI_MASKED_LOOP(u32, r[i]);
}

/* The low half of a, rounded with as many of b's top bits as are cut off, in the byte that op_sel[3:2]
 * selects; the others stay. */
static void narrow_half_random(char *frame, const struct wmi_op *op, enum wmi_small_float format)
{
    const struct wmi_lanes *lanes = wmi_op_lanes(frame, op);
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b);
    wmi_word *d = wmi_row(frame, op->d);
    const unsigned cut = 10u - wmi_small_layouts[format].fraction;
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const struct wmi_small_rounding rounding = {true, saturates(frame), b[i] & ~(UINT32_MAX >> cut)};
        const uint32_t code = wmi_small_of_f32(from_wide(a, i, 0, F16), format, &rounding);
        if (lanes->row[i])
            put_part(op, d + i, code, 8);
    }
}

/* a and b as two halves, rounded with the halves of c, and then cut off. */
static void narrow_both_random(char *frame, const struct wmi_op *op, enum wmi_small_float format)
{
    const wmi_word *a = wmi_row(frame, op->a), *b = wmi_row(frame, op->b), *c = wmi_row(frame, op->c);
    const uint32_t quiet = format == WMI_SMALL_BF16 ? 0x7fc0 : 0x7e00;
    wmi_word r[WMI_LANES];
    for (unsigned i = 0; i < WMI_LANES; i++) {
        const uint32_t from[PAIR] = {a[i], b[i]};
        r[i] = 0;
        for (unsigned k = 0; k < PAIR; k++) {
            const uint32_t seed = k ? c[i] & 0xffff0000 : c[i] << 16;
            const struct wmi_small_rounding rounding = {true, saturates(frame), seed};
            const bool nan = (from[k] & 0x7fffffff) > 0x7f800000;
            const uint32_t half =
                nan ? (from[k] >> 16 & 0x8000) | quiet : wmi_small_of_f32(from[k], format, &rounding);
            r[i] |= half << 16 * k;
        }
    }
    WMI_MASKED_LOOP(u32, r[i]);
}

/* ---- rows ---- */

#define BODY_OF(name, call)                                                                                  \
    WMI_DEFINE(name)                                                                                         \
    {                                                                                                        \
        call;                                                                                                \
        return wmi_next(frame, op);                                                                          \
    }
#define NARROW_PAIR(to, from, format, wide)                                                                  \
    BODY_OF(v_cvt_scalef32_pk_##to##_##from, narrow_pair(frame, op, format, wide))
#define NARROW_RANDOM(to, from, format, wide, count)                                                         \
    BODY_OF(v_cvt_scalef32_sr_##to##_##from, narrow_random(frame, op, format, wide, count))
#define WIDEN_PAIR(to, from, format, wide)                                                                   \
    BODY_OF(v_cvt_scalef32_pk_##to##_##from, widen(frame, op, format, wide, PAIR))
#define WIDEN_ONE(to, from, format, wide)                                                                    \
    BODY_OF(v_cvt_scalef32_##to##_##from, widen(frame, op, format, wide, 1))
#define ALL_WIDE(macro, small, format)                                                                       \
    macro(small, f32, format, F32) macro(small, f16, format, F16) macro(small, bf16, format, BF16)

ALL_WIDE(NARROW_PAIR, fp8, WMI_FP8_OCP)
ALL_WIDE(NARROW_PAIR, bf8, WMI_BF8_OCP)
ALL_WIDE(NARROW_PAIR, fp4, WMI_FP4)

#define RANDOM_ONE(to, from, format, wide)  NARROW_RANDOM(to, from, format, wide, 1)
#define RANDOM_PAIR(to, from, format, wide) NARROW_RANDOM(pk_##to, from, format, wide, PAIR)
ALL_WIDE(RANDOM_ONE, fp8, WMI_FP8_OCP)
ALL_WIDE(RANDOM_ONE, bf8, WMI_BF8_OCP)
ALL_WIDE(RANDOM_PAIR, fp4, WMI_FP4)

#define FROM_SMALL(small, to, format, wide) WIDEN_PAIR(to, small, format, wide)
ALL_WIDE(FROM_SMALL, fp8, WMI_FP8_OCP)
ALL_WIDE(FROM_SMALL, bf8, WMI_BF8_OCP)
ALL_WIDE(FROM_SMALL, fp4, WMI_FP4)
WIDEN_ONE(f32, fp8, WMI_FP8_OCP, F32)
WIDEN_ONE(f32, bf8, WMI_BF8_OCP, F32)
WIDEN_ONE(f16, fp8, WMI_FP8_OCP, F16)
WIDEN_ONE(f16, bf8, WMI_BF8_OCP, F16)

#define NARROW_ALL(to, from, format, wide)                                                                   \
    BODY_OF(v_cvt_scalef32_pk32_##to##_##from,                                                               \
            narrow_all(frame, op, format, wide, false, wmi_row(frame, op->b), NULL))
#define RANDOM_ALL(to, from, format, wide)                                                                   \
    BODY_OF(v_cvt_scalef32_sr_pk32_##to##_##from,                                                            \
            narrow_all(frame, op, format, wide, false, wmi_row(frame, op->c), wmi_row(frame, op->b)))
#define WIDEN_ALL(small, to, format, wide)                                                                   \
    BODY_OF(v_cvt_scalef32_pk32_##to##_##small, widen_all(frame, op, format, wide))
#define ALTERNATING(to, format)                                                                              \
    BODY_OF(v_cvt_scalef32_2xpk16_##to##_f32,                                                                \
            narrow_all(frame, op, format, F32, true, wmi_row(frame, op->c), NULL))

NARROW_ALL(fp6, f16, WMI_FP6, F16)
NARROW_ALL(fp6, bf16, WMI_FP6, BF16)
NARROW_ALL(bf6, f16, WMI_BF6, F16)
NARROW_ALL(bf6, bf16, WMI_BF6, BF16)
ALL_WIDE(RANDOM_ALL, fp6, WMI_FP6)
ALL_WIDE(RANDOM_ALL, bf6, WMI_BF6)
ALL_WIDE(WIDEN_ALL, fp6, WMI_FP6)
ALL_WIDE(WIDEN_ALL, bf6, WMI_BF6)
ALTERNATING(fp6, WMI_FP6)
ALTERNATING(bf6, WMI_BF6)

#define NARROW_8(to, from, format, wide)                                                                     \
    BODY_OF(v_cvt_scalef32_pk8_##to##_##from,                                                                \
            narrow_some(frame, op, format, wide, 8, wmi_row(frame, op->b), NULL))                            \
    BODY_OF(v_cvt_scalef32_sr_pk8_##to##_##from,                                                             \
            narrow_some(frame, op, format, wide, 8, wmi_row(frame, op->c), wmi_row(frame, op->b)))
#define NARROW_16(to, from, format, wide)                                                                    \
    BODY_OF(v_cvt_scalef32_pk16_##to##_##from,                                                               \
            narrow_some(frame, op, format, wide, 16, wmi_row(frame, op->b), NULL))                           \
    BODY_OF(v_cvt_scalef32_sr_pk16_##to##_##from,                                                            \
            narrow_some(frame, op, format, wide, 16, wmi_row(frame, op->c), wmi_row(frame, op->b)))
#define WIDEN_8(from, to, format, wide)                                                                      \
    BODY_OF(v_cvt_scale_pk8_##to##_##from, widen_some(frame, op, format, wide, 8))
#define WIDEN_16(from, to, format, wide)                                                                     \
    BODY_OF(v_cvt_scale_pk16_##to##_##from, widen_some(frame, op, format, wide, 16))

ALL_WIDE(NARROW_8, fp8, WMI_FP8_OCP)
ALL_WIDE(NARROW_8, bf8, WMI_BF8_OCP)
ALL_WIDE(NARROW_8, fp4, WMI_FP4)
ALL_WIDE(NARROW_16, fp6, WMI_FP6)
ALL_WIDE(NARROW_16, bf6, WMI_BF6)
ALL_WIDE(WIDEN_8, fp8, WMI_FP8_OCP)
ALL_WIDE(WIDEN_8, bf8, WMI_BF8_OCP)
ALL_WIDE(WIDEN_8, fp4, WMI_FP4)
ALL_WIDE(WIDEN_16, fp6, WMI_FP6)
ALL_WIDE(WIDEN_16, bf6, WMI_BF6)

BODY_OF(v_cvt_f16_fp8, widen_to_f16(frame, op, WMI_FP8_OCP, 1))
BODY_OF(v_cvt_f16_bf8, widen_to_f16(frame, op, WMI_BF8_OCP, 1))
BODY_OF(v_cvt_pk_f16_fp8, widen_to_f16(frame, op, WMI_FP8_OCP, PAIR))
BODY_OF(v_cvt_pk_f16_bf8, widen_to_f16(frame, op, WMI_BF8_OCP, PAIR))
BODY_OF(v_cvt_pk_fp8_f16, narrow_halves(frame, op, WMI_FP8_OCP))
BODY_OF(v_cvt_pk_bf8_f16, narrow_halves(frame, op, WMI_BF8_OCP))
BODY_OF(v_cvt_sr_fp8_f16, narrow_half_random(frame, op, WMI_FP8_OCP))
BODY_OF(v_cvt_sr_bf8_f16, narrow_half_random(frame, op, WMI_BF8_OCP))
BODY_OF(v_cvt_sr_pk_f16_f32, narrow_both_random(frame, op, WMI_SMALL_F16))
BODY_OF(v_cvt_sr_pk_bf16_f32, narrow_both_random(frame, op, WMI_SMALL_BF16))

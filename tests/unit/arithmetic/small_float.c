/* SPDX-License-Identifier: MIT */
/* base/small_float.h against arithmetic with doubles: the value of every code, and of f32 numbers the nearest
 * code, found by looking at all of them. */
#include "arithmetic/small_float.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* The formats of 8 bits, from OCP's specification and the CDNA 3 ISA. */
static const struct format {
    enum wmi_small_float format;
    int exponent, fraction, bias;
    double most;
    uint32_t nan, infinity; /* codes; 0: none */
} formats[] = {
    {WMI_FP8_FNUZ, 4, 3, 8, 240, 0x80, 0},
    {WMI_BF8_FNUZ, 5, 2, 16, 57344, 0x80, 0},
    {WMI_FP8_OCP, 4, 3, 7, 448, 0x7f, 0},
    {WMI_BF8_OCP, 5, 2, 15, 57344, 0x7e, 0x7c},
};

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The value of a code without sign; NAN and INFINITY where it is none. */
static double value_of(const struct format *f, uint32_t code)
{
    const int e = (int)(code >> f->fraction), m = (int)(code & ((1u << f->fraction) - 1));
    const double value =
        e ? ldexp((1 << f->fraction) + m, e - f->bias - f->fraction) : ldexp(m, 1 - f->bias - f->fraction);
    if (value <= f->most)
        return value;
    return code == f->infinity ? (double)INFINITY : (double)NAN;
}

static void codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (uint32_t code = 0; code < 256; code++) {
            const struct format *f = &formats[i];
            const float got = as_float(wmi_f32_of_small(code, f->format));
            const bool unsigned_nan = f->nan == 0x80 && code == 0x80;
            const double expected = unsigned_nan ? (double)NAN : value_of(f, code & 0x7f);
            if (isnan(expected))
                assert_true(isnan(got));
            else
                assert_true((double)got == (code & 0x80 ? -expected : expected) &&
                            !signbit(got) == !(code & 0x80));
        }
}

/* The nearest code of a positive number, the even one of two. */
static uint32_t nearest(const struct format *f, double x, bool saturates)
{
    uint32_t best = 0;
    for (uint32_t code = 1; code < 128; code++) {
        const double value = value_of(f, code), distance = fabs(value - x),
                     least = fabs(value_of(f, best) - x);
        if (isfinite(value) && (distance < least || (distance == least && !(code & 1))))
            best = code;
    }
    /* Halfway to what would be the next number, and beyond. */
    const double step = f->most - value_of(f, best - 1);
    const bool even = !(best & 1);
    if (value_of(f, best) == f->most && (x > f->most + step / 2 || (x == f->most + step / 2 && !even)))
        return saturates ? best : f->infinity ? f->infinity : f->nan;
    return best;
}

static void conversions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (unsigned saturates = 0; saturates < 2; saturates++) {
            const struct format *f = &formats[i];
            const struct wmi_small_rounding rounding = {.saturates = saturates};
            /* Upper halves from 2^-25 to 2^20 and some beyond, with what is near a boundary below them. */
            for (uint32_t high = 0x3000; high < 0x4a00; high += high < 0x3300 || high > 0x4900 ? 16 : 1)
                for (uint32_t low = 0; low < 4; low++) {
                    static const uint32_t lows[] = {0, 1, 0x8000, 0xffff};
                    const uint32_t bits = high << 16 | lows[low];
                    const uint32_t code = nearest(f, (double)as_float(bits), saturates);
                    const uint32_t negative = f->nan == 0x80 && (!code || code == 0x80) ? code : code | 0x80;
                    assert_int_equal(wmi_small_of_f32(bits, f->format, &rounding), code);
                    assert_int_equal(wmi_small_of_f32(bits | 0x80000000, f->format, &rounding), negative);
                }
            for (uint32_t code = 0; code < 256; code++) /* there and back */
                if (isfinite(as_float(wmi_f32_of_small(code, f->format))))
                    assert_int_equal(
                        wmi_small_of_f32(wmi_f32_of_small(code, f->format), f->format, &rounding), code);
        }
}

static void specials(void **state)
{
    (void)state;
    static const struct {
        enum wmi_small_float format;
        uint32_t bits, usual, saturated;
    } cases[] = {
        {WMI_FP8_FNUZ, 0xff800000, 0x80, 0xff}, {WMI_FP8_FNUZ, 0x7fc00000, 0x80, 0x80},
        {WMI_FP8_OCP, 0x7f800000, 0x7f, 0x7e},  {WMI_FP8_OCP, 0x7fc00000, 0xff, 0xff},
        {WMI_BF8_OCP, 0xff800000, 0xfc, 0xfc},  {WMI_BF8_OCP, 0xffc00000, 0xfe, 0xfe},
        {WMI_FP8_FNUZ, 0x80000000, 0, 0},       {WMI_FP8_OCP, 0x80000000, 0x80, 0x80},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wmi_small_rounding rounding = {0};
        assert_int_equal(wmi_small_of_f32(cases[i].bits, cases[i].format, &rounding), cases[i].usual);
        rounding.saturates = true;
        assert_int_equal(wmi_small_of_f32(cases[i].bits, cases[i].format, &rounding), cases[i].saturated);
    }
}

/* Of all seeds, the share that rounds away from zero is the share of the step that is cut off. */
static void stochastic(void **state)
{
    (void)state;
    for (uint32_t sixteenths = 0; sixteenths < 16; sixteenths++) {
        const uint32_t bits = 0x3f800000 | sixteenths << 16; /* fp8 has steps of 1/8 above 1 */
        unsigned up = 0;
        for (uint32_t seed = 0; seed < 16; seed++) {
            const struct wmi_small_rounding rounding = {.stochastic = true, .seed = seed << 28};
            const uint32_t code = wmi_small_of_f32(bits, WMI_FP8_OCP, &rounding);
            assert_true(code == 0x38 || code == 0x39);
            up += code == 0x39;
        }
        assert_int_equal(up, sixteenths);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes), cmocka_unit_test(conversions),
                                       cmocka_unit_test(specials), cmocka_unit_test(stochastic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

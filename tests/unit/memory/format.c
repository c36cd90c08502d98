/* SPDX-License-Identifier: MIT */
/* Formats: numbers and names against LLVM's, values against exact arithmetic in double.
 *
 * Divided or multiplied components have at most 17 bits, and floats 24, so that products and midpoints of
 * neighbours are exact in double: results are verified by these without repeating a rounding. */
#include "memory/format.h"

#include "isa/isa.h"
#include "isa/tables.h"
#include "reduced.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { GFX6, GFX8, GFX9, GFX10, GFX11, GENERATIONS, IMAGE_SRGB = 9 };

static const struct wmi_format_rules *rules_of(unsigned generation)
{
    const struct wmi_format_rules *rules = wmi_format_rules(generation);
    assert_non_null(rules);
    return rules;
}

static struct wmi_format named(unsigned generation, const char *layout, const char *number)
{
    unsigned code;
    if (!wmi_format_find(rules_of(generation), layout, number, &code))
        fail_msg("no %s %s in generation %u", layout, number, generation);
    return wmi_format_of(rules_of(generation), code);
}

/* ---- floats of any size, in double ---- */

struct kind {
    int exponent_bits, digits;
    bool sign;
};

static const struct kind f32 = {8, 23, true}, f16 = {5, 10, true}, f11 = {5, 6, false}, f10 = {5, 5, false};

static double value_of(const struct kind *k, uint32_t bits)
{
    const int top = (1 << k->exponent_bits) - 1, e = (int)(bits >> k->digits) & top;
    const uint32_t m = bits & ((1u << k->digits) - 1);
    double x;
    if (e == top)
        x = m ? NAN : INFINITY;
    else
        x = ldexp(e ? m + (1u << k->digits) : m, (e ? e : 1) - (top >> 1) - k->digits);
    return k->sign && bits >> (k->digits + k->exponent_bits) & 1 ? -x : x;
}

/* Asserts that `bits` is the float nearest to numerator / denominator, ties to even. */
static void assert_nearest(const struct kind *k, uint32_t bits, double numerator, double denominator)
{
    const uint32_t sign = k->sign ? bits & 1u << (k->digits + k->exponent_bits) : 0, magnitude = bits ^ sign;
    const uint32_t infinity = ((1u << k->exponent_bits) - 1) << k->digits;
    const double x = fabs(numerator);
    assert_true(magnitude <= infinity);
    if (numerator != 0)
        assert_int_equal(sign != 0, numerator < 0);
    /* Infinity counts as the power of two that would follow the largest finite float. */
    const double beyond = ldexp(1, 1 << (k->exponent_bits - 1));
    const double own = magnitude == infinity ? beyond : value_of(k, magnitude);
    const double next = magnitude == infinity       ? INFINITY
                        : magnitude + 1 == infinity ? beyond
                                                    : value_of(k, magnitude + 1);
    const double above = (own + next) / 2 * denominator;
    const double below = magnitude ? (own + value_of(k, magnitude - 1)) / 2 * denominator : -1;
    const bool even = !(magnitude & 1);
    if (!(x > below || (even && x == below)) || !(x < above || (even && x == above)))
        fail_msg("%g / %g became %#x", numerator, denominator, bits);
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- numbers and names ---- */

/* CLRX and PAL on gfx6 to gfx9. CLRX once had the names of 8 and 9 swapped; its bits match these. */
static void data_formats(void **state)
{
    static const struct {
        const char *name;
        unsigned components, bytes, bits[4];
    } expected[16] = {
        {"INVALID", 0, 0, {0}},
        {"8", 1, 1, {8}},
        {"16", 1, 2, {16}},
        {"8_8", 2, 2, {8, 8}},
        {"32", 1, 4, {32}},
        {"16_16", 2, 4, {16, 16}},
        {"10_11_11", 3, 4, {11, 11, 10}},
        {"11_11_10", 3, 4, {10, 11, 11}},
        {"10_10_10_2", 4, 4, {2, 10, 10, 10}},
        {"2_10_10_10", 4, 4, {10, 10, 10, 2}},
        {"8_8_8_8", 4, 4, {8, 8, 8, 8}},
        {"32_32", 2, 8, {32, 32}},
        {"16_16_16_16", 4, 8, {16, 16, 16, 16}},
        {"32_32_32", 3, 12, {32, 32, 32}},
        {"32_32_32_32", 4, 16, {32, 32, 32, 32}},
        {"INVALID", 0, 0, {0}},
    };
    (void)state;
    for (unsigned data = 0; data < 16; data++) {
        const struct wmi_format f = wmi_format_of(rules_of(GFX9), data | WMI_NUMBER_UINT << 4);
        assert_string_equal(f.layout->name, expected[data].name);
        assert_int_equal(f.layout->components, expected[data].components);
        assert_int_equal(f.layout->bytes, expected[data].bytes);
        for (unsigned i = 0, shift = 0; i < f.layout->components; shift += f.layout->bits[i++]) {
            assert_int_equal(f.layout->bits[i], expected[data].bits[i]);
            assert_int_equal(f.layout->shift[i], shift);
        }
    }
}

/* Valid number formats: FLOAT for 16 and 32 bits and the small floats, no normalized or scaled formats for
 * 32. */
static void number_formats(void **state)
{
    (void)state;
    for (unsigned data = 1; data < 15; data++)
        for (unsigned number = 0; number < 8; number++)
            for (unsigned g = GFX6; g <= GFX9; g++) {
                const struct wmi_format f = wmi_format_of(rules_of(g), data | number << 4);
                const bool is_32 = data == 4 || data == 11 || data >= 13;
                const bool may_float =
                    is_32 || data == 2 || data == 5 || data == 6 || data == 7 || data == 12;
                const bool exists = number == 7   ? may_float
                                    : number == 6 ? !is_32 && g == GFX6
                                                  : !is_32 || number == 4 || number == 5;
                assert_int_equal(f.layout->components != 0, exists);
                if (exists)
                    assert_int_equal(f.number, number);
            }
}

/* On every target, LLVM's name of a number is our name. */
static void names_are_llvms(void **state)
{
    static const char *const targets[] = {"gfx600", "gfx700",  "gfx803",  "gfx810",  "gfx900",  "gfx90a",
                                          "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200"};
    static const char *const prefixes[] = {"buf_fmt_", "BUF_FMT_", "IMG_FMT_", ""};
    unsigned unified = 0, split = 0;
    (void)state;
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        const struct wmi_target *target = wmi_target_find(targets[t]);
        const struct wmi_format_rules *rules = wmi_format_rules(target->limits[WMI_LIMIT_format_rules]);
        assert_non_null(rules);
        for (unsigned code = 0; code < 128; code++) {
            const struct wmi_format f = wmi_format_of(rules, code);
            char name[64], text[96];
            unsigned back;
            wmi_format_name(&f, name, sizeof name);
            if (wmi_format_unified(rules)) {
                const char *llvm = wmi_name_of(target, WMI_NAMES_unified_format, (int32_t)code);
                if (code == 1)
                    llvm = "BUF_FMT_8_UNORM"; /* LLVM's default, which it does not print */
                if (strchr(name, ' '))
                    *strchr(name, ' ') = '_';
                snprintf(text, sizeof text, "BUF_FMT_%s", name);
                if (llvm)
                    assert_string_equal(text, llvm);
                else
                    assert_int_equal(f.layout->components, 0);
                for (unsigned p = 0; f.layout->components && p < 4; p++, unified++) {
                    snprintf(text, sizeof text, "%s%s", prefixes[p], name);
                    assert_true(wmi_format_find(rules, text, NULL, &back));
                    assert_int_equal(back, code);
                }
                continue;
            }
            const char *data = wmi_name_of(target, WMI_NAMES_data_format, (int32_t)(code & 15));
            const char *number = wmi_name_of(target, WMI_NAMES_number_format, (int32_t)(code >> 4));
            if (!f.layout->components)
                continue;
            char *space = strchr(name, ' ');
            assert_non_null(space);
            *space = 0;
            snprintf(text, sizeof text, "BUF_DATA_FORMAT_%s", name);
            assert_string_equal(text, data ? data : (code & 15) == 1 ? "BUF_DATA_FORMAT_8" : "");
            snprintf(text, sizeof text, "BUF_NUM_FORMAT_%s", space + 1);
            assert_string_equal(text, number ? number : !(code >> 4) ? "BUF_NUM_FORMAT_UNORM" : "");
            assert_true(wmi_format_find(rules, data, number, &back));
            assert_int_equal(back, code);
            assert_true(wmi_format_find(rules, name, space + 1, &back));
            assert_int_equal(back, code);
            split++;
        }
    }
    assert_int_equal(unified, 4 * (77 * 2 + 63 * 3));
    assert_int_equal(split, 7 * 77 + 2 * 10); /* gfx6 and gfx7 have SNORM_OGL */
}

static void wrong_names(void **state)
{
    unsigned code;
    (void)state;
    assert_false(wmi_format_find(rules_of(GFX9), "8_8_8", "UNORM", &code));
    assert_false(wmi_format_find(rules_of(GFX9), "8_8_8_8", "SNORM_OGL", &code));
    assert_true(wmi_format_find(rules_of(GFX6), "8_8_8_8", "snorm_ogl", &code));
    assert_int_equal(code, 10 | 6 << 4);
    assert_false(wmi_format_find(rules_of(GFX11), "10_11_11", "UNORM", &code));
    assert_false(wmi_format_find(rules_of(GFX9), "8_8_8_8_", NULL, &code));
    assert_false(wmi_format_find(rules_of(GFX9), "", "", &code));
    assert_false(wmi_format_find(rules_of(GFX9), "INVALID", NULL, &code));
    assert_false(wmi_format_find(rules_of(GFX10), "8", "SRGB", &code)); /* images only */
    assert_null(wmi_format_rules(GENERATIONS));
}

static void image_formats(void **state)
{
    static const struct {
        unsigned generation, code;
        const char *name;
    } expected[] = {
        {GFX9, 10 | IMAGE_SRGB << 6, "8_8_8_8 SRGB"},
        {GFX9, 0x22 | 7 << 6, "5_9_9_9 FLOAT"},
        {GFX8, 0x10, "5_6_5 UNORM"},
        {GFX6, 0x39, "4_4 UNORM"},
        {GFX9, 10 | 8 << 6, "INVALID"},
        {GFX9, 0x3f, "INVALID"},
        {GFX10, 0x82, "8_8_8_8 SRGB"},
        {GFX10, 0x84, "5_9_9_9 FLOAT"},
        {GFX10, 0x85, "5_6_5 UNORM"},
        {GFX10, 22, "32 FLOAT"},
        {GFX11, 0x40, "8 SRGB"},
        {GFX11, 0x43, "5_9_9_9 FLOAT"},
        {GFX11, 0x46, "5_5_5_1 UNORM"},
        {GFX11, 0x48, "4_4 UNORM"},
        {GFX6, 0x14, "8_24 UNORM"},
        {GFX9, 0x15 | 4 << 6, "24_8 UINT"},
        {GFX8, 0x16 | 7 << 6, "X24_8_32 FLOAT"},
        {GFX10, 0x8d, "8_24 UNORM"},
        {GFX10, 0x90, "24_8 UINT"},
        {GFX11, 0x4e, "24_8 UNORM"},
        {GFX11, 0x51, "X24_8_32 FLOAT"},
        {GFX11, 0xff, "INVALID"},
        {GFX10, 0x1ff, "INVALID"},
    };
    char name[64];
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct wmi_format f = wmi_format_of_image(rules_of(expected[i].generation), expected[i].code);
        wmi_format_name(&f, name, sizeof name);
        assert_string_equal(name, expected[i].name);
    }
    assert_int_equal(wmi_format_of(rules_of(GFX10), 0x80).layout->components, 0); /* not for buffers */
    assert_int_equal(wmi_format_of(rules_of(GFX11), 0x40).layout->components, 0);
}

static void codes_in_descriptors(void **state)
{
    (void)state;
    assert_int_equal(wmi_format_code_of(rules_of(GFX9), 0x00057fac), 10 | 7 << 4);
    assert_int_equal(wmi_format_code_of(rules_of(GFX10), 77 << 12 | 0xfff), 77);
    assert_int_equal(wmi_format_code_of(rules_of(GFX11), 63 << 12 | 1 << 18), 63);
}

/* Step over the values of 16-bit components. */
static uint32_t step_of(unsigned bits)
{
    return bits == 16 && reduced() ? 19 : 1;
}

/* ---- loads ---- */

static void load_bits(const struct wmi_format *f, unsigned component, uint32_t raw, bool half,
                      uint32_t value[4])
{
    const unsigned shift = f->layout->shift[component];
    unsigned char bytes[16] = {0};
    for (unsigned i = 0; i < f->layout->bits[component]; i++)
        bytes[(shift + i) / 8] |= (unsigned char)((raw >> i & 1) << (shift + i) % 8);
    wmi_format_load(f, bytes, half, value);
}

/* The exact value of a component as a fraction. */
static void fraction_of(enum wmi_number number, unsigned bits, uint32_t raw, double *numerator,
                        double *denominator)
{
    const double range = ldexp(1, (int)bits), x = raw, s = x >= range / 2 ? x - range : x;
    *denominator = 1;
    switch (number) {
    case WMI_NUMBER_UNORM:
        *numerator = x;
        *denominator = range - 1;
        break;
    case WMI_NUMBER_SNORM:
        *numerator = s == -range / 2 ? s + 1 : s;
        *denominator = range / 2 - 1;
        break;
    case WMI_NUMBER_USCALED:
        *numerator = x;
        break;
    case WMI_NUMBER_SSCALED:
        *numerator = s;
        break;
    default:
        *numerator = 2 * s + 1;
        *denominator = range - 1;
        break;
    }
}

/* Every value of every component of up to 16 bits in every format of every generation, both result sizes. */
static void every_load(void **state)
{
    unsigned long values = 0;
    (void)state;
    for (unsigned g = 0; g < GENERATIONS; g++)
        for (unsigned code = 0; code < 128; code++) {
            const struct wmi_format f = wmi_format_of(rules_of(g), code);
            for (unsigned i = 0; i < f.layout->components; i++)
                for (uint32_t raw = 0; f.layout->bits[i] <= 16 && raw >> f.layout->bits[i] == 0;
                     raw += step_of(f.layout->bits[i])) {
                    const unsigned bits = f.layout->bits[i];
                    const bool bare_alpha = g <= GFX8 && i == 3 && bits == 2;
                    enum wmi_number number = f.number;
                    uint32_t value[4], half[4];
                    double numerator, denominator;
                    if (bare_alpha && number != WMI_NUMBER_FLOAT)
                        number = number == WMI_NUMBER_SSCALED ? WMI_NUMBER_USCALED
                                 : number == WMI_NUMBER_SINT  ? WMI_NUMBER_UINT
                                 : number == WMI_NUMBER_SNORM || number == WMI_NUMBER_SNORM_OGL
                                     ? WMI_NUMBER_UNORM
                                     : number;
                    load_bits(&f, i, raw, false, value);
                    load_bits(&f, i, raw, true, half);
                    const int32_t s = (int32_t)(raw << (32 - bits)) >> (32 - bits);
                    values++;
                    if (number == WMI_NUMBER_UINT || number == WMI_NUMBER_SINT) {
                        assert_int_equal(value[i], number == WMI_NUMBER_UINT ? raw : (uint32_t)s);
                        assert_int_equal(half[i], value[i] & 0xffff);
                    } else if (number == WMI_NUMBER_FLOAT) {
                        const struct kind *k = bits == 16 ? &f16 : bits == 11 ? &f11 : &f10;
                        const double x = value_of(k, raw);
                        if (isnan(x)) {
                            const uint32_t payload = raw & ((1u << k->digits) - 1);
                            assert_int_equal(value[i] & 0x7fffffff, 0x7f800000 | payload << (23 - k->digits));
                            assert_int_equal(half[i] & 0x7fff, 0x7c00 | payload << (10 - k->digits));
                        } else {
                            assert_int_equal(value[i], bits_of((float)x));
                            assert_true(value_of(&f16, half[i]) == x);
                        }
                    } else {
                        fraction_of(number, bits, raw, &numerator, &denominator);
                        assert_nearest(&f32, value[i], numerator, denominator);
                        assert_nearest(&f16, half[i], numerator, denominator);
                    }
                    for (unsigned other = f.layout->components; other < 4; other++)
                        assert_int_equal(value[other] | half[other], 0);
                }
        }
    assert_true(reduced() || values > 3000000);
}

static void loads_of_32_bits(void **state)
{
    static const uint32_t raw[] = {0, 1, 0x3f800000, 0x7f800001, 0xffc00000, 0x80000000, 0xffffffff, 12345};
    (void)state;
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++) {
        static const char *const kinds[] = {"UINT", "SINT", "FLOAT"};
        for (unsigned k = 0; k < 3; k++) {
            const struct wmi_format f = named(GFX9, "32_32_32_32", kinds[k]);
            uint32_t value[4];
            load_bits(&f, 3, raw[i], false, value); /* unchanged, including a signalling NaN and a denormal */
            assert_int_equal(value[3], raw[i]);
            assert_int_equal(value[0] | value[1] | value[2], 0);
        }
    }
    const struct {
        const char *kind;
        uint32_t from;
        uint16_t to;
    } halves[] = {
        {"FLOAT", 0x3f801fff, 0x3c00}, /* toward zero */
        {"FLOAT", 0xbf803fff, 0xbc01},      {"FLOAT", 0x7f7fffff, 0x7bff}, {"FLOAT", 0x7f800000, 0x7c00},
        {"FLOAT", 0x7fc00000, 0x7e00},      {"FLOAT", 0x7f800001, 0x7e00}, /* NaNs stay NaNs */
        {"FLOAT", 0x33800000, 0x0001},                                     /* 2^-24 */
        {"FLOAT", 0x337fffff, 0x0000},      {"UINT", 65535, 65535},        {"UINT", 65536, 0},
        {"SINT", (uint32_t)-32769, 0x7fff}, {"SINT", 32768, 0x8000},       {"SINT", (uint32_t)-5, 0xfffb},
    };
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        const struct wmi_format f = named(GFX9, "32", halves[i].kind);
        uint32_t value[4];
        load_bits(&f, 0, halves[i].from, true, value);
        assert_int_equal(value[0], halves[i].to);
    }
}

/* The 2-bit W of 2_10_10_10. Mesa's fix-up for gfx6 to gfx8 implies: 0, 1/3, 2/3, 1. */
static void signed_alpha(void **state)
{
    (void)state;
    for (uint32_t raw = 0; raw < 4; raw++) {
        uint32_t value[4];
        struct wmi_format f = named(GFX8, "2_10_10_10", "SNORM");
        load_bits(&f, 3, raw, false, value);
        assert_int_equal(value[3], bits_of((float)raw / 3));
        f = named(GFX9, "2_10_10_10", "SNORM");
        load_bits(&f, 3, raw, false, value);
        assert_int_equal(value[3], bits_of(raw == 0 ? 0 : raw == 1 ? 1 : -1));
        f = named(GFX6, "2_10_10_10", "SINT");
        load_bits(&f, 3, raw, false, value);
        assert_int_equal(value[3], raw);
        f = named(GFX11, "2_10_10_10", "SINT");
        load_bits(&f, 3, raw, false, value);
        assert_int_equal(value[3], raw < 2 ? raw : raw - 4);
    }
}

/* ---- stores ---- */

static uint32_t stored_bits(const struct wmi_format *f, unsigned component, uint32_t value, bool half)
{
    uint32_t values[4] = {0}, raw = 0;
    unsigned char bytes[16] = {0}, guard[20];
    memset(guard, 0xa5, sizeof guard);
    values[component] = value;
    wmi_format_store(f, values, half, guard);
    for (size_t i = f->layout->bytes; i < sizeof guard; i++)
        assert_int_equal(guard[i], 0xa5);
    memcpy(bytes, guard, f->layout->bytes);
    for (unsigned i = 0; i < f->layout->bits[component]; i++) {
        const unsigned at = f->layout->shift[component] + i;
        raw |= (uint32_t)(bytes[at / 8] >> at % 8 & 1) << i;
    }
    return raw;
}

/* Expected result of storing x to an integer component; products of 24 and 17 bits are exact. */
static int64_t expected_store(enum wmi_number number, unsigned bits, double x)
{
    const double range = ldexp(1, (int)bits);
    const bool is_unsigned = number == WMI_NUMBER_UNORM || number == WMI_NUMBER_USCALED;
    const double top = is_unsigned ? range - 1 : range / 2 - 1;
    double least = is_unsigned ? 0 : -range / 2, y = x;
    if (isnan(x))
        return 0;
    switch (number) {
    case WMI_NUMBER_UNORM:
        y = rint(x * (range - 1));
        break;
    case WMI_NUMBER_SNORM:
        y = rint(x * top);
        least = -top;
        break;
    case WMI_NUMBER_SNORM_OGL: /* below 2^-20 the product and the 1 do not fit in one double */
        y = fabs(x) < 0x1p-20 ? (x < 0 ? -1 : 0) : rint((x * (range - 1) - 1) / 2);
        break;
    default:
        y = trunc(x);
        break;
    }
    return (int64_t)(y < least ? least : y > top ? top : y);
}

static void check_store(const struct wmi_format *f, unsigned i, uint32_t bits, bool half)
{
    const double x = value_of(half ? &f16 : &f32, bits);
    const unsigned width = f->layout->bits[i];
    const int64_t want = expected_store(f->number, width, x);
    const uint32_t got = stored_bits(f, i, bits, half);
    if (got != ((uint32_t)want & (uint32_t)((1ULL << width) - 1)))
        fail_msg("%s %u component %u: %a stored as %#x, expected %lld", f->layout->name, (unsigned)f->number,
                 i, x, got, (long long)want);
}

/* For every normalized and scaled format: each representable value, the midpoints between neighbours, values
 * next to them, and values just and far out of range. */
static void every_store(void **state)
{
    (void)state;
    for (unsigned g = 0; g < GENERATIONS; g++)
        for (unsigned code = 0; code < 128; code++) {
            const struct wmi_format f = wmi_format_of(rules_of(g), code);
            if (f.number == WMI_NUMBER_UINT || f.number == WMI_NUMBER_SINT || f.number == WMI_NUMBER_FLOAT)
                continue;
            for (unsigned i = 0; i < f.layout->components; i++) {
                const unsigned bits = f.layout->bits[i];
                static const float edges[] = {
                    0,      -0.0f,    1,          -1,       2,         -2,      0.5f,     -0.5f,     1e30f,
                    -1e30f, 1e-40f,   -1e-40f,    INFINITY, -INFINITY, NAN,     65535.5f, -32768.5f, 1.5f,
                    2.5f,   0x1p-20f, 0.9999999f, 65504,    0x1p32f,   0x1p33f, -0x1p31f};
                for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
                    check_store(&f, i, bits_of(edges[e]), false);
                for (uint32_t raw = 0; raw >> bits == 0;
                     raw += bits == 16 && g != GFX6 ? 37 : step_of(bits)) {
                    double numerator, denominator;
                    fraction_of(f.number, bits, raw, &numerator, &denominator);
                    const float exact = (float)(numerator / denominator);
                    const float between = (float)((numerator + 0.5) / denominator);
                    check_store(&f, i, bits_of(exact), false);
                    check_store(&f, i, bits_of(between), false);
                    check_store(&f, i, bits_of(nextafterf(between, 100)), false);
                    check_store(&f, i, bits_of(nextafterf(between, -100)), false);
                }
            }
        }
    for (unsigned n = 0; n < 4; n++) { /* all f16 values */
        const struct wmi_format f = wmi_format_of(rules_of(GFX6), 12 | n << 4);
        for (uint32_t bits = 0; bits < 0x10000; bits += step_of(16))
            check_store(&f, 2, bits, true);
    }
}

/* Loading and storing an element preserves it, except for the second of two patterns that mean -1. */
static void load_then_store(void **state)
{
    (void)state;
    for (unsigned g = 0; g < GENERATIONS; g++)
        for (unsigned code = 0; code < 128; code++) {
            const struct wmi_format f = wmi_format_of(rules_of(g), code);
            for (unsigned i = 0; i < f.layout->components; i++)
                for (uint32_t raw = 0; f.layout->bits[i] <= 16 && raw >> f.layout->bits[i] == 0 &&
                                       !(f.unsigned_alpha && i == 3);
                     raw += step_of(f.layout->bits[i])) {
                    const bool twice = f.number == WMI_NUMBER_SNORM && raw == 1u << (f.layout->bits[i] - 1);
                    uint32_t value[4];
                    load_bits(&f, i, raw, false, value);
                    assert_int_equal(stored_bits(&f, i, value[i], false), raw + twice);
                }
        }
}

/* Floats of 10, 11 and 16 bits: each value, each midpoint and its neighbours. */
static void small_floats(void **state)
{
    const struct {
        struct wmi_format format;
        unsigned component;
        const struct kind *kind;
    } of[] = {{named(GFX9, "10_11_11", "FLOAT"), 0, &f11},
              {named(GFX9, "10_11_11", "FLOAT"), 2, &f10},
              {named(GFX11, "11_11_10", "FLOAT"), 0, &f10},
              {named(GFX10, "16_16_16_16", "FLOAT"), 3, &f16}};
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const struct kind *kind = of[k].kind;
        const uint32_t infinity = ((1u << kind->exponent_bits) - 1) << kind->digits;
        for (uint32_t bits = 0; bits + 1 < infinity; bits++) {
            const float at = (float)value_of(kind, bits), next = (float)value_of(kind, bits + 1);
            const float between = (at + next) / 2;
            const float x[] = {at, between, nextafterf(between, 0), nextafterf(between, 1e6f)};
            for (unsigned i = 0; i < 4; i++) {
                const uint32_t got = stored_bits(&of[k].format, of[k].component, bits_of(x[i]), false);
                assert_nearest(kind, got, x[i], 1);
                const uint32_t negative = stored_bits(&of[k].format, of[k].component, bits_of(-x[i]), false);
                assert_int_equal(negative, kind->sign ? got | 0x8000 : 0);
            }
        }
        const uint32_t largest = infinity - 1;
        const float max = (float)value_of(kind, largest);
        const struct {
            float from;
            uint32_t to;
        } rows[] = {{max, largest},
                    {max * 1.001f,
                     kind->sign ? stored_bits(&of[k].format, 3, bits_of(max * 1.001f), false) : largest},
                    {1e30f, kind->sign ? infinity : largest},
                    {INFINITY, infinity},
                    {-INFINITY, kind->sign ? infinity | 0x8000 : 0}};
        for (unsigned i = 0; i < 5; i++)
            assert_int_equal(stored_bits(&of[k].format, of[k].component, bits_of(rows[i].from), false),
                             rows[i].to);
        const uint32_t nan = stored_bits(&of[k].format, of[k].component, 0x7fc00000, false);
        assert_true(nan > infinity && nan < infinity + (1u << kind->digits));
    }
}

/* Integers that do not fit keep their low bits. Source: ROCm/rocm-systems, emulation/rocjitsu. */
static void integers(void **state)
{
    static const struct {
        const char *layout, *number;
        uint32_t from, to;
        bool half;
    } rows[] = {
        {"8", "UINT", 255, 255, false},
        {"8", "UINT", 256, 0, false},
        {"8", "UINT", 0xffffffff, 255, false},
        {"8", "SINT", (uint32_t)-128, 0x80, false},
        {"8", "SINT", (uint32_t)-129, 0x7f, false},
        {"8", "SINT", 128, 0x80, false},
        {"2_10_10_10", "UINT", 1025, 1, false},
        {"16", "SINT", 0x7fffffff, 0xffff, false},
        {"32", "UINT", 0xdeadbeef, 0xdeadbeef, false},
        {"32", "SINT", 0xdeadbeef, 0xdeadbeef, false},
        {"32", "SINT", 0xffff, 0xffffffff, true},
        {"32", "UINT", 0x1ffff, 0xffff, true},
        {"16", "FLOAT", 0x7c01, 0x7c01, true},
        {"32", "FLOAT", 0x0001, 0x33800000, true},
        {"32", "FLOAT", 0xfc00, 0xff800000, true},
        {"32", "FLOAT", 0x7f800001, 0x7f800001, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wmi_format f = named(GFX9, rows[i].layout, rows[i].number);
        assert_int_equal(stored_bits(&f, 0, rows[i].from, rows[i].half), rows[i].to);
    }
}

/* ---- image-only formats ---- */

static void shared_exponent(void **state)
{
    const struct wmi_format f = wmi_format_of_image(rules_of(GFX11), 0x43);
    uint64_t seed = 1;
    (void)state;
    for (uint32_t e = 0; e < 32; e++)
        for (uint32_t m = 0; m < 512; m++) {
            uint32_t word = e << 27 | m << 18 | (511 - m) << 9 | m, value[4], again;
            wmi_format_load(&f, (const unsigned char *)&word, false, value);
            assert_int_equal(value[0], bits_of(ldexpf((float)m, (int)e - 24)));
            assert_int_equal(value[1], bits_of(ldexpf((float)(511 - m), (int)e - 24)));
            assert_int_equal(value[3], 0);
            wmi_format_store(&f, value, false, (unsigned char *)&again);
            uint32_t back[4];
            wmi_format_load(&f, (const unsigned char *)&again, false, back);
            assert_memory_equal(value, back, sizeof value); /* maybe with another exponent */
        }
    for (unsigned i = 0; i < 20000; i++) { /* within half a unit at the largest exponent */
        uint32_t value[4] = {0}, word, back[4];
        float most = 0;
        for (unsigned k = 0; k < 3; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            value[k] = 0x30000000 + (uint32_t)(seed >> 36) % 0x17000000;
            float x;
            memcpy(&x, &value[k], 4);
            most = x > most ? x : most;
        }
        wmi_format_store(&f, value, false, (unsigned char *)&word);
        wmi_format_load(&f, (const unsigned char *)&word, false, back);
        const int shared = (int)(word >> 27);
        for (unsigned k = 0; k < 3; k++) {
            const double x = value_of(&f32, value[k]), y = value_of(&f32, back[k]);
            assert_true(fabs((x > 65408 ? 65408 : x) - y) <= ldexp(1, shared - 25));
        }
        assert_true(shared == 0 || most >= ldexpf(255.5f, shared - 24)); /* no larger than necessary */
    }
    const uint32_t odd[4] = {0x7fc00000, bits_of(-1), bits_of(INFINITY), 0};
    uint32_t word;
    wmi_format_store(&f, odd, false, (unsigned char *)&word);
    assert_int_equal(word, 31u << 27 | 511 << 18);
}

static void srgb(void **state)
{
    const struct wmi_format f = wmi_format_of_image(rules_of(GFX9), 10 | IMAGE_SRGB << 6);
    uint32_t previous = 0;
    (void)state;
    for (uint32_t raw = 0; raw < 256; raw++) {
        uint32_t value[4];
        load_bits(&f, 0, raw, false, value);
        assert_true(raw == 0 ? value[0] == 0 : value[0] > previous);
        const double c = raw / 255.0;
        const long double exact = c <= 0.04045 ? c / 12.92L : powl(((long double)c + 0.055L) / 1.055L, 2.4L);
        assert_true(fabsl(value_of(&f32, value[0]) - exact) <= exact * 0x1.0001p-24L);
        assert_int_equal(stored_bits(&f, 0, value[0], false), raw);
        previous = value[0];
        load_bits(&f, 3, raw, false, value);
        assert_nearest(&f32, value[3], raw, 255); /* the fourth component is linear */
    }
    assert_int_equal(stored_bits(&f, 1, bits_of(5), false), 255);
    assert_int_equal(stored_bits(&f, 1, bits_of(-5), false), 0);
    assert_int_equal(stored_bits(&f, 1, 0x7fc00000, false), 0);
}

static void packed_images(void **state)
{
    static const struct {
        unsigned code;
        uint16_t element;
        float value[4];
    } rows[] = {{0x44, 0xf800, {0, 0, 1, 0}}, {0x44, 0x07e0, {0, 1, 0, 0}},
                {0x45, 0x801f, {1, 0, 0, 1}}, {0x46, 0x0001, {1, 0, 0, 0}},
                {0x46, 0xf800, {0, 0, 0, 1}}, {0x47, 0x0f5a, {10 / 15.0f, 5 / 15.0f, 1, 0}}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wmi_format f = wmi_format_of_image(rules_of(GFX11), rows[i].code);
        uint32_t value[4];
        uint16_t back = 0;
        wmi_format_load(&f, (const unsigned char *)&rows[i].element, false, value);
        assert_memory_equal(value, rows[i].value, sizeof value);
        wmi_format_store(&f, value, false, (unsigned char *)&back);
        assert_int_equal(back, rows[i].element);
    }
}

/* 24 bits are rounded once (the quotient of doubles is as good), and survive a round trip; the stencil is
 * separate. */
static void depth_and_stencil(void **state)
{
    const struct wmi_format low = wmi_format_of_image(rules_of(GFX11), 0x4c),
                            high = wmi_format_of_image(rules_of(GFX11), 0x4e),
                            wide = wmi_format_of_image(rules_of(GFX11), 0x51);
    (void)state;
    for (uint32_t depth = 0; depth < 1 << 24; depth += depth < 5000 || depth > 0xfff000 ? 1 : 37) {
        const uint32_t stencil = depth * 7 & 0xff, elements[] = {depth | stencil << 24, depth << 8 | stencil};
        for (unsigned i = 0; i < 2; i++) {
            const struct wmi_format *f = i ? &high : &low;
            const float expected[] = {(float)(depth / 16777215.0), (float)(stencil / 255.0)};
            uint32_t value[4], back = 0;
            wmi_format_load(f, (const unsigned char *)&elements[i], false, value);
            assert_memory_equal(&value[i], &expected[0], 4);
            assert_memory_equal(&value[1 - i], &expected[1], 4);
            wmi_format_store(f, value, false, (unsigned char *)&back);
            assert_int_equal(back, elements[i]);
        }
    }
    const uint32_t element[2] = {0x3f400000, 0xa5};
    uint32_t value[4];
    wmi_format_load(&wide, (const unsigned char *)element, false, value);
    assert_int_equal(value[0], 0x3f400000);
    assert_int_equal(value[1], 0xa5);
}

/* ---- DST_SEL, and the origin of formats ---- */

static void selection(void **state)
{
    const struct wmi_format unorm = named(GFX9, "8_8_8_8", "UNORM"), uint = named(GFX9, "8_8_8_8", "UINT");
    (void)state;
    for (unsigned select = 0; select < 4096; select++) {
        uint32_t value[4] = {10, 11, 12, 13}, stored[4] = {10, 11, 12, 13}, expected[4] = {0};
        wmi_format_select_load(&unorm, select, false, value);
        wmi_format_select_store(select, stored);
        for (unsigned i = 0; i < 4; i++) {
            const unsigned s = select >> 3 * i & 7;
            assert_int_equal(value[i], s == 1 ? 0x3f800000 : s < 4 ? 0 : 10 + s - 4);
        }
        for (unsigned to = 0; to < 4; to++) /* the first component selected for it */
            for (unsigned i = 0; i < 4 && !expected[to]; i++)
                expected[to] = (select >> 3 * i & 7) == to + 4 ? 10 + i : 0;
        assert_memory_equal(stored, expected, sizeof stored);
    }
    uint32_t one[4] = {0};
    wmi_format_select_load(&uint, 1 << 9, false, one);
    assert_int_equal(one[3], 1);
    wmi_format_select_load(&unorm, 1 << 9, true, one);
    assert_int_equal(one[3], 0x3c00);
}

/* CLRX, "GCN memory handling", the rules by instruction. */
static void origins(void **state)
{
    static const struct {
        bool typed, converts;
        enum wmi_format_source format;
        bool selects;
    } rows[] = {
        {true, true, WMI_FORMAT_FROM_INSTRUCTION, false}, /* TBUFFER_LOAD_FORMAT_*, TBUFFER_STORE_FORMAT_* */
        {false, true, WMI_FORMAT_FROM_RESOURCE, true},    /* BUFFER_LOAD_FORMAT_*, BUFFER_STORE_FORMAT_* */
        {false, false, WMI_FORMAT_FROM_OPCODE, false},    /* BUFFER_LOAD_, BUFFER_STORE_, BUFFER_ATOMIC_ */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wmi_format_origin o = wmi_format_origin(rows[i].typed, rows[i].converts);
        assert_int_equal(o.format, rows[i].format);
        assert_int_equal(o.selects, rows[i].selects);
        assert_int_equal(o.all_or_nothing, rows[i].converts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_formats),
        cmocka_unit_test(number_formats),
        cmocka_unit_test(names_are_llvms),
        cmocka_unit_test(wrong_names),
        cmocka_unit_test(image_formats),
        cmocka_unit_test(codes_in_descriptors),
        cmocka_unit_test(every_load),
        cmocka_unit_test(loads_of_32_bits),
        cmocka_unit_test(signed_alpha),
        cmocka_unit_test(every_store),
        cmocka_unit_test(load_then_store),
        cmocka_unit_test(small_floats),
        cmocka_unit_test(integers),
        cmocka_unit_test(shared_exponent),
        cmocka_unit_test(srgb),
        cmocka_unit_test(packed_images),
        cmocka_unit_test(depth_and_stencil),
        cmocka_unit_test(selection),
        cmocka_unit_test(origins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Scalar types: parsing, printing and converting single numbers. */
#include "tool/arguments/value.h"

#include "tool/tool.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tool_type tool_types[] = {
    {"i8", 'i', 1, "|i1"},  {"u8", 'u', 1, "|u1"},  {"i16", 'i', 2, "<i2"}, {"u16", 'u', 2, "<u2"},
    {"i32", 'i', 4, "<i4"}, {"u32", 'u', 4, "<u4"}, {"i64", 'i', 8, "<i8"}, {"u64", 'u', 8, "<u8"},
    {"f16", 'f', 2, "<f2"}, {"f32", 'f', 4, "<f4"}, {"f64", 'f', 8, "<f8"}, {NULL, 0, 0, NULL},
};

const struct tool_type *tool_type_of(char kind, unsigned size)
{
    for (const struct tool_type *t = tool_types; t->name; t++)
        if (t->kind == kind && t->size == size)
            return t;
    return NULL;
}

const struct tool_type *tool_type_named(const char *name, size_t length)
{
    for (const struct tool_type *t = tool_types; t->name; t++)
        if (strlen(t->name) == length && strncmp(t->name, name, length) == 0)
            return t;
    return NULL;
}

bool tool_because(struct wm_diag *diag, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(diag->message, sizeof(diag->message), format, list);
    va_end(list);
    diag->status = WM_BAD_ARGUMENT;
    return false;
}

/* ---- type names of OpenCL C, C and C++; source: OpenCL C 2.0, 6.1.1 and 6.1.2; the AMD GPU's ABI is LP64
 * ---- */

static const struct {
    const char *name, *type;
    bool vectors; /* name2, name3, name4, name8, name16 exist */
} source_types[] = {
    {"bool", "u8", false},
    {"char", "i8", true},
    {"signed char", "i8", false},
    {"uchar", "u8", true},
    {"unsigned char", "u8", false},
    {"short", "i16", true},
    {"ushort", "u16", true},
    {"unsigned short", "u16", false},
    {"int", "i32", true},
    {"uint", "u32", true},
    {"unsigned", "u32", false},
    {"unsigned int", "u32", false},
    {"long", "i64", true},
    {"long int", "i64", false},
    {"long long", "i64", false},
    {"long long int", "i64", false},
    {"ulong", "u64", true},
    {"unsigned long", "u64", false},
    {"long unsigned int", "u64", false},
    {"unsigned long long", "u64", false},
    {"long long unsigned int", "u64", false},
    {"half", "f16", true},
    {"_Float16", "f16", false},
    {"__half", "f16", false},
    {"float", "f32", true},
    {"double", "f64", true},
    {"size_t", "u64", false},
    {"int8_t", "i8", false},
    {"uint8_t", "u8", false},
    {"int16_t", "i16", false},
    {"uint16_t", "u16", false},
    {"int32_t", "i32", false},
    {"uint32_t", "u32", false},
    {"int64_t", "i64", false},
    {"uint64_t", "u64", false},
};

/* Copies `name` without qualifiers, with one space between words and none before *. */
static void strip_qualifiers(const char *name, char *bare, size_t size)
{
    static const char *const qualifiers[] = {
        "const",   "volatile", "restrict", "__restrict", "__restrict__", "__global", "__constant",
        "__local", "global",   "constant", "local",      "__private",    "private",
    };
    size_t used = 0;
    while (*name) {
        const size_t length = *name == '*' ? 1 : strcspn(name, " *");
        bool skip = length == 0;
        for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++)
            skip |= strlen(qualifiers[i]) == length && strncmp(name, qualifiers[i], length) == 0;
        if (!skip && used + length + 2 < size) {
            if (used && *name != '*')
                bare[used++] = ' ';
            memcpy(bare + used, name, length);
            used += length;
        }
        name += length ? length : 1;
    }
    bare[used] = 0;
}

struct tool_source_type tool_source_type(const char *type_name)
{
    struct tool_source_type result = {.lanes = 1, .stride = 1};
    char bare[64];
    strip_qualifiers(type_name, bare, sizeof(bare));
    size_t length = strlen(bare);
    if (length && bare[length - 1] == '*') {
        result.pointer = true;
        bare[--length] = 0;
    }
    for (size_t i = 0; i < sizeof(source_types) / sizeof(source_types[0]); i++) {
        const size_t base = strlen(source_types[i].name);
        if (strncmp(bare, source_types[i].name, base) != 0)
            continue;
        const char *suffix = bare + base;
        unsigned lanes = 0;
        if (*suffix == 0)
            lanes = 1;
        for (unsigned n = 2; n <= 16 && source_types[i].vectors; n = n == 4 ? 8 : n == 8 ? 16 : n + 1) {
            char digits[4];
            snprintf(digits, sizeof(digits), "%u", n);
            if (strcmp(suffix, digits) == 0)
                lanes = n;
        }
        if (lanes == 0)
            continue;
        result.element = tool_type_named(source_types[i].type, strlen(source_types[i].type));
        result.lanes = lanes;
        result.stride = lanes == 3 ? 4 : lanes;
        break;
    }
    return result;
}

/* ---- numbers ---- */

/* Source of the layout: IEEE 754 binary16; rounds to nearest even, once, from binary64. */
static uint16_t half_from_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    const double magnitude = fabs(value);
    if (isnan(value))
        return sign | 0x7e00;
    if (magnitude >= 65520.0) /* halfway between the largest number and the next power of two */
        return sign | 0x7c00;
    int exponent = -14; /* of the smallest normal number */
    if (magnitude >= 0x1p-14)
        exponent = ilogb(magnitude);
    const double steps = nearbyint(ldexp(magnitude, 10 - exponent)); /* exact before rounding */
    return (uint16_t)(sign + ((exponent + 14) << 10) + (uint16_t)steps);
}

static double double_from_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    double magnitude;
    if (exponent == 31)
        magnitude = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(fraction, -24);
    else
        magnitude = ldexp(1024 + fraction, exponent - 25);
    return copysign(magnitude, half & 0x8000 ? -1.0 : 1.0);
}

void tool_scalar_from_integer(const struct tool_type *type, uint64_t value, void *bytes)
{
    if (type->kind == 'f')
        tool_scalar_from_real(type, (double)value, bytes);
    else
        memcpy(bytes, &value, type->size); /* little-endian hosts only, like the rest of wavemem */
}

void tool_scalar_from_real(const struct tool_type *type, double value, void *bytes)
{
    if (type->size == 2) {
        const uint16_t half = half_from_double(value);
        memcpy(bytes, &half, sizeof(half));
    } else if (type->size == 4) {
        const float single = (float)value;
        memcpy(bytes, &single, sizeof(single));
    } else {
        memcpy(bytes, &value, sizeof(value));
    }
}

static enum tool_number parse_integer(const struct tool_type *type, const char *text, void *bytes)
{
    const bool negative = text[0] == '-';
    const char *digits = text + negative;
    if (digits[0] < '0' || digits[0] > '9')
        return TOOL_NUMBER_MALFORMED;
    const int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
    char *end;
    errno = 0;
    uint64_t value = strtoull(digits, &end, base);
    if (*end && !tool_parse_size(digits, &value)) /* "4M" */
        return TOOL_NUMBER_MALFORMED;
    if (base == 16 && digits[2] == 0)
        return TOOL_NUMBER_MALFORMED;
    if (errno)
        return TOOL_NUMBER_TOO_LARGE;
    const unsigned bits = type->size * 8;
    const uint64_t most = type->kind == 'u' ? UINT64_MAX >> (64 - bits) : UINT64_MAX >> (65 - bits);
    if (negative) {
        if (value != 0 && (type->kind == 'u' || value > most + 1))
            return TOOL_NUMBER_TOO_LARGE;
        value = -value;
    } else if (value > most) {
        return TOOL_NUMBER_TOO_LARGE;
    }
    memcpy(bytes, &value, type->size);
    return TOOL_NUMBER_OK;
}

enum tool_number tool_scalar_parse(const struct tool_type *type, const char *text, size_t length, void *bytes)
{
    char number[64], *end;
    if (length == 0 || length >= sizeof(number) || text[0] == ' ')
        return TOOL_NUMBER_MALFORMED;
    memcpy(number, text, length);
    number[length] = 0;
    if (type->kind != 'f')
        return parse_integer(type, number, bytes);
    if (type->size == 4) { /* strtof rounds once; strtod and a cast would round twice */
        const float single = strtof(number, &end);
        memcpy(bytes, &single, sizeof(single));
    } else {
        tool_scalar_from_real(type, strtod(number, &end), bytes);
    }
    return *end ? TOOL_NUMBER_MALFORMED : TOOL_NUMBER_OK;
}

long double tool_scalar_value(const struct tool_type *type, const void *bytes)
{
    union {
        uint64_t u64;
        int64_t i64;
        uint16_t u16;
        float f32;
        double f64;
    } bits = {0};
    memcpy(&bits, bytes, type->size);
    if (type->kind == 'u')
        return bits.u64;
    if (type->kind == 'i') {
        const unsigned unused = 64 - type->size * 8;
        bits.u64 <<= unused;
        return bits.i64 >> unused;
    }
    return type->size == 2 ? double_from_half(bits.u16) : type->size == 4 ? bits.f32 : bits.f64;
}

void tool_scalar_print(const struct tool_type *type, const void *bytes, char text[TOOL_SCALAR_TEXT])
{
    const long double value = tool_scalar_value(type, bytes);
    if (type->kind == 'i')
        snprintf(text, TOOL_SCALAR_TEXT, "%lld", (long long)value);
    else if (type->kind == 'u')
        snprintf(text, TOOL_SCALAR_TEXT, "%llu", (unsigned long long)value);
    else
        snprintf(text, TOOL_SCALAR_TEXT, "%.*g",
                 type->size == 2   ? 5
                 : type->size == 4 ? 9
                                   : 17,
                 (double)value);
}

/* SPDX-License-Identifier: MIT */
/* The rules of floating-point exceptions, and their texts. */
#include "check/float/float.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WHICH, FIRST_VALUE, RESULT = FIRST_VALUE + WMI_FLOAT_SOURCES }; /* details */
static_assert((int)RESULT + 1 == (int)WMI_FOUND_DETAILS, "room for the result");

/* ---- formats ---- */

static const struct {
    uint64_t infinity, nan; /* the first magnitudes of these; without an infinity the same */
    uint64_t magnitude;     /* all bits but the sign */
} formats[] = {
    [WMI_FLOAT_FP8] = {0x7f, 0x7f, 0x7f},
    [WMI_FLOAT_BF8] = {0x7c, 0x7d, 0x7f},
    [WMI_FLOAT_F16] = {0x7c00, 0x7c01, 0x7fff},
    [WMI_FLOAT_BF16] = {0x7f80, 0x7f81, 0x7fff},
    [WMI_FLOAT_F32] = {0x7f800000, 0x7f800001, 0x7fffffff},
    [WMI_FLOAT_F64] = {0x7ff0000000000000, 0x7ff0000000000001, INT64_MAX},
};

enum { FNUZ_NAN = 0x80 };

bool wmi_float_is_special(enum wmi_float_format format, uint64_t bits)
{
    return format == WMI_FLOAT_FNUZ ? bits == FNUZ_NAN
                                    : (bits & formats[format].magnitude) >= formats[format].infinity;
}

bool wmi_float_is_nan(enum wmi_float_format format, uint64_t bits)
{
    return format == WMI_FLOAT_FNUZ ? bits == FNUZ_NAN
                                    : (bits & formats[format].magnitude) >= formats[format].nan;
}

static float value_of_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double value_of_f16(uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7fff;
    const double value = magnitude > 0x7c00    ? (double)NAN
                         : magnitude == 0x7c00 ? (double)INFINITY
                         : magnitude < 0x400
                             ? ldexp(magnitude, -24)
                             : ldexp((magnitude & 0x3ff) | 0x400, (int)(magnitude >> 10) - 25);
    return bits & 0x8000 ? -value : value;
}

double wmi_float_value(enum wmi_float_format format, uint64_t bits)
{
    double value;
    switch (format) {
    case WMI_FLOAT_FNUZ:
    case WMI_FLOAT_FP8:
        return wmi_float_is_nan(format, bits) ? (double)NAN : 0;
    case WMI_FLOAT_BF8: /* the upper half of an f16 */
        return value_of_f16((uint32_t)bits << 8);
    case WMI_FLOAT_F16:
        return value_of_f16((uint32_t)bits);
    case WMI_FLOAT_BF16:
        return (double)value_of_f32((uint32_t)bits << 16);
    case WMI_FLOAT_F32:
        return (double)value_of_f32((uint32_t)bits);
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

/* ---- texts ---- */

static void add_value(char *text, size_t size, enum wmi_float_format format, uint64_t bits)
{
    const double value = wmi_float_value(format, bits);
    text += strlen(text);
    if (isnan(value))
        snprintf(text, size, "NaN");
    else if (isinf(value))
        snprintf(text, size, "%s", value < 0 ? "-inf" : "inf");
    else if (format == WMI_FLOAT_F64)
        snprintf(text, size, "%.17g", value);
    else
        snprintf(text, size, "%.*g", format == WMI_FLOAT_F32 ? 9 : 5, value);
}

/* Appends "1, 2, 3": the sources whose values are known; "1 / 0" of v_div_fixup, whose B is the denominator.
 */
static void add_sources(char *text, size_t size, const struct wmi_float_operation *operation,
                        const struct wmi_found *found)
{
    const bool divides = operation->pole == 2;
    const char *between = "";
    for (unsigned n = 0; n < WMI_FLOAT_SOURCES; n++) {
        const unsigned i = divides ? WMI_FLOAT_SOURCES - 1 - n : n;
        const struct wmi_float_source *source = &operation->source[i];
        char value[40] = "";
        if (!source->format || source->other_lanes || source->old || operation->dot ||
            operation->kind == WMI_FLOAT_MATRIX)
            continue;
        add_value(value, sizeof value, (enum wmi_float_format)source->format, found->detail[FIRST_VALUE + i]);
        snprintf(text + strlen(text), size - strlen(text), "%s%s", between, value);
        between = divides ? " / " : ", ";
    }
}

static void add_result(char *text, size_t size, const struct wmi_float_operation *operation,
                       const struct wmi_found *found)
{
    const uint64_t bits = found->detail[RESULT];
    const bool is_signed = operation->type == WMI_TYPE_i32 || operation->type == WMI_TYPE_i16 ||
                           operation->type == WMI_TYPE_v2i16;
    if (operation->format)
        add_value(text, size, (enum wmi_float_format)operation->format, bits);
    else if (is_signed)
        snprintf(text + strlen(text), size, "%" PRId64, (int64_t)bits);
    else
        snprintf(text + strlen(text), size, "%" PRIu64, bits);
}

static void word_rule(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size)
{
    static const char *const kinds[] = {
        [WMI_FLOAT_INVALID] = "invalid operation",
        [WMI_FLOAT_DIVISION] = "division by zero",
        [WMI_FLOAT_OVERFLOW] = "overflow",
        [WMI_FLOAT_CONVERSION] = "invalid conversion",
    };
    const struct wmi_float *check = words->checker;
    const uint32_t which = (uint32_t)found->detail[WHICH];
    const struct wmi_float_instruction *insn = wmi_float_instruction_of(check, which >> 1);
    const struct wmi_float_operation *operation = &insn->operation[which & 1];
    char sources[160] = "", result[40] = "";
    add_sources(sources, sizeof sources, operation, found);
    add_result(result, sizeof result, operation, found);
    const enum wmi_float_exception exception = (enum wmi_float_exception)(found->rule - wmi_float_rules);
    const char *one = *sources && !strchr(sources, ',') ? "s" : "";
    if (exception == WMI_FLOAT_CONVERSION)
        snprintf(message, size, "%s: %s become%s %s, which reaches a store", kinds[exception], sources, one,
                 result);
    else
        snprintf(message, size, "%s: %s give%s %s, which reaches a store", kinds[exception],
                 *sources ? sources : "finite operands", one, result);
}

const struct wmi_check_rule wmi_float_rules[WMI_FLOAT_EXCEPTIONS] = {
    [WMI_FLOAT_INVALID] = {.name = "float-invalid",
                           .source = "IEEE 754-2019, 7.2 \"Invalid operation\"",
                           .remedy = "keep operands in the domain of the operation, or test them before",
                           .class = WM_CHECK_FLOAT,
                           .has_first = true,
                           .word = word_rule},
    [WMI_FLOAT_DIVISION] = {.name = "float-division-by-zero",
                            .source = "IEEE 754-2019, 7.3 \"Division by zero\"",
                            .remedy = "test the operand for zero, and store another value then",
                            .class = WM_CHECK_FLOAT,
                            .has_first = true,
                            .word = word_rule},
    [WMI_FLOAT_OVERFLOW] = {.name = "float-overflow",
                            .source = "IEEE 754-2019, 7.4 \"Overflow\"",
                            .remedy = "scale the operands, or compute in a format with a larger range",
                            .class = WM_CHECK_FLOAT,
                            .has_first = true,
                            .word = word_rule},
    [WMI_FLOAT_CONVERSION] = {.name = "float-conversion",
                              .source = "IEEE 754-2019, 7.2 \"Invalid operation\" (j), and 7.4 \"Overflow\"; "
                                        "Vega ISA, V_CVT_I32_F32",
                              .remedy = "limit the value to the range of the result before converting it",
                              .class = WM_CHECK_FLOAT,
                              .has_first = true,
                              .word = word_rule},
};

struct wmi_found wmi_float_found(const struct wmi_float_event *event, uint64_t lanes, uint64_t store)
{
    const uint64_t shown = event->lanes & lanes ? event->lanes & lanes : event->lanes;
    const uint64_t below = (shown & -shown) - 1;
    const uint64_t *value = event->value[__builtin_popcountll(event->lanes & below)];
    struct wmi_found found = {
        .rule = &wmi_float_rules[event->exception],
        .pc = event->insn->pc,
        .first_pc = store,
        .count = 1,
        .has_wave = true,
        .lanes = shown,
        .detail = {[WHICH] = (uint64_t)event->sequence << 32 | event->insn->number << 1 | event->operation},
    };
    memcpy(&found.detail[FIRST_VALUE], value, sizeof event->value[0]);
    return found;
}

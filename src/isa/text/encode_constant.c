/* SPDX-License-Identifier: MIT */
#include "isa/text/encode_constant.h"

#include <math.h>
#include <string.h>

enum { CODE_INT_64 = 192, CODE_FLOAT_FIRST = 240, FLOATS = 9, BITS_64 = 64 };

/* Inline float constants 0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0 1/(2*pi). */
static const uint16_t halves[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
static const uint32_t singles[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                   0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
static const uint64_t doubles[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                   0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                   0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

enum wmi_number_class wmi_number_class_of(unsigned type)
{
    switch (type) {
    case WMI_TYPE_f16:
    case WMI_TYPE_mix:
        return WMI_NUMBER_F16;
    case WMI_TYPE_f16w:
        return WMI_NUMBER_F16W;
    case WMI_TYPE_f16x:
    case WMI_TYPE_b16:
    case WMI_TYPE_i16:
    case WMI_TYPE_u16:
        return WMI_NUMBER_I16;
    case WMI_TYPE_bf16:
    case WMI_TYPE_bmix:
        return WMI_NUMBER_BF16;
    case WMI_TYPE_v2f16:
        return WMI_NUMBER_V2F16;
    case WMI_TYPE_v2f16n:
        return WMI_NUMBER_V2F16N;
    case WMI_TYPE_v2bf16:
        return WMI_NUMBER_V2BF16;
    case WMI_TYPE_v2i16:
    case WMI_TYPE_v2u16:
        return WMI_NUMBER_V2I16;
    case WMI_TYPE_f64:
        return WMI_NUMBER_F64;
    default:
        return wmi_type_bits(type) == BITS_64 && !wmi_is_pair32(type) ? WMI_NUMBER_64 : WMI_NUMBER_32;
    }
}

/* LLVM 22 knows of v_pk_fmac_f16 that its inline constants are in both halves (isa/ERRATA.md). */
enum wmi_number_class wmi_number_class_of_spec(const struct wmi_encoder *e, const struct wmi_spec *spec)
{
    const struct wmi_row *row = &wmi_rows[e->form->id];
    const bool repeats = row->rules & WMI_RULE_REPEATS && row->group != WMI_GROUP_DOT &&
                         e->target->limits[WMI_LIMIT_repeats_constants] &&
                         e->target->limits[WMI_LIMIT_marks_literals];
    return repeats && spec->type == WMI_TYPE_v2f16 ? WMI_NUMBER_V2F16R : wmi_number_class_of(spec->type);
}

/* Rounds to a narrower float format, to nearest even; false on overflow or underflow to zero. */
static bool narrow(double real, unsigned mantissa, unsigned exponent_bits, uint32_t *bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t sign = signbit(real) ? 1u << (mantissa + exponent_bits) : 0;
    int exponent;
    const double magnitude = fabs(real), fraction = frexp(magnitude, &exponent);
    *bits = sign;
    if (magnitude == 0)
        return true;
    if (!isfinite(real))
        return false;
    int field = exponent - 1 + bias; /* biased exponent for a significand in [1, 2) */
    const int shift = (int)mantissa + 1 - (field < 1 ? 1 - field : 0);
    const double scaled = shift < 0 ? 0 : ldexp(fraction, shift);
    uint32_t number = (uint32_t)scaled;
    const double rest = scaled - number;
    number += rest > 0.5 || (rest == 0.5 && number & 1);
    number += field < 1 ? 0 : (uint32_t)(field - 1) << mantissa;
    *bits = sign | number;
    return number != 0 && number < ((1u << exponent_bits) - 1) << mantissa;
}

static bool narrow_to(enum wmi_number_class class, double real, uint32_t *bits)
{
    enum { SINGLE_MANTISSA = 23, HALF_MANTISSA = 10, BF16_MANTISSA = 7 };
    switch (class) {
    case WMI_NUMBER_F16:
    case WMI_NUMBER_F16W:
    case WMI_NUMBER_I16:
    case WMI_NUMBER_V2F16:
    case WMI_NUMBER_V2F16N:
    case WMI_NUMBER_V2F16R:
        return narrow(real, HALF_MANTISSA, 5, bits);
    case WMI_NUMBER_BF16:
    case WMI_NUMBER_V2BF16:
        return narrow(real, BF16_MANTISSA, 8, bits);
    default:
        return narrow(real, SINGLE_MANTISSA, 8, bits);
    }
}

/* The index of the inline float constant with these bits, or -1. */
static int float_index(enum wmi_number_class class, uint64_t bits)
{
    for (int i = 0; i < FLOATS; i++) {
        const bool same = class == WMI_NUMBER_64 || class == WMI_NUMBER_F64        ? bits == doubles[i]
                          : class == WMI_NUMBER_32 || class == WMI_NUMBER_V2I16    ? bits == singles[i]
                          : class == WMI_NUMBER_BF16 || class == WMI_NUMBER_V2BF16 ? bits == singles[i] >> 16
                                                                                   : bits == halves[i];
        if (same)
            return i;
    }
    return -1;
}

static bool has_code(const struct wmi_encoder *e, unsigned code)
{
    return e->target->codes[code].kind == WMI_OPERAND_CONSTANT;
}

static bool integer_code(int64_t value, unsigned *code)
{
    if (value < -16 || value > 64)
        return false;
    *code = value >= 0 ? WMI_CODE_INT_0 + (unsigned)value : CODE_INT_64 + (unsigned)-value;
    return true;
}

static bool float_code(const struct wmi_encoder *e, enum wmi_number_class class, uint64_t bits,
                       unsigned *code)
{
    const int i = float_index(class, bits);
    *code = CODE_FLOAT_FIRST + (unsigned)i;
    return i >= 0 && has_code(e, *code);
}

static bool has_wide_literals(const struct wmi_encoder *e)
{
    return e->target->codes[WMI_CODE_LITERAL_64].kind == WMI_OPERAND_LITERAL;
}

/* Converts a number that is not an inline constant to a literal. */
bool wmi_literal_of(struct wmi_encoder *e, const struct wmi_parsed *p, enum wmi_number_class class,
                    uint32_t *literal)
{
    const bool wide = class == WMI_NUMBER_64 || class == WMI_NUMBER_F64;
    if (class == WMI_NUMBER_F64 && has_wide_literals(e) && p->what == WMI_PARSED_NUMBER && !p->value.base &&
        !p->value.late && !wmi_fits(p->value.number, 32) && !(uint32_t)p->value.number) {
        *literal = (uint32_t)((uint64_t)p->value.number >> 32);
        return true;
    }
    if (p->what == WMI_PARSED_NUMBER) {
        const unsigned bits = class == WMI_NUMBER_32 || class == WMI_NUMBER_F16W || wide ? 32 : 16;
        *literal = bits == 16 ? (uint16_t)p->value.number : (uint32_t)p->value.number;
        if (p->value.base || p->value.late) {
            *literal = (uint32_t)p->value.number;
            return true;
        }
        const bool packed = class == WMI_NUMBER_V2F16 || class == WMI_NUMBER_V2F16N ||
                            class == WMI_NUMBER_V2F16R || class == WMI_NUMBER_V2I16 ||
                            class == WMI_NUMBER_V2BF16;
        if (packed) {
            *literal = (uint32_t)p->value.number;
            return wmi_fits(p->value.number, 32) || wmi_refuse(e, p, "a constant of 32 bits");
        }
        return wmi_fits(p->value.number, bits) ||
               wmi_refuse(e, p, bits == 16 ? "a constant of 16 bits" : "a constant of 32 bits");
    }
    uint64_t bits;
    memcpy(&bits, &p->real, sizeof bits);
    if (class == WMI_NUMBER_64)
        return wmi_refuse(e, p, "a whole number or an inline constant");
    if (class == WMI_NUMBER_F64) {
        *literal = (uint32_t)(bits >> 32);
        return true;
    }
    const enum wmi_number_class as = class == WMI_NUMBER_I16 ? WMI_NUMBER_32 : class; /* as LLVM does */
    return narrow_to(as, p->real, literal) || wmi_refuse(e, p, "a number that the operand's type can have");
}

bool wmi_set_literal(struct wmi_encoder *e, const struct wmi_parsed *p, uint64_t literal, bool wide)
{
    if (p->what == WMI_PARSED_NUMBER && p->value.base)
        literal = 0; /* filled in by the relocation */
    if (e->has_literal && (e->literal != literal || e->late_literal || e->wide_literal != wide))
        return wmi_refuse(e, p, "the same literal as the other operand has");
    e->has_literal = true;
    e->wide_literal = wide;
    e->literal = literal;
    if (p->what == WMI_PARSED_NUMBER && (p->value.base || p->value.late)) {
        e->late_literal = true;
        e->relocation.value = p->value;
    }
    return true;
}

/* Whether the instruction's own literal has 64 bits (v_fmaak_f64). */
static bool shares_wide_literal(const struct wmi_encoder *e)
{
    for (unsigned i = 0; i < e->form->specs; i++)
        if (wmi_specs[e->form->spec + i].kind == WMI_KIND_shared_literal)
            return wmi_specs[e->form->spec + i].dwords == 2;
    return false;
}

/* A literal of 64 bits for an operand of as many, if it takes one: an integer that is negative or has
 * more than 31 bits, a float whose lower half is not 0, and lit64(). A number that is no such float is its
 * upper half. */
bool wmi_needs_wide_literal(const struct wmi_encoder *e, const struct wmi_parsed *p,
                            enum wmi_number_class class, uint64_t *literal)
{
    const bool late = p->what == WMI_PARSED_NUMBER && (p->value.base || p->value.late);
    if (!has_wide_literals(e) || wmi_layouts[e->form->layout].dwords > 1)
        return false;
    *literal = late ? 0 : (uint64_t)p->value.number;
    if (late)
        return class == WMI_NUMBER_64;
    if (p->what == WMI_PARSED_REAL)
        memcpy(literal, &p->real, sizeof *literal);
    if (class == WMI_NUMBER_64)
        return p->what == WMI_PARSED_NUMBER && (p->value.literal || *literal > INT32_MAX);
    if (class != WMI_NUMBER_F64)
        return false;
    if (p->what == WMI_PARSED_NUMBER && !p->value.literal && wmi_fits(p->value.number, 32))
        *literal <<= 32;
    return p->value.literal || shares_wide_literal(e) || (uint32_t)*literal;
}

bool wmi_inline_code(const struct wmi_encoder *e, const struct wmi_parsed *p, enum wmi_number_class class,
                     unsigned *code)
{
    if (p->value.literal || class == WMI_NUMBER_V2F16N)
        return false;
    if (p->what == WMI_PARSED_REAL) {
        uint64_t bits;
        uint32_t narrow;
        memcpy(&bits, &p->real, sizeof bits);
        if (class == WMI_NUMBER_64 || class == WMI_NUMBER_F64)
            return bits == 0 ? integer_code(0, code) : float_code(e, class, bits, code);
        const bool bf16 = class == WMI_NUMBER_BF16 || class == WMI_NUMBER_V2BF16;
        if (!narrow_to(bf16 ? WMI_NUMBER_32 : class, p->real, &narrow))
            return false;
        if (bf16 && narrow != singles[FLOATS - 1] && (uint16_t)narrow)
            return false;
        narrow >>= bf16 ? 16 : 0; /* LLVM truncates 1/(2*pi) */
        return integer_code((int32_t)(class == WMI_NUMBER_F16 || class == WMI_NUMBER_F16W ||
                                              class == WMI_NUMBER_I16 || class == WMI_NUMBER_V2F16 ||
                                              class == WMI_NUMBER_V2F16R || class == WMI_NUMBER_BF16 ||
                                              class == WMI_NUMBER_V2BF16
                                          ? (int16_t)narrow
                                          : (int32_t)narrow),
                            code) ||
               float_code(e, class, narrow, code);
    }
    if (p->value.base || p->value.late)
        return false;
    const int64_t value = p->value.number;
    if (class == WMI_NUMBER_64 || class == WMI_NUMBER_F64)
        return integer_code(value, code) || float_code(e, class, (uint64_t)value, code);
    if (class == WMI_NUMBER_32 ||
        class == WMI_NUMBER_F16W) /* LLVM compares numbers with constants of 32 bits */
        return wmi_fits(value, 32) &&
               (integer_code((int32_t)value, code) || float_code(e, WMI_NUMBER_32, (uint32_t)value, code));
    if (class == WMI_NUMBER_V2I16)
        return wmi_fits(value, 32) &&
               (integer_code((int32_t)value, code) || float_code(e, class, (uint32_t)value, code));
    const uint32_t low = (uint16_t)value, both = low | low << 16;
    if (class == WMI_NUMBER_V2F16R)
        return wmi_fits(value, 32) && (integer_code((int32_t)value, code) ||
                                       ((uint32_t)value == both && (integer_code((int16_t)value, code) ||
                                                                    float_code(e, class, low, code))));
    if (class == WMI_NUMBER_V2F16 || class == WMI_NUMBER_V2BF16)
        return wmi_fits(value, 32) &&
               (integer_code((int32_t)value, code) || float_code(e, class, (uint32_t)value, code));
    if (class == WMI_NUMBER_I16)
        return integer_code(value, code);
    return wmi_fits(value, 16) &&
           (integer_code((int16_t)value, code) || float_code(e, class, (uint16_t)value, code));
}

/* SPDX-License-Identifier: MIT */
/* Numbers in assembly text as inline constants and literals. */
#ifndef WMI_ENCODE_CONSTANT_H
#define WMI_ENCODE_CONSTANT_H

#include "isa/text/parsed.h"

/* Operand codes. */
enum { WMI_CODE_INT_0 = 128, WMI_CODE_LITERAL_64 = 254, WMI_CODE_LITERAL = 255 };

/* How numbers are converted to operand bits. Source: LLVM AMDGPUAsmParser.cpp, isInlinableImm, isLiteralImm.
 */
enum wmi_number_class {
    WMI_NUMBER_32,
    WMI_NUMBER_64,
    WMI_NUMBER_F64,
    WMI_NUMBER_F16,
    WMI_NUMBER_F16W,
    WMI_NUMBER_BF16,
    WMI_NUMBER_I16,
    WMI_NUMBER_V2F16,
    WMI_NUMBER_V2F16N, /* no inline constants */
    WMI_NUMBER_V2F16R, /* inline constants are in both halves */
    WMI_NUMBER_V2BF16,
    WMI_NUMBER_V2I16
};

enum wmi_number_class wmi_number_class_of(unsigned type);
enum wmi_number_class wmi_number_class_of_spec(const struct wmi_encoder *e, const struct wmi_spec *spec);

/* Whether the number has so many bits, with or without a sign. */
static inline bool wmi_fits(int64_t value, unsigned bits)
{
    return bits >= 64 || (uint64_t)value >> bits == 0 || (value >= -(INT64_C(1) << (bits - 1)) && value < 0);
}

/* Reports what was expected in place of the operand. */
static inline bool wmi_refuse(struct wmi_encoder *e, const struct wmi_parsed *p, const char *what)
{
    return wmi_expected(e->cursor, p->at, what);
}

/* The code of an inline constant; false if it is none. */
bool wmi_inline_code(const struct wmi_encoder *e, const struct wmi_parsed *p, enum wmi_number_class class,
                     unsigned *code);
/* Converts a number that is no inline constant; false after a message. */
bool wmi_literal_of(struct wmi_encoder *e, const struct wmi_parsed *p, enum wmi_number_class class,
                    uint32_t *literal);
/* Whether the operand takes the number as a literal of 64 bits, and that. */
bool wmi_needs_wide_literal(const struct wmi_encoder *e, const struct wmi_parsed *p,
                            enum wmi_number_class class, uint64_t *literal);
/* Makes it the literal of the instruction, which has only one; false after a message. */
bool wmi_set_literal(struct wmi_encoder *e, const struct wmi_parsed *p, uint64_t literal, bool wide);

#endif

/* SPDX-License-Identifier: MIT */
/* Expressions of instruction tests: 64-bit integers, numbers, and wildcards. */
#ifndef TESTS_INSTRUCTIONS_VALUE_H
#define TESTS_INSTRUCTIONS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_kind {
    VALUE_INTEGER, /* from `integer` to `last` */
    VALUE_NUMBER,
    VALUE_NAN, /* any NaN */
    VALUE_ANY  /* "-" */
};

struct value {
    enum value_kind kind;
    int64_t integer, last; /* equal except for ranges */
    double number;
};

/* Interpretations of bits. */
enum type { TYPE_U8, TYPE_U16, TYPE_U32, TYPE_U64, TYPE_F16, TYPE_BF16, TYPE_F32, TYPE_F64, TYPES };

/* Meaning of names in an expression. */
struct scope {
    unsigned lane, lanes;
    uint64_t i;
    bool has_lane, has_i;
    /* Registers and memory before the code. False, with a message in `error`, if the name is unknown or has
     * no value. */
    bool (*look_up)(void *user, struct scope *scope, const char *name, size_t length, const uint64_t *index,
                    uint64_t *value);
    void *user;
    char error[512]; /* first error, or "" */
};

/* Evaluates the expression at *at, and advances it past the expression. False on error, see scope->error. */
bool evaluate(struct scope *scope, const char **at, struct value *value);
/* The type at the start of `name`, followed by a blank; TYPES if there is none. */
enum type type_named(const char *name);
unsigned type_bytes(enum type type);
const char *type_name(enum type type);
/* The bits of a single integer or number. False if it does not fit the type. */
bool value_bits(struct scope *scope, enum type type, const struct value *value, uint64_t *bits);
/* Whether `bits` match the value, which fits the type. */
bool value_is(enum type type, const struct value *value, uint64_t bits);
/* "0x3f800000 (1)": formats `bits`, or the value, for a message. */
void show_bits(char *text, size_t size, enum type type, uint64_t bits);
void show_value(char *text, size_t size, enum type type, const struct value *value);

#endif

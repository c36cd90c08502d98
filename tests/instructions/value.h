/* SPDX-License-Identifier: MIT */
/* Expressions of instruction tests: integers of 64 bits, numbers, and what any result satisfies. */
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
    int64_t integer, last; /* the same but for a range */
    double number;
};

/* How bits are read and written. */
enum type { TYPE_U8, TYPE_U16, TYPE_U32, TYPE_U64, TYPE_F16, TYPE_BF16, TYPE_F32, TYPE_F64, TYPES };

/* What names in an expression stand for. */
struct scope {
    unsigned lane, lanes;
    uint64_t i;
    bool has_lane, has_i;
    /* Registers and memory as they are before the code: false, with a message in `error`: there is no such
     * thing, or it is not set. */
    bool (*look_up)(void *user, struct scope *scope, const char *name, size_t length, const uint64_t *index,
                    uint64_t *value);
    void *user;
    char error[512]; /* of the first mistake, or "" */
};

/* Evaluates the expression at *at, up to what cannot belong to it. False: scope->error says why. */
bool evaluate(struct scope *scope, const char **at, struct value *value);
/* The type that `name` begins with, followed by a blank; TYPES: none. */
enum type type_named(const char *name);
unsigned type_bytes(enum type type);
const char *type_name(enum type type);
/* The bits of a value of one integer or number. False: it is none that fits. */
bool value_bits(struct scope *scope, enum type type, const struct value *value, uint64_t *bits);
/* Whether `bits` are what the value says; the value fits the type. */
bool value_is(enum type type, const struct value *value, uint64_t bits);
/* "0x3f800000 (1)": `bits` as a message shows them, or the value. */
void show_bits(char *text, size_t size, enum type type, uint64_t bits);
void show_value(char *text, size_t size, enum type type, const struct value *value);

#endif

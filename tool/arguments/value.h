/* SPDX-License-Identifier: MIT */
/* Scalar types of the command line and of .npy files, and what the metadata's type names mean. */
#ifndef WAVEMEM_TOOL_VALUE_H
#define WAVEMEM_TOOL_VALUE_H

#include "wavemem/wavemem.h"

enum { TOOL_SCALAR_BYTES = 8, TOOL_SCALAR_TEXT = 48 };

struct tool_type {
    const char *name;  /* "f32" */
    char kind;         /* 'i', 'u' or 'f' */
    unsigned size;     /* bytes */
    const char *descr; /* NumPy's name in .npy headers: "<f4" */
};

/* Every type, ended by a row whose name is NULL. */
extern const struct tool_type tool_types[];
/* By kind and size; NULL when there is none. */
const struct tool_type *tool_type_of(char kind, unsigned size);
/* By name, of which `length` bytes count; NULL when there is none. */
const struct tool_type *tool_type_named(const char *name, size_t length);

/* What a type name of the metadata or of DWARF says: "float", "uint4", "const float *". */
struct tool_source_type {
    const struct tool_type *element; /* NULL: unknown, a struct, void, a pointer to a pointer */
    unsigned lanes;                  /* 1; 2, 3, 4, 8, 16 of a vector */
    unsigned stride;                 /* lanes that one vector takes in memory: 4 when it has 3 */
    bool pointer;                    /* the name is that of a pointer; the rest describes what it points to */
};
struct tool_source_type tool_source_type(const char *type_name);

enum tool_number { TOOL_NUMBER_OK, TOOL_NUMBER_MALFORMED, TOOL_NUMBER_TOO_LARGE };

/* Writes `type`'s bytes, little-endian, of the number in the first `length` bytes of `text`. Integers are
 * decimal or 0x hexadecimal and must fit; floats are decimal, hexadecimal, inf or nan, rounded to nearest
 * even. */
enum tool_number tool_scalar_parse(const struct tool_type *type, const char *text, size_t length,
                                   void *bytes);
/* Writes `value` converted to `type`; integers wrap. */
void tool_scalar_from_integer(const struct tool_type *type, uint64_t value, void *bytes);
/* Only for the float types; rounds to nearest even. */
void tool_scalar_from_real(const struct tool_type *type, double value, void *bytes);
/* The value at `bytes`; exact where long double has 64 bits of mantissa. */
long double tool_scalar_value(const struct tool_type *type, const void *bytes);
/* As decimal text that reads back as the same bits. */
void tool_scalar_print(const struct tool_type *type, const void *bytes, char text[TOOL_SCALAR_TEXT]);

/* Sets diag->message; returns false. */
bool tool_because(struct wm_diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

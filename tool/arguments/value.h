/* SPDX-License-Identifier: MIT */
/* Scalar types of the command line, .npy files and type names of metadata. */
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

/* All types; the last row has no name. */
extern const struct tool_type tool_types[];
/* Finds a type by kind and size; NULL: none. */
const struct tool_type *tool_type_of(char kind, unsigned size);
/* Finds a type by the first `length` bytes of `name`; NULL: none. */
const struct tool_type *tool_type_named(const char *name, size_t length);

/* The meaning of a type name in metadata or DWARF: "float", "uint4", "const float *". */
struct tool_source_type {
    const struct tool_type *element; /* NULL: unknown, a struct, void, a pointer to a pointer */
    unsigned lanes;                  /* 1; vectors: 2, 3, 4, 8, 16 */
    unsigned stride;                 /* lanes that a vector occupies in memory: 4 if it has 3 */
    bool pointer;                    /* a pointer; the other members describe its target */
};
struct tool_source_type tool_source_type(const char *type_name);

enum tool_number { TOOL_NUMBER_OK, TOOL_NUMBER_MALFORMED, TOOL_NUMBER_TOO_LARGE };

/* Parses the number in the first `length` bytes of `text` and writes it as `type`, little-endian. Integers
 * are decimal or 0x hexadecimal and must fit; floats are decimal, hexadecimal, inf or nan, rounded to nearest
 * even. */
enum tool_number tool_scalar_parse(const struct tool_type *type, const char *text, size_t length,
                                   void *bytes);
/* Writes `value` converted to `type`; integers wrap. */
void tool_scalar_from_integer(const struct tool_type *type, uint64_t value, void *bytes);
/* For float types only; rounds to nearest even. */
void tool_scalar_from_real(const struct tool_type *type, double value, void *bytes);
/* Returns the value at `bytes`; exact if long double has a 64-bit mantissa. */
long double tool_scalar_value(const struct tool_type *type, const void *bytes);
/* Prints decimal text that parses to the same bits. */
void tool_scalar_print(const struct tool_type *type, const void *bytes, char text[TOOL_SCALAR_TEXT]);

/* Sets diag->message; returns false. */
bool tool_because(struct wm_diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

/* SPDX-License-Identifier: MIT */
/* Array arguments of the command line: "rand:f32:1024:7", "@in.npy", "bytes:00ff", "words:1,@in". */
#ifndef WAVEMEM_TOOL_ARRAY_H
#define WAVEMEM_TOOL_ARRAY_H

#include "tool/arguments/value.h"

/* A recipe for elements, or the elements themselves. */
struct tool_array {
    enum tool_array_kind {
        TOOL_ZERO,
        TOOL_UNWRITTEN,
        TOOL_FILL,
        TOOL_IOTA,
        TOOL_RANDOM,
        TOOL_BYTES,
        TOOL_WORDS
    } kind;
    const struct tool_type *type;    /* NULL: raw bytes without a type */
    uint64_t count;                  /* elements; bytes when the type is NULL */
    uint8_t fill[TOOL_SCALAR_BYTES]; /* TOOL_FILL: one element */
    uint64_t seed;                   /* TOOL_RANDOM */
    uint8_t *bytes;                  /* TOOL_BYTES; owned, see `owned` */
    bool is_words;                   /* the elements are u32 if nothing gives them a type */
    void *owned;                     /* what tool_array_free() releases */
    char shape[96];                  /* of an .npy file; "" otherwise */
    const char *spec;                /* the text that described it */
};

/* Whether `spec` begins like an array: "zero:", "@", ... */
bool tool_array_looks_like(const char *spec);
/* zero:TYPE:N uninit:TYPE:N zeros:BYTES fill:TYPE:N:VALUE iota:TYPE:N rand:TYPE:N[:SEED] TYPE:V,V,...
 * bytes:HEX words:LIST @FILE.npy @FILE; reads the file. The kind of words with addresses is TOOL_WORDS: their
 * values are those of tool_array_words(). `spec` must live as long as the array. */
bool tool_array_parse(const char *spec, struct tool_array *array, struct wm_diag *diag);
/* Gets the elements again after tool_array_free(). False: they came from a pipe, or are others now. */
bool tool_array_reload(struct tool_array *array);
void tool_array_free(struct tool_array *array);
uint64_t tool_array_size(const struct tool_array *array); /* bytes */
/* Writes all elements, tool_array_size() bytes; not of TOOL_WORDS. */
void tool_array_write(const struct tool_array *array, void *elements);
/* Writes one of them. */
void tool_array_element(const struct tool_array *array, uint64_t index, void *element);
/* TOOL_WORDS: writes all elements. */
struct tool_item_rules;
bool tool_array_words(const struct tool_array *array, const struct tool_item_rules *rules, void *elements,
                      struct wm_diag *diag);
/* Gives raw bytes a type; false if they are no whole number of elements. */
bool tool_array_adopt(struct tool_array *array, const struct tool_type *type);

/* Hexadecimal digits, spaces and underscores between them allowed; the caller frees. */
bool tool_parse_hex(const char *text, uint8_t **bytes, size_t *size, struct wm_diag *diag);

#endif

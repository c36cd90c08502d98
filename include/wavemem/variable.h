/* SPDX-License-Identifier: MIT */
/* Variables of the source, by DWARF: which ones are in scope, and where their values are. */
#ifndef WAVEMEM_VARIABLE_H
#define WAVEMEM_VARIABLE_H

#include "object.h"

#ifdef __cplusplus
extern "C" {
#endif

enum wm_variable_kind {
    WM_VARIABLE_OTHER, /* struct, union, or unknown */
    WM_VARIABLE_SIGNED,
    WM_VARIABLE_UNSIGNED, /* also bool and char types without a sign */
    WM_VARIABLE_FLOAT,
    WM_VARIABLE_POINTER,
};

struct wm_variable {
    const char *name;
    char type[128]; /* "float", "float *", "uint[16]"; "" if it has none */
    /* Inlined functions between the instruction and the one that has the variable: 0 is that of the
     * instruction itself, as in wm_object_inlined(). */
    unsigned depth;
    bool is_parameter;
    enum wm_variable_kind kind; /* of an element */
    uint32_t element_bytes;     /* 0: unknown */
    uint64_t bytes;             /* of all elements of an array or a vector; 0: unknown */
    unsigned line;              /* of its declaration; 0: unknown */
    uint64_t type_id;           /* for wm_object_type(); 0: unknown */
};

/* Describes variable `index` of those in scope at `address` of the object, innermost first. False: there are
 * not so many. Strings live as long as the object. */
WM_API bool wm_object_variable(const struct wm_object *object, uint64_t address, size_t index,
                               struct wm_variable *variable);

enum wm_variable_space { WM_VARIABLE_GLOBAL, WM_VARIABLE_LDS, WM_VARIABLE_PRIVATE };

/* A type, without qualifiers and typedefs. */
struct wm_type {
    char name[128];             /* "float", "struct pair", "float[4]" */
    enum wm_variable_kind kind; /* OTHER: also arrays, vectors, structs, unions */
    uint64_t bytes;             /* 0: unknown */
    uint64_t element;           /* id of the element type of an array or vector, or what a pointer points to;
                                   0: none, or void */
    uint64_t elements;          /* of an array or vector, in its first dimension */
    size_t members;             /* of a struct or union */
    bool has_space;             /* of a pointer: the compiler has said where it points to: */
    enum wm_variable_space space;
};

/* A member of a struct or union; of a base class without a name. */
struct wm_member {
    const char *name;          /* "": none */
    uint64_t type_id, offset;  /* bytes */
    unsigned bits, bit_offset; /* of a bit field: its width, and the first bit from `offset` on; else 0 */
};

/* False: there is no such type, or no such member. Strings live as long as the object. */
WM_API bool wm_object_type(const struct wm_object *object, uint64_t id, struct wm_type *type);
WM_API bool wm_object_member(const struct wm_object *object, uint64_t type_id, size_t index,
                             struct wm_member *member);

/* How the state of a lane is read. The functions return false if there is nothing to read. */
struct wm_variable_reader {
    void *user;
    /* name: "s4", "v3" (of the lane), "a0", "vcc_lo", "exec_hi", "m0" */
    bool (*read_register)(void *user, const char *name, uint32_t *value);
    bool (*read_memory)(void *user, enum wm_variable_space space, uint64_t address, void *bytes, size_t size);
    uint64_t bias;      /* guest address minus address in the object, of the code */
    uint32_t wave_size; /* 32 or 64 */
};

enum wm_variable_state {
    WM_VARIABLE_SHOWN,
    WM_VARIABLE_OPTIMISED_OUT, /* the compiler says that it has no value here */
    WM_VARIABLE_UNSUPPORTED,   /* its location uses an operation that is not supported */
    WM_VARIABLE_UNREADABLE,    /* a register or memory of its location is not there */
};

/* Reads the value of variable `index` at `address` for one lane: `size` bytes, as the variable has. */
WM_API enum wm_variable_state wm_object_variable_read(const struct wm_object *object, uint64_t address,
                                                      size_t index, const struct wm_variable_reader *reader,
                                                      void *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif

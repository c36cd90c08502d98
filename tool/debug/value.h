/* SPDX-License-Identifier: MIT */
/* Values of the debugger: scalars and pointers with a type, and the places that they come from. */
#ifndef WAVEMEM_DEBUG_VALUE_H
#define WAVEMEM_DEBUG_VALUE_H

#include "tool/debug/session.h"

enum { DEBUG_HELD = 128 };

/* A scalar, a pointer, an aggregate, or `count` elements at a place. */
struct debug_value {
    char kind;     /* 'i' signed, 'u' unsigned, 'f' float */
    unsigned size; /* bytes of the scalar, or of an element: 1 to 8 */
    uint64_t bits; /* of a scalar that is `known`, zero-extended */
    /* A pointer: kind 'u', what it points to. */
    bool pointer;
    char target_kind;
    unsigned target_size;
    enum debug_space target_space;
    uint64_t target_type; /* of DWARF, in `object`; 0: none */
    /* Where it is, so that it can be assigned to. */
    enum debug_space space; /* NOWHERE: it is a result */
    uint64_t address;       /* of memory */
    char name[24];          /* of a register: "v3"; its first one if it has two */
    unsigned lane;
    uint64_t count; /* elements; 1: a scalar */
    /* A struct, or an array that is not `count` scalars in memory: of this type (wm_object_type). Without a
     * place in memory, its bytes are held here. */
    bool aggregate, is_held;
    uint64_t type;
    const struct wm_object *object;
    uint8_t held[DEBUG_HELD];
    bool vector; /* a VGPR that stands alone: all lanes are shown */
};

/* Values without a place. */
struct debug_value debug_typed(char kind, unsigned size, uint64_t bits);
struct debug_value debug_integer(uint64_t bits); /* a signed one of 64 bits */
struct debug_value debug_from_real(double number, unsigned size);
/* As C converts it. */
struct debug_value debug_converted(const struct debug_value *from, char kind, unsigned size);
/* Low bytes of the bits; the value of an integer, whatever its sign. */
uint64_t debug_cut(uint64_t bits, unsigned size);
int64_t debug_as_signed(const struct debug_value *value);

double debug_real(const struct debug_value *value);
bool debug_is_true(const struct debug_value *value);
/* Element `index` of a value at a place, or the value itself. */
bool debug_element(struct debug_session *s, const struct debug_value *value, uint64_t index,
                   struct debug_value *element, struct wm_diag *diag);
/* Sets what the value is the place of, to `from` converted to its type. */
bool debug_assign(struct debug_session *s, const struct debug_value *place, const struct debug_value *from,
                  struct wm_diag *diag);

/* What $_new, $_old and $_index are while the condition of a watchpoint is evaluated. */
struct debug_change {
    struct debug_value was, is, index;
};

/* "float", "uint", "global float *": the type of an argument or of a cast. False: it is none. */
bool debug_type(const char *name, size_t length, char *kind, unsigned *size, bool *pointer);
/* Its name in OpenCL. */
const char *debug_type_name(const struct debug_value *value, char text[32]);

#endif

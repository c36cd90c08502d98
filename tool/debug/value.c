/* SPDX-License-Identifier: MIT */
/* Values of the debugger: scalars and pointers with a type, and the places that they come from. */
#include "tool/debug/value.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

struct debug_value debug_integer(uint64_t bits)
{
    return (struct debug_value){.kind = 'i', .size = 8, .bits = bits, .space = DEBUG_NOWHERE, .count = 1};
}

struct debug_value debug_typed(char kind, unsigned size, uint64_t bits)
{
    struct debug_value value = debug_integer(bits);
    value.kind = kind;
    value.size = size;
    return value;
}

static uint64_t bits_of_real(double real, unsigned size)
{
    uint64_t bits = 0;
    const float single = (float)real;
    if (size == 8)
        memcpy(&bits, &real, 8);
    else if (size == 4)
        memcpy(&bits, &single, 4);
    else
        tool_scalar_from_real(tool_type_of('f', 2), real, &bits);
    return bits;
}

struct debug_value debug_from_real(double number, unsigned size)
{
    return debug_typed('f', size, bits_of_real(number, size));
}

int64_t debug_as_signed(const struct debug_value *v)
{
    const unsigned shift = 64 - 8 * v->size;
    return v->kind == 'i' ? (int64_t)(v->bits << shift) >> shift : (int64_t)v->bits;
}

double debug_real(const struct debug_value *v)
{
    if (v->kind != 'f')
        return v->kind == 'i' ? (double)debug_as_signed(v) : (double)v->bits;
    const struct tool_type *type = tool_type_of('f', v->size);
    return type ? (double)tool_scalar_value(type, &v->bits) : 0;
}

bool debug_is_true(const struct debug_value *v)
{
    return v->kind == 'f' ? debug_real(v) != 0 : v->bits != 0;
}

uint64_t debug_cut(uint64_t bits, unsigned size)
{
    return size < 8 ? bits & ((UINT64_C(1) << 8 * size) - 1) : bits;
}

struct debug_value debug_converted(const struct debug_value *from, char kind, unsigned size)
{
    if (kind == 'f')
        return debug_from_real(debug_real(from), size);
    if (from->kind == 'f') {
        const double number = debug_real(from);
        const uint64_t bits = !(number > -9.3e18 && number < 1.85e19) ? UINT64_C(1) << 63
                              : number < 0                            ? (uint64_t)(int64_t)number
                                                                      : (uint64_t)number;
        return debug_typed(kind, size, debug_cut(bits, size));
    }
    return debug_typed(kind, size, debug_cut((uint64_t)debug_as_signed(from), size));
}

/* Loads the scalar at the value's place. */
static bool load(struct debug_session *s, struct debug_value *v, struct wm_diag *diag)
{
    v->bits = 0;
    return debug_read(s, v->space, v->lane, v->address, &v->bits, v->size, diag);
}

/* ---- types ---- */

bool debug_type(const char *name, size_t length, char *kind, unsigned *size, bool *pointer)
{
    static const struct {
        const char *name;
        char kind;
        unsigned size;
    } more[] = {{"unsigned", 'u', 4},      {"long long", 'i', 8},    {"_Bool", 'u', 1},
                {"bool", 'u', 1},          {"size_t", 'u', 8},       {"int8_t", 'i', 1},
                {"uint8_t", 'u', 1},       {"int16_t", 'i', 2},      {"uint16_t", 'u', 2},
                {"int32_t", 'i', 4},       {"uint32_t", 'u', 4},     {"int64_t", 'i', 8},
                {"uint64_t", 'u', 8},      {"ulong", 'u', 8},        {"uchar", 'u', 1},
                {"ushort", 'u', 2},        {"unsigned int", 'u', 4}, {"unsigned long", 'u', 8},
                {"unsigned char", 'u', 1}, {"signed char", 'i', 1},  {"_Float16", 'f', 2},
                {"half", 'f', 2},          {"int", 'i', 4},          {"uint", 'u', 4},
                {"float", 'f', 4},         {"double", 'f', 8},       {"char", 'i', 1},
                {"short", 'i', 2},         {"long", 'i', 8}};
    static const char *const dropped[] = {"global ",   "__global ", "const ",    "local ",
                                          "constant ", "private ",  "volatile ", "device "};
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        const size_t n = strlen(dropped[i]);
        if (length > n && !strncmp(name, dropped[i], n)) {
            name += n;
            length -= n;
            i = (size_t)-1;
        }
    }
    while (length && isspace((unsigned char)name[length - 1]))
        length--;
    *pointer = length && name[length - 1] == '*';
    length -= *pointer;
    while (length && isspace((unsigned char)name[length - 1]))
        length--;
    const struct tool_type *type = tool_type_named(name, length);
    if (type) {
        *kind = type->kind;
        *size = type->size;
        return true;
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strlen(more[i].name) == length && !strncmp(name, more[i].name, length)) {
            *kind = more[i].kind;
            *size = more[i].size;
            return true;
        }
    return false;
}

static const char *scalar_name(char kind, unsigned size)
{
    switch (kind) {
    case 'f':
        return size == 8 ? "double" : size == 4 ? "float" : "half";
    case 'i':
        return size == 8 ? "long" : size == 4 ? "int" : size == 2 ? "short" : "char";
    default:
        return size == 8 ? "ulong" : size == 4 ? "uint" : size == 2 ? "ushort" : "uchar";
    }
}

const char *debug_type_name(const struct debug_value *v, char text[32])
{
    struct wm_type target;
    const bool is_struct = v->pointer && wm_object_type(v->object, v->target_type, &target) && target.members;
    if (v->pointer)
        snprintf(text, 32, "%s%.20s *",
                 v->target_space == DEBUG_LDS       ? "local "
                 : v->target_space == DEBUG_PRIVATE ? "private "
                                                    : "global ",
                 is_struct ? target.name : scalar_name(v->target_kind, v->target_size));
    else
        snprintf(text, 32, "%s", scalar_name(v->kind, v->size));
    return text;
}

/* ---- elements and assignment ---- */

bool debug_element(struct debug_session *s, const struct debug_value *v, uint64_t index,
                   struct debug_value *element, struct wm_diag *diag)
{
    *element = *v;
    element->count = 1;
    if (v->vector) {
        uint32_t values[DEBUG_LANES];
        element->vector = false;
        element->lane = (unsigned)index;
        if (index >= s->wave.wave_size)
            return tool_because(diag, "The wave has no lane %" PRIu64 ".", index);
        if (!debug_get(s, v->name, values, DEBUG_LANES, diag))
            return false;
        element->bits = debug_cut(values[index], v->size);
        return true;
    }
    if (v->space == DEBUG_NOWHERE || v->space == DEBUG_REGISTER)
        return index == 0 || tool_because(diag, "The value has no element %" PRIu64 ".", index);
    element->address = v->address + index * v->size;
    return load(s, element, diag);
}

/* Sets the words of a register in one lane. */
static bool set_register(struct debug_session *s, const struct debug_value *to, uint64_t bits,
                         struct wm_diag *diag)
{
    unsigned number;
    char prefix[24];
    const unsigned words = to->size > 4 ? 2 : 1;
    const bool numbered = sscanf(to->name, "%1[sva]%u", prefix, &number) == 2;
    const bool ttmp = sscanf(to->name, "ttmp%u", &number) == 1;
    const uint32_t half[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    if (!numbered && !ttmp)
        return debug_set(s, to->name, half, words, diag);
    for (unsigned i = 0; i < words; i++) {
        char name[24];
        uint32_t values[DEBUG_LANES];
        const bool lanes = numbered && *prefix != 's';
        const size_t count = lanes ? s->wave.wave_size : 1;
        snprintf(name, sizeof name, "%.4s%u", ttmp ? "ttmp" : prefix, number + i);
        if (!debug_get(s, name, values, lanes ? DEBUG_LANES : 1, diag))
            return false;
        values[lanes ? to->lane : 0] = half[i];
        if (!debug_set(s, name, values, count, diag))
            return false;
    }
    return true;
}

bool debug_assign(struct debug_session *s, const struct debug_value *to, const struct debug_value *from,
                  struct wm_diag *diag)
{
    if (to->space == DEBUG_NOWHERE || to->count > 1)
        return tool_because(diag, "Left operand of assignment is not an lvalue.");
    const struct debug_value value = debug_converted(from, to->kind, to->size);
    if (to->space != DEBUG_REGISTER)
        return debug_write(s, to->space, to->lane, to->address, &value.bits, to->size, diag);
    if (!to->vector)
        return set_register(s, to, value.bits, diag);
    uint32_t values[DEBUG_LANES]; /* of all active lanes */
    if (!debug_get(s, to->name, values, DEBUG_LANES, diag))
        return false;
    for (unsigned lane = 0; lane < s->wave.wave_size; lane++)
        if (s->wave.lanes >> lane & 1)
            values[lane] = (uint32_t)value.bits;
    return debug_set(s, to->name, values, s->wave.wave_size, diag);
}

/* SPDX-License-Identifier: MIT */
/* Names in expressions: arguments of the kernel, variables of the source, convenience variables. */
#include "tool/debug/names.h"

#include "tool/debug/places.h"

#include <stdlib.h>
#include <string.h>

static bool is(const char *name, size_t length, const char *other)
{
    return strlen(other) == length && !strncmp(name, other, length);
}

/* ---- arguments ---- */

bool debug_argument(struct debug_session *s, size_t index, struct debug_value *v)
{
    const struct tool_dispatch *d = debug_dispatch(s);
    const struct wm_argument *formal = &d->formal[index];
    const struct tool_binding *binding = &d->bindings[index];
    const uint8_t *bytes = s->dispatch < s->begun ? s->prepared[s->dispatch].arguments : NULL;
    char kind = 'u';
    unsigned size = 4;
    bool pointer = false;
    *v = debug_integer(0);
    if (!bytes)
        return false;
    const bool known = debug_type(formal->type_name, strlen(formal->type_name), &kind, &size, &pointer);
    memcpy(&v->bits, bytes + formal->offset, formal->size < 8 ? formal->size : 8);
    if (binding->kind == TOOL_VALUE_BYTES && !pointer && formal->kind == WM_ARGUMENT_BY_VALUE) {
        v->kind = known ? kind : 'u';
        v->size = known ? size : formal->size;
        return v->size == formal->size && v->size <= 8;
    }
    const struct tool_type *type = binding->buffer ? binding->buffer->array.type : NULL;
    if (!known && type) {
        kind = type->kind;
        size = type->size;
    }
    v->kind = 'u';
    v->size = 8;
    v->pointer = true;
    v->target_kind = kind;
    v->target_size = size;
    v->target_space = formal->kind == WM_ARGUMENT_DYNAMIC_LDS ? DEBUG_LDS : DEBUG_GLOBAL;
    return formal->kind != WM_ARGUMENT_IMAGE && formal->kind != WM_ARGUMENT_SAMPLER;
}

/* ---- variables of the source ---- */

struct reader {
    struct debug_session *s;
    unsigned lane;
    struct debug_value *value; /* gets the place of what was read last, if that is all of it */
    uint64_t bytes;
};

static bool read_register(void *user, const char *name, uint32_t *value)
{
    const struct reader *r = user;
    uint32_t values[DEBUG_LANES];
    const bool lanes = (name[0] == 'v' || name[0] == 'a') && name[1] >= '0' && name[1] <= '9';
    if (!debug_get(r->s, name, values, DEBUG_LANES, NULL))
        return false;
    *value = values[lanes ? r->lane : 0];
    return true;
}

static bool read_memory(void *user, enum wm_variable_space from, uint64_t address, void *bytes, size_t size)
{
    struct reader *r = user;
    struct wm_diag diag;
    const enum debug_space space = from == WM_VARIABLE_LDS       ? DEBUG_LDS
                                   : from == WM_VARIABLE_PRIVATE ? DEBUG_PRIVATE
                                                                 : DEBUG_GLOBAL;
    if (size == r->bytes) {
        r->value->space = space;
        r->value->address = address;
    }
    return debug_read(r->s, space, r->lane, address, bytes, size, &diag);
}

bool debug_variable(struct debug_session *s, size_t index, unsigned lane, struct wm_variable *variable,
                    struct debug_value *v, const char **why)
{
    static const char *const reasons[] = {[WM_VARIABLE_OPTIMISED_OUT] = "<optimized out>",
                                          [WM_VARIABLE_UNSUPPORTED] = "<location not supported>",
                                          [WM_VARIABLE_UNREADABLE] = "<location not readable>"};
    const struct debug_place place = debug_place_of(s, s->wave.pc);
    if (s->state != DEBUG_STOPPED || !place.object ||
        !wm_object_variable(place.object, place.address, index, variable))
        return false;
    *v = debug_integer(0);
    v->lane = lane;
    *why = "<type not supported>";
    if (!variable->bytes || variable->bytes > 1 << 16)
        return true;
    uint8_t *bytes = calloc(1, variable->bytes);
    struct reader reader = {s, lane, v, variable->bytes};
    const struct wm_variable_reader how = {&reader, read_register, read_memory, place.bias,
                                           s->wave.wave_size};
    if (!bytes)
        return true;
    const enum wm_variable_state state =
        wm_object_variable_read(place.object, place.address, index, &how, bytes, variable->bytes);
    *why = state == WM_VARIABLE_SHOWN ? NULL : reasons[state];
    memcpy(&v->bits, bytes, variable->bytes < 8 ? variable->bytes : 8);
    free(bytes);
    const uint32_t element = variable->element_bytes;
    if (!*why && (variable->kind == WM_VARIABLE_OTHER || element > 8 || !element ||
                  (variable->bytes > element && v->space == DEBUG_NOWHERE)))
        *why = "<type not supported>";
    v->kind = variable->kind == WM_VARIABLE_FLOAT ? 'f' : variable->kind == WM_VARIABLE_SIGNED ? 'i' : 'u';
    v->size = element && element <= 8 ? element : 8;
    v->count = element ? variable->bytes / element : 1;
    if (variable->kind == WM_VARIABLE_POINTER) {
        bool pointer;
        v->pointer = true;
        v->target_space = DEBUG_GLOBAL;
        if (!debug_type(variable->type, strlen(variable->type), &v->target_kind, &v->target_size, &pointer)) {
            v->target_kind = 'u';
            v->target_size = 4;
        }
    }
    return true;
}

bool debug_name(struct debug_session *s, const char *name, size_t length, unsigned lane,
                struct debug_value *value, bool *found, struct wm_diag *diag)
{
    const struct tool_dispatch *d = debug_dispatch(s);
    struct wm_variable variable;
    const char *why, *first = NULL;
    *found = false;
    for (size_t i = 0; debug_variable(s, i, lane, &variable, value, &why); i++) {
        if (!is(name, length, variable.name) || variable.depth < s->frame)
            continue;
        if (!why) {
            *found = true;
            return true;
        }
        first = first ? first : why;
    }
    for (size_t i = 0; i < d->formals; i++)
        if (is(name, length, d->formal[i].name)) {
            *found = debug_argument(s, i, value);
            return *found || tool_because(diag, "Argument \"%.*s\" has no value of a type that is known.",
                                          (int)length, name);
        }
    for (struct tool_buffer *b = s->job->buffers; b; b = b->next)
        if (is(name, length, b->name) && b->address) {
            *value = debug_integer(b->address);
            value->kind = 'u';
            value->pointer = true;
            value->target_kind = b->array.type ? b->array.type->kind : 'u';
            value->target_size = b->array.type ? b->array.type->size : 4;
            value->target_space = DEBUG_GLOBAL;
            *found = true;
            return true;
        }
    return !first || tool_because(diag, "%.*s: %s", (int)length, name, first);
}

/* ---- convenience variables ---- */

bool debug_convenience(struct debug_session *s, const char *name, size_t length, unsigned lane,
                       struct debug_value *v, struct wm_diag *diag)
{
    char *end;
    const unsigned long index = strtoul(name, &end, 10);
    if (length && (size_t)(end - name) == length) {
        if (!index || index > s->value_count)
            return tool_because(diag, "History has not yet reached $%lu.", index);
        *v = s->values[index - 1];
        return true;
    }
    if (!length && s->value_count) {
        *v = s->values[s->value_count - 1];
        return true;
    }
    if (s->change && (is(name, length, "_new") || is(name, length, "_old") || is(name, length, "_index"))) {
        *v = name[1] == 'n' ? s->change->is : name[1] == 'o' ? s->change->was : s->change->index;
        return true;
    }
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"lane", lane},
                   {"_lane", lane},
                   {"wave", s->wave.wave},
                   {"_wave", s->wave.wave},
                   {"workgroup_x", s->wave.workgroup[0]},
                   {"workgroup_y", s->wave.workgroup[1]},
                   {"workgroup_z", s->wave.workgroup[2]},
                   {"dispatch", s->dispatch + 1},
                   {"now", s->now},
                   {"instructions", s->wave.instructions}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (is(name, length, numbers[i].name)) {
            *v = debug_integer(numbers[i].value);
            return true;
        }
    return tool_because(diag, "Invalid register or variable `$%.*s'", (int)length, name);
}

/* SPDX-License-Identifier: MIT */
/* Names in expressions: arguments of the kernel, variables of the source, convenience variables. */
#include "tool/debug/names.h"

#include "tool/debug/calls.h"

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
    const struct tool_binding *binding = d->bindings ? &d->bindings[index] : NULL; /* of jobs */
    const uint8_t *bytes = s->dispatch < s->begun ? s->prepared[s->dispatch].arguments : NULL;
    char kind = 'u';
    unsigned size = 4;
    bool pointer = false;
    *v = debug_integer(0);
    if (!bytes)
        return false;
    const bool known = debug_type(formal->type_name, strlen(formal->type_name), &kind, &size, &pointer);
    memcpy(&v->bits, bytes + formal->offset, formal->size < 8 ? formal->size : 8);
    if ((!binding || binding->kind == TOOL_VALUE_BYTES) && !pointer && formal->kind == WM_ARGUMENT_BY_VALUE) {
        v->kind = known ? kind : 'u';
        v->size = known ? size : formal->size;
        return v->size == formal->size && v->size <= 8;
    }
    const struct tool_type *type = binding && binding->buffer ? binding->buffer->array.type : NULL;
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
    const struct debug_call *call; /* of the selected frame; NULL: the innermost one. DWARF is locked here */
};

static bool read_register(void *user, const char *name, uint32_t *value)
{
    const struct reader *r = user;
    return debug_register_in(r->s, r->call, name, r->lane, value);
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

/* Sets the value of a variable from its bytes. Returns why it has none. */
static const char *set_value(const struct wm_object *object, const struct wm_variable *variable,
                             const uint8_t *bytes, struct debug_value *v, const char *why)
{
    const uint32_t element = variable->element_bytes;
    struct wm_type type;
    const bool known = wm_object_type(object, variable->type_id, &type) && type.bytes;
    const bool flat = element && element <= 8 && variable->kind != WM_VARIABLE_OTHER &&
                      (variable->bytes == element || v->space != DEBUG_NOWHERE) &&
                      !(known && type.elements && type.elements != variable->bytes / element);
    memcpy(&v->bits, bytes, variable->bytes < 8 ? variable->bytes : 8);
    v->object = object;
    v->type = variable->type_id;
    v->kind = variable->kind == WM_VARIABLE_FLOAT ? 'f' : variable->kind == WM_VARIABLE_SIGNED ? 'i' : 'u';
    v->size = element && element <= 8 ? element : 8;
    v->count = element ? variable->bytes / element : 1;
    if (why)
        return why;
    if (!flat) {
        v->is_held = v->space == DEBUG_NOWHERE;
        if (!known || (v->is_held && variable->bytes > sizeof v->held))
            return "<type not supported>";
        v->aggregate = true;
        v->size = (unsigned)variable->bytes;
        v->count = 1;
        memcpy(v->held, bytes, v->is_held ? variable->bytes : 0);
    } else if (variable->kind == WM_VARIABLE_POINTER) {
        bool pointer;
        v->pointer = true;
        v->target_type = type.element;
        v->target_space = !type.has_space                     ? DEBUG_GLOBAL
                          : type.space == WM_VARIABLE_LDS     ? DEBUG_LDS
                          : type.space == WM_VARIABLE_PRIVATE ? DEBUG_PRIVATE
                                                              : DEBUG_GLOBAL;
        if (!debug_type(variable->type, strlen(variable->type), &v->target_kind, &v->target_size, &pointer)) {
            v->target_kind = 'u';
            v->target_size = 4;
        }
    }
    return NULL;
}

bool debug_variable(struct debug_session *s, size_t index, unsigned lane, struct wm_variable *variable,
                    struct debug_value *v, const char **why)
{
    static const char *const reasons[] = {[WM_VARIABLE_OPTIMISED_OUT] = "<optimized out>",
                                          [WM_VARIABLE_UNSUPPORTED] = "<location not supported>",
                                          [WM_VARIABLE_UNREADABLE] = "<location not readable>"};
    if (s->state != DEBUG_STOPPED)
        return false;
    struct debug_call calls[DEBUG_FRAMES];
    const unsigned call = s->frame ? debug_selected_frame(s).call : 0;
    if (call)
        debug_calls(s, calls);
    const struct debug_place place = debug_place_of(s, call ? calls[call].pc : s->wave.pc);
    if (!place.object || !wm_object_variable(place.object, place.address, index, variable))
        return false;
    *v = debug_integer(0);
    v->lane = lane;
    *why = "<type not supported>";
    struct wm_type type;
    if (variable->kind == WM_VARIABLE_OTHER && wm_object_type(place.object, variable->type_id, &type))
        variable->bytes = type.bytes;
    if (!variable->bytes || variable->bytes > 1 << 16)
        return true;
    uint8_t *bytes = calloc(1, variable->bytes);
    struct reader reader = {s, lane, v, variable->bytes, call ? &calls[call] : NULL};
    const struct wm_variable_reader how = {&reader, read_register, read_memory, place.bias,
                                           s->wave.wave_size};
    if (!bytes)
        return true;
    const enum wm_variable_state state =
        wm_object_variable_read(place.object, place.address, index, &how, bytes, variable->bytes);
    *why = state == WM_VARIABLE_SHOWN ? NULL : reasons[state];
    *why = set_value(place.object, variable, bytes, v, *why);
    free(bytes);
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
        if (!is(name, length, variable.name) || variable.depth < debug_selected_depth(s))
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
                   {"dispatch", debug_dispatch_number(s, s->dispatch)},
                   {"now", s->now},
                   {"instructions", s->wave.instructions}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (is(name, length, numbers[i].name)) {
            *v = debug_integer(numbers[i].value);
            return true;
        }
    return tool_because(diag, "Invalid register or variable `$%.*s'", (int)length, name);
}

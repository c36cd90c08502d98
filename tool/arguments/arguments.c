/* SPDX-License-Identifier: MIT */
/* Binds --arg values to a kernel's arguments: every value is checked against the metadata. */
#include "tool/arguments/buffers.h"
#include "tool/arguments/formals.h"
#include "tool/arguments/image.h"
#include "tool/arguments/job.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char pointer_forms[] =
    "a buffer: zero:f32:N, uninit:f32:N, fill:f32:N:1.5, iota:u32:N, rand:f32:N, f32:1,2,3, @FILE.npy, "
    "@FILE, bytes:HEX, words:LIST, zeros:BYTES, same:NAME[+BYTES] or null";

/* Of a value that is none. */
static bool looks_like_file(const char *value)
{
    const char *ending = strrchr(value, '.');
    return !access(value, F_OK) || (ending && (!strcmp(ending, ".npy") || !strcmp(ending, ".bin")));
}

static bool is_shared(const char *value)
{
    return strncmp(value, "same:", 5) == 0;
}

/* ---- naming arguments ---- */

static int no_such_argument(const struct tool_dispatch *d, const char *key)
{
    char list[320];
    const char *nearest = NULL;
    if (d->formals) /* names may be "", which matches nothing */
        nearest = tool_nearest(key, &d->formal[0].name, d->formals, sizeof(d->formal[0]));
    tool_list_arguments(d, list, sizeof list);
    if (d->formals == 0)
        return tool_fail("%s--arg %s: %s takes no arguments", d->where, key, d->kernel->source_name);
    return tool_fail("%s--arg %s: %s has no such argument%s%s%s; it takes: %s", d->where, key,
                     d->kernel->source_name, nearest && nearest[0] ? " (did you mean '" : "",
                     nearest && nearest[0] ? nearest : "", nearest && nearest[0] ? "'?)" : "", list);
}

/* ---- values ---- */

static bool bind_bytes(struct tool_binding *binding, const struct wm_argument *formal, const void *bytes,
                       size_t size)
{
    free(binding->bytes);
    *binding = (struct tool_binding){.kind = TOOL_VALUE_BYTES};
    binding->bytes = tool_checked(calloc(1, formal->size ? formal->size : 1));
    memcpy(binding->bytes, bytes, size < formal->size ? size : formal->size);
    return true;
}

/* Parses "1,2,3", at most `most` numbers of `type`; returns their number; 0: failed, with a message. */
static size_t parse_list(const char *text, const struct tool_type *type, const char *type_name,
                         uint8_t *bytes, size_t most, struct wm_diag *diag)
{
    size_t count = 0;
    for (;;) {
        const size_t length = strcspn(text, ",");
        uint8_t scalar[TOOL_SCALAR_BYTES];
        const enum tool_number result = tool_scalar_parse(type, text, length, scalar);
        if (result == TOOL_NUMBER_TOO_LARGE)
            tool_because(diag, "'%.*s' does not fit into %s", (int)length, text, type_name);
        else if (result == TOOL_NUMBER_MALFORMED)
            tool_because(diag, "'%.*s' is no %s; expected %s", (int)length, text, type_name,
                         type->kind == 'f' ? "a number like 1.5" : "a whole number like 7 or 0x7");
        if (result != TOOL_NUMBER_OK)
            return 0;
        if (count < most)
            memcpy(bytes + count * type->size, scalar, type->size);
        count++;
        if (text[length] == 0)
            return count;
        text += length + 1;
    }
}

static bool bind_list(struct tool_binding *binding, const struct wm_argument *formal, const char *text,
                      const struct tool_type *type, const char *type_name, size_t wanted,
                      struct wm_diag *diag)
{
    uint8_t *bytes = tool_checked(calloc(wanted, type->size));
    const size_t count = parse_list(text, type, type_name, bytes, wanted, diag);
    bool good = count == wanted;
    if (good)
        bind_bytes(binding, formal, bytes, wanted * type->size);
    else if (count)
        tool_because(diag, "%zu value%s given; expected %zu of %s", count, count == 1 ? "" : "s", wanted,
                     type->name);
    free(bytes);
    return good;
}

/* Binds a number without a type to an argument of unknown type, by the argument's size and the number's form.
 */
static bool bind_untyped(struct tool_binding *binding, const struct wm_argument *formal, const char *text,
                         struct wm_diag *diag)
{
    const bool hexadecimal = strncmp(text, "0x", 2) == 0 || strncmp(text, "-0x", 3) == 0;
    const bool real = !hexadecimal && (strpbrk(text, ".eE") || strstr(text, "inf") || strstr(text, "nan"));
    const struct tool_type *type = tool_type_of(real ? 'f' : text[0] == '-' ? 'i' : 'u', formal->size);
    if (!type)
        return tool_because(diag,
                            "a plain number cannot fill %u bytes; expected bytes:HEX of %u bytes or "
                            "TYPE:V,V,...",
                            formal->size, formal->size);
    return bind_list(binding, formal, text, type, type->name, 1, diag);
}

static bool bind_bits(struct tool_binding *binding, const struct wm_argument *formal, const char *text,
                      struct wm_diag *diag)
{
    uint64_t bits;
    if (!tool_parse_u64(text, &bits) || strncmp(text, "0x", 2) != 0)
        return tool_because(diag, "'bits:%s': expected bits:0x and hexadecimal digits", text);
    if (formal->size > 8)
        return tool_because(diag, "bits: fills at most 8 bytes; expected bytes:HEX of %u bytes",
                            formal->size);
    if (formal->size < 8 && bits >> (8 * formal->size))
        return tool_because(diag, "bits:%s does not fit into %u bytes", text, formal->size);
    return bind_bytes(binding, formal, &bits, sizeof(bits));
}

/* bytes:HEX or @FILE, for structs and vectors by value. */
static bool bind_raw_bytes(struct tool_binding *binding, const struct wm_argument *formal, const char *spec,
                           struct wm_diag *diag)
{
    struct tool_array array;
    if (!tool_array_parse(spec, &array, diag))
        return false;
    const uint64_t size = tool_array_size(&array);
    const bool good = array.kind == TOOL_BYTES && size == formal->size;
    if (good)
        bind_bytes(binding, formal, array.bytes, size);
    else
        tool_because(diag, "%llu byte%s given; expected %u", (unsigned long long)size, size == 1 ? "" : "s",
                     formal->size);
    tool_array_free(&array);
    return good;
}

static bool bind_value(struct tool_binding *binding, const struct wm_argument *formal, const char *value,
                       struct wm_diag *diag)
{
    const struct tool_source_type source = tool_source_type(formal->type_name ? formal->type_name : "");
    const bool known =
        source.element && !source.pointer && source.element->size * source.stride == formal->size;
    const size_t prefix = strcspn(value, ":");
    const struct tool_type *explicit = value[prefix] ? tool_type_named(value, prefix) : NULL;
    if (strncmp(value, "bits:", 5) == 0)
        return bind_bits(binding, formal, value + 5, diag);
    if (strncmp(value, "bytes:", 6) == 0 || value[0] == '@')
        return bind_raw_bytes(binding, formal, value, diag);
    if (explicit) {
        if (known && (explicit->kind == 'f') != (source.element->kind == 'f'))
            return tool_because(diag, "%s is not %s; expected %s (bits:0x... gives any bits)", explicit->name,
                                formal->type_name, source.element->name);
        size_t wanted = formal->size / explicit->size;
        if (formal->size % explicit->size || (known && explicit->size != source.element->size))
            return tool_because(diag, "%s has %u byte%s; expected %s", explicit->name, explicit->size,
                                explicit->size == 1 ? "" : "s",
                                known ? source.element->name : "what fills the argument");
        if (known)
            wanted = source.lanes;
        return bind_list(binding, formal, value + prefix + 1, explicit, explicit->name, wanted, diag);
    }
    if (tool_array_looks_like(value) || strncmp(value, "lds:", 4) == 0)
        return tool_because(diag, "'%s' is no value; expected a number", value);
    if (known)
        return bind_list(binding, formal, value, source.element, formal->type_name, source.lanes, diag);
    return bind_untyped(binding, formal, value, diag);
}

bool tool_read_value(const char *text, uint32_t size, uint8_t **bytes, struct wm_diag *diag)
{
    const struct wm_argument formal = {.kind = WM_ARGUMENT_BY_VALUE, .size = size};
    struct tool_binding binding = {0};
    const bool good = bind_value(&binding, &formal, text, diag);
    *bytes = binding.bytes;
    return good;
}

/* ---- buffers ---- */

static bool check_elements(const struct wm_argument *formal, struct tool_array *array, struct wm_diag *diag)
{
    const struct tool_source_type source = tool_source_type(formal->type_name ? formal->type_name : "");
    if (!source.element || !source.pointer)
        return true;
    if (!array->type && !tool_array_adopt(array, source.element))
        return tool_because(diag, "%llu bytes are no whole number of %s elements (%u bytes each)",
                            (unsigned long long)array->count, source.element->name, source.element->size);
    if ((array->type->kind == 'f') != (source.element->kind == 'f') ||
        array->type->size != source.element->size)
        return tool_because(diag, "the elements are %s; expected %s", array->type->name,
                            source.element->name);
    if (array->count % source.stride)
        return tool_because(diag, "%llu elements; expected a multiple of %u, what one element of %s takes",
                            (unsigned long long)array->count, source.stride, formal->type_name);
    return true;
}

static bool bind_new_buffer(struct tool_job *job, const struct tool_dispatch *d, size_t argument,
                            const char *spec, struct wm_diag *diag)
{
    struct tool_array array;
    if (!tool_array_parse(spec, &array, diag))
        return false;
    if (!check_elements(&d->formal[argument], &array, diag)) {
        tool_array_free(&array);
        return false;
    }
    char title[120];
    const char *name = d->formal[argument].name;
    tool_argument_title(d, argument, title, sizeof(title));
    struct tool_buffer *buffer = tool_add_buffer(job, name && name[0] ? name : title, &array);
    buffer->dispatch = (size_t)(d - job->dispatches);
    free(d->bindings[argument].bytes);
    d->bindings[argument] = (struct tool_binding){.kind = TOOL_BUFFER, .buffer = buffer};
    return true;
}

static bool bind_lds(struct tool_binding *binding, const char *value, struct wm_diag *diag)
{
    uint64_t bytes;
    if (strncmp(value, "lds:", 4) != 0 || !tool_parse_size(value + 4, &bytes) || bytes > UINT32_MAX)
        return tool_because(diag, "'%s': expected lds:BYTES, the size of this local memory", value);
    *binding = (struct tool_binding){.kind = TOOL_DYNAMIC_LDS, .lds = (uint32_t)bytes};
    return true;
}

/* Binds any value except `same:`. */
static bool bind(struct tool_job *job, const struct tool_dispatch *d, size_t argument, const char *value,
                 struct wm_diag *diag)
{
    const struct wm_argument *formal = &d->formal[argument];
    struct tool_binding *binding = &d->bindings[argument];
    const struct tool_source_type source = tool_source_type(formal->type_name ? formal->type_name : "");
    static const uint64_t null = 0;
    const size_t prefix = strcspn(value, ":");
    if (formal->kind == WM_ARGUMENT_IMAGE || formal->kind == WM_ARGUMENT_SAMPLER ||
        tool_image_looks_like(value))
        return tool_bind_image(job, (size_t)(d - job->dispatches), argument, value, diag);
    switch (formal->kind) {
    case WM_ARGUMENT_BY_VALUE:
        if (formal->size == 8 && !source.element && tool_array_looks_like(value) &&
            strncmp(value, "bytes:", 6))
            return bind_new_buffer(job, d, argument, value, diag); /* a pointer listed as a value */
        return bind_value(binding, formal, value, diag);
    case WM_ARGUMENT_GLOBAL_BUFFER:
        if (strcmp(value, "null") == 0)
            return bind_bytes(binding, formal, &null, sizeof(null));
        if (strncmp(value, "bits:", 5) == 0)
            return bind_bits(binding, formal, value + 5, diag);
        if (tool_array_looks_like(value) || (value[prefix] && tool_type_named(value, prefix)))
            return bind_new_buffer(job, d, argument, value, diag);
        return looks_like_file(value) ? tool_because(diag, "'%s' is no value; a file is @%s", value, value)
                                      : tool_because(diag, "'%s': expected %s", value, pointer_forms);
    case WM_ARGUMENT_DYNAMIC_LDS:
        return bind_lds(binding, value, diag);
    default:
        return tool_because(diag, "wavemem cannot pass '%s' arguments", formal->value_kind);
    }
}

/* ---- `same:` ---- */

/* Images are shared with image arguments alone, and as a whole. */
static bool share_image(const struct wm_argument *formal, const struct tool_buffer_place *place,
                        uint64_t offset, const char *value, struct tool_binding *result, struct wm_diag *diag)
{
    const bool image = formal->kind == WM_ARGUMENT_IMAGE;
    if (!tool_is_image(place->buffer) || !image || offset)
        return tool_because(diag, "'%s' is %s; expected %s", value,
                            !tool_is_image(place->buffer) ? "a buffer"
                            : image                       ? "a part of an image"
                                                          : "an image",
                            image ? "a whole image"
                            : formal->kind == WM_ARGUMENT_SAMPLER
                                ? "sampler:linear,edge,normalized or the like"
                                : "a buffer");
    *result = (struct tool_binding){.kind = TOOL_DESCRIPTORS, .buffer = place->buffer};
    return true;
}

/* fresh: the arguments with buffers that this dispatch creates. Of its own arguments only these can be
 * shared, so that `in=same:out out=same:in` swaps the buffers of the previous dispatch. */
static bool bind_shared(struct tool_job *job, size_t index, const bool *fresh, size_t argument,
                        const char *value, struct tool_binding *result, struct wm_diag *diag)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    const struct wm_argument *formal = &d->formal[argument];
    if (formal->size != 8 || formal->kind == WM_ARGUMENT_DYNAMIC_LDS)
        return tool_because(diag, "'%s' is a buffer; expected %s", value,
                            formal->kind == WM_ARGUMENT_DYNAMIC_LDS ? "lds:BYTES" : "a value");
    char *key = tool_checked(strdup(value + strlen("same:")));
    char *plus = strrchr(key, '+');
    uint64_t offset = 0;
    if (plus && tool_parse_u64(plus + 1, &offset))
        *plus = 0;
    const size_t own = tool_find_argument(d, key);
    struct tool_buffer_place place;
    bool good;
    if (!strncmp(key, "symbol:", 7))
        good = tool_find_buffer(job, index, key, &place.buffer, &place.offset, diag);
    else
        good = (own < d->formals && fresh[own] && tool_own_buffer(d, key, &place)) ||
               tool_earlier_buffer(job, index, key, &place) ||
               tool_because(diag, "%s: no buffer '%s' is made here or before", value, key);
    if (good) {
        const uint64_t left = tool_buffer_bytes(place.buffer) - place.offset;
        if (tool_is_image(place.buffer) || formal->kind == WM_ARGUMENT_IMAGE ||
            formal->kind == WM_ARGUMENT_SAMPLER)
            return free(key), share_image(formal, &place, offset, value, result, diag);
        if (!place.buffer->array.type && place.buffer->declared) /* raw bytes: now their type is known */
            good = check_elements(formal, &place.buffer->array, diag);
        *result = (struct tool_binding){TOOL_BUFFER, .buffer = place.buffer, .offset = place.offset + offset};
        if (offset >= left)
            good = tool_because(diag, "%s: byte %llu lies behind the buffer, which has %llu", value,
                                (unsigned long long)offset, (unsigned long long)left);
    }
    free(key);
    return good;
}

/* ---- dispatches ---- */

/* Raw code has no metadata: positions and explicit types define the argument list, each aligned to its size.
 */
static int make_formals(struct tool_dispatch *d)
{
    const size_t count = d->arguments.count;
    uint32_t offset = 0;
    d->made = tool_checked(calloc(count + 1, sizeof(*d->made)));
    for (size_t i = 0; i < count; i++) {
        const char *key = d->arguments.pairs[i].key, *value = d->arguments.pairs[i].value;
        uint64_t position;
        if (!tool_parse_u64(key, &position) || position >= count || d->made[position].size)
            return tool_fail(
                "%s--arg %s: raw instructions have no argument names; expected positions 0 to %zu, each "
                "once",
                d->where, key, count - 1);
        const size_t prefix = strcspn(value, ":");
        const struct tool_type *type = tool_type_named(value, prefix);
        struct wm_argument *made = &d->made[position];
        *made = (struct wm_argument){.name = "",
                                     .type_name = "",
                                     .value_kind = "global_buffer",
                                     .kind = WM_ARGUMENT_GLOBAL_BUFFER,
                                     .size = 8};
        if (type && value[prefix]) {
            made->kind = WM_ARGUMENT_BY_VALUE;
            made->size = type->size;
            for (const char *c = value; *c; c++)
                made->size += *c == ',' ? type->size : 0;
        } else if (!tool_array_looks_like(value) && !tool_image_looks_like(value) &&
                   strncmp(value, "same:", 5) && strncmp(value, "bits:", 5) && strcmp(value, "null")) {
            return tool_fail(
                "%s--arg %s=%s: raw instructions have no argument types; expected one like u32:%s, or "
                "%s",
                d->where, key, value, value, pointer_forms);
        }
        if (tool_image_looks_like(value) && !tool_image_is_pointer(value))
            made->kind = strncmp(value, "sampler", 7) ? WM_ARGUMENT_IMAGE : WM_ARGUMENT_SAMPLER;
        made->alignment = type ? type->size : 8;
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t alignment = d->made[i].alignment;
        offset = (offset + alignment - 1) / alignment * alignment;
        d->made[i].offset = offset;
        offset += d->made[i].size;
    }
    d->formal = d->made;
    d->formals = count;
    return TOOL_CLEAN;
}

/* Copies the bindings of the previous dispatch, of the same kernel. */
static void inherit(struct tool_dispatch *d, const struct tool_dispatch *before)
{
    if (wm_object_version(d->object) == 0 && d->arguments.count == 0) {
        d->formal = before->formal;
        d->formals = before->formals;
        free(d->bindings);
        d->bindings = tool_checked(calloc(d->formals + 1, sizeof(*d->bindings)));
    }
    for (size_t i = 0; i < d->formals && i < before->formals; i++) {
        d->bindings[i] = before->bindings[i];
        if (before->bindings[i].bytes) {
            d->bindings[i].bytes = NULL;
            bind_bytes(&d->bindings[i], &d->formal[i], before->bindings[i].bytes, before->formal[i].size);
        }
    }
}

/* fresh: set for arguments with buffers that this dispatch creates. */
static int bind_pairs(struct tool_job *job, size_t index, bool *fresh)
{
    struct tool_dispatch *d = &job->dispatches[index];
    struct wm_diag diag;
    for (unsigned pass = 0; pass < 2; pass++) { /* shared buffers last, when the others are bound */
        for (size_t i = 0; i < d->arguments.count; i++) {
            const char *value = d->arguments.pairs[i].value;
            const size_t argument = tool_find_argument(d, d->arguments.pairs[i].key);
            const bool shared = is_shared(value);
            if (shared != (pass == 1))
                continue;
            char title[120], type[80];
            tool_argument_title(d, argument, title, sizeof(title));
            tool_describe_type(&d->formal[argument], type, sizeof(type));
            struct tool_binding result;
            const bool good = shared ? bind_shared(job, index, fresh, argument, value, &result, &diag)
                                     : bind(job, d, argument, value, &diag);
            if (!good)
                return tool_fail("%s%s of %s (%s): %s", d->where, title, d->kernel->source_name, type,
                                 diag.message);
            if (shared) {
                free(d->bindings[argument].bytes);
                d->bindings[argument] = result;
            } else {
                fresh[argument] = d->bindings[argument].buffer != NULL;
            }
        }
    }
    return TOOL_CLEAN;
}

int tool_name_arguments(struct tool_job *job, size_t index)
{
    struct tool_dispatch *d = &job->dispatches[index];
    int code = TOOL_CLEAN;
    if (wm_object_version(d->object) == 0) {
        code = make_formals(d);
    } else {
        d->formal = d->kernel->arguments;
        while (d->formals < d->kernel->argument_count && d->formal[d->formals].kind != WM_ARGUMENT_HIDDEN)
            d->formals++;
    }
    bool *given = tool_checked(calloc(d->formals + 1, sizeof(*given)));
    for (size_t i = 0; i < d->arguments.count && code == TOOL_CLEAN; i++) {
        const char *key = d->arguments.pairs[i].key;
        const size_t argument = tool_find_argument(d, key);
        if (argument == d->formals)
            code = no_such_argument(d, key);
        else if (given[argument])
            code = tool_fail("%s--arg %s is given twice", d->where, key);
        else
            given[argument] = true;
    }
    free(given);
    return code;
}

int tool_bind_arguments(struct tool_job *job, size_t index)
{
    struct tool_dispatch *d = &job->dispatches[index];
    const struct tool_dispatch *before = index ? d - 1 : NULL;
    d->bindings = tool_checked(calloc(d->formals + 1, sizeof(*d->bindings)));
    if (before && before->kernel == d->kernel)
        inherit(d, before);
    bool *fresh = tool_checked(calloc(d->formals + 1, sizeof(*fresh)));
    const int code = bind_pairs(job, index, fresh);
    free(fresh);
    return code;
}

/* SPDX-License-Identifier: MIT */
/* Finds and adds the buffers of a job: those of arguments, of --buffer, and variables of code objects. */
#include "tool/arguments/buffers.h"
#include "tool/arguments/formals.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tool_buffer *tool_add_buffer(struct tool_job *job, const char *name, const struct tool_array *array)
{
    struct tool_buffer *buffer = tool_checked(calloc(1, sizeof(*buffer)));
    buffer->name = tool_checked(strdup(name));
    buffer->array = *array;
    buffer->dispatch = (size_t)TOOL_ANY_DISPATCH;
    buffer->next = job->buffers;
    job->buffers = buffer;
    return buffer;
}

static struct tool_buffer *known_symbol(const struct tool_job *job, const struct wm_object *object,
                                        const char *name)
{
    for (struct tool_buffer *b = job->buffers; b; b = b->next)
        if (b->symbol_of == object && !strcmp(b->name, name))
            return b;
    return NULL;
}

/* A symbol has a size only when its code object is loaded, so that happens in a machine that runs nothing. */
static bool find_size(struct tool_job *job, const struct wm_object *object, const char *name, uint64_t *size,
                      struct wm_diag *diag)
{
    uint64_t address;
    if (!job->sizes && wm_machine_create(wm_object_target(object), &job->sizes, diag) != WM_OK)
        return false;
    if (wm_load(job->sizes, object, diag) != WM_OK ||
        wm_symbol(job->sizes, object, name, &address, size, diag) != WM_OK)
        return false;
    return *size > 0 || tool_because(diag, "symbol '%s' has no size: it is not a variable", name);
}

bool tool_find_symbol(struct tool_job *job, const struct wm_object *object, const char *name,
                      struct tool_buffer **buffer, struct wm_diag *diag)
{
    struct tool_array array = {.kind = TOOL_ZERO};
    *buffer = known_symbol(job, object, name);
    if (*buffer)
        return true;
    if (!find_size(job, object, name, &array.count, diag))
        return false;
    array.is_words = true;
    *buffer = tool_add_buffer(job, name, &array);
    (*buffer)->symbol_of = object;
    (*buffer)->filled = true;
    return true;
}

bool tool_own_buffer(const struct tool_dispatch *d, const char *key, struct tool_buffer_place *place)
{
    const size_t argument = tool_find_argument(d, key);
    if (argument == d->formals || !d->bindings[argument].buffer)
        return false;
    *place = (struct tool_buffer_place){d->bindings[argument].buffer, d->bindings[argument].offset};
    return true;
}

bool tool_earlier_buffer(const struct tool_job *job, size_t index, const char *key,
                         struct tool_buffer_place *place)
{
    for (struct tool_buffer *buffer = job->buffers; buffer; buffer = buffer->next)
        if (buffer->declared && strcmp(buffer->name, key) == 0) {
            *place = (struct tool_buffer_place){buffer, 0};
            return true;
        }
    while (index-- > 0)
        if (tool_own_buffer(&job->dispatches[index], key, place))
            return true;
    return false;
}

/* As tool_earlier_buffer(), but of all dispatches the first. */
static bool any_place(const struct tool_job *job, const char *key, struct tool_buffer_place *place)
{
    if (tool_earlier_buffer(job, 0, key, place))
        return true;
    for (size_t i = 0; i < job->count; i++)
        if (tool_own_buffer(&job->dispatches[i], key, place))
            return true;
    return false;
}

bool tool_find_buffer(struct tool_job *job, size_t index, const char *key, struct tool_buffer **buffer,
                      uint64_t *offset, struct wm_diag *diag)
{
    static const char symbol[] = "symbol:";
    const bool any = index == (size_t)TOOL_ANY_DISPATCH;
    const struct tool_dispatch *d = &job->dispatches[any ? 0 : index];
    struct tool_buffer_place place;
    if (!strncmp(key, symbol, strlen(symbol))) {
        *offset = 0;
        return tool_find_symbol(job, d->object, key + strlen(symbol), buffer, diag);
    }
    if (any && !any_place(job, key, &place))
        return tool_because(diag, "there is no --buffer '%s', nor a buffer argument of that name", key);
    if (!any && !tool_own_buffer(d, key, &place) && !tool_earlier_buffer(job, index, key, &place)) {
        if (tool_find_argument(d, key) < d->formals)
            return tool_because(diag, "argument '%s' of %s is no buffer", key, d->kernel->source_name);
        char list[200];
        tool_list_arguments(d, list, sizeof list);
        return tool_because(diag, "%s%s has no argument '%s', and there is no such --buffer%s%s",
                            d->kernel->source_name, index ? ", or an earlier dispatch," : "", key,
                            *list ? "; it takes: " : "", list);
    }
    *buffer = place.buffer;
    *offset = place.offset;
    return true;
}

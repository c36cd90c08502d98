/* SPDX-License-Identifier: MIT */
/* The arguments of a kernel by name, and texts that describe them. */
#include "tool/arguments/formals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tool_argument_title(const struct tool_dispatch *dispatch, size_t argument, char *text, size_t size)
{
    const struct wm_argument *formal = &dispatch->formal[argument];
    if (formal->name && formal->name[0])
        snprintf(text, size, "argument %zu '%s'", argument, formal->name);
    else
        snprintf(text, size, "argument %zu", argument);
}

void tool_describe_type(const struct wm_argument *formal, char *text, size_t size)
{
    static const char *const kinds[] = {
        [WM_ARGUMENT_BY_VALUE] = "by value",       [WM_ARGUMENT_GLOBAL_BUFFER] = "a buffer",
        [WM_ARGUMENT_DYNAMIC_LDS] = "dynamic LDS", [WM_ARGUMENT_IMAGE] = "an image",
        [WM_ARGUMENT_SAMPLER] = "a sampler",       [WM_ARGUMENT_PIPE] = "a pipe",
        [WM_ARGUMENT_QUEUE] = "a queue",           [WM_ARGUMENT_HIDDEN] = "hidden",
    };
    const char *type = formal->type_name && formal->type_name[0] ? formal->type_name : NULL;
    if (formal->kind == WM_ARGUMENT_BY_VALUE)
        snprintf(text, size, "%s, %u byte%s", type ? type : "by value", formal->size,
                 formal->size == 1 ? "" : "s");
    else if (formal->kind == WM_ARGUMENT_DYNAMIC_LDS)
        snprintf(text, size, "%s%sdynamic LDS", type ? type : "", type ? ", " : "");
    else
        snprintf(text, size, "%s", type ? type : kinds[formal->kind]);
}

size_t tool_find_argument(const struct tool_dispatch *d, const char *key)
{
    uint64_t position;
    if (tool_parse_u64(key, &position))
        return position < d->formals ? (size_t)position : d->formals;
    size_t i = 0;
    while (i < d->formals && !(d->formal[i].name && strcmp(d->formal[i].name, key) == 0))
        i++;
    return i;
}

void tool_argument_key(const struct tool_dispatch *d, size_t argument, char *text, size_t size)
{
    const char *name = d->formal[argument].name;
    if (name && *name && tool_find_argument(d, name) == argument)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%zu", argument);
}

/* Writes what the kernel takes: "0 in (float*), 1 n (int, 4 bytes)". */
void tool_list_arguments(const struct tool_dispatch *d, char *list, size_t size)
{
    size_t used = 0;
    *list = 0;
    for (size_t i = 0; i < d->formals && used + 1 < size; i++) {
        char type[80];
        tool_describe_type(&d->formal[i], type, sizeof(type));
        const int wrote = snprintf(list + used, size - used, "%s%zu %s%s(%s)", i ? ", " : "", i,
                                   d->formal[i].name ? d->formal[i].name : "",
                                   d->formal[i].name && d->formal[i].name[0] ? " " : "", type);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

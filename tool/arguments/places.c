/* SPDX-License-Identifier: MIT */
/* Buffers of a job in guest memory: allocation, content, and words that are addresses of other buffers. */
#include "tool/arguments/places.h"
#include "tool/arguments/buffers.h"

#include "tool/arguments/image.h"

#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

const char *tool_job_target(const struct tool_job *job)
{
    return wm_object_target(job->opened[0].object);
}

bool tool_find_place(void *user, const char *name, size_t length, struct tool_place *place,
                     struct wm_diag *diag)
{
    const struct tool_scope *scope = user;
    struct tool_buffer *buffer = NULL;
    uint64_t offset = 0;
    char *key = strndup(name, length);
    bool good = key ? tool_find_buffer(scope->job, scope->dispatch, key, &buffer, &offset, diag)
                    : tool_because(diag, "out of memory");
    free(key);
    if (good && scope->machine)
        good = tool_allocate(scope->machine, buffer, diag);
    if (!good)
        return false;
    const uint64_t unknown = 1 << 20; /* stands for the address until there is one */
    *place = (struct tool_place){(scope->machine ? buffer->address : unknown) + offset,
                                 tool_buffer_bytes(buffer) - offset};
    return true;
}

/* ---- execution ---- */

/* Tiled images begin at multiples of their blocks. */
static bool allocate_aligned(struct wm_machine *machine, struct tool_buffer *buffer, uint64_t size,
                             struct wm_diag *diag)
{
    const uint64_t step = buffer->surface ? buffer->layout.alignment : 1;
    if (wm_allocate(machine, size, 0, buffer->name, &buffer->address, diag) != WM_OK)
        return false;
    if (buffer->address % step == 0)
        return true;
    const uint64_t wanted = (buffer->address + step - 1) / step * step;
    if (wm_free(machine, buffer->address, diag) != WM_OK)
        return false;
    buffer->address = wanted;
    return wm_allocate_at(machine, wanted, size, 0, buffer->name, diag) == WM_OK;
}

bool tool_allocate(struct wm_machine *machine, struct tool_buffer *buffer, struct wm_diag *diag)
{
    const uint64_t size = tool_buffer_bytes(buffer);
    struct wm_diag why;
    uint64_t now;
    if (buffer->address)
        return true;
    if (buffer->symbol_of)
        return wm_symbol(machine, buffer->symbol_of, buffer->name, &buffer->address, &now, diag) == WM_OK;
    if (!buffer->at)
        return allocate_aligned(machine, buffer, size, diag);
    if (wm_allocate_at(machine, buffer->at, size, 0, buffer->name, &why) != WM_OK)
        return tool_because(diag, "--allocate-at 0x%llx: %s", (unsigned long long)buffer->at, why.message);
    buffer->address = buffer->at;
    return true;
}

bool tool_write_array(struct tool_scope *scope, const struct tool_array *array, uint64_t address,
                      struct wm_diag *diag)
{
    const struct tool_names names = {tool_find_place, scope};
    const struct tool_item_rules rules = {.names = &names, .target = tool_job_target(scope->job), .lane = -1};
    void *bytes = wm_host_pointer(scope->machine, address, tool_array_size(array));
    if (!bytes)
        return tool_because(diag, "the memory is not there");
    if (array->kind == TOOL_WORDS)
        return tool_array_words(array, &rules, bytes, diag);
    tool_array_write(array, bytes);
    return true;
}

static bool fill_image(struct wm_machine *machine, const struct tool_buffer *buffer, struct wm_diag *diag)
{
    void *bytes = wm_host_pointer(machine, buffer->address, buffer->layout.bytes);
    void *packed = malloc(tool_array_size(&buffer->array));
    if (packed && bytes) {
        tool_array_write(&buffer->array, packed);
        tool_spread_rows(buffer, packed, bytes);
    }
    free(packed);
    return (packed && bytes) || tool_because(diag, "out of memory");
}

static bool fill(struct tool_job *job, struct wm_machine *machine, struct tool_buffer *buffer,
                 struct wm_diag *diag)
{
    struct tool_scope scope = {job, buffer->dispatch, machine};
    struct wm_diag why;
    buffer->filled = true;
    if (buffer->array.kind == TOOL_UNWRITTEN) /* as allocated */
        return true;
    if (buffer->array.kind ==
        TOOL_ZERO) /* as allocated, but those who watch memory are told that it is set */
        return wm_host_pointer(machine, buffer->address, tool_buffer_bytes(buffer)) ||
               tool_because(diag, "'%s': the memory is not there", buffer->name);
    if (tool_is_image(buffer) ? !fill_image(machine, buffer, &why)
                              : !tool_write_array(&scope, &buffer->array, buffer->address, &why))
        return tool_because(diag, "'%s': %s", buffer->name, why.message);
    tool_array_free(&buffer->array); /* a file's copy is no longer needed; the type and count are */
    return true;
}

bool tool_fill_buffers(struct tool_job *job, struct wm_machine *machine, struct wm_diag *diag)
{
    bool again;
    do { /* words may allocate buffers before or behind theirs */
        again = false;
        for (struct tool_buffer *b = job->buffers; b; b = b->next)
            if (b->address && !b->filled) {
                again |= b->array.kind == TOOL_WORDS;
                if (!fill(job, machine, b, diag))
                    return false;
            }
    } while (again);
    return true;
}

/* ---- checks ---- */

int tool_check_places(struct tool_job *job, size_t index)
{
    const struct tool_dispatch *d = &job->dispatches[index];
    for (size_t i = 0; i < d->places.count; i++) {
        const char *key = d->places.pairs[i].key, *value = d->places.pairs[i].value;
        struct tool_buffer *buffer;
        struct wm_diag diag;
        uint64_t offset, address;
        if (!tool_parse_u64(value, &address) || !address || address % WM_ALLOCATION_ALIGNMENT)
            return tool_fail("%s--allocate-at %s=%s: expected an address that is a multiple of 0x%x",
                             d->where, key, value, WM_ALLOCATION_ALIGNMENT);
        if (!tool_find_buffer(job, index, key, &buffer, &offset, &diag))
            return tool_fail("%s--allocate-at %s: %s", d->where, key, diag.message);
        if (buffer->symbol_of || offset)
            return tool_fail("%s--allocate-at %s: it is a part of %s", d->where, key,
                             buffer->symbol_of ? "the code object" : "another buffer");
        if (buffer->at && buffer->at != address)
            return tool_fail("%s--allocate-at %s: the buffer is at 0x%llx already", d->where, key,
                             (unsigned long long)buffer->at);
        buffer->at = address;
    }
    return TOOL_CLEAN;
}

static bool check_array(struct tool_job *job, size_t dispatch, const struct tool_array *array,
                        struct wm_diag *diag)
{
    struct tool_scope scope = {job, dispatch, NULL};
    const struct tool_names names = {tool_find_place, &scope};
    const struct tool_item_rules rules = {.names = &names, .target = tool_job_target(job), .lane = -1};
    if (array->kind != TOOL_WORDS)
        return true;
    void *bytes = malloc(tool_array_size(array));
    const bool good =
        bytes ? tool_array_words(array, &rules, bytes, diag) : tool_because(diag, "out of memory");
    free(bytes);
    return good;
}

int tool_check_words(struct tool_job *job)
{
    struct wm_diag diag;
    for (const struct tool_buffer *b = job->buffers; b; b = b->next)
        if (!check_array(job, b->dispatch, &b->array, &diag))
            return tool_fail("%s%s %s: %s", b->declared ? "" : job->dispatches[b->dispatch].where,
                             b->declared ? "--buffer" : "--arg", b->name, diag.message);
    for (size_t i = 0; i < job->count; i++)
        for (size_t s = 0; s < job->dispatches[i].symbols.count; s++) {
            const struct tool_setting *setting = &job->dispatches[i].settings[s];
            if (!check_array(job, i, &setting->array, &diag))
                return tool_fail("%s--symbol %s: %s", job->dispatches[i].where, setting->pair->key,
                                 diag.message);
        }
    return TOOL_CLEAN;
}

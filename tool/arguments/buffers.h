/* SPDX-License-Identifier: MIT */
/* The buffers of a job: those of arguments, of --buffer, and variables of code objects. */
#ifndef WAVEMEM_TOOL_BUFFERS_H
#define WAVEMEM_TOOL_BUFFERS_H

#include "tool/arguments/job.h"

/* A place in a buffer. */
struct tool_buffer_place {
    struct tool_buffer *buffer;
    uint64_t offset;
};

/* Adds a buffer to the job, which takes ownership of `array`. */
struct tool_buffer *tool_add_buffer(struct tool_job *job, const char *name, const struct tool_array *array);
/* Whether the buffer is an image. */
static inline bool tool_is_image(const struct tool_buffer *buffer)
{
    return buffer->image.components;
}
/* Bytes that a buffer takes in guest memory. */
static inline uint64_t tool_buffer_bytes(const struct tool_buffer *buffer)
{
    return tool_is_image(buffer) ? buffer->layout.bytes : tool_array_size(&buffer->array);
}
/* Finds the buffer called `key` (a name or a position) after dispatch `index`: its own argument, a --buffer,
 * or the latest earlier argument of that name; "symbol:NAME" is a variable of its code object.
 * TOOL_ANY_DISPATCH: a --buffer, or the first argument of that name. */
bool tool_find_buffer(struct tool_job *job, size_t index, const char *key, struct tool_buffer **buffer,
                      uint64_t *offset, struct wm_diag *diag);
/* Finds the buffer that the dispatch's argument `key` has been bound to. */
bool tool_own_buffer(const struct tool_dispatch *d, const char *key, struct tool_buffer_place *place);
/* Finds a buffer of --buffer, or a buffer argument with this name in the latest dispatch before `index`. */
bool tool_earlier_buffer(const struct tool_job *job, size_t index, const char *key,
                         struct tool_buffer_place *place);
/* Finds a variable in the symbols of a code object. */
bool tool_find_symbol(struct tool_job *job, const struct wm_object *object, const char *name,
                      struct tool_buffer **buffer, struct wm_diag *diag);

#endif

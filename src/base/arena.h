/* SPDX-License-Identifier: MIT */
/* Many small allocations that live and die together: a bump allocator over growing blocks. */
#ifndef WMI_ARENA_H
#define WMI_ARENA_H

#include <stddef.h>

/* Starts as {0}; not thread-safe. */
struct wmi_arena {
    struct wmi_arena_block *blocks;
    size_t used, size; /* of the newest block */
};

/* `count` zeroed elements of `size` bytes, 16-byte aligned; NULL when there is no memory. */
void *wmi_arena_array(struct wmi_arena *arena, size_t count, size_t size);
/* A copy of `length` bytes of text with a NUL behind it; NULL when there is no memory. */
char *wmi_arena_text(struct wmi_arena *arena, const char *text, size_t length);
void wmi_arena_free(struct wmi_arena *arena);

#endif

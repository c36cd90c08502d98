/* SPDX-License-Identifier: MIT */
/* Bump allocator over growing blocks, for small allocations with a common lifetime. */
#ifndef WMI_ARENA_H
#define WMI_ARENA_H

#include <stddef.h>

/* Initially {0}; not thread-safe. */
struct wmi_arena {
    struct wmi_arena_block *blocks;
    size_t used, size; /* of the newest block */
};

/* `count` zeroed elements of `size` bytes, 16-byte aligned; NULL if out of memory. */
void *wmi_arena_array(struct wmi_arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of `length` bytes of text; NULL if out of memory. */
char *wmi_arena_text(struct wmi_arena *arena, const char *text, size_t length);
void wmi_arena_free(struct wmi_arena *arena);

#endif

/* SPDX-License-Identifier: MIT */
/* The bump allocator. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20 };

struct wmi_arena_block {
    alignas(ALIGNMENT) struct wmi_arena_block *next;
    alignas(ALIGNMENT) unsigned char bytes[];
};

static unsigned char *take(struct wmi_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!arena->blocks || arena->size - arena->used < size) {
        size_t room = arena->size < LARGEST_STEP ? arena->size * 2 : LARGEST_STEP;
        if (room < FIRST_BLOCK)
            room = FIRST_BLOCK;
        if (room < size)
            room = size;
        struct wmi_arena_block *block = calloc(1, sizeof(*block) + room);
        if (!block)
            return NULL;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = 0;
        arena->size = room;
    }
    unsigned char *bytes = arena->blocks->bytes + arena->used;
    arena->used += size;
    return bytes;
}

void *wmi_arena_array(struct wmi_arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return take(arena, count * size);
}

char *wmi_arena_text(struct wmi_arena *arena, const char *text, size_t length)
{
    unsigned char *copy = length < SIZE_MAX ? take(arena, length + 1) : NULL;
    if (copy && length)
        memcpy(copy, text, length);
    return (char *)copy;
}

void wmi_arena_free(struct wmi_arena *arena)
{
    while (arena->blocks) {
        struct wmi_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    *arena = (struct wmi_arena){0};
}

/* SPDX-License-Identifier: MIT */
/* A hash table of undefined values in memory. */
#include "check/uninit/undefined.h"

#include <stdlib.h>

enum { MOST = 1 << 24 /* maximum dwords: 512 MB of entries */ };

static struct wmi_undefined_dword *slot_of(const struct wmi_undefined *u, uint64_t key)
{
    size_t at = key * 0x9e3779b97f4a7c15ULL >> 32;
    while (u->entry[at % u->capacity].key && u->entry[at % u->capacity].key != key)
        at++;
    return &u->entry[at % u->capacity];
}

const struct wmi_undefined_dword *wmi_undefined_find(const struct wmi_undefined *u, uint64_t address)
{
    if (!u->count)
        return NULL;
    const struct wmi_undefined_dword *slot = slot_of(u, address / 4 + 1);
    return slot->key ? slot : NULL;
}

static bool make_room(struct wmi_undefined *u)
{
    if (2 * (u->count + 1) <= u->capacity)
        return true;
    struct wmi_undefined larger = {.capacity = u->capacity ? 2 * u->capacity : 256, .count = u->count};
    if (larger.capacity > 2 * (size_t)MOST || !(larger.entry = calloc(larger.capacity, sizeof *larger.entry)))
        return false;
    for (size_t i = 0; i < u->capacity; i++)
        if (u->entry[i].key)
            *slot_of(&larger, u->entry[i].key) = u->entry[i];
    free(u->entry);
    *u = larger;
    return true;
}

bool wmi_undefined_put(struct wmi_undefined *u, uint64_t address, uint32_t mask, uint32_t difference,
                       uint32_t origin)
{
    if (!make_room(u))
        return false;
    struct wmi_undefined_dword *slot = slot_of(u, address / 4 + 1);
    u->count += !slot->key;
    slot->key = address / 4 + 1;
    slot->difference = (slot->difference & ~mask) | (difference & mask);
    slot->origin = origin;
    return true;
}

void wmi_undefined_free(struct wmi_undefined *u)
{
    free(u->entry);
    *u = (struct wmi_undefined){0};
}

/* SPDX-License-Identifier: MIT */
/* A hash table of places. */
#include "lower/place.h"

#include <stdlib.h>

static size_t hash(uint64_t place)
{
    return (size_t)((place >> 2) * 0x9e3779b97f4a7c15ULL >> 20);
}

const void *wmi_place_find(const struct wmi_place_map *map, uint64_t place)
{
    if (!map->capacity)
        return NULL;
    for (size_t i = hash(place) & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
        if (!map->entries[i].value)
            return NULL;
        if (map->entries[i].place == place)
            return map->entries[i].value;
    }
}

bool wmi_place_reserve(struct wmi_place_map *map, size_t more)
{
    if ((map->count + more) * 2 <= map->capacity)
        return true;
    size_t capacity = map->capacity ? map->capacity : 64;
    while ((map->count + more) * 2 > capacity)
        capacity *= 2;
    struct wmi_place_map grown = {calloc(capacity, sizeof *grown.entries), capacity, 0};
    if (!grown.entries)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].value)
            wmi_place_add(&grown, map->entries[i].place, map->entries[i].value);
    free(map->entries);
    *map = grown;
    return true;
}

void wmi_place_add(struct wmi_place_map *map, uint64_t place, const void *value)
{
    size_t i = hash(place) & (map->capacity - 1);
    while (map->entries[i].value)
        i = (i + 1) & (map->capacity - 1);
    map->entries[i] = (struct wmi_place_entry){place, value};
    map->count++;
}

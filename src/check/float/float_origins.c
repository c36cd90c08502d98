/* SPDX-License-Identifier: MIT */
/* Where values that are not finite come from: an event for each execution in which some arose, and for each
 * register and lane the event that its value depends on. */
#include "check/float/float.h"

#include <stdlib.h>
#include <string.h>

bool wmi_float_put(struct wmi_float_wave *wave, unsigned reg, uint64_t lanes, const uint32_t *origin)
{
    struct wmi_float_row *row = wave->row[reg];
    uint64_t some = 0;
    if (reg < WMI_REGISTER_VGPR)
        lanes = 1;
    for (uint64_t left = origin ? lanes : 0; left; left &= left - 1)
        some |= (uint64_t)(origin[__builtin_ctzll(left)] != 0) << __builtin_ctzll(left);
    if (!row && !some)
        return true;
    if (!row && !(row = wave->row[reg] = calloc(1, sizeof *row)))
        return false;
    const bool lived = row->lanes;
    row->lanes = (row->lanes & ~lanes) | some;
    wave->live = wave->live - lived + (row->lanes != 0);
    for (uint64_t left = some; left; left &= left - 1)
        row->origin[__builtin_ctzll(left)] = origin[__builtin_ctzll(left)];
    return true;
}

/* ---- private memory ---- */

static uint64_t key_of(uint64_t address)
{
    return 1 + address / 4;
}

/* The entry of the key, or the free one where it belongs. */
static struct wmi_float_private *slot_of(const struct wmi_float_wave *wave, uint64_t key)
{
    uint64_t at = key * 0x9e3779b97f4a7c15 >> 32;
    while (wave->private[at % wave->private_capacity].key &&
           wave->private[at % wave->private_capacity].key != key)
        at++;
    return &wave->private[at % wave->private_capacity];
}

static bool grow_private(struct wmi_float_wave *wave)
{
    enum { AT_FIRST = 64 };
    struct wmi_float_private *old = wave->private;
    const uint32_t old_capacity = wave->private_capacity,
                   capacity = old_capacity ? 2 * old_capacity : AT_FIRST;
    struct wmi_float_private *private = calloc(capacity, sizeof *private);
    if (!private)
        return false;
    wave->private = private;
    wave->private_capacity = capacity;
    wave->privates = 0;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (!old[i].origin)
            continue;
        *slot_of(wave, old[i].key) = old[i];
        wave->privates++;
    }
    free(old);
    return true;
}

bool wmi_float_put_private(struct wmi_float_wave *wave, uint64_t address, uint32_t origin)
{
    if (!origin && !wave->privates)
        return true;
    if (2 * (wave->privates + 1) > wave->private_capacity && !grow_private(wave))
        return false;
    struct wmi_float_private *slot = slot_of(wave, key_of(address));
    if (!slot->key && !origin)
        return true;
    wave->privates += !slot->key;
    *slot = (struct wmi_float_private){key_of(address), origin};
    return true;
}

uint32_t wmi_float_private_origin(const struct wmi_float_wave *wave, uint64_t address)
{
    return wave->privates ? slot_of(wave, key_of(address))->origin : 0;
}

/* ---- events ---- */

/* Frees the events that no register and no private memory comes from. */
static void collect(struct wmi_float_wave *wave)
{
    for (unsigned reg = 0; reg < WMI_REGISTER_COUNT; reg++) {
        const struct wmi_float_row *row = wave->row[reg];
        for (uint64_t left = row ? row->lanes : 0; left; left &= left - 1)
            wave->event[row->origin[__builtin_ctzll(left)] & ~(uint32_t)WMI_FLOAT_STICKY]->marked = true;
    }
    for (uint32_t i = 0; i < wave->private_capacity; i++)
        if (wave->private[i].origin)
            wave->event[wave->private[i].origin & ~(uint32_t)WMI_FLOAT_STICKY]->marked = true;
    for (uint32_t i = 1; i < wave->capacity; i++) {
        struct wmi_float_event *event = wave->event[i];
        if (event && !event->marked) {
            free(event);
            wave->event[i] = NULL;
            wave->used--;
        } else if (event) {
            event->marked = false;
        }
    }
}

bool wmi_float_reserve(struct wmi_float_wave *wave, unsigned events)
{
    enum { AT_FIRST = 256 };
    if (wave->used + events < wave->capacity)
        return true;
    collect(wave);
    if (2 * (wave->used + events) < wave->capacity)
        return true;
    const uint32_t capacity = wave->capacity ? 2 * wave->capacity : AT_FIRST;
    struct wmi_float_event **event = realloc(wave->event, capacity * sizeof(*event));
    if (!event)
        return false;
    memset(event + wave->capacity, 0, (capacity - wave->capacity) * sizeof(*event));
    wave->event = event;
    wave->capacity = capacity;
    return true;
}

uint32_t wmi_float_add_event(struct wmi_float_wave *wave, const struct wmi_float_event *event)
{
    const size_t values = (size_t)__builtin_popcountll(event->lanes);
    struct wmi_float_event *copy = calloc(1, sizeof *copy + values * sizeof copy->value[0]);
    if (!copy)
        return 0;
    *copy = *event;
    do
        wave->newest = wave->newest + 1 < wave->capacity ? wave->newest + 1 : 1;
    while (wave->event[wave->newest]);
    wave->event[wave->newest] = copy;
    wave->used++;
    return wave->newest;
}

void wmi_float_clear(struct wmi_float_wave *wave)
{
    for (unsigned reg = 0; wave->live && reg < WMI_REGISTER_COUNT; reg++)
        if (wave->row[reg])
            wmi_float_put(wave, reg, UINT64_MAX, NULL);
    if (wave->privates)
        memset(wave->private, 0, wave->private_capacity * sizeof *wave->private);
    wave->privates = wave->loads = 0;
    collect(wave);
    wave->last = NULL;
    wave->sequence = wave->newest = 0;
}

void wmi_float_destroy(struct wmi_float_wave *wave)
{
    if (!wave)
        return;
    wmi_float_clear(wave);
    for (unsigned reg = 0; reg < WMI_REGISTER_COUNT; reg++)
        free(wave->row[reg]);
    free(wave->event);
    free(wave->private);
    free(wave);
}

/* SPDX-License-Identifier: MIT */
/* What a dispatch stores to global memory, byte by byte. */
#include "check/sync/stores.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = WMI_STORES_LINE, FIRST = 1 << 10, WORD = 4 };

static uint64_t line_of(uint64_t address)
{
    return address & ~(uint64_t)(LINE - 1);
}

/* The entry of the line, or the free one where it belongs. */
static size_t slot_of(const struct wmi_stores_line *line, size_t capacity, uint64_t address)
{
    size_t slot = (address / LINE * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (capacity - 1);
    while (line[slot].mask && line[slot].address != address)
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static const struct wmi_stores_line *find(const struct wmi_stores *stores, uint64_t address)
{
    if (!stores->capacity)
        return NULL;
    const struct wmi_stores_line *line = &stores->line[slot_of(stores->line, stores->capacity, address)];
    return line->mask ? line : NULL;
}

static bool grow(struct wmi_stores *stores)
{
    const size_t capacity = stores->capacity ? 2 * stores->capacity : FIRST;
    struct wmi_stores_line *more = calloc(capacity, sizeof *more);
    if (!more)
        return false;
    for (size_t i = 0; i < stores->capacity; i++)
        if (stores->line[i].mask)
            more[slot_of(more, capacity, stores->line[i].address)] = stores->line[i];
    free(stores->line);
    stores->line = more;
    stores->capacity = capacity;
    return true;
}

/* The line's entry; NULL: no memory. */
static struct wmi_stores_line *entry_of(struct wmi_stores *stores, uint64_t address)
{
    if (stores->capacity && stores->line[stores->recent].mask &&
        stores->line[stores->recent].address == address)
        return &stores->line[stores->recent];
    if (2 * stores->count >= stores->capacity && !grow(stores))
        return NULL;
    stores->recent = slot_of(stores->line, stores->capacity, address);
    struct wmi_stores_line *line = &stores->line[stores->recent];
    stores->count += !line->mask;
    line->address = address;
    return line;
}

/* A store to bytes of one line. */
static void note(struct wmi_stores *stores, uint64_t address, unsigned bytes, const unsigned char *host)
{
    struct wmi_stores_line *line = entry_of(stores, line_of(address));
    const unsigned at = address % LINE;
    if (!line) {
        stores->lost = true;
        return;
    }
    for (unsigned i = at; i < at + bytes; i++) {
        if (!(line->mask >> i & 1))
            line->before[i] = host[i - at];
        line->mask |= UINT64_C(1) << i;
    }
}

static void see_lane(struct wmi_stores *stores, uint64_t address, unsigned bytes)
{
    if ((address < stores->hit.low || address >= stores->hit.high) &&
        !wmi_space_reach(stores->space, address, &stores->hit)) {
        stores->hit = (struct wmi_hit){0};
        return; /* nothing is stored outside of allocations */
    }
    const struct wmi_hit *hit = &stores->hit;
    const uint64_t end = address + bytes < hit->high ? address + bytes : hit->high;
    stores->to_host |= hit->flags & WMI_ALLOCATION_HOST;
    while (address < end) {
        const uint64_t next = line_of(address) + LINE < end ? line_of(address) + LINE : end;
        note(stores, address, (unsigned)(next - address), hit->host + (address - hit->low));
        address = next;
    }
}

static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct wmi_stores *stores = local;
    (void)slot;
    if (access->kind == WMI_ACCESS_LOAD || access->path == WMI_PATH_CONTROL ||
        access->path == WMI_PATH_SCRATCH)
        return;
    for (unsigned i = 0; i < access->elements; i++) {
        const struct wmi_element *element = &access->element[i];
        for (uint64_t left = element->space == WMI_SPACE_GLOBAL ? element->mask : 0; left; left &= left - 1)
            see_lane(stores, element->address[__builtin_ctzll(left)], access->bytes);
    }
}

static void *begin_thread(void *self)
{
    return self;
}

static void end_thread(void *self, void *local)
{
    (void)self, (void)local;
}

void wmi_stores_init(struct wmi_stores *stores, const struct wmi_space *space)
{
    *stores = (struct wmi_stores){.space = space};
    stores->observer = (struct wmi_observer){
        .self = stores, .thread_begin = begin_thread, .thread_end = end_thread, .access = see_access};
}

void wmi_stores_free(struct wmi_stores *stores)
{
    free(stores->line);
    *stores = (struct wmi_stores){0};
}

/* Copies bytes of the line from memory, or to it. */
static void copy(const struct wmi_stores *stores, uint64_t address, uint64_t mask, unsigned char *bytes,
                 bool writes)
{
    for (; mask; mask &= mask - 1) {
        const unsigned at = (unsigned)__builtin_ctzll(mask);
        unsigned char *host = wmi_space_host(stores->space, address + at, 1);
        if (host && writes)
            *host = bytes[at];
        else if (host)
            bytes[at] = *host;
    }
}

void wmi_stores_keep(struct wmi_stores *stores)
{
    for (size_t i = 0; i < stores->capacity; i++)
        copy(stores, stores->line[i].address, stores->line[i].mask, stores->line[i].after, false);
}

void wmi_stores_undo(const struct wmi_stores *stores)
{
    for (size_t i = 0; i < stores->capacity; i++)
        copy(stores, stores->line[i].address, stores->line[i].mask, stores->line[i].before, true);
}

void wmi_stores_redo(const struct wmi_stores *stores)
{
    for (size_t i = 0; i < stores->capacity; i++)
        copy(stores, stores->line[i].address, stores->line[i].mask, stores->line[i].after, true);
}

/* ---- comparison ---- */

/* What the first execution left in a line, of the bytes that either stored to. */
static void first_result(const struct wmi_stores_line *first, const struct wmi_stores_line *second,
                         unsigned char result[LINE])
{
    for (unsigned i = 0; i < LINE; i++)
        result[i] = first && first->mask >> i & 1     ? first->after[i]
                    : second && second->mask >> i & 1 ? second->before[i]
                                                      : 0;
}

static void show(const struct wmi_stores *stores, const struct wmi_allocation *a, uint64_t address,
                 uint64_t mask, const unsigned char *was, struct wmi_stores_difference *difference)
{
    const unsigned at = (unsigned)(address % LINE) / WORD * WORD;
    const uint64_t dword = line_of(address) + at;
    unsigned char values[2][WORD] = {{0}};
    difference->address = dword;
    difference->size = a->high - dword < WORD ? (unsigned)(a->high - dword) : WORD;
    for (unsigned i = 0; i < difference->size; i++) {
        const unsigned char *host = wmi_space_host(stores->space, dword + i, 1);
        values[1][i] = host ? *host : 0;
        values[0][i] = mask >> (at + i) & 1 ? was[at + i] : values[1][i];
    }
    memcpy(&difference->was, values[0], WORD);
    memcpy(&difference->now, values[1], WORD);
}

static void compare_line(const struct wmi_stores *first, const struct wmi_stores *second, uint64_t address,
                         const struct wmi_allocation *a, struct wmi_stores_difference *difference)
{
    const struct wmi_stores_line *one = find(first, address), *two = find(second, address);
    const uint64_t mask = (one ? one->mask : 0) | (two ? two->mask : 0);
    unsigned char was[LINE];
    uint64_t differs = 0;
    first_result(one, two, was);
    for (uint64_t left = mask; left; left &= left - 1) {
        const unsigned at = (unsigned)__builtin_ctzll(left);
        const unsigned char *host = wmi_space_host(first->space, address + at, 1);
        differs |= host && *host != was[at] ? left & -left : 0;
    }
    if (!differs)
        return;
    const uint64_t at = address + (unsigned)__builtin_ctzll(differs);
    if (!difference->bytes || at < difference->address)
        show(first, a, at, mask, was, difference);
    difference->bytes += (unsigned)__builtin_popcountll(differs);
}

void wmi_stores_compare(const struct wmi_stores *first, const struct wmi_stores *second,
                        bool (*wanted)(void *user, const struct wmi_allocation *allocation), void *user,
                        struct wmi_stores_difference *difference)
{
    const struct wmi_stores *const both[] = {first, second};
    *difference = (struct wmi_stores_difference){0};
    for (unsigned which = 0; which < 2; which++)
        for (size_t i = 0; i < both[which]->capacity; i++) {
            const struct wmi_stores_line *line = &both[which]->line[i];
            const struct wmi_allocation *a =
                line->mask
                    ? wmi_space_find(first->space, line->address + (unsigned)__builtin_ctzll(line->mask))
                    : NULL;
            if (a && !(which && find(first, line->address)) && wanted(user, a))
                compare_line(first, second, line->address, a, difference);
        }
}

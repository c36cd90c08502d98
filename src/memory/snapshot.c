/* SPDX-License-Identifier: MIT */
/* Copies of the guest's memory, by pages. */
#include "memory/snapshot.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

static size_t pages_of(const struct wmi_snapshot_part *part)
{
    return (size_t)((part->high - part->low + PAGE - 1) / PAGE);
}

/* Bytes of the page that the allocation has. */
static size_t bytes_of(const struct wmi_snapshot_part *part, size_t page)
{
    const uint64_t left = part->high - part->low - (uint64_t)page * PAGE;
    return left < PAGE ? (size_t)left : PAGE;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

static bool copy_part(struct wmi_snapshot_part *part)
{
    for (size_t i = 0; i < pages_of(part); i++) {
        const unsigned char *from = part->host + i * PAGE;
        const size_t size = bytes_of(part, i);
        if (is_zero(from, size))
            continue;
        if (!(part->page[i] = malloc(size)))
            return false;
        memcpy(part->page[i], from, size);
    }
    return true;
}

bool wmi_snapshot_take(struct wmi_snapshot *snapshot, const struct wmi_space *space)
{
    *snapshot = (struct wmi_snapshot){0};
    bool ok = true;
    for (const struct wmi_allocation *a = wmi_space_from(space, 0); ok && a;
         a = wmi_space_from(space, a->high)) {
        if (a->flags & WM_READ_ONLY || a->stride)
            continue;
        ok = !(a->flags & WMI_ALLOCATION_HOST) &&
             wmi_grow(&snapshot->part, &snapshot->capacity, snapshot->parts, sizeof *snapshot->part);
        if (!ok)
            break;
        struct wmi_snapshot_part *part = &snapshot->part[snapshot->parts];
        *part = (struct wmi_snapshot_part){a->low, a->high, a->host, NULL};
        part->page = calloc(pages_of(part), sizeof(unsigned char *));
        snapshot->parts += part->page != NULL;
        ok = part->page && copy_part(part);
    }
    if (!ok)
        wmi_snapshot_free(snapshot);
    return ok;
}

/* The allocation that was copied; NULL: it has been freed. */
static const struct wmi_allocation *allocation_of(const struct wmi_snapshot_part *part,
                                                  const struct wmi_space *space)
{
    const struct wmi_allocation *a = wmi_space_find(space, part->low);
    return a && a->low == part->low && a->high == part->high && a->host == part->host ? a : NULL;
}

void wmi_snapshot_restore(const struct wmi_snapshot *snapshot, const struct wmi_space *space)
{
    for (size_t p = 0; p < snapshot->parts; p++) {
        const struct wmi_snapshot_part *part = &snapshot->part[p];
        const bool exists = allocation_of(part, space);
        for (size_t i = 0; exists && i < pages_of(part); i++) {
            unsigned char *to = part->host + i * PAGE;
            const size_t size = bytes_of(part, i);
            if (part->page[i])
                memcpy(to, part->page[i], size);
            else if (!is_zero(to, size)) /* untouched pages stay so */
                memset(to, 0, size);
        }
    }
}

void wmi_snapshot_free(struct wmi_snapshot *snapshot)
{
    for (size_t p = 0; p < snapshot->parts; p++) {
        for (size_t i = 0; i < pages_of(&snapshot->part[p]); i++)
            free(snapshot->part[p].page[i]);
        free(snapshot->part[p].page);
    }
    free(snapshot->part);
    *snapshot = (struct wmi_snapshot){0};
}

static void compare_page(const struct wmi_snapshot_part *part, size_t page,
                         struct wmi_snapshot_difference *difference)
{
    static const unsigned char zeros[PAGE];
    const unsigned char *was = part->page[page] ? part->page[page] : zeros, *now = part->host + page * PAGE;
    const size_t size = bytes_of(part, page);
    if (!memcmp(was, now, size))
        return;
    for (size_t i = 0; i < size; i++) {
        if (was[i] == now[i])
            continue;
        if (!difference->bytes++) {
            const size_t dword = i / 4 * 4;
            difference->size = size - dword < 4 ? (unsigned)(size - dword) : 4;
            difference->address = part->low + (uint64_t)page * PAGE + dword;
            memcpy(&difference->was, was + dword, difference->size);
            memcpy(&difference->now, now + dword, difference->size);
        }
    }
}

void wmi_snapshot_compare(const struct wmi_snapshot *snapshot, const struct wmi_space *space,
                          bool (*wanted)(void *user, const struct wmi_allocation *allocation), void *user,
                          struct wmi_snapshot_difference *difference)
{
    *difference = (struct wmi_snapshot_difference){0};
    for (size_t p = 0; p < snapshot->parts; p++) {
        const struct wmi_snapshot_part *part = &snapshot->part[p];
        const struct wmi_allocation *a = allocation_of(part, space);
        const bool found = a && wanted(user, a);
        for (size_t i = 0; found && i < pages_of(part); i++)
            compare_page(part, i, difference);
    }
}

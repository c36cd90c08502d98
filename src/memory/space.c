/* SPDX-License-Identifier: MIT */
/* Guest memory: a sorted array of allocations, each an anonymous mapping of the host. */
#include "memory/space.h"

#include "base/diag.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HOST_PADDING = 64, /* mapped bytes after an allocation, for host vector accesses across its end */
    HOST_PAGE = 4096,
    HUGE_PAGE = 2 << 20, /* allocations of at least this size are aligned to huge pages of the host */
};

static_assert(WMI_SPACE_LOW % WMI_SPACE_GAP == 0, "allocations start on multiples of the gap");

/* Kernels may race, by mistake or on purpose (polling a flag with plain loads). ThreadSanitizer therefore
 * ignores guest memory; it still checks the library's own data. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *memory, size_t size,
                             const char *what);
#define MAY_RACE(memory, size) AnnotateBenignRaceSized(__FILE__, __LINE__, memory, size, "guest memory")
#endif
#endif
#ifndef MAY_RACE
#define MAY_RACE(memory, size) ((void)0)
#endif

struct mapping {
    void *start;
    size_t size;
};

struct wmi_space {
    struct wmi_allocation *allocations; /* sorted by address */
    struct mapping *mappings;           /* mappings[i] belongs to allocations[i] */
    size_t count, capacity;
    uint64_t next;  /* lowest address above all allocations made so far */
    uint64_t total; /* requested bytes of live allocations */
    void (*changed)(void *user, const struct wmi_allocation *allocation, bool freed); /* or NULL */
    void *user;
};

struct wmi_space *wmi_space_create(void)
{
    struct wmi_space *space = calloc(1, sizeof *space);
    if (space)
        space->next = WMI_SPACE_LOW;
    return space;
}

void wmi_space_listen(struct wmi_space *space,
                      void (*changed)(void *user, const struct wmi_allocation *allocation, bool freed),
                      void *user)
{
    space->changed = changed;
    space->user = user;
}

struct wmi_space *wmi_space_create_everywhere(void)
{
    struct wmi_space *space = calloc(1, sizeof *space);
    struct wmi_allocation *all = calloc(1, sizeof *all);
    struct mapping *none = calloc(1, sizeof *none);
    if (!space || !all || !none) {
        free(space);
        free(all);
        free(none);
        return NULL;
    }
    /* Host addresses that are not NULL and do not wrap; they are never accessed. */
    *all = (struct wmi_allocation){.high = UINT64_MAX - HOST_PADDING,
                                   .host = (unsigned char *)(uintptr_t)HOST_PADDING};
    *space = (struct wmi_space){.allocations = all, .mappings = none, .count = 1, .capacity = 1};
    return space;
}

void wmi_space_destroy(struct wmi_space *space)
{
    if (!space)
        return;
    for (size_t i = 0; i < space->count; i++)
        if (space->mappings[i].start)
            munmap(space->mappings[i].start, space->mappings[i].size);
    free(space->allocations);
    free(space->mappings);
    free(space);
}

static uint64_t round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

/* Maps `size` zeroed bytes plus padding. `host` is aligned to a huge page if the allocation is large. */
static bool map_host(uint64_t size, struct mapping *mapping, unsigned char **host)
{
    const size_t align = size >= HUGE_PAGE ? HUGE_PAGE : HOST_PAGE;
    mapping->size = round_up(size + HOST_PADDING, HOST_PAGE) + (align - HOST_PAGE);
    mapping->start =
        mmap(NULL, mapping->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping->start == MAP_FAILED)
        return false;
    MAY_RACE(mapping->start, mapping->size);
    *host = (unsigned char *)round_up((uintptr_t)mapping->start, align);
#ifdef MADV_HUGEPAGE
    if (align == HUGE_PAGE)
        madvise(*host, size, MADV_HUGEPAGE); /* failure only costs speed */
#endif
    return true;
}

/* Index of the first allocation that ends above `address`; `count` if there is none. */
static size_t upper(const struct wmi_space *space, uint64_t address)
{
    size_t low = 0, high = space->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (space->allocations[middle].high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns an address for `size` bytes, and its index in the array; 0: no gap is large enough. */
static uint64_t choose_address(const struct wmi_space *space, uint64_t size, size_t *index)
{
    if (space->next <= WMI_SPACE_HIGH && size <= WMI_SPACE_HIGH - space->next) {
        *index = space->count;
        return space->next;
    }
    uint64_t start = WMI_SPACE_LOW;
    for (size_t i = 0; i < space->count; i++) {
        const struct wmi_allocation *a = &space->allocations[i];
        if (a->low >= start && a->low - start >= size + WMI_SPACE_GAP) {
            *index = i;
            return start;
        }
        start = round_up(a->high + WMI_SPACE_GAP, WMI_SPACE_GAP);
    }
    *index = space->count;
    return start <= WMI_SPACE_HIGH && size <= WMI_SPACE_HIGH - start ? start : 0;
}

static bool reserve(struct wmi_space *space)
{
    if (space->count < space->capacity)
        return true;
    const size_t capacity = space->capacity ? 2 * space->capacity : 16;
    struct wmi_allocation *allocations = realloc(space->allocations, capacity * sizeof *allocations);
    if (!allocations)
        return false;
    space->allocations = allocations;
    struct mapping *mappings = realloc(space->mappings, capacity * sizeof *mappings);
    if (!mappings)
        return false;
    space->mappings = mappings;
    space->capacity = capacity;
    return true;
}

enum wm_status wmi_space_allocate(struct wmi_space *space, uint64_t size, unsigned flags, const char *name,
                                  uint64_t *address, struct wm_diag *diag)
{
    if (!name)
        name = "";
    if (!size)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "allocation '%s': 0 bytes asked for, expected at least 1",
                        name);
    if (size > WMI_SPACE_LIMIT - space->total)
        return wmi_fail(diag, WM_NO_MEMORY,
                        "allocation '%s': %" PRIu64 " bytes asked for, but %" PRIu64
                        " of the guest's %" PRIu64 " bytes are left",
                        name, size, (uint64_t)WMI_SPACE_LIMIT - space->total, (uint64_t)WMI_SPACE_LIMIT);
    size_t index;
    const uint64_t low = choose_address(space, size, &index);
    struct mapping mapping;
    unsigned char *host;
    if (!low || !reserve(space) || !map_host(size, &mapping, &host))
        return wmi_fail(diag, WM_NO_MEMORY, "allocation '%s': the host has no %" PRIu64 " bytes", name, size);

    memmove(&space->allocations[index + 1], &space->allocations[index],
            (space->count - index) * sizeof *space->allocations);
    memmove(&space->mappings[index + 1], &space->mappings[index],
            (space->count - index) * sizeof *space->mappings);
    struct wmi_allocation *a = &space->allocations[index];
    *a = (struct wmi_allocation){.low = low, .high = low + size, .host = host, .flags = flags};
    snprintf(a->name, sizeof a->name, "%s", name);
    space->mappings[index] = mapping;
    space->count++;
    space->total += size;
    if (a->high + WMI_SPACE_GAP > space->next)
        space->next = round_up(a->high + WMI_SPACE_GAP, WMI_SPACE_GAP);
    *address = low;
    if (space->changed)
        space->changed(space->user, a, false);
    return WM_OK;
}

enum wm_status wmi_space_free(struct wmi_space *space, uint64_t address, struct wm_diag *diag)
{
    const size_t i = upper(space, address);
    if (i == space->count || space->allocations[i].low != address)
        return wmi_fail(diag, WM_NOT_FOUND,
                        "0x%" PRIx64 ": no allocation starts there, so it cannot be freed", address);
    if (space->changed)
        space->changed(space->user, &space->allocations[i], true);
    space->total -= space->allocations[i].high - space->allocations[i].low;
    munmap(space->mappings[i].start, space->mappings[i].size);
    space->count--;
    memmove(&space->allocations[i], &space->allocations[i + 1],
            (space->count - i) * sizeof *space->allocations);
    memmove(&space->mappings[i], &space->mappings[i + 1], (space->count - i) * sizeof *space->mappings);
    return WM_OK;
}

const struct wmi_allocation *wmi_space_find(const struct wmi_space *space, uint64_t address)
{
    const size_t i = upper(space, address);
    if (i == space->count || address < space->allocations[i].low)
        return NULL;
    return &space->allocations[i];
}

void wmi_space_divide(struct wmi_space *space, uint64_t address, uint64_t stride, uint64_t piece)
{
    const size_t i = upper(space, address);
    assert(i < space->count && space->allocations[i].low == address && stride >= piece + WMI_SPACE_GAP);
    space->allocations[i].stride = stride;
    space->allocations[i].piece = piece;
#ifdef MADV_NOHUGEPAGE
    madvise(space->mappings[i].start, space->mappings[i].size,
            MADV_NOHUGEPAGE); /* gaps must not occupy memory */
#endif
}

bool wmi_space_reach(const struct wmi_space *space, uint64_t address, struct wmi_hit *hit)
{
    const struct wmi_allocation *a = wmi_space_find(space, address);
    if (!a)
        return false;
    *hit = (struct wmi_hit){a->low, a->high, a->host, a->flags};
    if (!a->stride)
        return true;
    const uint64_t skip = (address - a->low) / a->stride * a->stride;
    if (address - a->low - skip >= a->piece) {
        *hit = (struct wmi_hit){0};
        return false;
    }
    *hit = (struct wmi_hit){a->low + skip, a->low + skip + a->piece, a->host + skip, a->flags};
    return true;
}

void wmi_space_clear(unsigned char *host, uint64_t size)
{
    enum { MANY = 1 << 18 }; /* from this size on, dropping the pages is faster than memset() */
    if (size >= MANY && (uintptr_t)host % HOST_PAGE == 0) {
        const uint64_t pages = size / HOST_PAGE * HOST_PAGE;
        if (!madvise(host, pages, MADV_DONTNEED)) {
            host += pages;
            size -= pages;
        }
    }
    memset(host, 0, size);
}

const struct wmi_allocation *wmi_space_nearest(const struct wmi_space *space, uint64_t address)
{
    const struct wmi_allocation *all = space->allocations;
    size_t below = upper(space, address), above = below; /* below: index + 1 */
    while (below > 0 && all[below - 1].stride)
        below--;
    while (above < space->count && all[above].stride)
        above++;
    if (above == space->count)
        return below ? &all[below - 1] : NULL;
    if (!below || address >= all[above].low || all[above].low - address < address - (all[below - 1].high - 1))
        return &all[above];
    return &all[below - 1];
}

unsigned char *wmi_space_host(const struct wmi_space *space, uint64_t address, uint64_t size)
{
    const struct wmi_allocation *a = wmi_space_find(space, address);
    if (!a || size > a->high - address)
        return NULL;
    return a->host + (address - a->low);
}

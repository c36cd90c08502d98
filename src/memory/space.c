/* SPDX-License-Identifier: MIT */
/* Guest memory: a sorted array of allocations, each an anonymous mapping of the host or memory of the caller.
 */
#include "memory/space.h"

#include "base/diag.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    HOST_PADDING = 64, /* mapped bytes after an allocation, for host vector accesses across its end */
    HOST_PAGE = 4096,
    KEPT = 16,             /* mappings that were freed and are used again: to map takes longer than to zero */
    KEPT_BYTES = 16 << 10, /* the largest of them */
    HUGE_PAGE = 2 << 20,   /* allocations of at least this size are aligned to huge pages of the host */
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
    void *start; /* NULL: the caller's */
    size_t size;
    bool shared; /* with other processes: wmi_space_share() */
};

struct wmi_space {
    struct wmi_rwlock rwlock;
    struct mapping kept[KEPT];
    unsigned kept_count;
    struct wmi_allocation *allocations; /* sorted by address */
    struct mapping *mappings;           /* mappings[i] belongs to allocations[i] */
    size_t count, capacity;
    uint64_t next;  /* lowest address above those that the space has chosen so far */
    uint64_t total; /* requested bytes of live allocations */
    void (*changed)(void *user, const struct wmi_allocation *allocation, bool freed); /* or NULL */
    void *user;
};

struct wmi_space *wmi_space_create(void)
{
    struct wmi_space *space = calloc(1, sizeof *space);
    if (space) {
        space->next = WMI_SPACE_LOW;
        wmi_rwlock_init(&space->rwlock);
    }
    return space;
}

struct wmi_rwlock *wmi_space_rwlock(const struct wmi_space *space)
{
    return (struct wmi_rwlock *)&space->rwlock;
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
    wmi_rwlock_init(&space->rwlock);
    return space;
}

void wmi_space_destroy(struct wmi_space *space)
{
    if (!space)
        return;
    for (size_t i = 0; i < space->count; i++) {
        if (space->mappings[i].start)
            munmap(space->mappings[i].start, space->mappings[i].size);
        free(space->allocations[i].name);
    }
    for (unsigned i = 0; i < space->kept_count; i++)
        munmap(space->kept[i].start, space->kept[i].size);
    wmi_rwlock_destroy(&space->rwlock);
    free(space->allocations);
    free(space->mappings);
    free(space);
}

static uint64_t round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

/* Maps `size` zeroed bytes plus padding, or takes them from what was kept. `host` is aligned to a huge page
 * if the allocation is large. */
static bool map_host(struct wmi_space *space, uint64_t size, struct mapping *mapping, unsigned char **host)
{
    const size_t align = size >= HUGE_PAGE ? HUGE_PAGE : HOST_PAGE;
    mapping->size = round_up(size + HOST_PADDING, HOST_PAGE) + (align - HOST_PAGE);
    for (unsigned i = 0; i < space->kept_count; i++)
        if (space->kept[i].size == mapping->size) {
            *mapping = space->kept[i];
            space->kept[i] = space->kept[--space->kept_count];
            *host = memset(mapping->start, 0, mapping->size);
            return true;
        }
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

/* Whether [low, low + size) and the gaps around it are free; otherwise *after is the next address to try. */
static bool has_gap(const struct wmi_space *space, uint64_t low, uint64_t size, uint64_t *after)
{
    const size_t i = upper(space, low - WMI_SPACE_GAP);
    if (i == space->count || space->allocations[i].low >= low + size + WMI_SPACE_GAP)
        return true;
    *after = round_up(space->allocations[i].high + WMI_SPACE_GAP, WMI_SPACE_GAP);
    return false;
}

/* Returns the first free address for `size` bytes from `low` on; 0: there is none. */
static uint64_t search(const struct wmi_space *space, uint64_t low, uint64_t size)
{
    while (low <= WMI_SPACE_HIGH && size <= WMI_SPACE_HIGH - low)
        if (has_gap(space, low, size, &low))
            return low;
    return 0;
}

static uint64_t choose_address(const struct wmi_space *space, uint64_t *cursor, uint64_t size)
{
    uint64_t low = search(space, *cursor, size);
    if (!low)
        low = search(space, WMI_SPACE_LOW, size);
    if (low && low + size + WMI_SPACE_GAP > *cursor)
        *cursor = round_up(low + size + WMI_SPACE_GAP, WMI_SPACE_GAP);
    return low;
}

/* Whether a caller may choose [address, address + size): canonical addresses, and not the first page. */
static bool is_possible(uint64_t address, uint64_t size)
{
    const uint64_t low = address < WMI_SPACE_HALF ? WMI_SPACE_LEAST : -WMI_SPACE_HALF;
    const uint64_t high = address < WMI_SPACE_HALF ? WMI_SPACE_HALF : -(uint64_t)WMI_SPACE_LEAST;
    return address >= low && address <= high && size <= high - address;
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

/* Checks the request, and finds its address and its index. */
static enum wm_status find_room(struct wmi_space *space, const struct wmi_allocation_request *request,
                                const char *name, uint64_t *address, size_t *index, struct wm_diag *diag)
{
    const uint64_t size = request->size;
    if (!size)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "allocation '%s': 0 bytes asked for, expected at least 1",
                        name);
    if (!request->host && size > WMI_SPACE_LIMIT - space->total)
        return wmi_fail(diag, WM_NO_MEMORY,
                        "allocation '%s': %" PRIu64 " bytes asked for, but %" PRIu64
                        " of the guest's %" PRIu64 " bytes are left",
                        name, size, (uint64_t)WMI_SPACE_LIMIT - space->total, (uint64_t)WMI_SPACE_LIMIT);
    if (request->placed && !is_possible(request->address, size))
        return wmi_fail(
            diag, WM_BAD_ARGUMENT,
            "allocation '%s': 0x%" PRIx64 " and %" PRIu64
            " bytes; expected a range from 0x1000 to 0x7fffffffffff or from 0xffff800000000000 to "
            "0xffffffffffffefff",
            name, request->address, size);
    *address = request->placed
                   ? request->address
                   : choose_address(space, request->cursor ? request->cursor : &space->next, size);
    if (!*address)
        return wmi_fail(diag, WM_NO_MEMORY, "allocation '%s': no %" PRIu64 " addresses are free", name, size);
    *index = upper(space, *address);
    const struct wmi_allocation *next = *index < space->count ? &space->allocations[*index] : NULL;
    if (next && next->low < *address + size)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "allocation '%s': 0x%" PRIx64 " and %" PRIu64
                        " bytes overlap allocation '%s' at 0x%" PRIx64,
                        name, *address, size, next->name, next->low);
    return WM_OK;
}

static enum wm_status add(struct wmi_space *space, const struct wmi_allocation_request *request,
                          const char *name, struct wmi_allocation *added, struct wm_diag *diag)
{
    size_t index = 0;
    uint64_t low = 0;
    struct mapping mapping = {0};
    unsigned char *host = request->host;
    const enum wm_status status = find_room(space, request, name, &low, &index, diag);
    if (status)
        return status;
    char *own_name = strdup(name);
    if (!own_name || !reserve(space) || (!host && !map_host(space, request->size, &mapping, &host))) {
        free(own_name);
        return wmi_fail(diag, WM_NO_MEMORY, "allocation '%s': the host has no %" PRIu64 " bytes", name,
                        request->size);
    }
    if (request->host)
        MAY_RACE(host, request->size);
    memmove(&space->allocations[index + 1], &space->allocations[index],
            (space->count - index) * sizeof *space->allocations);
    memmove(&space->mappings[index + 1], &space->mappings[index],
            (space->count - index) * sizeof *space->mappings);
    space->allocations[index] =
        (struct wmi_allocation){.low = low,
                                .high = low + request->size,
                                .tail = request->tail,
                                .host = host,
                                .flags = request->flags | (request->host ? WMI_ALLOCATION_HOST : 0),
                                .name = own_name};
    space->mappings[index] = mapping;
    space->count++;
    space->total += mapping.start ? request->size : 0;
    *added = space->allocations[index];
    return WM_OK;
}

enum wm_status wmi_space_place(struct wmi_space *space, const struct wmi_allocation_request *request,
                               uint64_t *address, struct wm_diag *diag)
{
    char *const name = (char *)(request->name ? request->name : "");
    struct wmi_allocation added;
    wmi_rwlock_write(&space->rwlock);
    const enum wm_status status = add(space, request, name, &added, diag);
    wmi_rwlock_write_unlock(&space->rwlock);
    if (status)
        return status;
    *address = added.low;
    added.name = name; /* the other one may be freed by now */
    if (space->changed)
        space->changed(space->user, &added, false);
    return WM_OK;
}

enum wm_status wmi_space_allocate(struct wmi_space *space, uint64_t size, unsigned flags, const char *name,
                                  uint64_t *address, struct wm_diag *diag)
{
    return wmi_space_place(
        space, &(struct wmi_allocation_request){.size = size, .flags = flags, .name = name}, address, diag);
}

void wmi_space_begin_at(struct wmi_space *space, uint64_t address)
{
    wmi_rwlock_write(&space->rwlock);
    space->next = address;
    wmi_rwlock_write_unlock(&space->rwlock);
}

enum wm_status wmi_space_free(struct wmi_space *space, uint64_t address, bool own, struct wm_diag *diag)
{
    enum wm_status status = WM_OK;
    struct wmi_allocation freed = {0};
    struct mapping mapping = {0};
    wmi_rwlock_write(&space->rwlock);
    const size_t i = upper(space, address);
    if (i == space->count || space->allocations[i].low != address) {
        status = wmi_fail(diag, WM_NOT_FOUND,
                          "0x%" PRIx64 ": no allocation starts there, so it cannot be freed", address);
    } else if (!own && space->allocations[i].flags & WMI_ALLOCATION_OWN) {
        status = wmi_fail(diag, WM_BAD_ARGUMENT, "0x%" PRIx64 ": '%s' belongs to wavemem and cannot be freed",
                          address, space->allocations[i].name);
    } else {
        freed = space->allocations[i];
        mapping = space->mappings[i];
        space->total -= mapping.start ? freed.high - freed.low : 0;
        space->count--;
        memmove(&space->allocations[i], &space->allocations[i + 1],
                (space->count - i) * sizeof *space->allocations);
        memmove(&space->mappings[i], &space->mappings[i + 1], (space->count - i) * sizeof *space->mappings);
        if (mapping.start && !mapping.shared && mapping.size <= KEPT_BYTES && space->kept_count < KEPT) {
            space->kept[space->kept_count++] = mapping;
            mapping.start = NULL;
        }
    }
    wmi_rwlock_write_unlock(&space->rwlock);
    if (status)
        return status;
    if (space->changed)
        space->changed(space->user, &freed, true);
    if (mapping.start)
        munmap(mapping.start, mapping.size);
    free(freed.name);
    return WM_OK;
}

/* Whether the page contains zeros only. */
static bool is_zero(const unsigned char *page)
{
    return !page[0] && !memcmp(page, page + 1, HOST_PAGE - 1);
}

/* Makes a file of the allocation's bytes, and maps it where they were. */
static bool share(const struct wmi_allocation *a, struct mapping *mapping, int file)
{
    const size_t size = round_up(a->high - a->low + HOST_PADDING, HOST_PAGE);
    if (ftruncate(file, (off_t)size))
        return false;
    for (size_t done = 0; done < size; done += HOST_PAGE)
        if (!is_zero(a->host + done) && pwrite(file, a->host + done, HOST_PAGE, (off_t)done) != HOST_PAGE)
            return false;
    if (mmap(a->host, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        return false;
    MAY_RACE(a->host, size);
    mapping->shared = true;
    return true;
}

enum wm_status wmi_space_share(struct wmi_space *space, uint64_t address, int file, struct wm_diag *diag)
{
    enum wm_status status = WM_NOT_FOUND;
    wmi_rwlock_write(&space->rwlock);
    const size_t i = upper(space, address);
    if (i < space->count && space->allocations[i].low == address && space->mappings[i].start &&
        !space->mappings[i].shared && !(space->allocations[i].flags & WMI_ALLOCATION_OWN))
        status = share(&space->allocations[i], &space->mappings[i], file) ? WM_OK : WM_NO_MEMORY;
    wmi_rwlock_write_unlock(&space->rwlock);
    return status == WM_OK ? WM_OK
                           : wmi_fail(diag, status,
                                      status == WM_NOT_FOUND
                                          ? "0x%" PRIx64 ": no allocation starts there that can be shared"
                                          : "0x%" PRIx64 ": the host has no memory to share it",
                                      address);
}

const struct wmi_allocation *wmi_space_from(const struct wmi_space *space, uint64_t address)
{
    const size_t i = upper(space, address);
    return i < space->count ? &space->allocations[i] : NULL;
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
    wmi_rwlock_write(&space->rwlock);
    const size_t i = upper(space, address);
    assert(i < space->count && space->allocations[i].low == address && stride >= piece + WMI_SPACE_GAP);
    space->allocations[i].stride = stride;
    space->allocations[i].piece = piece;
#ifdef MADV_NOHUGEPAGE
    madvise(space->mappings[i].start, space->mappings[i].size,
            MADV_NOHUGEPAGE); /* gaps must not occupy memory */
#endif
    wmi_rwlock_write_unlock(&space->rwlock);
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

/* SPDX-License-Identifier: MIT */
/* The shadow of memory for race detection: pages, and the records of one dword. */
#include "check/race_shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    CHUNK = 1 << 10, /* dwords with records per byte */
    BLOCK_CHUNK = (1 << 21) / sizeof(struct wmi_race_block),
    PAGE_CHUNK = (1 << 21) / sizeof(struct wmi_race_page),
    ALL_BYTES = 15,
};

/* Memory for a chunk, in large pages if the system has them: most of it will be touched. */
static void *new_chunk(size_t bytes)
{
    enum { LARGE = 1 << 21 };
    void *chunk = aligned_alloc(LARGE, (bytes + LARGE - 1) / LARGE * LARGE);
    if (chunk)
        (void)madvise(chunk, bytes, MADV_HUGEPAGE);
    return chunk;
}

/* ---- pages ---- */

void wmi_race_shadow_begin(struct wmi_race_shadow *shadow, uint32_t launch)
{
    shadow->launch = launch;
    memset(shadow->recent, 0, sizeof shadow->recent);
    shadow->splits = shadow->blocks = 0;
    shadow->lost = false;
}

void wmi_race_shadow_free(struct wmi_race_shadow *shadow)
{
    for (size_t i = 0; i < shadow->page_chunks; i++)
        free(shadow->chunk[i]);
    free(shadow->chunk);
    for (size_t i = 0; i < shadow->chunks; i++)
        free(shadow->bytes[i]);
    for (size_t i = 0; i < shadow->block_chunks; i++)
        free(shadow->block[i]);
    free(shadow->block);
    free(shadow->page);
    free(shadow->bytes);
    *shadow = (struct wmi_race_shadow){0};
}

/* capacity: a power of two. */
static struct wmi_race_page **slot_of(struct wmi_race_page **page, size_t capacity, uint64_t number)
{
    /* Neighbouring pages are neighbours in the table, too. */
    size_t at = number ^ number >> 20;
    while (page[at & (capacity - 1)] && page[at & (capacity - 1)]->number != number)
        at++;
    return &page[at & (capacity - 1)];
}

static bool make_room(struct wmi_race_shadow *shadow)
{
    if (2 * (shadow->pages + 1) <= shadow->capacity)
        return true;
    const size_t capacity = shadow->capacity ? 2 * shadow->capacity : 256;
    struct wmi_race_page **page = calloc(capacity, sizeof(struct wmi_race_page *));
    if (!page)
        return false;
    for (size_t i = 0; i < shadow->capacity; i++)
        if (shadow->page[i])
            *slot_of(page, capacity, shadow->page[i]->number) = shadow->page[i];
    free(shadow->page);
    shadow->page = page;
    shadow->capacity = capacity;
    return true;
}

/* A new page; NULL: no memory. */
static struct wmi_race_page *add_page(struct wmi_race_shadow *shadow)
{
    const size_t at = shadow->pages;
    if (at == shadow->page_chunks * PAGE_CHUNK) {
        struct wmi_race_page **more =
            realloc(shadow->chunk, (shadow->page_chunks + 1) * sizeof(struct wmi_race_page *));
        if (more)
            shadow->chunk = more;
        if (!more || !(more[shadow->page_chunks] = new_chunk(PAGE_CHUNK * sizeof **more)))
            return NULL;
        shadow->page_chunks++;
    }
    shadow->pages++;
    return &shadow->chunk[at / PAGE_CHUNK][at % PAGE_CHUNK];
}

/* Forgets the accesses of the page. */
static struct wmi_race_page *clear_page(struct wmi_race_page *page, uint64_t number, uint32_t launch)
{
    page->number = number;
    page->launch = launch;
    page->divided = 0;
    memset(page->write, 0, offsetof(struct wmi_race_page, block) - offsetof(struct wmi_race_page, write));
    return page;
}

struct wmi_race_page *wmi_race_find_page(struct wmi_race_shadow *shadow, uint64_t number)
{
    if (!make_room(shadow)) {
        shadow->lost = true;
        return NULL;
    }
    struct wmi_race_page **slot = slot_of(shadow->page, shadow->capacity, number);
    if (!*slot) {
        struct wmi_race_page *page = add_page(shadow);
        if (!page) {
            shadow->lost = true;
            return NULL;
        }
        *slot = clear_page(page, number, shadow->launch);
    } else if ((*slot)->launch != shadow->launch) {
        clear_page(*slot, number, shadow->launch);
    }
    return shadow->recent[number % WMI_RACE_RECENT] = *slot;
}

static struct wmi_race_block *add_block(struct wmi_race_shadow *shadow)
{
    if (shadow->blocks == shadow->block_chunks * BLOCK_CHUNK) {
        struct wmi_race_block **more =
            realloc(shadow->block, (shadow->block_chunks + 1) * sizeof(struct wmi_race_block *));
        if (more)
            shadow->block = more;
        if (!more || !(more[shadow->block_chunks] = new_chunk(BLOCK_CHUNK * sizeof **more))) {
            shadow->lost = true;
            return NULL;
        }
        shadow->block_chunks++;
    }
    const size_t at = shadow->blocks++;
    return &shadow->block[at / BLOCK_CHUNK][at % BLOCK_CHUNK];
}

static void spread_dwords(uint64_t record, uint32_t mask, uint64_t dword[WMI_RACE_BLOCK_DWORDS])
{
    memset(dword, 0, WMI_RACE_BLOCK_DWORDS * sizeof *dword);
    for (; mask; mask &= mask - 1)
        dword[__builtin_ctz(mask)] = record;
}

bool wmi_race_divide(struct wmi_race_shadow *shadow, struct wmi_race_page *page, unsigned block)
{
    struct wmi_race_block *dwords = add_block(shadow);
    if (!dwords)
        return false;
    spread_dwords(page->write[block], page->written[block], dwords->write);
    spread_dwords(page->read[block], page->seen[block], dwords->read);
    spread_dwords(page->other[block], page->shared[block], dwords->other);
    page->block[block] = dwords;
    page->divided |= 1u << block;
    return true;
}

/* ---- one dword ---- */

/* Space for records per byte; NULL: no memory. */
static struct wmi_race_bytes *add_split(struct wmi_race_shadow *shadow)
{
    if (shadow->splits == shadow->chunks * CHUNK) {
        struct wmi_race_bytes **more =
            realloc(shadow->bytes, (shadow->chunks + 1) * sizeof(struct wmi_race_bytes *));
        if (more)
            shadow->bytes = more;
        if (!more || !(more[shadow->chunks] = calloc(CHUNK, sizeof **more))) {
            shadow->lost = true;
            return NULL;
        }
        shadow->chunks++;
    }
    const size_t at = shadow->splits++;
    return &shadow->bytes[at / CHUNK][at % CHUNK];
}

static void spread(uint64_t record, uint64_t byte[4])
{
    for (unsigned i = 0; i < 4; i++)
        byte[i] = wmi_race_bytes(record) >> i & 1 ? record | ALL_BYTES : 0;
}

/* Gives the dword records per byte; NULL: no memory. */
static struct wmi_race_bytes *split(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells,
                                    size_t dword)
{
    const size_t number = shadow->splits;
    struct wmi_race_bytes *bytes = add_split(shadow);
    if (!bytes)
        return NULL;
    spread(cells->write[dword], bytes->write);
    spread(cells->read[dword], bytes->read);
    spread(cells->other[dword], bytes->other);
    cells->write[dword] = WMI_RACE_SPLIT | number;
    cells->read[dword] = cells->other[dword] = 0;
    return bytes;
}

/* Replaces the record by the new one. False: it is about bytes that the new one does not have. */
static bool replace(uint64_t *record, uint64_t by, unsigned bytes)
{
    const uint64_t old = *record;
    const bool same = old && wmi_race_is_same_time(old, by);
    if (!same && wmi_race_bytes(old) & ~bytes)
        return false;
    *record = by | bytes | (same ? wmi_race_bytes(old) : 0);
    return true;
}

static void meet(uint64_t record, const struct wmi_race_access *access, unsigned bytes, bool was_write,
                 wmi_race_meets *meets, void *user)
{
    const unsigned both = wmi_race_bytes(record) & bytes;
    if (both && !wmi_race_is_settled(record, access))
        meets(user, record, both, was_write);
}

/* Updates the three records. False: they cannot hold what they should. */
static bool update(uint64_t *write, uint64_t *read, uint64_t *other, const struct wmi_race_access *access,
                   unsigned bytes)
{
    if (access->writes)
        return replace(write, access->record, bytes);
    const bool free = wmi_race_is_settled(*read, access);
    return (free && replace(read, access->record, bytes)) || replace(other, access->record, bytes);
}

static void touch_bytes(struct wmi_race_bytes *split, const struct wmi_race_access *access, unsigned bytes,
                        wmi_race_meets *meets, void *user)
{
    for (unsigned i = 0; i < 4; i++) {
        if (!(bytes >> i & 1))
            continue;
        struct wmi_race_access whole = *access;
        uint64_t *write = &split->write[i], *read = &split->read[i], *other = &split->other[i];
        if (*write && !wmi_race_is_settled(*write, access))
            meets(user, *write, 1u << i, true);
        if (access->writes && *read && !wmi_race_is_settled(*read, access))
            meets(user, *read, 1u << i, false);
        if (access->writes && *other && !wmi_race_is_settled(*other, access))
            meets(user, *other, 1u << i, false);
        update(write, read, other, &whole, ALL_BYTES);
    }
}

void wmi_race_touch(struct wmi_race_shadow *shadow, const struct wmi_race_cells *cells, size_t dword,
                    const struct wmi_race_access *access, unsigned bytes, wmi_race_meets *meets, void *user)
{
    uint64_t *write = &cells->write[dword], *read = &cells->read[dword], *other = &cells->other[dword];
    struct wmi_race_bytes *bytewise = NULL;
    if (*write >= WMI_RACE_SPLIT) {
        const size_t number = *write - WMI_RACE_SPLIT;
        touch_bytes(&shadow->bytes[number / CHUNK][number % CHUNK], access, bytes, meets, user);
        return;
    }
    meet(*write, access, bytes, true, meets, user);
    if (access->writes) {
        meet(*read, access, bytes, false, meets, user);
        meet(*other, access, bytes, false, meets, user);
    }
    if (!update(write, read, other, access, bytes) && (bytewise = split(shadow, cells, dword)))
        for (unsigned i = 0; i < 4; i++)
            if (bytes >> i & 1)
                update(&bytewise->write[i], &bytewise->read[i], &bytewise->other[i], access, ALL_BYTES);
}

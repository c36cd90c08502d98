/* SPDX-License-Identifier: MIT */
/* Observes accesses and marks their bytes. Each thread has pages of its own, which are combined at its end.
 */
#include "tool/shard/footprint.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Pages by a hash of their number, open addressing; twice the capacity. */
struct pages {
    struct footprint_page *page;
    uint32_t *index; /* number in `page` + 1; 0: free */
    size_t count, capacity;
    bool failed; /* out of memory: the footprint has holes */
};

struct footprint {
    struct wm_observer observer;
    pthread_mutex_t lock; /* guards the rest */
    struct pages all;
    bool gds;
};

/* What one thread saw. */
struct local {
    struct pages pages;
    struct footprint_page *last; /* found before; NULL: none, or the pages have moved */
    bool gds;
};

static uint32_t *find_index(const struct pages *pages, uint64_t number)
{
    const size_t size = 2 * pages->capacity; /* a power of two */
    size_t at = (number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (size - 1);
    while (pages->index[at] && pages->page[pages->index[at] - 1].number != number)
        at = (at + 1) & (size - 1);
    return &pages->index[at];
}

static bool grow(struct pages *pages)
{
    const size_t capacity = pages->capacity ? 2 * pages->capacity : 64;
    uint32_t *index = calloc(2 * capacity, sizeof *index);
    struct footprint_page *page = index ? realloc(pages->page, capacity * sizeof *page) : NULL;
    if (!page) {
        free(index);
        return false;
    }
    free(pages->index);
    pages->index = index;
    pages->page = page;
    pages->capacity = capacity;
    for (size_t i = 0; i < pages->count; i++)
        *find_index(pages, page[i].number) = (uint32_t)i + 1;
    return true;
}

static struct footprint_page *page_at(struct pages *pages, uint64_t number)
{
    if (pages->count == pages->capacity && (pages->count >= UINT32_MAX / 4 || !grow(pages))) {
        pages->failed = true;
        return NULL;
    }
    uint32_t *entry = find_index(pages, number);
    if (!*entry) {
        struct footprint_page *page = &pages->page[pages->count];
        memset(page, 0, sizeof *page);
        page->number = number;
        *entry = (uint32_t)++pages->count;
    }
    return &pages->page[*entry - 1];
}

static void free_pages(struct pages *pages)
{
    free(pages->page);
    free(pages->index);
}

uint64_t footprint_run(const uint8_t *mask, uint64_t *at, uint64_t end)
{
    while (*at < end && !footprint_has(mask, *at))
        ++*at;
    uint64_t to = *at;
    while (to < end && footprint_has(mask, to))
        to += to % 8 == 0 && end - to >= 8 && mask[to % FOOTPRINT_PAGE / 8] == 0xff ? 8 : 1;
    return to - *at;
}

/* ---- accesses ---- */

/* Sets `count` bits from `first` on. */
static void set_bits(uint8_t *mask, unsigned first, unsigned count)
{
    for (; count && first % 8; first++, count--)
        mask[first / 8] |= (uint8_t)(1u << first % 8);
    memset(mask + first / 8, 0xff, count / 8);
    if (count % 8)
        mask[(first + count) / 8] |= (uint8_t)((1u << count % 8) - 1);
}

static void mark(struct local *local, enum wm_access_kind kind, uint64_t from, uint64_t bytes)
{
    while (bytes) {
        const uint64_t number = from / FOOTPRINT_PAGE, within = from % FOOTPRINT_PAGE;
        const uint64_t now = bytes < FOOTPRINT_PAGE - within ? bytes : FOOTPRINT_PAGE - within;
        if (!local->last || local->last->number != number)
            local->last = page_at(&local->pages, number);
        if (!local->last)
            return;
        if (kind != WM_ACCESS_STORE)
            set_bits(local->last->read, (unsigned)within, (unsigned)now);
        if (kind != WM_ACCESS_LOAD)
            set_bits(local->last->written, (unsigned)within, (unsigned)now);
        from += now;
        bytes -= now;
    }
}

/* Marks what the lanes access; neighbours together. Private memory is the lane's own. */
static void mark_place(struct local *local, const struct wm_access *access,
                       const struct wm_access_place *place)
{
    uint64_t from = 0, bytes = 0;
    uint64_t left = place->lanes & ~(place->out_of_range | place->misaligned | place->no_address);
    for (; left; left &= left - 1) {
        const uint64_t address = place->address[__builtin_ctzll(left)];
        if (bytes && address == from + bytes) {
            bytes += access->bytes;
            continue;
        }
        mark(local, access->kind, from, bytes);
        from = address;
        bytes = access->bytes;
    }
    mark(local, access->kind, from, bytes);
}

static void see(void *user, const struct wm_event *event)
{
    struct local *local = user;
    const struct wm_access *access = &event->access;
    for (uint32_t i = 0; i < access->places; i++) {
        const struct wm_access_place *place = &access->place[i];
        local->gds |= place->space == WM_SPACE_GDS && place->lanes;
        if (place->space == WM_SPACE_GLOBAL && !place->private_offset)
            mark_place(local, access, place);
    }
}

/* ---- threads ---- */

static void *begin_thread(void *user)
{
    (void)user;
    return calloc(1, sizeof(struct local));
}

bool footprint_add(struct footprint *footprint, const struct footprint_page *pages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct footprint_page *to = page_at(&footprint->all, pages[i].number);
        for (size_t byte = 0; to && byte < sizeof to->read; byte++) {
            to->read[byte] |= pages[i].read[byte];
            to->written[byte] |= pages[i].written[byte];
        }
    }
    return !footprint->all.failed;
}

static void end_thread(void *user, void *seen)
{
    struct footprint *footprint = user;
    struct local *local = seen;
    if (!local)
        return;
    pthread_mutex_lock(&footprint->lock);
    footprint->all.failed |= local->pages.failed;
    footprint->gds |= local->gds;
    footprint_add(footprint, local->pages.page, local->pages.count);
    pthread_mutex_unlock(&footprint->lock);
    free_pages(&local->pages);
    free(local);
}

static const char *incomplete(void *user)
{
    const struct footprint *footprint = user;
    return footprint->all.failed ? "no memory for all bytes that the shard accesses" : NULL;
}

struct footprint *footprint_create(void)
{
    struct footprint *footprint = calloc(1, sizeof *footprint);
    if (!footprint)
        return NULL;
    pthread_mutex_init(&footprint->lock, NULL);
    footprint->observer = (struct wm_observer){
        .struct_size = sizeof footprint->observer,
        .events = WM_EVENT_ACCESS,
        .user = footprint,
        .event = see,
        .begin_thread = begin_thread,
        .end_thread = end_thread,
        .incomplete = incomplete,
    };
    return footprint;
}

void footprint_destroy(struct footprint *footprint)
{
    if (!footprint)
        return;
    pthread_mutex_destroy(&footprint->lock);
    free_pages(&footprint->all);
    free(footprint);
}

const struct wm_observer *footprint_observer(struct footprint *footprint)
{
    return &footprint->observer;
}

static int by_number(const void *left, const void *right)
{
    const struct footprint_page *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

const struct footprint_page *footprint_pages(struct footprint *footprint, size_t *count)
{
    struct pages *all = &footprint->all;
    *count = all->count;
    if (all->count)
        qsort(all->page, all->count, sizeof *all->page, by_number);
    return all->page;
}

bool footprint_has_gds(const struct footprint *footprint)
{
    return footprint->gds;
}
